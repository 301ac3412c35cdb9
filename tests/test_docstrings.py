"""The docstrings of the public names: each has an example, and sections that readers of NumPy's form understand."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kate

ROOT = Path(__file__).resolve().parents[1]

NAMES = [name for name in kate.__all__ if name != "__version__"]
SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "Notes", "Examples")


def own_docstrings(name: str) -> Iterator[tuple[str, str, Any]]:
    """A public name and, of a class, its public methods, with their docstrings."""
    found = getattr(kate, name)
    yield name, inspect.getdoc(found) or "", found
    for member, value in vars(found).items() if inspect.isclass(found) else ():
        if inspect.isfunction(value) and not member.startswith("_"):
            yield f"{name}.{member}", inspect.getdoc(value) or "", value


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_has_an_example(name: str) -> None:
    documentation = inspect.getdoc(getattr(kate, name)) or ""
    assert ">>> " in documentation, f"kate.{name} has no example"
    examples = "\n".join(re.findall(r"^ *(?:>>>|\.\.\.) ?(.*)$", documentation, re.MULTILINE))
    assert name in examples or name.lower() in examples or examples.count("\n") > 1
    ast.parse(examples)


def test_the_version_has_one() -> None:
    assert ">>> kate.__version__" in (kate.__doc__ or "")


@pytest.mark.parametrize("name", NAMES)
def test_sections_are_of_numpys_form(name: str) -> None:
    for place, text, _ in own_docstrings(name):
        lines = text.splitlines()
        sections = [line for line, under in itertools.pairwise(lines) if set(under) == {"-"}]
        assert set(sections) <= set(SECTIONS), f"{place} has the sections {sections}"
        assert len(set(sections)) == len(sections), f"{place} has a section twice"
        for section in set(sections) & {"Parameters", "Attributes"}:
            _require_entries(place, lines, section)


def _require_entries(place: str, lines: list[str], section: str) -> None:
    """Every line of the section is an entry (name : type) or an indented line that describes one."""
    rest = lines[lines.index(section) + 2 :]
    headers = [number for number, line in enumerate(rest) if set(line) == {"-"}]
    for line in rest[: headers[0] - 1] if headers else rest:
        described = not line or line.startswith("    ")
        assert described or re.fullmatch(r"\*{0,2}\w+(?:, \w+)*(?: : .+)?", line), f"{place}: {line!r}"


@pytest.mark.parametrize("name", [name for name in NAMES if inspect.isroutine(getattr(kate, name))])
def test_the_parameters_that_are_described_exist(name: str) -> None:
    known = inspect.signature(getattr(kate, name)).parameters
    text = (inspect.getdoc(getattr(kate, name)) or "").partition("Parameters\n")[2]
    described = re.findall(r"^\*{0,2}(\w+(?:, \w+)*) : ", text, re.MULTILINE)
    assert {one for names in described for one in names.split(", ")} <= set(known)


def test_the_reference_has_every_name() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    assert not [name for name in kate.__all__ if f"`kate.{name}`" not in pages]
    directives = set(re.findall(r"^\.\. auto\w+:: kate\.([\w.]+)$", pages, re.MULTILINE))
    rooms = {"plot", "explore", "spark", "__version__"}
    assert set(kate.__all__) - rooms <= directives
