"""A report → Markdown: the same sections, tables and figures, for a repository or a paper's appendix."""

from __future__ import annotations

from functools import singledispatch

from kate.research.report.blocks import Code, Figure, Folded, Items, Page, Table, TableCell, TextBlock

__all__ = ["page_markdown"]


def page_markdown(page: Page) -> str:
    """The whole report; pictures are looked for in the folder ``figures``.

    >>> print(page_markdown(Page("A title", "and more", ())))
    # A title
    <BLANKLINE>
    and more
    <BLANKLINE>
    """
    parts = [f"# {page.title}", page.subtitle]
    if page.banner:
        parts.append(f"> **{page.banner}**")
    parts += [_block(block) for block in page.opening]
    if page.facts:
        parts.append("\n".join(f"- {fact}" for fact in page.facts))
    for section in page.sections:
        parts.append(f"## {section.title}")
        parts += [_block(block) for block in section.blocks]
    return "\n\n".join(part for part in parts if part) + "\n"


@singledispatch
def _block(block: object) -> str:
    raise TypeError(f"{type(block).__name__} is no block of a report")


@_block.register
def _(block: TextBlock) -> str:
    return block.text


@_block.register
def _(block: Items) -> str:
    return "\n".join(f"- {item}" for item in block.items)


@_block.register
def _(block: Code) -> str:
    return f"```\n{block.text}\n```"


@_block.register
def _(block: Folded) -> str:
    if not block.in_markdown:
        return ""
    return "\n\n".join([f"**{block.title}**", *(_block(one) for one in block.blocks)])


@_block.register
def _(block: Figure) -> str:
    parts = [
        f"![{block.caption.split(';')[0]}](figures/{block.name}.png)",
        block.caption,
        _notes(block.notes),
    ]
    return "\n\n".join(part for part in parts if part)


@_block.register
def _(block: Table) -> str:
    heads = [
        " ".join(part for part in (group.title, column) if part)
        for group in block.groups
        for column in group.columns
    ]
    lines = [_line([block.corner, *heads]), "|---" * (len(heads) + 1) + "|"]
    for row in block.rows:
        if row.part:
            lines.append(_line([f"*{row.part}*", *[""] * len(heads)]))
        lines.append(_line([row.head, *(_cell(cell) for cell in row.cells)]))
    parts = [block.caption, "\n".join(lines), _notes(block.notes)]
    return "\n\n".join(part for part in parts if part)


def _cell(cell: TableCell) -> str:
    if cell.kind == "words":  # the small print is a text of its own
        text = f"**{cell.text}**" if cell.strong else cell.text
        return f"{text}: {cell.beside}" if cell.beside else text
    text = f"{cell.text} {cell.beside}".strip()
    return f"**{text}**" if cell.strong else text


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _notes(notes: tuple[str, ...]) -> str:
    return "\n".join(f"- {note}" for note in notes)
