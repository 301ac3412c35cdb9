"""A file that is not in the encoding is named, with advice for that file and not for the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from kate.text.readers import read_corpus

WORDS = "café – “naïve”\n"


@pytest.mark.parametrize(
    ("encoding", "named"), [("cp1252", "cp1252"), ("utf-16", "utf-16"), ("utf-32", "utf-32")]
)
@pytest.mark.parametrize("name", ["a.txt", "a.csv"])
def test_a_single_file_is_told_its_encoding(tmp_path: Path, name: str, encoding: str, named: str) -> None:
    (tmp_path / name).write_bytes(f"text\n{WORDS}".encode(encoding))
    with pytest.raises(
        ValueError, match=rf"{name}.*is not utf-8; it looks like {named}: pass encoding='{named}'"
    ):
        read_corpus(tmp_path / name)
    assert read_corpus(tmp_path / name, encoding=named).texts.to_list()[-1] == WORDS.strip()


def test_one_of_several_files_is_named_and_the_others_are_not_spoilt(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text(WORDS, encoding="utf-8")
    (tmp_path / "old file.txt").write_bytes(WORDS.encode("cp1252"))
    paths = [tmp_path / "good.txt", tmp_path / "old file.txt"]
    with pytest.raises(
        ValueError, match=r"old file\.txt, line 1: .*iconv -f cp1252 -t utf-8 '.*old file\.txt'"
    ) as caught:
        read_corpus(paths)
    assert "pass encoding=" not in str(caught.value)


def test_each_file_of_a_folder_gets_its_own_advice(tmp_path: Path) -> None:
    for name, encoding in (("a.txt", "utf-8"), ("b.txt", "cp1252"), ("c.txt", "utf-16")):
        (tmp_path / name).write_bytes(WORDS.encode(encoding))
    documents = read_corpus(tmp_path, on_error="skip")
    assert len(documents) == 1
    of_b, of_c = documents.skipped
    assert "b.txt: line 1: byte 0xe9 is not utf-8; this file looks like cp1252" in of_b
    assert "c.txt: is not utf-8; this file looks like utf-16" in of_c


def test_a_file_that_is_utf_8_although_another_encoding_was_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("日本語\n", encoding="utf-8")
    with pytest.raises(ValueError, match="it looks like utf-8: pass encoding='utf-8'"):
        read_corpus(tmp_path / "a.txt", encoding="ascii")


def test_standard_input_cannot_be_read_twice() -> None:
    import io

    with pytest.raises(
        ValueError, match="standard input, line 1: byte 0xe9 is not utf-8; it looks like cp1252"
    ):
        read_corpus("-", format="txt", stdin=io.BytesIO(b"caf\xe9\n"))
