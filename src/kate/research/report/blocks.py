"""What a report is made of: sections with text, tables and figures, the same for the page and for Markdown.

Text may contain ``**strong**`` and ```code```; everything else is shown as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kate.research.report.charts import Chart

__all__ = [
    "Block",
    "Code",
    "ColumnGroup",
    "Figure",
    "Folded",
    "Items",
    "Page",
    "Section",
    "Table",
    "TableCell",
    "TableRow",
    "TextBlock",
]

Kind = Literal["value", "words", "none", "error"]


@dataclass(frozen=True)
class TableCell:
    """A cell of a table. ``beside`` is small print in it (± 0.003), ``detail`` is shown when the mouse is on it."""

    text: str
    beside: str = ""
    detail: str = ""
    strong: bool = False
    kind: Kind = "value"


@dataclass(frozen=True)
class ColumnGroup:
    """Columns under a common heading; a single column without a title has only the heading."""

    title: str
    columns: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class TableRow:
    head: str
    cells: tuple[TableCell, ...]
    part: str = ""
    """If given, a new part of the table starts here, with this heading."""


@dataclass(frozen=True)
class Table:
    name: str
    corner: str
    groups: tuple[ColumnGroup, ...]
    rows: tuple[TableRow, ...]
    caption: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextBlock:
    text: str


@dataclass(frozen=True)
class Items:
    items: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    text: str


@dataclass(frozen=True)
class Figure:
    """Charts side by side under one caption; ``name`` is the name of its files."""

    name: str
    charts: tuple[Chart, ...]
    caption: str
    columns: int = 2
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Folded:
    """Blocks that open on a click; in Markdown they are shown open, or left out."""

    name: str
    title: str
    blocks: tuple[Block, ...]
    in_markdown: bool = False


Block: TypeAlias = TextBlock | Items | Table | Figure | Folded | Code


@dataclass(frozen=True)
class Section:
    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    title: str
    subtitle: str
    sections: tuple[Section, ...]
    banner: str = ""
    facts: tuple[str, ...] = field(default=())
    opening: tuple[Block, ...] = field(default=())
    """What is shown before the contents."""
