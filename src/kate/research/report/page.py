"""A report → one HTML page: contents, tables, figures; style and script are in it, and nothing is loaded."""

from __future__ import annotations

import re
from functools import singledispatch
from html import escape
from importlib import resources

from kate.research.report.blocks import (
    Code,
    Figure,
    Folded,
    Items,
    Page,
    Section,
    Table,
    TableCell,
    TextBlock,
)
from kate.research.report.charts import ScatterChart
from kate.research.report.charts_svg import COLORS, chart_svg, legend_of

__all__ = ["page_html"]

_MARKUP = re.compile(r"\*\*(.+?)\*\*|`([^`]+)`")


def page_html(page: Page) -> str:
    """The whole page as a string.

    >>> html = page_html(Page("A title", "and more", (Section("one", "First", (TextBlock("**Yes**: a < b"),)),)))
    >>> '<strong>Yes</strong>: a &lt; b' in html
    True
    """
    contents = "".join(
        f'<li><a href="#{escape(one.name)}">{escape(one.title)}</a></li>' for one in page.sections
    )
    facts = "".join(f"<li>{_inline(fact)}</li>" for fact in page.facts)
    banner = f'<p class="banner" role="note">{_inline(page.banner)}</p>' if page.banner else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(page.title)}</title>\n"
        # an empty icon: otherwise the browser asks the server for one
        '<link rel="icon" href="data:,">\n'
        f"<style>\n{_tokens()}{_packaged('page.css')}{_colors()}</style>\n</head>\n<body>\n"
        f'<header>\n<h1>{escape(page.title)}</h1>\n<p class="subtitle">{_inline(page.subtitle)}</p>\n{banner}'
        f"{''.join(_block(block) for block in page.opening)}"
        f'<ul class="facts">{facts}</ul>\n'
        f'<nav aria-label="Contents"><h2>Contents</h2><ol>{contents}</ol></nav>\n</header>\n'
        f"<main>\n{''.join(_section(section) for section in page.sections)}</main>\n"
        f"<script>\n{_packaged('page.js')}</script>\n</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    """A section that can be folded: the script folds all of them on a phone, where the page would be endless."""
    blocks = "".join(_block(block) for block in section.blocks)
    name = escape(section.name, quote=True)
    return (
        f'<section aria-labelledby="{name}">\n<details class="section" open><summary><h2 id="{name}">'
        f"{escape(section.title)}</h2></summary>\n{blocks}</details></section>\n"
    )


@singledispatch
def _block(block: object) -> str:
    raise TypeError(f"{type(block).__name__} is no block of a page")


@_block.register
def _(block: TextBlock) -> str:
    return f"<p>{_inline(block.text)}</p>\n"


@_block.register
def _(block: Items) -> str:
    return f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in block.items)}</ul>\n"


@_block.register
def _(block: Code) -> str:
    return f"<pre>{escape(block.text)}</pre>\n"


@_block.register
def _(block: Folded) -> str:
    inside = "".join(_block(one) for one in block.blocks)
    name = escape(block.name, quote=True)
    return f'<details id="{name}"><summary>{_inline(block.title)}</summary>{inside}</details>\n'


@_block.register
def _(block: Table) -> str:
    labels = [
        (group.title if place == 0 else "", column)
        for group in block.groups
        for place, column in enumerate(group.columns)
    ]
    widest = max(len(group.columns) for group in block.groups)
    are_words = any(cell.kind == "words" for row in block.rows for cell in row.cells)
    rows = []
    for row in block.rows:
        if row.part:
            rows.append(f'<tr class="part"><th colspan="{len(labels) + 1}">{_inline(row.part)}</th></tr>')
        cells = "".join(
            _cell(cell, title, column) for cell, (title, column) in zip(row.cells, labels, strict=True)
        )
        rows.append(f'<tr><th class="head" scope="row">{_inline(row.head)}</th>{cells}</tr>')
    caption = f"<caption>{_inline(block.caption)}</caption>" if block.caption else ""
    shape = "cards words" if are_words else "cards narrow" if len(labels) < 4 else "cards"
    return (
        f'<div class="wide"><table class="{shape}" style="--n:{widest}">{caption}'
        f"<thead>{_table_head(block)}</thead><tbody>{''.join(rows)}</tbody></table></div>\n{_notes(block.notes)}"
    )


def _table_head(block: Table) -> str:
    corner = escape(block.corner)
    if all(group.columns == ("",) for group in block.groups):
        heads = "".join(f'<th scope="col">{_inline(group.title)}</th>' for group in block.groups)
        return f'<tr><th scope="col">{corner}</th>{heads}</tr>'
    groups = "".join(
        f'<th class="start" colspan="{len(group.columns)}" scope="colgroup">{_inline(group.title)}</th>'
        for group in block.groups
    )
    columns = "".join(
        f'<th scope="col"{" class=start" if place == 0 else ""}>{_inline(column)}</th>'
        for group in block.groups
        for place, column in enumerate(group.columns)
    )
    return f'<tr class="groups"><th></th>{groups}</tr><tr><th scope="col">{corner}</th>{columns}</tr>'


def _cell(cell: TableCell, group: str, column: str) -> str:
    """``group`` is the heading of the group that starts with this cell; a phone shows both headings inside the cell."""
    classes = " ".join(
        name for name, given in ((cell.kind, cell.kind != "value"), ("start", bool(group))) if given
    )
    text = f"<strong>{escape(cell.text)}</strong>" if cell.strong else escape(cell.text)
    beside = f" <small>{escape(cell.beside)}</small>" if cell.beside else ""
    detail = f' data-detail="{escape(cell.detail, quote=True)}"' if cell.detail else ""
    labels = f'data-group="{escape(group, quote=True)}" data-label="{escape(column, quote=True)}"'
    return f'<td class="{classes}" {labels}{detail}>{text}{beside}</td>'


@_block.register
def _(block: Figure) -> str:
    is_map = isinstance(block.charts[0], ScatterChart)
    charts = "".join(chart_svg(chart) for chart in block.charts)
    legend = "".join(
        f'<li><button type="button" class="c{style % len(COLORS)}" aria-pressed="false" '
        f'data-series="{escape(name, quote=True)}">'
        f"<i{' class=hollow' if style >= len(COLORS) else ''}></i>{escape(name)}</button></li>"
        for name, style in legend_of(block.charts)
    )
    layout = "charts maps" if is_map else "charts"
    return (
        f'<figure id="{escape(block.name, quote=True)}-charts"><div class="{layout}">{charts}</div>'
        f'<ul class="legend">{legend}</ul><figcaption>{_inline(block.caption)}</figcaption></figure>\n'
        f"{_notes(block.notes)}"
    )


def _notes(notes: tuple[str, ...]) -> str:
    return (
        f'<ul class="notes">{"".join(f"<li>{_inline(note)}</li>" for note in notes)}</ul>\n' if notes else ""
    )


def _inline(text: str) -> str:
    """Text with its strong parts and code.

    >>> _inline("`k < 3` is **best**")
    '<code>k &lt; 3</code> is <strong>best</strong>'
    """
    return _MARKUP.sub(
        lambda found: f"<strong>{found[1]}</strong>" if found[1] else f"<code>{found[2]}</code>",
        escape(text, quote=False),
    )


def _colors() -> str:
    light = "".join(f".c{index}{{--c:{pair[0]}}}" for index, pair in enumerate(COLORS))
    dark = "".join(f".c{index}{{--c:{pair[1]}}}" for index, pair in enumerate(COLORS))
    return f"{light}\n@media screen and (prefers-color-scheme:dark){{{dark}}}\n"


def _tokens() -> str:
    """Colours and letters of all pages of Kate, by day, by night and on paper."""
    return resources.files("kate").joinpath("explore/page/tokens.css").read_text("utf-8")


def _packaged(name: str) -> str:
    return resources.files("kate.research.report").joinpath(name).read_text("utf-8")
