"""A corpus as pieces that workers read apart from each other: files, and groups of rows of Parquet files.

Workers open the files by the same paths, so these must be where all machines see them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import polars as pl

from kate.extras import require
from kate.storage.folders import StrPath
from kate.text.compressed_files import COMPRESSED, CorpusError
from kate.text.corpus_batches import ReadingRules, read_tables
from kate.text.documents import Documents
from kate.text.fields import Fields
from kate.text.file_rows import MalformedRows, OnError
from kate.text.input_files import LocalFile, Source
from kate.text.input_listing import list_sources
from kate.text.readers import documents_of_tables

__all__ = ["CorpusPiece", "CorpusPieces", "PieceTables"]

# Bytes of a piece of a Parquet file: a worker holds a dozen times as much while it counts.
_PIECE_SIZE = 64 * 2**20
_FILES_AT_ONCE = 2_000


class PieceTables(NamedTuple):
    """What was read of a piece."""

    tables: list[pl.DataFrame]
    malformed: MalformedRows

    @property
    def texts(self) -> pl.Series:
        if not self.tables:
            return pl.Series("text", [], dtype=pl.String)
        return pl.concat([table["text"] for table in self.tables])


@dataclass(frozen=True)
class CorpusPiece:
    """A file, some rows of it, or some files of a folder."""

    source: Source

    def read(self, rules: ReadingRules) -> PieceTables:
        malformed = MalformedRows(rules.on_error)
        return PieceTables(list(read_tables([self.source], rules, malformed)), malformed)


class CorpusPieces(Sequence[CorpusPiece]):
    """All pieces of a corpus in the order of its documents, how they are read, and what was left out of them."""

    def __init__(self, pieces: Sequence[CorpusPiece], rules: ReadingRules) -> None:
        """Use :meth:`of`."""
        self.pieces, self.rules = tuple(pieces), rules
        self.malformed = MalformedRows(rules.on_error)

    @classmethod
    def of(
        cls,
        paths: StrPath | Sequence[StrPath],
        *,
        text: str | None = None,
        id: str | None = None,  # noqa: A002 - the name of the field
        label: str | None = None,
        title: str | None = None,
        format: str | None = None,  # noqa: A002 - as everywhere in data frames
        encoding: str = "utf-8",
        on_error: OnError = "raise",
        keep_nested: bool = False,
        piece_size: int = _PIECE_SIZE,
    ) -> CorpusPieces:
        """The pieces of files and folders; the parameters are those of :func:`kate.read_corpus`.

        piece_size : bytes of the columns of a Parquet file that are read together, about
        """
        sources = list_sources(paths, format)
        if any(source.stdin is not None for source in sources):
            raise CorpusError(
                "the workers of a cluster cannot read standard input; write it to a file that all of them see"
            )
        pieces = [piece for source in sources for piece in _pieces_of(source, piece_size)]
        rules = ReadingRules(Fields(text, id, label, title), encoding, on_error, keep_nested)
        return cls(pieces, rules)

    def __len__(self) -> int:
        return len(self.pieces)

    def __getitem__(self, place: int) -> CorpusPiece:  # type: ignore[override]
        return self.pieces[place]

    def keep_nested(self) -> None:
        """Read the columns of lists and objects too."""
        self.rules = self.rules._replace(keep_nested=True)

    def note(self, malformed: MalformedRows) -> None:
        """Add what was left out of a piece."""
        self.malformed.count += malformed.count
        self.malformed.messages += malformed.messages

    @property
    def n_skipped(self) -> int:
        """Malformed rows that were left out."""
        return self.malformed.count

    @property
    def skipped(self) -> tuple[str, ...]:
        return tuple(self.malformed.messages)

    def joined(self, read: Sequence[PieceTables]) -> Documents:
        """The documents of all pieces, as if they had been read together."""
        for piece in read:
            self.note(piece.malformed)
        sources = [piece.source for piece in self.pieces]
        tables = [table for piece in read for table in piece.tables]
        return documents_of_tables(tables, sources, self.malformed, self.rules.asked.id)

    def require_enough(self, n_workers: int) -> None:
        """Refuse more workers than there are pieces: some would have nothing to do."""
        if n_workers > len(self):
            raise CorpusError(
                f"{n_workers} workers for a corpus of {len(self)} {'piece' if len(self) == 1 else 'pieces'}; a piece "
                f"is a file, or some row groups of a Parquet file: take --workers {len(self)}, or write the documents "
                "as several files"
            )


def _pieces_of(source: Source, piece_size: int) -> Iterator[CorpusPiece]:
    # a meter shows how far a reader is, here
    source = replace(source, meter=None)
    for start in range(0, len(source.texts), _FILES_AT_ONCE):
        yield CorpusPiece(replace(source, texts=source.texts[start : start + _FILES_AT_ONCE]))
    if source.texts:
        return
    if source.format != "parquet" or not isinstance(source.file, LocalFile) or _is_packed(source.file):
        yield CorpusPiece(source)
        return
    first = n_rows = size = 0
    for rows, n_bytes in _row_groups(source, source.file):
        if n_rows and size + n_bytes > piece_size:
            yield CorpusPiece(replace(source, rows=(first, n_rows)))
            first, n_rows, size = first + n_rows, 0, 0
        n_rows, size = n_rows + rows, size + n_bytes
    # a file that is one piece is read as any other
    yield CorpusPiece(replace(source, rows=(first, n_rows)) if first else source)


def _is_packed(file: LocalFile) -> bool:
    return file.path.suffix.lower() in COMPRESSED


def _row_groups(source: Source, file: LocalFile) -> list[tuple[int, int]]:
    """Rows and bytes of each group of a Parquet file."""
    require("a Parquet file on a cluster", "pyarrow", "cluster")
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(file.path) as opened:
            groups = [opened.metadata.row_group(number) for number in range(opened.metadata.num_row_groups)]
            found = [(group.num_rows, group.total_byte_size) for group in groups]
        if source.dataset is not None:
            # workers see their own files alone
            source.dataset.require_same(source.shown, pl.read_parquet_schema(file.path))
        return found
    except (
        pyarrow.ArrowException,
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        OSError,
    ) as error:
        raise CorpusError(
            f"{source.shown} is not a Parquet file or is damaged ({error}); check it, or copy it again"
        ) from None
