"""Files, folders or standard input → :class:`Documents`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import polars as pl

from kate.text.document_tables import (
    OWN_COLUMNS,
    PLACE,
    SOURCE,
    TEXT,
    join_tables,
    read_parquet,
    tables_of_rows,
)
from kate.text.documents import Documents, first_repeated
from kate.text.fields import Fields
from kate.text.file_rows import MalformedRowError, MalformedRows, OnError, Row, file_rows, folder_rows
from kate.text.input_files import Source, list_sources

__all__ = ["Documents", "MalformedRowError", "read_corpus", "read_rows"]


def read_corpus(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    text: str | None = None,
    id: str | None = None,  # noqa: A002 - the name of the field
    label: str | None = None,
    title: str | None = None,
    format: str | None = None,  # noqa: A002 - as everywhere in data frames
    encoding: str = "utf-8",
    on_error: OnError = "raise",
    stdin: BinaryIO | None = None,
    keep_nested: bool = False,
) -> Documents:
    """Read documents from one file or several, from folders, or from standard input.

    Parameters
    ----------
    paths : .jsonl (one object per line), .csv or .tsv (with a header), .parquet, .txt (one document per line), each
        also as .gz or .zst; a folder of text files (one document per file; its sub-folder is the label, its path
        the id); ``"-"`` for standard input.
    text, id, label, title : the fields to read; if left out, fields with a usual name are taken. Documents without
        an id get the name of the file and the number of the line.
    format : jsonl, csv, tsv, parquet or txt, if the name of the file does not tell.
    encoding : of text files; a byte-order mark is removed.
    on_error : "raise" stops at the first malformed row and names its file and line; "skip" leaves such rows
        out and counts them in ``n_skipped``.
    stdin : where to read ``"-"`` from.
    keep_nested : keep columns of lists and objects, too, in ``source``.

    All columns of a file are kept: in ``frame`` with text, id, label and title first, in ``source`` as the file has
    them. Dates stay as they are written; ``topics.over(documents, by="date")`` reads them.

    Raises
    ------
    OSError, ValueError : with one line that says what was found, what was expected and what to do.

    >>> import io
    >>> lines = io.BytesIO(b'{"body": "A tax bill", "topic": "money"}')
    >>> documents = read_corpus("-", format="jsonl", stdin=lines)
    >>> documents.texts.to_list(), documents.labels, documents.ids
    (['A tax bill'], ['money'], ['stdin:1'])
    """
    asked = Fields(text, id, label, title)
    malformed = MalformedRows(on_error)
    sources = list_sources(paths, format, stdin)
    tables = [
        table for source in sources for table in _tables(source, asked, encoding, malformed, keep_nested)
    ]
    if not sum(len(table) for table in tables):
        shown = ", ".join(source.shown for source in sources)
        skipped = f" ({malformed.count:,} skipped: {malformed.messages[0]})" if malformed.count else ""
        raise ValueError(f"no documents in {shown}{skipped}; expected at least one")
    table = join_tables(tables)
    frame = _with_unique_ids(table, id_asked=id)
    return Documents(frame, malformed.count, tuple(malformed.messages), _as_given(table))


def read_rows(path: str | os.PathLike[str]) -> list[Mapping[str, Any]]:
    """The rows of one file (.jsonl, .csv, .tsv, also compressed) with all their fields; a malformed one is named."""
    [source] = list_sources(path, None)
    return [row.values for row in file_rows(source, "utf-8", MalformedRows("raise"))]


def _tables(
    source: Source, asked: Fields, encoding: str, malformed: MalformedRows, keep_nested: bool
) -> Iterator[pl.DataFrame]:
    if source.format == "parquet":
        yield read_parquet(source, asked, malformed, keep_nested)
        return
    if source.format in {"folder", "txt"} and asked.given:
        role, name = next(iter(asked.given.items()))
        raise ValueError(
            f"{role}={name!r}: {source.shown} is plain text and has no fields; leave {role} out"
            + (" (the label of a file is its sub-folder)" if source.format == "folder" else "")
        )
    read = folder_rows if source.format == "folder" else file_rows
    rows = read(source, encoding, malformed)
    if source.format in {"folder", "txt"}:
        # the name of a file, or the number of a line, is all that tells such documents apart
        rows = (Row(row.place, row.id, {"id": row.id, **row.values}) for row in rows)
    yield from tables_of_rows(rows, asked, source.shown, malformed, keep_nested)


def _with_unique_ids(table: pl.DataFrame, id_asked: str | None) -> pl.DataFrame:
    """The ids of the source if all are different; else file and line, unless an id field was asked for."""
    ids = table["id"].fill_null(table[PLACE])
    if (repeated := first_repeated(ids)) is not None:
        if id_asked is not None:
            raise ValueError(
                f"the id field {id_asked!r} is not unique: {repeated!r} occurs more than once; choose "
                "another field, or leave id out for ids made of file and line"
            )
        ids = table[PLACE]
    others = [
        name for name in table.columns if name not in OWN_COLUMNS and not name.startswith((SOURCE, TEXT))
    ]
    return table.select("text", ids.alias("id"), "label", "title", *others)


def _as_given(table: pl.DataFrame) -> pl.DataFrame:
    """The columns by the names and in the order that the files have; texts of several names have the first one's."""
    texts = [name for name in table.columns if name.startswith(TEXT)]
    named = texts[0].removeprefix(TEXT)
    while f"{SOURCE}{named}" in table.columns:
        named += "_text"
    columns = []
    for name in table.columns:
        if name == texts[0]:
            columns.append(table["text"].alias(named))
        elif name.startswith(SOURCE):
            columns.append(table[name].alias(name.removeprefix(SOURCE)))
    return pl.DataFrame(columns)
