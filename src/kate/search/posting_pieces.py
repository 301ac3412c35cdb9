"""Postings of documents that are not in memory together: pieces on disk, merged at the end.

A piece has the words of some documents in the order of the alphabet, as the postings of all documents have them. So
the words of a range stand side by side in every piece, and the pieces are merged range by range. What is held is a
range, the length of each document, and the counts and forms of each distinct word.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from kate.progress import Report, report_nothing
from kate.search.postings import K1, B
from kate.search.search_words import WordSequences
from kate.storage.growing_arrays import GrowingArray

__all__ = ["PostingPieces"]

Numbers = NDArray[np.int64]

# Entries of a range, about: some hundred MB while they are merged.
_ENTRIES_AT_ONCE = 4_000_000
# Rows of tables that wait before they are put together.
_ROWS_WAITING = 1_000_000


class _Piece(NamedTuple):
    """Some documents: files of numbers, and where the words begin in them."""

    folder: Path
    first_document: int

    def write(self, name: str, numbers: NDArray[Any]) -> None:
        numbers.tofile(self.folder / name)

    def read(self, name: str, kind: type[Any], start: int = 0, stop: int | None = None) -> NDArray[Any]:
        size = np.dtype(kind).itemsize
        count = -1 if stop is None else stop - start
        return np.fromfile(self.folder / name, kind, count, offset=start * size)


class PostingPieces:
    """The words of documents, added some at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pieces: list[_Piece] = []
        self._lengths: list[NDArray[np.int32]] = []
        self._n_documents = self._n_tokens = 0
        self._last_place = 0
        self._forms = _Summed(("stem", "word"))
        self._stems = _Summed(("stem",))

    def add(self, words: WordSequences) -> None:
        """The words of the next documents."""
        sequences = words.sequences
        piece = _Piece(self._folder / f"{len(self._pieces):06d}", self._n_documents)
        piece.folder.mkdir()
        counts = sparse.csr_array(sequences.counts()).tocsc()
        lengths = np.diff(sequences.starts)
        of_token = np.repeat(np.arange(len(sequences)), lengths)
        order = np.argsort(sequences.codes, kind="stable")
        # places count the words of all documents, with one number between documents left out
        places = order + of_token[order] + self._n_tokens + self._n_documents
        occurrences = np.bincount(sequences.codes, minlength=sequences.n_words)
        piece.write("rows", counts.indices.astype(np.int32) + np.int32(self._n_documents))
        piece.write("tf", counts.data.astype(np.int32))
        piece.write("places", places.astype(np.int64))
        piece.write("starts", counts.indptr.astype(np.int64))
        piece.write("place_starts", np.concatenate([[0], np.cumsum(occurrences)]).astype(np.int64))
        words.stems.to_frame("stem").write_ipc(piece.folder / "stems")
        table = {
            "stem": words.stems,
            "df": np.diff(counts.indptr).astype(np.int64),
            "n": occurrences.astype(np.int64),
        }
        self._stems.add(pl.DataFrame(table))
        if words.forms is not None:
            self._forms.add(words.forms)
        self._pieces.append(piece)
        self._lengths.append(lengths.astype(np.int32))
        self._last_place = max(self._last_place, int(places.max(initial=0)))
        self._n_documents += len(sequences)
        self._n_tokens += len(sequences.codes)

    def merge(self, files: dict[str, Path], report: Report = report_nothing) -> pl.DataFrame:
        """Write the arrays of the postings into these files; the table of words (stem, readable)."""
        report("merging words", 0, 0.0)
        stems = self._stems.total().sort("stem")
        df, occurrences = stems["df"].to_numpy(), stems["n"].to_numpy()
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(df, dtype=np.int64)])
        place_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(occurrences, dtype=np.int64)])
        lengths = np.concatenate([np.zeros(0, np.int32), *self._lengths]).astype(np.float64)
        mean = lengths.mean() if lengths.size and lengths.any() else 1.0
        norms = K1 * (1 - B + B * lengths / mean)
        idf = np.log1p((self._n_documents - df + 0.5) / (df + 0.5))
        self._number_words(stems["stem"])
        width = np.uint32 if self._last_place < 2**32 else np.int64
        with (
            GrowingArray(files["rows"], np.int32) as rows_file,
            GrowingArray(files["weights"], np.float32) as weights_file,
            GrowingArray(files["places"], width) as places_file,
        ):
            for first, last in _ranges(starts, place_starts):
                rows, tf = self._gathered(("rows", "tf"), "starts", starts, first, last)
                terms = tf.astype(np.float64)
                # in the order of Postings.of: the same bits
                weights = (
                    np.repeat(idf[first:last], df[first:last]) * terms * (K1 + 1) / (terms + norms[rows])
                )
                rows_file.add(rows)
                weights_file.add(weights.astype(np.float32))
                [places] = self._gathered(("places",), "place_starts", place_starts, first, last)
                places_file.add(places.astype(width))
                share = int(place_starts[last]) / max(1, self._n_tokens)
                report("merging words", int(self._n_documents * share), share)
        np.save(files["starts"], starts)
        np.save(files["place_starts"], place_starts)
        ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        np.save(files["document_starts"], ends + np.arange(len(ends)))
        return pl.DataFrame({"stem": stems["stem"], "readable": self._readable()})

    def _readable(self) -> pl.Series:
        """For each stem, in the order of the alphabet, the form that occurs most often."""
        forms = self._forms.total().sort("stem", pl.col("n"), "word", descending=[False, True, False])
        return forms.group_by("stem", maintain_order=True).first()["word"]

    def _number_words(self, stems: pl.Series) -> None:
        """Write for each piece the numbers that its words have among those of all pieces."""
        known = pl.DataFrame({"stem": stems, "number": np.arange(len(stems), dtype=np.int64)})
        for piece in self._pieces:
            own = pl.read_ipc(piece.folder / "stems")
            found = own.join(known, on="stem", how="left", maintain_order="left")["number"]
            piece.write("numbers", found.to_numpy())

    def _gathered(
        self, names: tuple[str, ...], starts_name: str, starts: Numbers, first: int, last: int
    ) -> list[NDArray[Any]]:
        """The entries of a range of words from all pieces: word by word, and of a word piece by piece."""
        kinds = {"rows": np.int32, "tf": np.int32, "places": np.int64}
        begin = int(starts[first])
        size = int(starts[last]) - begin
        made: list[NDArray[Any]] = [np.empty(size, kinds[name]) for name in names]
        free = starts[first:last] - begin
        for piece in self._pieces:
            numbers = piece.read("numbers", np.int64)
            own = piece.read(starts_name, np.int64).astype(np.int64)
            low, high = np.searchsorted(numbers, [first, last]).tolist()
            if low == high:
                continue
            words = numbers[low:high].astype(np.int64) - first
            counts = np.diff(own[low : high + 1])
            before = np.cumsum(counts) - counts
            target = np.repeat(free[words] - before, counts) + np.arange(int(counts.sum()))
            free[words] += counts
            for array, name in zip(made, names, strict=True):
                array[target] = piece.read(name, kinds[name], int(own[low]), int(own[high]))
        return made


def _ranges(starts: Numbers, place_starts: Numbers) -> Iterator[tuple[int, int]]:
    """Ranges of words that have about so many entries; a word of more has a range of its own."""
    first, n_words = 0, len(starts) - 1
    while first < n_words:
        reach = min(
            int(np.searchsorted(ends, ends[first] + _ENTRIES_AT_ONCE, side="right")) - 1
            for ends in (starts, place_starts)
        )
        last = min(max(reach, first + 1), n_words)
        yield first, last
        first = last


class _Summed:
    """Tables whose numbers are added up where their keys are the same, as soon as many rows wait."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self._keys = keys
        self._tables: list[pl.DataFrame] = []
        self._n_waiting = 0

    def add(self, table: pl.DataFrame) -> None:
        self._tables.append(table)
        self._n_waiting += len(table)
        if self._n_waiting > max(_ROWS_WAITING, 2 * len(self._tables[0])):
            self._tables = [self.total()]
            self._n_waiting = 0

    def total(self) -> pl.DataFrame:
        return pl.concat(self._tables).group_by(self._keys).agg(pl.all().sum())
