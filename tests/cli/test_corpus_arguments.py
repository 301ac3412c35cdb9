"""The options of a corpus: they stand once, and are those of every command that reads one."""

import ast
import inspect
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

import kate.cli
from kate.cli.corpus_arguments import AS_THEY_COME, Corpus, CorpusArguments, with_corpus_options


def told(command):
    """What a command gets from the shell."""
    got = []
    app = typer.Typer()
    app.command()(with_corpus_options(command(got)))

    def run(*given):
        result = CliRunner().invoke(app, list(given))
        assert result.exit_code == 0, result.output
        return got.pop()

    return run


def test_options_become_one_argument():
    def command(got):
        def read(corpus: Corpus, reading: CorpusArguments = AS_THEY_COME, top: int = 3) -> None:
            got.append((corpus, reading, top))

        return read

    run = told(command)
    assert run("a.csv") == (["a.csv"], CorpusArguments(), 3)
    given = CorpusArguments(
        text="body", id="key", label="party", title="head", format="csv", encoding="cp1252"
    )
    assert run(
        *("a.csv", "b.csv", "--text", "body", "--id", "key", "--label", "party", "--title", "head"),
        *("--format", "csv", "--encoding", "cp1252", "--top", "5"),
    ) == (["a.csv", "b.csv"], given, 5)


def test_a_command_may_have_some_of_them_alone():
    def command(got):
        def read(reading: Annotated[CorpusArguments, "text", "on_error"] = AS_THEY_COME) -> None:
            got.append(reading)

        return read

    assert told(command)("--text", "body", "--on-error", "skip").on_error == "skip"
    wrapped = with_corpus_options(command([]))
    assert list(inspect.signature(wrapped).parameters) == ["text", "on_error"]


@pytest.mark.parametrize(
    "path", sorted(Path(kate.cli.__file__).parent.glob("*.py")), ids=lambda path: path.stem
)
def test_no_command_spells_them_out_again(path):
    """`kate evaluate` has its --label beside other options of labels."""
    if path.stem == "corpus_arguments":
        return
    own = {field.name for field in fields(CorpusArguments)} - {"label", "id", "text", "title"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            assert not own & {argument.arg for argument in node.args.args}, node.name
