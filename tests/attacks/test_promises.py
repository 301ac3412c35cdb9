"""docs/reliability.md names the test that keeps each promise: these tests are there."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reliability.md"
# `tests/…/test_x.py::test_y`, as pytest takes it
_NAMED = re.compile(r"`((?:tests|src)/[\w/.]+\.py)::(\w+)`")


def named_tests() -> list[tuple[str, str]]:
    return sorted(set(_NAMED.findall(PAGE.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(("file", "test"), named_tests())
def test_every_test_that_the_page_names_exists(file: str, test: str) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert test in {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_every_promise_names_a_test() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    promises = [line for line in rows if not line.startswith(("| promise", "| ---", "|---"))]
    assert len(promises) > 20
    assert not [line for line in promises if not _NAMED.search(line)]


def test_no_test_is_named_without_its_file() -> None:
    page = PAGE.read_text(encoding="utf-8")
    named = [name for name in re.findall(r"\btest_\w+\b(?!\.py)", page) if "::" + name not in page]
    assert not named


def test_the_files_that_the_threat_model_names_exist() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    names = re.findall(r"`(?:[\w/]+/)?(test_\w+\.py)`", page)
    assert len(names) > 5
    assert not set(names) - {path.name for path in (ROOT / "tests").rglob("test_*.py")}


def test_the_counts_of_the_page_are_those_of_the_runs() -> None:
    """Cases that were run again, to see whether they answer now, are no new ones."""
    runs = [json.loads(line) for line in (ROOT / "experiments" / "attack.jsonl").read_text().splitlines()]
    counted = dict.fromkeys(("Folder", "Odd", "Killed"), 0)
    for run in runs:
        if run["experiment"] == "attack" and not run.get("again"):
            # a table of LanceDB is files of a folder, too
            kind = run["attack"].replace("Table", "Folder")
            counted[next(name for name in counted if name in kind)] += run["cases"]
    told = re.search(
        r"([\d,]+) damaged files, ([\d,]+) odd inputs and ([\d,]+) kills", PAGE.read_text(encoding="utf-8")
    )
    assert told and list(told.groups()) == [f"{n:,}" for n in counted.values()], counted
