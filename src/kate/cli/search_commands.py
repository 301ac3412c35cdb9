"""The commands that find documents: search, similar, duplicates. None loads scikit-learn."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import kate
from kate.cli.options import AsJson, Top
from kate.cli.output import print_json, print_table
from kate.errors import quoted

if TYPE_CHECKING:
    from rich.text import Text

    from kate.search import Hit, Hits

__all__ = ["IndexFolder", "add_to"]

IndexFolder = Annotated[Path, typer.Argument(metavar="INDEX", help="A folder that kate index wrote.")]
Where = Annotated[
    str | None,
    typer.Option(metavar="SQL", help="Only documents that meet a condition on their columns."),
]
Sort = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Sort the hundred best documents by a column; -COLUMN puts the highest first."
    ),
]
Offset = Annotated[int, typer.Option(min=0, metavar="N", help="Leave out the first hits: pages of results.")]
Show = Annotated[
    str | None, typer.Option(metavar="COLUMNS", help="Other columns to show, with commas between them.")
]
Exact = Annotated[
    bool, typer.Option("--exact", help="Compare with every document, even if the index has a graph.")
]
# Cells of a title in the table: the text needs the rest of the line.
_TITLE = {80: 28, 100: 34, 140: 44}
_WIDEST_TITLE = 60


class SearchBy(StrEnum):
    BOTH = "both"
    WORDS = "words"
    MEANING = "meaning"


def add_to(app: typer.Typer) -> None:
    for command in (search, similar, duplicates):
        app.command()(command)


def search(
    index: IndexFolder,
    query: Annotated[list[str], typer.Argument(metavar="WORDS", help="What to look for.")],
    top: Top = 10,
    by: Annotated[SearchBy, typer.Option(help="Find by words, by meaning, or by both.")] = SearchBy.BOTH,
    where: Where = None,
    sort: Sort = None,
    offset: Offset = 0,
    show: Show = None,
    exact: Exact = False,
    as_json: AsJson = False,
) -> None:
    """Find documents by their words and by their meaning.

    A "phrase in quotes" must occur, and a -word or -"phrase" must not. Put the whole query in quotes of the shell.

    \b
    Example:
      kate search index "late delivery and a rude answer"
      kate search index '"prime minister" -blair' --where "year >= 2003"
    """
    found = kate.Index.load(index).search(
        " ".join(query), top=top, by=by.value, where=where, sort=sort, offset=offset, exact=exact
    )
    for word, close in found.suggestions.items():
        hint = f"did you mean {', '.join(close)}?" if close else "nothing is spelled like it"
        _note(f"hardly a document has the word {quoted(_safe(word))}; {hint}")
    _print_hits(found, show, as_json, offset)


def similar(
    index: IndexFolder,
    id: Annotated[  # noqa: A002 - the name of the option
        str | None, typer.Option("--id", metavar="ID", help="A document of the index.")
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="FILE", help='A file with a text; "-" is standard input.')
    ] = None,
    top: Top = 10,
    where: Where = None,
    offset: Offset = 0,
    show: Show = None,
    exact: Exact = False,
    as_json: AsJson = False,
) -> None:
    """Find documents like a document of the index, or like a text.

    \b
    Example:
      kate similar index --id 17
      kate similar index --text letter.txt --where "year < 1900"
    """
    if (id is None) == (text is None):
        raise typer.BadParameter(
            "give a document of the index or a file, one of the two", param_hint="--id, --text"
        )
    loaded = kate.Index.load(index)
    if id is not None:
        found = loaded.similar_documents(id, top, where=where, offset=offset, exact=exact)
    else:
        found = loaded.similar_to_text(_read_text(str(text)), top, where=where, offset=offset, exact=exact)
    _print_hits(found, show, as_json, offset)


def duplicates(
    index: IndexFolder,
    threshold: Annotated[
        float,
        typer.Option(metavar="SHARE", help="The share of words that two documents must have in common."),
    ] = 0.8,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Show only so many groups.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show groups of documents that say the same in nearly the same words.

    \b
    Example:
      kate duplicates index --threshold 0.9
    """
    found = kate.Index.load(index).duplicates(threshold)
    if as_json:
        print_json([group.as_dict() for group in found[:limit]])
        return
    if not found:
        _note(f"no two documents have {threshold:.0%} of their words in common")
        return
    rows = [
        (str(len(group.ids)), f"{group.overlap:.0%}", ", ".join(_names(group.ids, group.titles)))
        for group in found[:limit]
    ]
    print_table(("documents", "overlap", "which"), rows, right=("documents", "overlap"))
    if limit is not None and len(found) > limit:
        _note(f"{len(found) - limit:,} more groups; --limit shows more")


def _names(ids: tuple[str, ...], titles: tuple[str | None, ...]) -> list[str]:
    return [_safe(f"{one} ({title})" if title else one) for one, title in zip(ids, titles, strict=True)]


def _read_text(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8 ({error}); save the text as UTF-8") from None


def _print_hits(found: Hits, show: str | None, as_json: bool, offset: int) -> None:
    if as_json:
        print_json([hit.as_dict() for hit in found])
        return
    if not found:
        _note(f"no further document after the first {offset:,}" if offset else "no document was found")
        return
    columns = _columns(found[0], show)
    width = _title_width()
    rows = [
        (
            str(hit.rank),
            f"{hit.score:.3f}",
            _cut(_safe(hit.title or hit.id), width),
            _marked(hit, columns),
        )
        for hit in found
    ]
    print_table(("rank", "score", "document", "text"), rows, right=("rank", "score"))


def _columns(hit: Hit, show: str | None) -> list[str]:
    from kate.spelling import did_you_mean

    asked = [name.strip() for name in (show or "").split(",") if name.strip()]
    for name in asked:
        if name not in hit.columns:
            raise typer.BadParameter(
                f"no column is named {quoted(name)}; {did_you_mean(name, hit.columns)}", param_hint="--show"
            )
    return asked


def _marked(hit: Hit, columns: list[str]) -> Text:
    """The passage with the words of the query in bold, the label and columns in brackets behind it."""
    from rich.text import Text

    text = Text(hit.snippet)
    for start, end in hit.marks:
        text.stylize("bold yellow", start, end)
    facts = [_safe(hit.label)] if hit.label else []
    facts += [
        f"{_safe(name)} {_safe(str(hit.columns[name]))}" for name in columns if hit.columns[name] is not None
    ]
    if facts:
        text.append(f" [{', '.join(facts)}]")
    return text


def _title_width() -> int:
    import os
    import shutil

    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return _WIDEST_TITLE
    columns = shutil.get_terminal_size().columns
    return next((width for limit, width in _TITLE.items() if columns <= limit), _WIDEST_TITLE)


def _cut(title: str, width: int) -> str:
    """A title in so many cells of a terminal; a Chinese letter takes two."""
    from rich.cells import cell_len, set_cell_size

    return title if cell_len(title) <= width else f"{set_cell_size(title, width - 1).rstrip()}…"


def _safe(text: str | None) -> str:
    """Without characters that could give orders to a terminal."""
    from kate.search.passages import on_one_line

    return on_one_line(text or "")


def _note(message: str) -> None:
    typer.echo(f"kate: {message}", err=True)
