"""What a notebook shows of Kate's objects: small tables, escaped, that read well on light and on dark ground."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["LONGEST_CELL", "bar", "cut_short", "facts_html", "marked", "table_html"]

LONGEST_CELL = 200  # characters of a text
# Colours come from the notebook's own text colour, so that they follow its theme, and nothing is fetched.
_TABLE = "border-collapse:collapse;font-size:0.9em"
_CELL = "text-align:left;vertical-align:top;padding:2px 10px 2px 0;border:0;background:none;max-width:60em"
_HEAD = _CELL + ";opacity:0.7;font-weight:normal"
_MARK = "background:none;color:inherit;font-weight:bold;text-decoration:underline"


def cut_short(text: str, longest: int = LONGEST_CELL) -> str:
    """A text on one line, with … where it goes on.

    >>> cut_short("one  two\\nthree", longest=8)
    'one two…'
    """
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest and len(text) <= 4 * longest else line[: longest - 1].rstrip() + "…"


def marked(text: str, marks: Iterable[tuple[int, int]]) -> str:
    """A text as HTML with some of its parts marked.

    >>> marked("a <b> c", [(2, 5)]).partition(">")[2]
    '&lt;b&gt;</mark> c'
    """
    parts, end = [], 0
    for start, stop in sorted(marks):
        parts += [
            html.escape(text[end:start]),
            f'<mark style="{_MARK}">{html.escape(text[start:stop])}</mark>',
        ]
        end = stop
    return "".join([*parts, html.escape(text[end:])])


def bar(share: float) -> str:
    """A share as a number and a bar of that length."""
    width = 4 * max(0.0, min(1.0, share))
    style = f"display:inline-block;height:0.6em;width:{width:.2f}em;background:currentColor;opacity:0.4"
    return f'<span style="white-space:nowrap">{share:.1%} <span style="{style}"></span></span>'


def facts_html(title: str, facts: Sequence[tuple[str, Any]]) -> str:
    """A heading and lines of a name and a value; values are escaped."""
    rows = [[html.escape(name), html.escape(str(value))] for name, value in facts]
    return f"<div><strong>{html.escape(title)}</strong>{table_html([], rows)}</div>"


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]], *, more: int = 0) -> str:
    """A table; the head is escaped here, the cells are HTML already. ``more`` rows were left out."""
    top = "".join(f'<th style="{_HEAD}">{html.escape(name)}</th>' for name in head)
    lines = ["".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    rest = f'<div style="opacity:0.7;font-size:0.9em">… and {more:,} more</div>' if more else ""
    thead = f"<thead><tr>{top}</tr></thead>" if head else ""
    return f'<table style="{_TABLE}">{thead}<tbody>{body}</tbody></table>{rest}'
