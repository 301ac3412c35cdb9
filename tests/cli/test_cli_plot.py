"""kate plot: pictures from the shell, and what is said of bad input."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

import kate
from kate.cli import app

TEXTS = ("peace treaty signed", "gold silver coin", "school teacher child", "ship navy sea")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model and its corpus."""
    folder = tmp_path_factory.mktemp("plot")
    rows = [f"{TEXTS[n // 20]},{1900 + n // 2},day {n}" for n in range(80)]
    (folder / "news.csv").write_text("\n".join(["text,year,when", *rows]))
    documents = kate.read_corpus(folder / "news.csv")
    kate.TextModel(n_components=4, max_epochs=2).fit(documents).save(folder / "model")
    return folder


def run(home: Path, command: str) -> Result:
    arguments = command.replace("MODEL", str(home / "model")).replace("NEWS", str(home / "news.csv"))
    return CliRunner().invoke(app, ["plot", *arguments.replace("OUT", str(home / "out")).split()])


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("trends MODEL NEWS --by year --every year -n 4 -o OUT.png", "4 topics → "),
        ("trends MODEL NEWS --by year -n 4 --topic 3 --topic 1 -o OUT.svg", "2 topics → "),
        ("map MODEL NEWS -n 4 --most 40 -o OUT.png", "40 documents, 4 topics → "),
        ("tree MODEL -n 4 -o OUT.pdf", "the tree → "),
        ("words MODEL -n 4 --topic 3 --top 2 -o OUT.svg", "2 words → "),
    ],
)
def test_pictures_are_written(home: Path, command: str, told: str) -> None:
    result = run(home, command)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(told)
    picture = Path(result.stdout.split(" → ")[1].strip())
    assert picture.stat().st_size > 1_000
    picture.unlink()
    assert run(home, f"{command} -q").stdout == ""
    picture.unlink()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("trends MODEL NEWS --by year -o OUT.gif", ".png, .svg or .pdf"),
        ("trends MODEL NEWS --by yaer -o OUT.png", "no column 'yaer'; did you mean year"),
        ("trends MODEL NEWS -o OUT.png", "no column 'date'"),
        ("trends MODEL NEWS --by when --every year -o OUT.png", "'day 0' in the column 'when'"),
        ("trends MODEL NEWS --by year --topic 99 -o OUT.png", "99"),
        ("trends MODEL NEWS --by year -n 5000 -o OUT.png", "5,000 topics"),
        ("map MODEL NEWS -o OUT/none/map.png", "does not exist"),
        ("tree MODEL", "--output"),
        ("words MODEL -n 4 --topic 9 -o OUT.png", "9"),
        ("words MODEL -n 4 -o OUT.png", "--topic"),
        ("tree NEWS -o OUT.png", "news.csv"),
    ],
)
def test_bad_input_is_one_line_and_no_file(home: Path, command: str, told: str) -> None:
    before = sorted(path.name for path in home.iterdir())
    result = run(home, command)
    assert result.exit_code in (1, 2)
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(path.name for path in home.iterdir()) == before
