"""The README: its examples run, and its figures are those that were measured."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from kate.cli import app
from kate.cli.demo import show
from kate.demo import tour
from kate.demo.speeches import paragraphs

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
# These need a data set, or take minutes to hours: only their options are checked.
NOT_RUN = ("kate evaluate --dataset", "kate reproduce")


class Example(NamedTuple):
    """A command of the README and the output that it shows."""

    command: str
    output: str


def shell_examples() -> list[Example]:
    examples = []
    for block in re.findall(r"^```console\n(.*?)^```", README, re.MULTILINE | re.DOTALL):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = example.partition("\n")
            examples.append(Example(command.split("  #")[0].strip(), output.strip()))
    return examples


def python_examples() -> list[doctest.Example]:
    blocks = re.findall(r"^```(?:python|pycon)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert all(">>>" in block for block in blocks)
    return [example for block in blocks for example in doctest.DocTestParser().get_examples(block)]


def shape(output: str) -> str:
    """The first line, up to a semicolon: numbers and quoted words depend on the corpus, which is smaller here."""
    line = (output.strip().splitlines() or [""])[0].split(";")[0]
    line = re.sub(r"'[^' ]*[^']*'", "'…'", line)
    return " ".join(re.sub(r"[0-9][0-9,.]*", "0", line).split())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what ``make demo`` leaves in kate-demo, from a twentieth of the paragraphs."""
    folder = tmp_path_factory.mktemp("readme")
    size = tour.DemoSize(settings={"n_components": 8, "vocabulary_size": 2_000, "max_epochs": 3})
    with contextlib.redirect_stdout(io.StringIO()), pytest.MonkeyPatch.context() as patch:
        patch.setattr(tour, "draw_pictures", lambda *_: [])  # tests/demo draws them
        show(folder / "kate-demo", paragraphs()[::20], size)
    return folder


@pytest.mark.parametrize("example", shell_examples(), ids=lambda example: example.command)
def test_the_commands_work(example: Example, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    arguments = shlex.split(example.command)[1:]
    if example.command.startswith(NOT_RUN):
        assert CliRunner().invoke(app, [*arguments, "--help"]).exit_code == 0
        return
    result = CliRunner().invoke(app, arguments)
    fails = example.output.startswith("kate: ")
    assert result.exit_code == (1 if fails else 0), result.output
    if example.output:
        assert shape(result.stderr if fails else result.stdout) == shape(example.output)


def test_the_commands_are_found() -> None:
    commands = [example.command for example in shell_examples()]
    assert len(commands) >= 12
    assert sum(not command.startswith(NOT_RUN) for command in commands) >= 7
    assert all(command.startswith("kate ") for command in commands)


def test_the_python_examples_work(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    names: dict[str, object] = {}
    examples = python_examples()
    assert len(examples) >= 10
    for example in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(example.source, "README.md", "single"), names)
        assert shape(printed.getvalue()) == shape(example.want), example.source


@pytest.mark.parametrize("page", ["README.md", "docs/gpu.md"])
def test_tables_of_speed_are_those_that_the_benchmarks_give(page: str) -> None:
    spec = importlib.util.spec_from_file_location("speed_table", ROOT / "experiments" / "speed_table.py")
    assert spec is not None and spec.loader is not None
    speed_table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(speed_table)

    shown = (ROOT / page).read_text().split(speed_table.START)[1].split(speed_table.END)[0]

    assert shown.strip() == speed_table.TABLES[ROOT / page](), (
        "run: python experiments/speed_table.py --update"
    )


def test_the_figures_of_topics_are_those_of_the_results():
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    titles = ["KATE", "NMF", "LDA", "LSA + k-means", "MiniLM + k-means", "BERTopic, outliers assigned"]
    for line, heading in (
        ("| NMI with", "### NMI with"),
        ("| NPMI of", "### NPMI of"),
        ("| documents that hold", "### Coverage"),
    ):
        [shown] = [row for row in README.splitlines() if row.startswith(line)]
        table = page.split(heading)[1].split("###")[0].splitlines()
        column = next(row for row in table if row.startswith("| model")).split(" | ").index("mean, long")
        means = {
            row.split(" | ")[0].removeprefix("| "): row.split(" | ")[column] for row in table if " | " in row
        }
        assert shown.strip(" |").split(" | ")[1:] == [means[title] for title in titles]
