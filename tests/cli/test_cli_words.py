"""The options that say what a word is, and the list of languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kate
from kate.cli import app
from kate.extras import install_command

TEXTS = ["<span>Gold</span> sooooo dear", "gold of ann@mail.org and @bob", "silver: https://site.org"] * 4


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def words_of(folder: Path, *options: object) -> set[str]:
    (folder / "texts.txt").write_text("".join(f"{text}\n" for text in TEXTS))
    fixed = ["-o", folder / "model", "--dimensions", 2, "--epochs", 1, "--no-stem", "-q"]
    code, _, err = run("fit", folder / "texts.txt", *fixed, *options)
    assert code == 0, err
    return set(kate.load(folder / "model").vocabulary_.words)


def test_markup_and_addresses_are_left_out(tmp_path: Path) -> None:
    assert words_of(tmp_path) == {"gold", "soo", "dear", "silver"}


@pytest.mark.parametrize(
    ("option", "word"),
    [
        ("--keep-html", "span"),
        ("--keep-urls", "https"),
        ("--keep-emails", "mail"),
        ("--keep-handles", "bob"),
        ("--keep-runs", "sooooo"),
    ],
)
def test_each_kind_can_be_kept(tmp_path: Path, option: str, word: str) -> None:
    assert word in words_of(tmp_path, option)


def test_words_of_few_or_many_documents_can_be_left_out(tmp_path: Path) -> None:
    assert words_of(tmp_path, "--min-df", 5) == {"gold"}
    assert words_of(tmp_path, "--min-df", "auto", "--max-df", "0.5") == {"soo", "dear", "silver"}


def test_a_limit_that_is_no_number_is_refused(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("gold\n")
    code, _, err = run("fit", tmp_path / "texts.txt", "-o", tmp_path / "model", "--min-df", "few")
    assert code == 2
    assert "few is neither a number of documents nor a share" in err


def test_languages_are_listed() -> None:
    code, out, _ = run("languages")
    assert code == 0
    lines = {line.split()[0]: line.split() for line in out.splitlines()}
    assert lines["german"][:3] == ["german", "de", "yes"]
    assert lines["chinese"][4:] == install_command("cjk").split()
    rows = json.loads(run("languages", "--json")[1])
    assert [row["name"] for row in rows] == kate.languages()
    assert {"name": "tamil", "code": "ta", "stems": True, "n_stop_words": 0, "needs": ""} in rows


def test_another_language_is_named_with_the_option_to_set(tmp_path: Path) -> None:
    text = (
        "der mann und die frau haben nicht das haus in der stadt gesehen aber sie sind mit dem zug zu uns\n"
    )
    (tmp_path / "texts.txt").write_text(text * 5)
    fixed = ["-o", tmp_path / "model", "--dimensions", 2, "--epochs", 1]
    assert "read as German" in run("fit", tmp_path / "texts.txt", *fixed)[1]
    assert run("fit", tmp_path / "texts.txt", *fixed, "-q") == (0, "", "")
    fixed.append("-q")
    code, _, err = run("fit", tmp_path / "texts.txt", *fixed, "--language", "en")
    assert code == 0
    assert "stop words of German" in err
    assert "set --language german, or --language none" in err
    assert run("fit", tmp_path / "texts.txt", *fixed, "--language", "de") == (0, "", "")
