"""Files, folders or standard input → :class:`Documents`, all at once or batch by batch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, TypeAlias

import polars as pl

from kate.text.corpus_batches import (
    BATCH_SIZE,
    CorpusBatches,
    ReadingRules,
    documents_of,
    read_tables,
    repeated_id,
    require_some,
)
from kate.text.document_tables import PLACE
from kate.text.documents import Documents, first_repeated
from kate.text.fields import Fields
from kate.text.file_rows import MalformedRowError, MalformedRows, OnError, file_rows
from kate.text.input_files import Source
from kate.text.input_listing import list_sources
from kate.text.table_columns import join_tables

__all__ = [
    "CorpusBatches",
    "Documents",
    "MalformedRowError",
    "documents_of_tables",
    "iter_corpus",
    "read_corpus",
    "read_rows",
]

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def read_corpus(
    paths: Paths,
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
    paths : str or path, or a list of them
        .jsonl (one object per line), .csv or .tsv (with a header), .parquet, .txt (one document per line), each
        also as .gz or .zst; a pattern such as ``"news/*.parquet"``; a folder of text files (one document per file; its
        sub-folder is the label, its path the id), or of data files of one format: a dataset, whose files have the same
        columns, and sub-folders such as ``year=1999`` are a column; an address such as ``s3://bucket/news.parquet``
        (extra ``remote``); ``"-"`` for standard input.
    text, id, label, title : str, optional
        the fields to read; if left out, fields with a usual name are taken. Documents without
        an id get the name of the file and the number of the line.
    format : str, optional
        jsonl, csv, tsv, parquet or txt, if the name of the file does not tell; of a folder only such files are
        read.
    encoding : str, default 'utf-8'
        of text files; a byte-order mark is removed.
    on_error : {'raise', 'skip'}, default 'raise'
        "raise" stops at the first malformed row and names its file and line; "skip" leaves such rows
        out and counts them in ``n_skipped``.
    stdin : BinaryIO, optional
        where to read ``"-"`` from.
    keep_nested : bool, default False
        keep columns of lists and objects, too, in ``source``.

    Notes
    -----
    All columns of a file are kept: in ``frame`` with text, id, label and title first, in ``source`` as the file has
    them. Dates stay as they are written; ``topics.over(documents, by="date")`` reads them.

    Raises
    ------
    OSError, ValueError
        with one line that says what was found, what was expected and what to do.

    Examples
    --------
    >>> import io
    >>> lines = io.BytesIO(b'{"body": "A tax bill", "topic": "money"}')
    >>> documents = read_corpus("-", format="jsonl", stdin=lines)
    >>> documents.texts.to_list(), documents.labels, documents.ids
    (['A tax bill'], ['money'], ['stdin:1'])
    """
    rules = ReadingRules(Fields(text, id, label, title), encoding, on_error, keep_nested)
    malformed = MalformedRows(on_error)
    sources = list_sources(paths, format, stdin)
    return documents_of_tables(list(read_tables(sources, rules, malformed)), sources, malformed, id)


def documents_of_tables(
    tables: Sequence[pl.DataFrame],
    sources: Sequence[Source],
    malformed: MalformedRows,
    id_asked: str | None = None,
) -> Documents:
    """The documents of all tables of some sources, in their order."""
    require_some(sum(map(len, tables)), sources, malformed)
    table = join_tables(tables)
    ids = table["id"].fill_null(table[PLACE])
    if (twice := first_repeated(ids)) is not None:
        if id_asked is not None:
            raise repeated_id(id_asked, twice)
        ids = table[PLACE]
    return documents_of(table, ids, malformed.count, tuple(malformed.messages))


def iter_corpus(
    paths: Paths,
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
    batch_size: int = BATCH_SIZE,
) -> CorpusBatches:
    """The same documents batch by batch, for corpora that are larger than memory.

    It reads what :func:`read_corpus` reads, by the same rules and with the same errors. Of a Parquet file a few
    thousand rows are held at a time; of the ids 16 bytes each, to notice one that comes twice.

    Parameters
    ----------
    batch_size : int, default BATCH_SIZE
        documents of a batch, at most; fewer where texts are long

    Examples
    --------
    >>> import io
    >>> lines = io.BytesIO(b"A tax bill\\nA treaty\\nA silver coin\\n")
    >>> for documents in iter_corpus("-", format="txt", stdin=lines, batch_size=2):
    ...     print(documents.ids)
    ['stdin:1', 'stdin:2']
    ['stdin:3']
    """
    rules = ReadingRules(Fields(text, id, label, title), encoding, on_error, keep_nested)
    # refuses what is no such rule now, and not when the first batch is asked for
    MalformedRows(on_error)
    return CorpusBatches(list_sources(paths, format, stdin), rules, batch_size)


def read_rows(path: str | os.PathLike[str]) -> list[Mapping[str, Any]]:
    """The rows of one file (.jsonl, .csv, .tsv, also compressed) with all their fields; a malformed one is named."""
    [source] = list_sources(path, None)
    return [row.values for row in file_rows(source, "utf-8", MalformedRows("raise"))]
