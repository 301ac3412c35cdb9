"""Tables for people and JSON for programs, both on standard output."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import typer

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["counted", "harmless", "print_json", "print_pairs", "print_table", "say", "sparkline"]

# Output to a pipe has one line per row, so that grep and cut work: wide enough for any row.
_PIPED_WIDTH = 400
# Control characters beyond ASCII, and marks that turn the direction of writing: a terminal obeys them.
_CONTROLS = re.compile(r"[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def say(message: str) -> None:
    """A line about what happens; not on standard output, which is for results."""
    typer.echo(f"kate: {harmless(message)}", err=True)


def harmless(text: str) -> str:
    """A text on one line that a terminal shows and does not obey.

    >>> harmless("red:\\x1b[31m\\n a\\tb")
    'red: [31m a b'
    """
    return " ".join(re.sub(r"[\x00-\x1f]", " ", _CONTROLS.sub(" ", text)).split())


def counted(n: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "document"), counted(1200, "document")
    ('1 document', '1,200 documents')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def sparkline(values: Sequence[float | None], n_bars: int = 24) -> str:
    """Values as small bars, the highest one full; a space where there is none. Many values are averaged.

    >>> sparkline([0.1, None, 0.8])
    '▁ █'
    """
    n_bars = max(1, min(n_bars, len(values)))
    edges = [round(bar * len(values) / n_bars) for bar in range(n_bars + 1)]
    parts = [[value for value in values[first:last] if value is not None] for first, last in pairwise(edges)]
    means = [sum(part) / len(part) if part else None for part in parts]
    highest = max((mean for mean in means if mean is not None), default=0) or 1
    return "".join(" " if mean is None else "▁▁▂▃▄▅▆▇█"[math.ceil(mean / highest * 8)] for mean in means)


def print_json(value: Any) -> None:
    written = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    typer.echo(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", written))


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    right: Sequence[str] = (),
    strong: str | None = None,
) -> None:
    """Columns with two spaces between them, no frame; the last one takes the rest of the line and wraps there.

    ``right`` names the columns that are aligned right: numbers. Cells that begin with ``strong`` are bold on a
    terminal.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    is_terminal = sys.stdout.isatty()
    width = None if is_terminal or "COLUMNS" in os.environ else _PIPED_WIDTH
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in columns:
        is_last = name == columns[-1]
        table.add_column(
            name,
            justify="right" if name in right else "left",
            no_wrap=not is_last,
            overflow="fold" if is_last else "ellipsis",
        )
    for row in rows:
        cells = (
            Text(_cell(cell), "bold" if strong and cell.startswith(strong) else "")
            if isinstance(cell, str)
            else cell
            for cell in row
        )
        # Text and not str: a "[" in a document is no markup
        table.add_row(*cells)
    console = Console(file=sys.stdout, width=width, highlight=False, soft_wrap=False, color_system=_colors())
    with console.capture() as capture:
        console.print(table)
    # without the spaces with which rich fills the last column
    typer.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))


def _colors() -> Literal["auto"] | None:
    """None where the user wants no colours, nor bold letters: no-color.org."""
    return None if os.environ.get("NO_COLOR") else "auto"


def _cell(text: str) -> str:
    """Without control characters; spaces stay, for they may be part of a picture."""
    return text if text.isprintable() else harmless(text)


def print_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """One line per name and value; the values are aligned."""
    listed = list(pairs)
    width = max(len(name) for name, _ in listed)
    for name, value in listed:
        shown = name if name.isprintable() else harmless(name)
        typer.echo(f"{shown:<{width}}  {harmless(value)}")
