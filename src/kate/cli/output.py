"""Tables for people and JSON for programs, both on standard output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer

__all__ = ["print_json", "print_pairs", "print_table", "say"]

# Output to a pipe has one line per row, so that grep and cut work: wide enough for any row.
_PIPED_WIDTH = 400


def say(message: str) -> None:
    """A line about what happens; not on standard output, which is for results."""
    typer.echo(f"kate: {message}", err=True)


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
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
        cells = (Text(cell, "bold" if strong and cell.startswith(strong) else "") for cell in row)
        # Text and not str: a "[" in a document is no markup
        table.add_row(*cells)
    console = Console(file=sys.stdout, width=width, highlight=False, soft_wrap=False)
    with console.capture() as capture:
        console.print(table)
    # without the spaces with which rich fills the last column
    typer.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))


def print_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """One line per name and value; the values are aligned."""
    listed = list(pairs)
    width = max(len(name) for name, _ in listed)
    for name, value in listed:
        typer.echo(f"{name:<{width}}  {value}")
