"""An index written batch by batch is the one that is built in memory: the same files, or the same answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kate
from kate.search import posting_pieces
from kate.search.building import typed_columns
from kate.search.document_texts import TextWriter, write_texts
from kate.search.index_folder import DOCUMENTS, INDEX_FOLDER

THEMES = (
    "The treaty of peace was signed in 1792",
    "gold and silver coins, 1,000 of them",
    "a harvest of wheat in the fields",
    "Ships in the harbour; F-16 above",
)


@pytest.fixture(scope="module")
def model() -> kate.TextModel:
    texts = [f"{theme} {word}" for theme in THEMES for word in ("new", "old", "great", "small")] * 5
    return kate.TextModel(n_components=4, random_state=0, max_epochs=5, verbose=False).fit(texts)


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    """Two files: titles, numbers that are written as text, a column that is the text, one that comes late."""
    rng = np.random.default_rng(0)
    words = " ".join(THEMES).split()
    rows: list[dict[str, Any]] = []
    for number in range(90):
        text = " ".join(rng.choice(words, int(rng.integers(0, 30)))) if number % 17 else "☃"
        rows.append(
            {"key": f"d{number}", "body": text, "copy": text, "year": f"{1900 + number}", "tags": ["x"]}
        )
        rows[-1] |= {"title": f"Title {number}"} if number % 3 else {}
        rows[-1] |= {"late": number / 2, "score": "2.5" if number > 60 else ""} if number > 50 else {}
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for path, some in zip(paths, (rows[:40], rows[40:]), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in some))
    return paths


@pytest.fixture
def many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges of a few entries, and tables that are put together at once."""
    monkeypatch.setattr(posting_pieces, "_ENTRIES_AT_ONCE", 40)
    monkeypatch.setattr(posting_pieces, "_ROWS_WAITING", 10)


def saved(model: kate.TextModel, corpus: list[Path], folder: Path, **options: Any) -> kate.Index:
    kate.Index.build(model, kate.read_corpus(corpus), **options).save(folder)
    return kate.Index.load(folder)


@pytest.mark.usefixtures("many_pieces")
@pytest.mark.filterwarnings("ignore::kate.EmptyDocumentsWarning")
@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("batch_size", [5, 1000])
def test_every_file_is_that_of_the_index_in_memory(
    model: kate.TextModel, corpus: list[Path], tmp_path: Path, batch_size: int, int8: bool
) -> None:
    expected = saved(model, corpus, tmp_path / "expected", int8=int8)
    batches = kate.iter_corpus(corpus, batch_size=batch_size)
    found = kate.Index.write(model, batches, tmp_path / "found", int8=int8)
    names = {path.name for path in (tmp_path / "expected").iterdir()}
    assert {path.name for path in (tmp_path / "found").iterdir()} == names
    differ = [
        name
        for name in sorted(names - {DOCUMENTS, "checksums.bin", INDEX_FOLDER.config, "model"})
        if (tmp_path / "found" / name).read_bytes() != (tmp_path / "expected" / name).read_bytes()
    ]
    assert not differ
    assert found.store.frame.equals(expected.store.frame)
    assert found.store.columns == expected.store.columns
    assert found.store.columns["year"] == pl.Int64
    assert found.store.columns["score"] == pl.Float64
    for query in ("silver coins", '"treaty of peace"', "1,000", "F-16"):
        assert list(found.search(query)) == list(expected.search(query))


@pytest.mark.filterwarnings("ignore::kate.EmptyDocumentsWarning")
def test_a_graph_of_neighbours(model: kate.TextModel, corpus: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("usearch", reason="needs the extra ann")
    expected = saved(model, corpus, tmp_path / "expected", ann=True, n_jobs=1)
    found = kate.Index.write(
        model, kate.iter_corpus(corpus, batch_size=20), tmp_path / "found", ann=True, n_jobs=1
    )
    assert found.graph is not None
    assert expected.graph is not None
    assert found.graph.facts == expected.graph.facts
    ids = [[hit.id for hit in index.similar_documents("d1")] for index in (found, expected)]
    assert ids[0] == ids[1]


@pytest.mark.filterwarnings("ignore::kate.EmptyDocumentsWarning")
def test_the_store_of_lance_has_the_same_rows(
    model: kate.TextModel, corpus: list[Path], tmp_path: Path
) -> None:
    pytest.importorskip("lancedb", reason="needs the extra lance")
    kate.Index.build(model, kate.read_corpus(corpus)).save(tmp_path / "expected", store="lance")
    expected = kate.Index.load(tmp_path / "expected")
    found = kate.Index.write(
        model, kate.iter_corpus(corpus, batch_size=20), tmp_path / "found", store="lance"
    )
    tables = [pl.DataFrame(pl.from_arrow(index.store.table.to_arrow())) for index in (found, expected)]
    assert tables[0].equals(tables[1])
    assert found.store.columns == expected.store.columns
    shown = [
        [(hit.id, round(hit.score, 5)) for hit in index.search("silver coins")] for index in (found, expected)
    ]
    assert shown[0] == shown[1]


def test_ids_that_repeat_and_documents_without_known_words(model: kate.TextModel, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,text\n1,gold coins\n2,☃ zzz\n1,silver\n")
    with pytest.warns(kate.EmptyDocumentsWarning, match="1 of 3 documents have no word"):
        found = kate.Index.write(model, kate.iter_corpus(path, batch_size=1), tmp_path / "index")
    assert [found.search("zzz")[0].id, found.search("silver")[0].id] == ["rows:3", "rows:4"]
    with pytest.raises(kate.CorpusError, match="'1' occurs more than once"):
        kate.Index.write(model, kate.iter_corpus(path, id="id"), tmp_path / "index")
    assert len(kate.Index.load(tmp_path / "index")) == 3


def test_a_column_that_says_what_the_text_says_is_left_out(model: kate.TextModel, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("text,copy,nearly\ngold,gold,gold\nsilver,silver,silver\ncoin,coin,COIN\n")
    for title, kept in (("copy", {"nearly"}), ("nearly", {"copy", "nearly"})):
        found = kate.Index.write(model, kate.iter_corpus(path, title=title, batch_size=1), tmp_path / "index")
        expected = kate.Index.build(model, kate.read_corpus(path, title=title))
        assert found.store.columns == expected.store.columns
        assert kept == {"copy", "nearly"} & set(found.store.columns)


def test_nothing_is_left_of_what_failed(model: kate.TextModel, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "gold"}\n' * 5 + "nonsense\n")
    with pytest.raises(kate.MalformedRowError, match="line 6"):
        kate.Index.write(model, kate.iter_corpus(path, batch_size=2), tmp_path / "index")
    assert [entry.name for entry in tmp_path.iterdir()] == ["rows.jsonl"]
    for options in ({"store": "paper"}, {"store": "lance", "int8": True}):
        with pytest.raises(ValueError, match="store"):
            kate.Index.write(model, kate.iter_corpus(path), tmp_path / "index", **options)  # type: ignore[arg-type]


def test_texts_in_parts_are_written_as_at_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    texts = pl.Series(["x" * int(size) for size in rng.choice([0, 10, 900, 40_000], 300)])
    rows, offsets = write_texts(tmp_path / "whole", texts)
    for size in (1, 10, 64, 65, 299):
        with TextWriter(tmp_path / "parts") as writer:
            for start in range(0, len(texts), size):
                writer.add(texts.slice(start, size))
        found = writer.groups()
        assert np.array_equal(found[0], rows)
        assert np.array_equal(found[1], offsets)
        assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()


def test_typed_columns_of_documents_are_typed_by_all_values() -> None:
    frame = pl.DataFrame(
        {"text": ["a", "b"], "id": ["1", "2"], "label": [None, None], "title": [None, None]},
        schema_overrides={"label": pl.String, "title": pl.String},
    )
    found = typed_columns(
        kate.Documents(frame.with_columns(n=pl.Series(["1", ""]), m=pl.Series(["007", "8"])))
    )
    assert found["n"].to_list() == [1, None]
    assert found["m"].to_list() == ["007", "8"]
