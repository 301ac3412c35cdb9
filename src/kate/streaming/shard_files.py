"""A shard: the counts of some documents in one file, in small pieces that are read and checked one by one.

    KATESHD1                     what the file is
    piece, piece, …              zstd frames with a checksum: the counts of some documents each
    tables                       zstd frames of Arrow: what the numbers of the words mean, until that is settled
    footer                       JSON: how many documents, entries and words; where every piece and table begins
    8 + 8 + 8 bytes              length of the footer, its checksum, KATESHD1 again

A piece holds for each document how many words it has, then the numbers of the words, then how often each occurs: as
small unsigned integers as they fit. Documents are written in a random order: every piece is a fair sample of its shard.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl
import zstandard
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.storage.bounded_files import MOST_JSON, open_plain
from kate.storage.files import whole_file
from kate.storage.folders import FolderError

__all__ = ["PIECE_SIZE", "Piece", "Shard", "write_shard"]

PIECE_SIZE = 1_024
"""Documents of a piece at most."""
# Documents are shuffled piece by piece: of long ones there must not be many in a piece.
_PIECE_ENTRIES = 2**14
_MAGIC = b"KATESHD1"
_TAIL = 3 * 8
_KINDS = {1: np.uint8, 2: np.uint16, 4: np.uint32}
# The words of a shard; a shard is some hundred megabytes of text at most.
_MOST_TABLE = 1 << 31
_REMEDY = "delete the folder that it is in and start anew"


@dataclass(frozen=True)
class Piece:
    """Where some documents stand in a shard."""

    offset: int
    length: int  # bytes, compressed
    n_documents: int
    n_entries: int
    word_bytes: int  # of the number of a word
    count_bytes: int


@dataclass(frozen=True)
class Shard:
    """A shard file; what its footer says.

    >>> import tempfile
    >>> counts = csr_matrix(np.array([[2, 0, 1], [0, 300, 0]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shard = write_shard(Path(folder, "0.shard"), counts)
    ...     len(shard.pieces), shard.n_documents, int(shard.read(shard.pieces[0]).sum())
    (1, 2, 303)
    """

    path: Path
    n_documents: int
    n_entries: int
    n_words: int
    pieces: tuple[Piece, ...]
    tables: Mapping[str, tuple[int, int]]  # by name: offset and length
    facts: Mapping[str, Any]  # what its writer wanted to be known

    @classmethod
    def open(cls, path: Path) -> Shard:
        """A file that :func:`write_shard` wrote; anything else is refused."""
        with _opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size < len(_MAGIC) + _TAIL or file.read(len(_MAGIC)) != _MAGIC:
                raise FolderError(f"{path} is no shard of Kate's; {_REMEDY}")
            file.seek(size - _TAIL)
            tail = file.read(_TAIL)
            length = min(int.from_bytes(tail[:8], "little"), size - _TAIL, MOST_JSON)
            file.seek(size - _TAIL - length)
            footer = file.read(length)
        if tail[16:] != _MAGIC or sha256(footer).digest()[:8] != tail[8:16]:
            raise FolderError(f"{path} is cut short or damaged; {_REMEDY}")
        return _from_footer(path, footer)

    def read(self, piece: Piece, file: BinaryIO | None = None) -> csr_matrix:
        """The counts (n_docs, n_words) of a piece, as they were written; ``file`` is the open file if there is one."""
        if file is None:
            with _opened(self.path) as opened:
                return self.read(piece, opened)
        n, m, word_bytes = piece.n_documents, piece.n_entries, piece.word_bytes
        length = 4 * n + m * (word_bytes + piece.count_bytes)
        data = self._frame(file, piece.offset, piece.length, length)
        if len(data) != length:
            raise FolderError(f"{self.path} does not hold together near byte {piece.offset:,}; {_REMEDY}")
        lengths = np.frombuffer(data, np.uint32, n)
        words = np.frombuffer(data, _KINDS[word_bytes], m, 4 * n)
        counts = np.frombuffer(data, _KINDS[piece.count_bytes], m, 4 * n + m * word_bytes)
        starts = np.zeros(n + 1, np.int32)
        np.cumsum(lengths, out=starts[1:])
        found = csr_matrix((n, self.n_words), dtype=counts.dtype)
        # set apart: SciPy would look through the numbers, which the checksum vouches for
        found.indptr, found.indices, found.data = starts, words.astype(np.int32), counts
        return found

    def table(self, name: str) -> pl.DataFrame:
        """One of the tables."""
        with _opened(self.path) as file:
            data = self._frame(file, *self.tables[name], most=_MOST_TABLE)
        try:
            return pl.read_ipc(io.BytesIO(data))
        except (pl.exceptions.PolarsError, OSError, pl.exceptions.PanicException):
            raise FolderError(f"{self.path} holds no table {name}; {_REMEDY}") from None

    def _frame(self, file: BinaryIO, offset: int, length: int, most: int) -> bytes:
        """A frame of at most so many bytes: the damaged head of a small one may announce any number."""
        file.seek(offset)
        data = file.read(length)
        try:
            if zstandard.frame_content_size(data) > most:
                raise zstandard.ZstdError("it announces too many bytes")
            return zstandard.ZstdDecompressor().decompress(data)
        except zstandard.ZstdError as error:
            raise FolderError(f"{self.path} is damaged near byte {offset:,} ({error}); {_REMEDY}") from None


def _opened(path: Path) -> BinaryIO:
    try:
        return open_plain(path)
    except FileNotFoundError:
        raise FolderError(f"{path} is missing; {_REMEDY}") from None
    except ValueError as error:
        raise FolderError(f"{error}; {_REMEDY}") from None


def _from_footer(path: Path, footer: bytes) -> Shard:
    try:
        found = json.loads(footer)
        return Shard(
            path,
            found["n_documents"],
            found["n_entries"],
            found["n_words"],
            tuple(Piece(*row) for row in found["pieces"]),
            {name: (offset, length) for name, (offset, length) in found["tables"].items()},
            found["facts"],
        )
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise FolderError(
            f"{path} has a strange footer ({type(error).__name__} {error}); {_REMEDY}"
        ) from None


def write_shard(
    path: Path,
    counts: csr_matrix,
    tables: Mapping[str, pl.DataFrame] | None = None,
    facts: Mapping[str, Any] | None = None,
    seed: Sequence[int] | None = (0,),
) -> Shard:
    """Write counts (n_docs, n_words) as a shard, whole or not at all, their rows in an order drawn from ``seed``.

    facts : anything that JSON can hold
    seed : None where the rows are in random order already
    """
    n = counts.shape[0]
    order = np.arange(n) if seed is None else np.random.default_rng(list(seed)).permutation(n)
    compressor = zstandard.ZstdCompressor(level=1, write_checksum=True)
    pieces: list[list[int]] = []
    places: dict[str, tuple[int, int]] = {}
    with whole_file(path) as part, part.open("wb") as file:
        file.write(_MAGIC)
        for start, stop in pairwise(_piece_bounds(np.diff(counts.indptr)[order])):
            rows = counts[order[start:stop]]
            word_bytes, count_bytes = _bytes_for(rows.indices), _bytes_for(rows.data)
            lengths = np.diff(rows.indptr).astype(np.uint32)
            arrays = (
                lengths,
                rows.indices.astype(_KINDS[word_bytes]),
                rows.data.astype(_KINDS[count_bytes]),
            )
            frame = compressor.compress(b"".join(array.tobytes() for array in arrays))
            pieces.append([file.tell(), len(frame), rows.shape[0], rows.nnz, word_bytes, count_bytes])
            file.write(frame)
        for name, table in (tables or {}).items():
            buffer = io.BytesIO()
            table.write_ipc(buffer)
            frame = compressor.compress(buffer.getvalue())
            places[name] = file.tell(), len(frame)
            file.write(frame)
        _write_footer(file, counts, pieces, places, facts or {})
    return Shard.open(path)


def _write_footer(
    file: BinaryIO,
    counts: csr_matrix,
    pieces: list[list[int]],
    places: Mapping[str, tuple[int, int]],
    facts: Mapping[str, Any],
) -> None:
    footer = json.dumps(
        {
            "n_documents": counts.shape[0],
            "n_entries": int(counts.nnz),
            "n_words": counts.shape[1],
            "pieces": pieces,
            "tables": places,
            "facts": facts,
        }
    ).encode()
    file.write(footer + len(footer).to_bytes(8, "little") + sha256(footer).digest()[:8] + _MAGIC)


def _piece_bounds(lengths: NDArray[np.integer[Any]]) -> list[int]:
    """Where pieces end, by the entries of the documents; a document longer than a piece is one."""
    ends = np.cumsum(lengths, dtype=np.int64)
    bounds = [0]
    while bounds[-1] < len(lengths):
        start = bounds[-1]
        before = int(ends[start - 1]) if start else 0
        fits = int(np.searchsorted(ends, before + _PIECE_ENTRIES, side="right"))
        bounds.append(max(start + 1, min(fits, start + PIECE_SIZE)))
    return bounds


def _bytes_for(numbers: NDArray[np.integer[Any]]) -> int:
    most = int(numbers.max(initial=0))
    return 1 if most < 2**8 else 2 if most < 2**16 else 4
