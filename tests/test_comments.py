"""Comments: one at the end of a line must not break that line of code in two; it stands above it then."""

from pathlib import Path

import pytest

import kate

ROOT = Path(kate.__file__).parents[2]
MODULES = [
    path for part in ("src", "tests", "benchmarks", "experiments") for path in (ROOT / part).rglob("*.py")
]
LONGEST = 110  # characters of a line, as in pyproject.toml


def broken(lines: list[str]) -> list[str]:
    """Three lines that would be one without their comment.

    >>> broken(["limit = (", "    60  # a line through more of them is noise", ")"])
    ['limit = (60)']
    >>> broken(["limit = limit_of(", "    corpus, model, settings,", ")  # of all"])
    []
    """
    found = []
    for three in zip(lines, lines[1:], lines[2:], strict=False):
        (first, _), (middle, inside), (last, after) = (
            (code.rstrip(), note) for code, _, note in map(cut, three)
        )
        is_one = (
            first.endswith(("(", "[")) and last.lstrip().startswith((")", "]")) and not middle.endswith(",")
        )
        whole = first + middle.strip() + last.strip()
        is_told = any(note and not note.startswith(("noqa", "type:", "fmt:")) for note in (inside, after))
        if is_one and is_told and middle.strip() and len(whole) <= LONGEST:
            found.append(whole)
    return found


def cut(line: str) -> tuple[str, str, str]:
    return line.partition("  # ")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_comment_breaks_a_line_in_two(path: Path) -> None:
    assert not broken(path.read_text(encoding="utf-8").splitlines())
