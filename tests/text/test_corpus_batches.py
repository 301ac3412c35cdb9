"""A corpus batch by batch is the corpus: the same documents, columns, errors."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

import kate
from kate.text import corpus_batches, document_tables, parquet_files
from kate.text.repeated_ids import SeenIds
from kate.text.table_columns import join_tables

ROWS = [{"id": f"d{n}", "text": f"text number {n}", "n": n, "odd": n if n % 7 else None} for n in range(50)]


def written(folder: Path, suffix: str) -> Path:
    """The rows as a file of some format."""
    path = folder / f"rows{suffix}"
    frame = pl.DataFrame(ROWS)
    if suffix == ".parquet":
        frame.write_parquet(path, row_group_size=9)
        return path
    kind = suffix.split(".")[1]
    content = {
        "jsonl": lambda: "".join(json.dumps(row) + "\n" for row in ROWS),
        "csv": frame.write_csv,
        "tsv": lambda: frame.write_csv(separator="\t"),
        "txt": lambda: "".join(f"{row['text']}\n" for row in ROWS),
    }[kind]()
    data = content.encode()
    pack = {"gz": gzip.compress, "zst": zstandard.ZstdCompressor().compress}.get(
        suffix.rsplit(".", maxsplit=1)[-1]
    )
    path.write_bytes(pack(data) if pack else data)
    return path


@pytest.fixture
def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers that make a table of every few rows."""
    monkeypatch.setattr(document_tables, "_ROWS_AT_ONCE", 8)
    monkeypatch.setattr(parquet_files, "_FIRST_ROWS", 8)
    monkeypatch.setattr(parquet_files, "_MOST_ROWS", 8)
    monkeypatch.setattr(parquet_files, "_FEWEST_ROWS", 8)


@pytest.mark.usefixtures("small_tables")
@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".tsv.gz", ".jsonl.zst", ".txt", ".txt.gz", ".parquet"])
@pytest.mark.parametrize("batch_size", [5, 8, 20, 1000])
def test_the_batches_together_are_the_corpus(tmp_path: Path, suffix: str, batch_size: int) -> None:
    path = written(tmp_path, suffix)
    whole = kate.read_corpus(path)
    batches = kate.iter_corpus(path, batch_size=batch_size)
    found = list(batches)
    assert all(0 < len(documents) <= batch_size for documents in found)
    assert pl.concat([documents.frame for documents in found]).equals(whole.frame)
    sources = [documents.source for documents in found if documents.source is not None]
    assert pl.concat(sources).equals(whole.source)  # type: ignore[arg-type]
    assert (batches.n_documents, batches.share) == (50, 1.0)
    # once more, from the beginning
    assert pl.concat(list(batches.texts())).to_list() == whole.texts.to_list()


def test_small_files_are_put_together_and_folders_are_read(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"{number:02}.txt").write_text(f"text {number}")
    batches = list(kate.iter_corpus(tmp_path, batch_size=5))
    assert [len(documents) for documents in batches] == [5, 5, 2]
    assert batches[2].ids == ["10.txt", "11.txt"]


def test_long_texts_make_small_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_batches, "_BYTES_AT_ONCE", 100)
    path = tmp_path / "long.jsonl"
    path.write_text("".join(json.dumps({"text": "x" * size}) + "\n" for size in (40, 40, 40, 300, 10)))
    assert [len(documents) for documents in kate.iter_corpus(path)] == [2, 1, 1, 1]


def test_tables_of_all_batches_join_to_that_of_the_corpus(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    rows = [{"text": "gold", "n": 1}, {"text": "coin", "n": 2.5}, {"text": "silver", "n": 3, "late": "x"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    joined = join_tables(list(kate.iter_corpus(path, batch_size=1).tables()))
    assert joined["n"].to_list() == [1.0, 2.5, 3.0]
    assert joined["kate:source:late"].to_list() == [None, None, "x"]


def test_standard_input_is_read_once() -> None:
    batches = kate.iter_corpus("-", format="txt", stdin=io.BytesIO(b"gold\nsilver\n"))
    assert [documents.ids for documents in batches] == [["stdin:1", "stdin:2"]]
    assert batches.share is None
    with pytest.raises(ValueError, match="standard input can be read only once"):
        list(batches)


def test_malformed_rows_are_named_or_counted(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "gold"}\nnonsense\n{"text": "silver"}\n')
    with pytest.raises(kate.MalformedRowError, match=r"rows\.jsonl, line 2: not JSON"):
        list(kate.iter_corpus(path))
    batches = kate.iter_corpus(path, on_error="skip")
    for _ in range(2):
        assert sum(map(len, batches)) == 2
        assert batches.n_skipped == 1
        assert "line 2" in batches.skipped[0]
    with pytest.raises(ValueError, match="on_error is 'ignore'"):
        kate.iter_corpus(path, on_error="ignore")  # type: ignore[arg-type]


def test_null_texts_of_parquet_are_named_by_their_row(tmp_path: Path, small_tables: None) -> None:
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"text": ["gold"] * 20 + [None]}).write_parquet(path)
    with pytest.raises(kate.MalformedRowError, match=r"rows\.parquet, row 21: the field 'text' is null"):
        list(kate.iter_corpus(path))


def test_nothing_at_all_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(kate.CorpusError, match=r"no documents in .*empty\.jsonl; expected at least one"):
        list(kate.iter_corpus(tmp_path / "empty.jsonl"))
    with pytest.raises(ValueError, match="batch_size is 0"):
        kate.iter_corpus(tmp_path / "empty.jsonl", batch_size=0)


def test_an_id_that_comes_twice_is_refused_if_the_field_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,text\na,gold\nb,silver\na,coin\n")
    message = "the id field 'id' is not unique: 'a' occurs more than once"
    for read in (kate.read_corpus, lambda *a, **k: list(kate.iter_corpus(*a, batch_size=1, **k))):
        with pytest.raises(kate.CorpusError, match=message):
            read(path, id="id")
    batches = kate.iter_corpus(path, batch_size=1)
    with pytest.warns(UserWarning, match="some ids are there more than once"):
        assert [documents.ids for documents in batches] == [["a"], ["b"], ["a"]]
    assert batches.has_repeated_ids
    assert kate.read_corpus(path).ids == ["rows:2", "rows:3", "rows:4"]


def test_ids_are_compared_over_many_batches() -> None:
    seen = SeenIds()
    for start in range(0, 3000, 100):
        assert seen.add(pl.Series([f"id {n}" for n in range(start, start + 100)])) is None
    assert seen.add(pl.Series(["new", "id 2999", "id 17"])) == "id 2999"
    assert seen.add(pl.Series(["x", "y", "x"])) == "x"


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_file_that_ends_inside_its_frame_is_named(tmp_path: Path, suffix: str, kind: str) -> None:
    rows = [{"text": f"{n} {n * 7919 % 10007} {n * 104729 % 99991}"} for n in range(20_000)]
    plain = tmp_path / f"rows.{kind}"
    if kind == "jsonl":
        plain.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pl.DataFrame(rows).write_parquet(plain, compression="uncompressed")
    pack: Any = gzip.compress if suffix == ".gz" else zstandard.ZstdCompressor().compress
    packed = pack(plain.read_bytes())
    path = tmp_path / f"rows.{kind}{suffix}"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    batches = iter(kate.iter_corpus(path, batch_size=1000))
    with pytest.raises(
        kate.CorpusError, match=rf"rows\.{kind}\{suffix} is cut short: .* copy or download it again"
    ):
        for _ in batches:
            pass
    path.write_bytes(packed)
    assert sum(map(len, kate.iter_corpus(path))) == len(rows)


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path) -> None:
    """What Python holds at most while 4 and 16 MB are read; Polars' own memory is measured in benchmarks."""

    def peak(n_rows: int) -> int:
        path = tmp_path / f"{n_rows}.jsonl"
        path.write_text((json.dumps({"text": "x" * 4000}) + "\n") * n_rows)
        tracemalloc.start()
        try:
            for _ in kate.iter_corpus(path, batch_size=200).texts():
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    document_tables_size = document_tables._BATCH_SIZE
    document_tables._BATCH_SIZE = 500_000
    try:
        small, large = peak(1000), peak(4000)
    finally:
        document_tables._BATCH_SIZE = document_tables_size
    assert large < 1.3 * small
