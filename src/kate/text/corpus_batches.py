"""A corpus batch by batch, in memory that does not grow with it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from kate.errors import quoted
from kate.text.compressed_files import CorpusError
from kate.text.document_tables import PLACE, READ_COLUMNS, SOURCE, TEXT, tables_of_rows
from kate.text.documents import Documents
from kate.text.fields import Fields
from kate.text.file_rows import MalformedRows, OnError, Row, file_rows, folder_rows
from kate.text.input_files import Source
from kate.text.parquet_files import parquet_tables
from kate.text.repeated_ids import SeenIds
from kate.text.table_columns import join_tables

__all__ = [
    "BATCH_SIZE",
    "LARGE_BATCH_SIZE",
    "CorpusBatches",
    "ReadingRules",
    "documents_of",
    "read_tables",
    "repeated_id",
    "require_some",
]

# Documents of a batch, and bytes of their texts, at most. What is worked out once for every distinct word of a batch is
# worth larger ones where nothing else is in memory.
BATCH_SIZE, LARGE_BATCH_SIZE = 50_000, 131_072
_BYTES_AT_ONCE = 1 << 25


class ReadingRules(NamedTuple):
    """How rows become documents."""

    asked: Fields
    encoding: str
    on_error: OnError
    keep_nested: bool


class CorpusBatches:
    """The documents of files, some thousand at a time: what :func:`kate.iter_corpus` gives.

    Every loop over it reads the files from their beginning; standard input can be read once.

    Attributes
    ----------
    n_documents : int
        how many were read by the latest loop, so far.
    n_skipped, skipped : int
        malformed rows that it left out, and the messages about the first of them.
    has_repeated_ids : bool
        whether an id was there twice; :func:`kate.read_corpus` makes ids of file and line then.

    Examples
    --------
    >>> import tempfile, kate
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/lines.txt", "w") as file:
    ...         n_written = file.write("a treaty of peace\\ngold and silver\\n")
    ...     batches = kate.iter_corpus(f"{folder}/lines.txt")
    ...     [len(batch) for batch in batches]
    [2]
    """

    def __init__(self, sources: Sequence[Source], rules: ReadingRules, batch_size: int = BATCH_SIZE) -> None:
        """Use :func:`kate.iter_corpus`."""
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; expected at least 1")
        self._sources = list(sources)
        self._rules = rules
        self._batch_size = batch_size
        self._malformed = MalformedRows(rules.on_error)
        self._was_read = False
        self.n_documents = 0
        self.has_repeated_ids = False

    def __iter__(self) -> Iterator[Documents]:
        """Batches of documents.

        Their ids are those of the files. If one of them occurs twice, that is an error if the field of the ids was
        asked for, and else a warning at the end: the batches before are gone.
        """
        for table in self.tables():
            yield documents_of(table, table["id"].fill_null(table[PLACE]))
        if self.has_repeated_ids:
            warnings.warn(
                "some ids are there more than once; say which field holds the ids (id=...); read_corpus makes them of "
                "file and line then",
                UserWarning,
                stacklevel=2,
            )

    def texts(self) -> Iterator[pl.Series]:
        """The texts alone, for who only counts them; ids are not compared."""
        for table in self._tables():
            yield table["text"]

    def tables(self) -> Iterator[pl.DataFrame]:
        """Batches as tables with the columns of :mod:`kate.text.document_tables`, each with columns of its own."""
        seen = SeenIds()
        for table in self._tables():
            if not self.has_repeated_ids:
                twice = seen.add(table["id"].fill_null(table[PLACE]))
                if twice is not None and self._rules.asked.id is not None:
                    raise repeated_id(self._rules.asked.id, twice)
                self.has_repeated_ids = twice is not None
            yield table

    def _tables(self) -> Iterator[pl.DataFrame]:
        if self._was_read and any(source.stdin is not None for source in self._sources):
            raise ValueError(
                "standard input can be read only once; keep what it gave, or write it into a file"
            )
        self._was_read = True
        self._malformed = MalformedRows(self._rules.on_error)
        self.n_documents, self.has_repeated_ids = 0, False
        for source in self._sources:
            if source.meter is not None:
                source.meter.done = 0
        for table in _batches(read_tables(self._sources, self._rules, self._malformed), self._batch_size):
            self.n_documents += len(table)
            yield table
        require_some(self.n_documents, self._sources, self._malformed)

    @property
    def sources(self) -> Sequence[Source]:
        """What is read."""
        return tuple(self._sources)

    @property
    def rules(self) -> ReadingRules:
        """How it is read."""
        return self._rules

    @property
    def share(self) -> float | None:
        """The share of the input that was read so far, by its bytes; None for standard input."""
        meter = self._sources[0].meter
        return None if meter is None else meter.share

    @property
    def n_skipped(self) -> int:
        return self._malformed.count

    @property
    def skipped(self) -> tuple[str, ...]:
        return tuple(self._malformed.messages)

    def __repr__(self) -> str:
        shown = ", ".join(source.shown for source in self._sources[:3])
        more = len(self._sources) - 3
        return f"CorpusBatches of {shown}" + (f" and {more:,} more" if more > 0 else "")


def read_tables(
    sources: Iterable[Source], rules: ReadingRules, malformed: MalformedRows
) -> Iterator[pl.DataFrame]:
    """The tables of all sources, one after the other, as large as their readers make them."""
    for source in sources:
        if source.format == "parquet":
            yield from parquet_tables(source, rules.asked, malformed, rules.keep_nested)
            continue
        is_plain = source.format in {"folder", "txt"}
        if is_plain and rules.asked.given:
            role, name = next(iter(rules.asked.given.items()))
            raise CorpusError(
                f"{role}={quoted(name)}: {source.shown} is plain text and has no fields; leave {role} out"
                + (" (the label of a file is its sub-folder)" if source.format == "folder" else "")
            )
        read = folder_rows if source.format == "folder" else file_rows
        rows = read(source, rules.encoding, malformed)
        if is_plain:
            # the name of a file, or the number of a line, is all that tells such documents apart
            rows = (Row(row.place, row.id, {"id": row.id, **row.values}) for row in rows)
        yield from tables_of_rows(
            rows, rules.asked, source.shown, malformed, rules.keep_nested, source.dataset
        )


def require_some(n_documents: int, sources: Iterable[Source], malformed: MalformedRows) -> None:
    if not n_documents:
        shown = ", ".join(source.shown for source in sources)
        skipped = f" ({malformed.count:,} skipped: {malformed.messages[0]})" if malformed.count else ""
        raise CorpusError(f"no documents in {shown}{skipped}; expected at least one")


def repeated_id(field: str, value: str) -> CorpusError:
    return CorpusError(
        f"the id field {quoted(field)} is not unique: {quoted(value)} occurs more than once; choose "
        "another field, or leave id out for ids made of file and line"
    )


def _batches(tables: Iterable[pl.DataFrame], batch_size: int) -> Iterator[pl.DataFrame]:
    """Small tables put together, and large ones cut."""
    held: list[pl.DataFrame] = []
    n_held = size = 0
    for table in tables:
        for part in _cut(table, batch_size):
            n_bytes = int(part["text"].str.len_bytes().sum())
            if held and (n_held + len(part) > batch_size or size + n_bytes > _BYTES_AT_ONCE):
                yield join_tables(held) if len(held) > 1 else held[0]
                held, n_held, size = [], 0, 0
            held.append(part)
            n_held, size = n_held + len(part), size + n_bytes
    if held:
        yield join_tables(held) if len(held) > 1 else held[0]


def _cut(table: pl.DataFrame, batch_size: int) -> Iterator[pl.DataFrame]:
    ends = table["text"].str.len_bytes().cast(pl.Int64).cum_sum().to_numpy()
    start = 0
    while start < len(table):
        before = int(ends[start - 1]) if start else 0
        fits = int(np.searchsorted(ends, before + _BYTES_AT_ONCE, side="right"))
        stop = max(start + 1, min(fits, start + batch_size))
        yield table.slice(start, stop - start)
        start = stop


def documents_of(
    table: pl.DataFrame, ids: pl.Series, n_skipped: int = 0, skipped: tuple[str, ...] = ()
) -> Documents:
    """The documents of a table as the readers make it, with these ids."""
    others = [
        name for name in table.columns if name not in READ_COLUMNS and not name.startswith((SOURCE, TEXT))
    ]
    frame = table.select("text", ids.alias("id"), "label", "title", *others)
    return Documents(frame, n_skipped, skipped, _as_given(table))


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
