"""Input that cannot be read: the error names the file, what was found and what to do, in one line."""

from __future__ import annotations

import gzip
import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

import kate
from kate.text.readers import MalformedRowError

# name, content, malformed line, message about it; in every case the other row is fine
MALFORMED = [
    ("x.jsonl", b'{"text": "ok"}\n{"text": \n', 2, "not JSON"),
    ("x.jsonl", b'["ok"]\n{"text": "ok"}\n', 1, "not a JSON object"),
    ("x.jsonl", b'{"text": "ok"}\n\n{"text": 3}\n', 3, "the field 'text' holds 3; expected a string"),
    ("x.jsonl", b'{"text": "ok"}\n{"text": null}\n', 2, "the field 'text' holds None; expected a string"),
    ("x.jsonl", b'{"text": "ok"}\n{"txt": "?", "n": 1}\n', 2, "no field 'text'; its fields are 'txt', 'n'"),
    (
        "x.jsonl",
        b'{"text": "ok"}\n{"text": "caf\xe9"}\n',
        2,
        r"byte 0xe9 is not utf-8; it looks like cp1252: pass encoding=",
    ),
    ("x.jsonl", b'{"text": "ok"}\n{"text": "\\ud800"}\n', 2, r"\\ud800 is half a character"),
    ("x.jsonl", b'{"text": "ok"}\n{"text": "hi", "\\ud800": 1}\n', 2, r"\\ud800 is half a character"),
    ("x.csv", b'text,n\n"a\nb",1\nshort\n', 4, "1 fields where the header has 2"),
    ("x.csv", b"text,n\nok,1\na,b,c\n", 3, "3 fields where the header has 2"),
    ("x.csv", b'text,n\nok,1\n"never closed,2\nok,3\n', 3, "a quote is opened and never closed"),
    ("x.csv", b'text,n\nok,1\n"a" b,2\n', 3, "bad quoting"),
    ("x.csv", b"text,n\nok,1\ncaf\xe9,2\n", 3, "byte 0xe9 is not utf-8"),
    ("x.tsv", b"text\tn\nok\t1\na\tb\tc\n", 3, "3 fields where the header has 2"),
    ("x.txt", b"ok\ncaf\xe9\n", 2, "byte 0xe9 is not utf-8"),
]


@pytest.mark.parametrize(("name", "content", "line", "message"), MALFORMED)
def test_a_malformed_row_is_an_error_with_file_and_line(
    tmp_path: Path, name: str, content: bytes, line: int, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(MalformedRowError, match=message) as caught:
        kate.read_corpus(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "content", "line", "message"), MALFORMED)
def test_or_it_is_skipped_and_counted(
    tmp_path: Path, name: str, content: bytes, line: int, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    documents = kate.read_corpus(path, on_error="skip")
    assert len(documents) == 1
    assert documents.n_skipped == 1
    assert documents.skipped[0].startswith(f"{path}, line {line}: ")


def test_null_texts_of_parquet_are_malformed_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"text": ["ok", None, "ok"]}).write_parquet(path)
    with pytest.raises(MalformedRowError, match="row 2: the field 'text' is null"):
        kate.read_corpus(path)
    documents = kate.read_corpus(path, on_error="skip")
    assert documents.ids == ["x:1", "x:3"]
    assert documents.n_skipped == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\x89PNG\0\0", "is binary, not text"), (b"one\ncaf\xe9", "line 2: byte 0xe9 is not utf-8")],
)
def test_files_of_a_folder_that_are_no_text_are_malformed_rows(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    (tmp_path / "b.txt").write_bytes(b"fine")
    with pytest.raises(MalformedRowError, match=message) as caught:
        kate.read_corpus(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'a.txt'}: ")
    assert kate.read_corpus(tmp_path, on_error="skip").ids == ["b.txt"]


def test_only_the_first_messages_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"text": "ok"}\n' + b"junk\n" * 25)
    documents = kate.read_corpus(path, on_error="skip")
    assert documents.n_skipped == 25
    assert len(documents.skipped) == 10


def cut_short(content: bytes) -> bytes:
    return content[: len(content) // 2]


LINES = b"".join(b"line %d of a text\n" % n for n in range(5000))

UNREADABLE: list[tuple[str, bytes, dict[str, Any], str]] = [
    ("x.txt.gz", cut_short(gzip.compress(LINES, mtime=0)), {}, "is cut short"),
    ("x.txt.zst", cut_short(zstandard.ZstdCompressor().compress(LINES)), {}, "is cut short"),
    ("x.jsonl.gz", b'{"text": "not compressed"}', {}, "is not what its name says or is damaged"),
    ("x.txt.zst", b"not compressed at all", {}, "is not what its name says or is damaged"),
    ("x.parquet.gz", cut_short(gzip.compress(LINES, mtime=0)), {}, "is cut short"),
    ("x.txt", b"\x89PNG\r\n\x1a\n\0\0\0", {}, "is binary, not text; give a text file"),
    ("x.jsonl", gzip.compress(b"text", mtime=0), {}, "gzip-compressed: let its name end in .gz"),
    ("x.csv", b"PAR1\0\0", {}, "it is a Parquet file: pass format='parquet'"),
    ("x.txt", b"a", {"encoding": "utf-16"}, "is not utf-16"),
    ("x.txt", b"a", {"encoding": "utf-9"}, "unknown encoding 'utf-9'"),
    ("x.txt", b"a", {"encoding": "hex"}, "unknown encoding 'hex'"),
    ("x.txt", b"a", {"encoding": "idna"}, "unknown encoding 'idna'"),
    ("x.txt", b"a", {"encoding": "utf-8\0"}, "unknown encoding"),
    ("x.parquet", b"junk", {}, "is not a Parquet file or is damaged"),
    (
        "x.docx",
        b"PK",
        {},
        "has the extension '.docx', which does not tell the format; pass format= one of jsonl",
    ),
    ("x.gz", b"", {}, "has no extension, which does not tell the format"),
    ("x.csv", b"a,b\n1,2\n", {}, "no field with a usual name for the text .* its fields are 'a', 'b'"),
    ("x.jsonl", b'{"a": "b"}', {}, "no field with a usual name for the text .* its fields are 'a'"),
    ("x.csv", b"text\nhi\n", {"label": "party"}, "has no field 'party' for the label; its fields are 'text'"),
    ("x.csv", b"text\nhi\n", {"text": "body"}, "has no field 'body' for the text"),
    ("x.txt", b"hi\n", {"label": "party"}, "label='party': .* is plain text and has no fields"),
    (
        "x.csv",
        b"no,text\n1,a\n1,b\n",
        {"id": "no"},
        "the id field 'no' is not unique: '1' occurs more than once",
    ),
    ("x.jsonl", b'{"text": "a", "tags": [1]}', {"label": "tags"}, r"line 1: the field 'tags' holds \[1\]"),
    ("x.jsonl", b"", {}, "no documents in .*x.jsonl; expected at least one"),
    ("x.csv", b"text\n", {}, "no documents in"),
    ("x.jsonl", b"junk", {"on_error": "skip"}, r"no documents in .* \(1 skipped: .*line 1: not JSON"),
    ("x.txt", b"hi", {"format": "xml"}, "unknown format 'xml'; choose one of jsonl, csv"),
    ("x.txt", b"hi", {"on_error": "ignore"}, "choose 'raise' or 'skip'"),
]


@pytest.mark.parametrize(("name", "content", "options", "message"), UNREADABLE)
def test_what_cannot_be_read_says_why(
    tmp_path: Path, name: str, content: bytes, options: dict[str, Any], message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        kate.read_corpus(path, **options)
    assert "\n" not in str(caught.value)


def test_parquet_fields_of_the_wrong_kind(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"text": [1], "body": ["hi"], "labels": [["x", "y"]]}).write_parquet(path)
    with pytest.raises(ValueError, match="the field 'text' holds Int64; expected strings: choose another"):
        kate.read_corpus(path)
    with pytest.raises(ValueError, match=r"the field 'labels' holds List\(String\)"):
        kate.read_corpus(path, text="body", label="labels")
    assert kate.read_corpus(path, text="body").labels is None
    pl.DataFrame({"text": ["hi"], "label": [timedelta(1)]}).write_parquet(path)
    with pytest.raises(ValueError, match=r"the field 'label' holds Duration"):
        kate.read_corpus(path, label="label")
    assert kate.read_corpus(path).labels is None


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.jsonl does not exist"):
        kate.read_corpus(tmp_path / "nowhere.jsonl")
    with pytest.raises(FileNotFoundError, match="the empty path does not exist"):
        kate.read_corpus("")


def test_folders_without_text_and_folders_where_a_file_is_needed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is a folder with no text files in it \(found nothing\)"):
        kate.read_corpus(tmp_path)
    (tmp_path / "x.json").write_bytes(b"{}")
    with pytest.raises(
        ValueError, match=r"found 1 x \.json\); expected files that end in \.txt, or data files"
    ):
        kate.read_corpus(tmp_path)
    with pytest.raises(
        ValueError, match=r"a folder with no file of the format jsonl in it \(found 1 x \.json\)"
    ):
        kate.read_corpus(tmp_path, format="jsonl")


def test_the_label_of_a_folder_cannot_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"hi")
    with pytest.raises(ValueError, match="the label of a file is its sub-folder"):
        kate.read_corpus(tmp_path, label="party")


@pytest.mark.parametrize("paths", [None, 5, b"x.txt"])
def test_what_is_no_path_is_refused(paths: Any) -> None:
    with pytest.raises(TypeError, match="expected a path or a list of paths, got"):
        kate.read_corpus(paths)


def test_no_paths_and_one_path_twice(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no files to read"):
        kate.read_corpus([])
    (tmp_path / "x.txt").write_bytes(b"hi")
    with pytest.raises(ValueError, match="is given twice"):
        kate.read_corpus([tmp_path / "x.txt", tmp_path / "x.txt"])


@pytest.mark.parametrize("given", [None, "parquet"])
def test_standard_input_needs_a_format(given: str | None) -> None:
    with pytest.raises(ValueError, match="pass format='jsonl' or format='txt'"):
        kate.read_corpus("-", format=given, stdin=io.BytesIO(b"hi"))
