"""Vectors and topics of a corpus, batch by batch, are those of the corpus at once; the file is whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kate
from kate.model.corpus_outputs import encode_corpus, label_corpus
from kate.text.table_files import write_table

THEMES = ("peace treaty signed", "gold and silver coin", "harvest of wheat fields", "ships in the harbour")


@pytest.fixture(scope="module")
def model() -> kate.TextModel:
    texts = [f"{theme} {word}" for theme in THEMES for word in ("new", "old", "great", "small")] * 5
    return kate.TextModel(n_components=4, random_state=0, max_epochs=5, verbose=False).fit(texts)


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    """Two files of different columns: a number that turns into text, a field that comes late, nested values."""
    first = [
        {"id": f"a{n}", "body": THEMES[n % 4], "n": n, "tags": ["x", str(n)], "topic": "own"}
        for n in range(30)
    ]
    second = [{"id": f"b{n}", "body": THEMES[n % 3], "n": "many", "late": n / 2} for n in range(20)]
    second[3]["body"] = "zzz"  # no known word
    paths = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    for path, rows in zip(paths, (first, second), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


@pytest.mark.filterwarnings("ignore::kate.EmptyDocumentsWarning")
@pytest.mark.parametrize("batch_size", [7, 1000])
def test_vectors_are_those_of_encode_to_the_last_bit(
    model: kate.TextModel, corpus: list[Path], tmp_path: Path, batch_size: int
) -> None:
    documents = kate.read_corpus(corpus)
    vectors = model.encode(documents, normalize=True, truncate_dim=3)
    np.save(tmp_path / "expected.npy", vectors)
    options: dict[str, Any] = {"normalize": True, "truncate_dim": 3}
    for suffix in (".npy", ".parquet", ".jsonl"):
        done = encode_corpus(
            model, kate.iter_corpus(corpus, batch_size=batch_size), tmp_path / f"v{suffix}", **options
        )
        assert done == (50, 3)
    assert (tmp_path / "v.npy").read_bytes() == (tmp_path / "expected.npy").read_bytes()
    table = pl.read_parquet(tmp_path / "v.parquet")
    assert table.schema == {"id": pl.String, "label": pl.String, "vector": pl.List(pl.Float32)}
    assert table["id"].to_list() == documents.ids
    assert table["label"].to_list() == documents.labels
    assert np.array_equal(np.array(table["vector"].to_list(), np.float32), vectors)
    lines = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == documents.ids
    assert np.array_equal(np.array([line["vector"] for line in lines], np.float32), vectors)


def test_empty_documents_are_told_of_once(model: kate.TextModel, corpus: list[Path], tmp_path: Path) -> None:
    with pytest.warns(kate.EmptyDocumentsWarning, match="1 of 50 documents have no word") as told:
        encode_corpus(model, kate.iter_corpus(corpus, batch_size=7), tmp_path / "v.npy")
    assert len(told) == 1


def test_ids_that_repeat_become_file_and_line(model: kate.TextModel, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,text\n" + "".join(f"{n % 5},{THEMES[n % 4]}\n" for n in range(12)))
    encode_corpus(model, kate.iter_corpus(path, batch_size=2), tmp_path / "v.parquet")
    assert pl.read_parquet(tmp_path / "v.parquet")["id"].to_list() == kate.read_corpus(path).ids
    assert "label" not in pl.read_parquet_schema(tmp_path / "v.parquet")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("batch_size", [7, 1000])
@pytest.mark.parametrize("topics", [None, {"money": "gold coin", "war": "peace"}])
def test_labels_are_those_of_label(
    model: kate.TextModel,
    corpus: list[Path],
    tmp_path: Path,
    suffix: str,
    batch_size: int,
    topics: dict[str, str] | None,
) -> None:
    documents = kate.read_corpus(corpus, keep_nested=True)
    n = None if topics else 3
    whole = model.label(documents, n, topics=topics).with_columns(pl.col("topic_share").round(4))
    write_table(whole, tmp_path / f"expected{suffix}")
    batches = kate.iter_corpus(corpus, keep_nested=True, batch_size=batch_size)
    done = label_corpus(model, batches, tmp_path / f"found{suffix}", n, topics=topics)
    assert done == (50, whole["topic_name"].null_count())
    assert done.n_without >= 1
    expected, found = tmp_path / f"expected{suffix}", tmp_path / f"found{suffix}"
    if suffix == ".parquet":
        assert pl.read_parquet(found).equals(pl.read_parquet(expected))
    else:
        assert found.read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("write", [encode_corpus, label_corpus])
def test_nothing_is_left_of_what_failed(model: kate.TextModel, tmp_path: Path, write: Any) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "gold"}\n' * 20 + "nonsense\n")
    output = tmp_path / "out.parquet"
    output.write_text("what was there before")
    with pytest.raises(kate.MalformedRowError, match="line 21"):
        write(model, kate.iter_corpus(path, batch_size=2), output)
    assert output.read_text() == "what was there before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "rows.jsonl"]


def test_progress_is_told_in_documents_and_shares(model: kate.TextModel, tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("gold\n" * 10)
    told: list[tuple[str, int, float | None]] = []
    encode_corpus(
        model,
        kate.iter_corpus(path, batch_size=4),
        tmp_path / "v.parquet",
        report=lambda phase, documents, share=None: told.append((phase, documents, share)),
    )
    assert told == [
        ("encoding", 0, 0.0),
        ("encoding", 4, 1.0),
        ("encoding", 8, 1.0),
        ("encoding", 10, 1.0),
        ("writing", 0, 0.0),
        ("writing", 4, 0.4),
        ("writing", 8, 0.8),
        ("writing", 10, 1.0),
    ]
