"""kate trends: bars for people, tables for programs, and errors that name the column, the row and the value."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import kate
from kate.cli import app
from kate.cli.output import sparkline
from topics.four_themes import dated_frame, fitted

COLUMNS = ["period", "topic", "topic_name", "documents", "share", "words"]


def run(*arguments: object, code: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == code, result.stderr
    return result.stdout, result.stderr


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trends") / "model"
    fitted().save(folder)
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    dated_frame().write_csv("corpus.csv")
    return tmp_path


def test_the_table_has_bars(model: Path, home: Path) -> None:
    out, err = run("trends", model, "corpus.csv", "-n", 4)
    lines = out.splitlines()
    assert err == ""
    assert lines[0].startswith("topic  1999-01")
    assert "2001-01  peak  in       name: words of the peak" in lines[0]
    assert max(map(len, lines)) <= 80
    assert sum("█" in line for line in lines) == 4
    assert (
        run("trends", model, "corpus.csv", "-n", 4, "--every", "year")[0]
        .splitlines()[0]
        .startswith("topic  1999")
    )


def test_groups_are_named(model: Path, home: Path) -> None:
    out, _ = run("trends", model, "corpus.csv", "-n", 4, "--by", "author")
    assert out.splitlines()[0].split() == ["topic", "documents", "name", "largest", "shares"]
    assert out.count("Ann 50%") == out.count("Bob 50%") == 2


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.jsonl"])
def test_the_table_is_written(model: Path, home: Path, name: str) -> None:
    out, err = run("trends", model, "corpus.csv", "-n", 4, "--every", "quarter", "-o", name)
    assert (out, err) == (f"160 documents, 9 periods of a quarter, 4 topics → {name}\n", "")
    read = {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".jsonl": pl.read_ndjson}[Path(name).suffix]
    expected = kate.load(model).topics(4).over(dated_frame(), every="quarter")
    found = read(name)
    assert found.columns == COLUMNS
    assert found["documents"].to_list() == expected["documents"].to_list()
    assert found["period"].cast(pl.String).to_list() == expected["period"].cast(pl.String).to_list()


def test_json(model: Path, home: Path) -> None:
    rows = json.loads(run("trends", model, "corpus.csv", "-n", 4, "--every", "year", "--json")[0])
    assert [list(row) for row in rows] == [COLUMNS] * 12
    assert rows[0]["period"] == "1999-01-01"
    assert isinstance(rows[0]["words"], list)


def test_control_characters_do_not_reach_the_terminal(model: Path, home: Path) -> None:
    dated_frame(8).with_columns(author=pl.lit("Ann\x1b[31m\x9b\u202e")).write_csv("evil.csv")
    for more in ([], ["--json"]):
        out, err = run("trends", model, "evil.csv", "-n", 4, "--by", "author", *more)
        assert "Ann" in out
        assert not set(out + err) & set("\x1b\x9b\u202e")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--by", "dat"], 1, "the corpus has no column 'dat'; did you mean date?"),
        (["--by", "author", "--every", "month"], 1, "'Bob' in the column 'author' (row 0, id 'corpus:2')"),
        (["--by", "body", "-n", 999], 1, "999 topics"),
        (["--every", "fortnight"], 2, "--every"),
        (["-o", "out.png"], 2, "out.png does not end in .csv"),
        (["-o", "nowhere/out.csv"], 1, "the folder nowhere does not exist"),
    ],
)
def test_what_goes_wrong_is_said(
    model: Path, home: Path, options: list[object], code: int, message: str
) -> None:
    out, err = run("trends", model, "corpus.csv", *options, code=code)
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_a_date_that_is_none_is_named(model: Path, home: Path) -> None:
    text = Path("corpus.csv").read_text().replace("1999-01-19", "19.1.99", 1)
    Path("corpus.csv").write_text(text)
    err = run("trends", model, "corpus.csv", "-n", 4, code=1)[1]
    assert "'19.1.99' in the column 'date' (row 1, id 'corpus:3') is not a date" in err
    Path("years.csv").write_text("text,year\ngold,1999\nnavy,2001\n")
    err = run("trends", model, "years.csv", "-n", 4, "--by", "year", "--every", "month", code=1)[1]
    assert "take --every year or longer" in err


def test_bars() -> None:
    assert sparkline([0, 0.5, 1]) == "▁▄█"
    assert sparkline([None, 0]) == " ▁"
    assert len(sparkline([0.1] * 1000)) == 24
    assert sparkline([]) == " "


def test_a_picture_beside_the_table(model: Path, home: Path) -> None:
    run("trends", model, "corpus.csv", "-n", 4, "-o", "trends.csv", "--plot", "trends.svg")
    assert Path("trends.svg").read_text().count("<svg") == 1
    err = run("trends", model, "corpus.csv", "-n", 4, "--plot", "trends.gif", code=1)[1]
    assert ".png" in err
