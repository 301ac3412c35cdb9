"""Every format, plain and compressed, comes back as the same documents."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
import zstandard

import kate
from kate.text import document_tables
from kate.text.documents import Documents

ROWS = [
    {"id": "a", "text": 'Straße, "quoted"\nand a new line', "label": "x", "title": "One", "year": 1990},
    {"id": "b", "text": "हिन्दी 😀", "label": "y", "title": "Two", "year": 1991},
    {"id": "c", "text": "", "label": "x", "title": "Three", "year": 1992},
]

SQUEEZE: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


def as_jsonl() -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS).encode() + b"\n\n"


def as_separated(separator: str) -> bytes:
    return pl.DataFrame(ROWS).write_csv(separator=separator).encode()


def as_parquet() -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(ROWS).write_parquet(buffer)
    return buffer.getvalue()


CONTENT = {
    ".jsonl": as_jsonl(),
    ".ndjson": as_jsonl(),
    ".csv": as_separated(","),
    ".tsv": as_separated("\t"),
    ".parquet": as_parquet(),
}


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(SQUEEZE[path.suffix if path.suffix in SQUEEZE else ""](content))
    return path


@pytest.mark.parametrize("compression", SQUEEZE)
@pytest.mark.parametrize("suffix", CONTENT)
def test_tables_plain_and_compressed(tmp_path: Path, suffix: str, compression: str) -> None:
    documents = kate.read_corpus(write(tmp_path / f"corpus{suffix}{compression}", CONTENT[suffix]))
    assert documents.texts.to_list() == [row["text"] for row in ROWS]
    assert documents.ids == ["a", "b", "c"]
    assert documents.labels == ["x", "y", "x"]
    assert documents.titles == ["One", "Two", "Three"]
    assert documents.frame.columns == ["text", "id", "label", "title", "year"]
    assert documents.frame["year"].cast(pl.Int64).to_list() == [1990, 1991, 1992]
    assert (len(documents), documents.n_skipped, documents.skipped) == (3, 0, ())


@pytest.mark.parametrize("compression", SQUEEZE)
def test_text_files_have_one_document_per_line(tmp_path: Path, compression: str) -> None:
    path = write(tmp_path / f"lines.txt{compression}", "first line\r\n\n  third\u2028line".encode())
    documents = kate.read_corpus(path)
    assert documents.texts.to_list() == ["first line", "  third\u2028line"]
    assert documents.ids == ["lines:1", "lines:3"]
    assert documents.labels is None
    assert documents.titles is None


@pytest.mark.parametrize("compression", SQUEEZE)
def test_a_folder_has_one_document_per_file(tmp_path: Path, compression: str) -> None:
    write(tmp_path / f"sport/1.txt{compression}", b"a ball\nand a game")
    write(tmp_path / f"sport/deep/2.md{compression}", b"a race")
    write(tmp_path / "53291", b"no extension, no label")
    write(tmp_path / ".git/config.txt", b"hidden")
    write(tmp_path / "sport/picture.png", b"\x89PNG\0")
    documents = kate.read_corpus(tmp_path)
    assert documents.texts.to_list() == ["no extension, no label", "a ball\nand a game", "a race"]
    assert documents.ids == ["53291", f"sport/1.txt{compression}", f"sport/deep/2.md{compression}"]
    assert documents.labels == [None, "sport", "sport/deep"]


@pytest.mark.parametrize(
    ("kind", "content"), [("jsonl", b'{"text": "one"}\n{"text": "two"}'), ("txt", b"one\ntwo\n")]
)
def test_standard_input(kind: str, content: bytes) -> None:
    stdin = io.BytesIO(content)
    documents = kate.read_corpus("-", format=kind, stdin=stdin)
    assert documents.texts.to_list() == ["one", "two"]
    assert documents.ids == ["stdin:1", "stdin:2"]
    assert not stdin.closed


def test_several_files_of_several_formats(tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", b'{"text": "one", "year": 1990}')
    second = write(tmp_path / "b.csv.gz", b"body,source\ntwo,web\n")
    write(tmp_path / "c/x/3.txt", b"three")
    documents = kate.read_corpus([first, str(second), tmp_path / "c"])
    assert documents.texts.to_list() == ["one", "two", "three"]
    assert documents.ids == ["a:1", "b:2", "c/x/3.txt"]
    assert documents.labels == [None, None, "x"]
    assert documents.frame["source"].to_list() == [None, "web", None]


def test_files_of_one_name_in_two_folders_have_different_ids(tmp_path: Path) -> None:
    paths = [write(tmp_path / folder / "part.txt", b"text") for folder in ("one", "two")]
    assert kate.read_corpus(paths).ids == [f"{path}:1" for path in paths]


@pytest.mark.parametrize(
    "names",
    [
        ("text", "id", "label", "title"),
        ("Body", "DocID", "Category", "HEADLINE"),
        ("content", "_id", "class", "name"),
    ],
)
def test_usual_names_are_guessed(tmp_path: Path, names: tuple[str, ...]) -> None:
    path = write(tmp_path / "x.csv", ",".join(names).encode() + b"\nhello,7,news,Greeting\n")
    documents = kate.read_corpus(path)
    assert documents.frame.rows() == [("hello", "7", "news", "Greeting")]


def test_fields_can_be_chosen_and_need_not_match_in_case(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", b'{"text": "no", "Speech": "yes", "no": 1, "party": 2, "by": "Ann"}')
    documents = kate.read_corpus(path, text="speech", id="no", label="party", title="by")
    assert documents.frame.rows() == [("yes", "1", "2", "Ann")]


def test_fields_that_come_later_or_not_at_all(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", b'{"text": "one"}\n{"label": "l", "text": "two", "id": 5}')
    documents = kate.read_corpus(path)
    assert documents.labels == [None, "l"]
    assert documents.ids == ["x:1", "5"]


def test_guessed_ids_that_repeat_give_way_to_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", b"id,text\n1,one\n1,two\n")
    assert kate.read_corpus(path).ids == ["x:2", "x:3"]


def test_other_fields_keep_their_types_where_they_have_one(tmp_path: Path) -> None:
    huge = 10**50
    rows = [
        {"text": "a", "n": 1, "mixed": 1, "nested": [1], "huge": huge},
        {"text": "b", "n": None, "mixed": "z", "nested": {}, "huge": 1},
    ]
    path = write(tmp_path / "x.jsonl", "\n".join(map(json.dumps, rows)).encode())
    frame = kate.read_corpus(path).frame
    assert frame["n"].to_list() == [1, None]
    assert frame["mixed"].to_list() == ["1", "z"]
    assert frame["nested"].to_list() == [None, None]
    assert frame["huge"].to_list() == [str(huge), "1"]


def test_a_field_with_different_types_in_several_files_becomes_strings(tmp_path: Path) -> None:
    values: list[object] = [date(2020, 1, 2), True, timedelta(1), "x", 3, None]
    paths = [tmp_path / f"{number}.parquet" for number in range(len(values))]
    for path, value in zip(paths, values, strict=True):
        pl.DataFrame({"text": ["a"], "value": [value]}).write_parquet(path)
    found = kate.read_corpus(paths).frame["value"].to_list()
    assert found == ["2020-01-02", "True", "1 day, 0:00:00", "x", "3", None]
    assert kate.read_corpus([paths[4], paths[5]]).frame["value"].to_list() == [3, None]


@pytest.mark.parametrize("batch_size", [1, 10**6])
def test_the_type_of_a_field_does_not_depend_on_the_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch_size: int
) -> None:
    monkeypatch.setattr(document_tables, "_BATCH_SIZE", batch_size)
    rows = [{"text": "one", "number": 1, "flag": True}, {"text": "two", "number": 2.5, "flag": 1}]
    path = write(tmp_path / "x.jsonl", "\n".join(map(json.dumps, rows)).encode())
    frame = kate.read_corpus(path).frame
    assert frame["number"].to_list() == [1.0, 2.5]
    assert frame["flag"].to_list() == ["True", "1"]


def test_a_field_named_place_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", b"text,place\nhi,Paris\n")
    assert kate.read_corpus(path).frame["place"].to_list() == ["Paris"]


def test_file_names_that_are_not_utf_8_are_escaped(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        write(folder / os.fsdecode(b"th\xe9.txt"), b"tea")
    except OSError:
        pytest.skip("this file system takes no such name")
    assert kate.read_corpus(tmp_path).frame.rows() == [
        ("tea", "caf\\udce9/th\\udce9.txt", "caf\\udce9", None)
    ]
    assert kate.read_corpus(folder / os.fsdecode(b"th\xe9.txt")).ids == ["th\\udce9:1"]


def test_nested_values_of_a_guessed_field_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", b'{"text": "a", "topics": ["x", "y"], "title": ""}')
    documents = kate.read_corpus(path)
    assert documents.labels is None
    assert documents.titles is None


def test_batches_are_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_tables, "_BATCH_SIZE", 3)
    path = write(tmp_path / "x.jsonl", b"\n".join(b'{"text": "t%d", "n": %d}' % (n, n) for n in range(10)))
    documents = kate.read_corpus(path)
    assert documents.texts.to_list() == [f"t{n}" for n in range(10)]
    assert documents.frame["n"].to_list() == list(range(10))


def test_a_byte_order_mark_is_removed(tmp_path: Path) -> None:
    assert kate.read_corpus(write(tmp_path / "a.csv", b"\xef\xbb\xbftext\nhi\n")).texts.to_list() == ["hi"]
    assert kate.read_corpus(write(tmp_path / "b/c.txt", b"\xef\xbb\xbfhi").parent).texts.to_list() == ["hi"]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".txt"])
def test_encodings(tmp_path: Path, encoding: str, suffix: str) -> None:
    content = {".csv": "text\ncafé\n", ".jsonl": '{"text": "café"}\n', ".txt": "café\n"}[suffix]
    path = write(tmp_path / f"x{suffix}", content.encode(encoding))
    assert kate.read_corpus(path, encoding=encoding).texts.to_list() == ["café"]


def test_a_format_can_be_given_for_a_name_that_does_not_tell(tmp_path: Path) -> None:
    path = write(tmp_path / "dump.json", b'{"text": "one"}')
    assert kate.read_corpus(path, format="jsonl").ids == ["dump.json:1"]


def test_documents_longer_than_the_csv_module_allows(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", b"text\n" + b"word " * 100_000 + b"\n")
    assert kate.read_corpus(path).texts.str.len_chars().to_list() == [500_000]


def test_zstd_files_of_several_frames(tmp_path: Path) -> None:
    squeeze = zstandard.ZstdCompressor().compress
    path = tmp_path / "x.txt.zst"
    path.write_bytes(squeeze(b"one\ntw") + squeeze(b"o\n" + b"three\n" * 50_000))
    assert kate.read_corpus(path).texts[:3].to_list() == ["one", "two", "three"]
    assert len(kate.read_corpus(path)) == 50_000 + 2


def test_documents_from_texts() -> None:
    documents = Documents.from_texts(iter(["one", "two"]), ids=[7, 8], labels=["x", None], titles=("A", "B"))
    assert documents.frame.rows() == [("one", "7", "x", "A"), ("two", "8", None, "B")]
    assert Documents.from_texts(["one"]).ids == ["0"]
    with pytest.raises(ValueError, match="1 labels for 2 texts"):
        Documents.from_texts(["one", "two"], labels=["x"])
    with pytest.raises(ValueError, match="the id '7' is given to several documents"):
        Documents.from_texts(["one", "two"], ids=[7, 7])
