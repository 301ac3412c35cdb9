"""The store of files: vectors, words and documents of an immutable folder, or in memory before they are saved."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.search.document_texts import TextFile
from kate.search.exact_search import Ranking, VectorRows, nearest_rows, rank_rows
from kate.search.neighbour_graph import NeighbourGraph
from kate.search.postings import Postings
from kate.search.store import ByMeaning, ByWords, Everything, Selection, close_words
from kate.text.text_batches import is_encodable

__all__ = ["FilesStore"]

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Up to so many allowed rows it is faster to compare these alone than all rows.
_FEW_ROWS = 50_000


class FilesStore:
    """Documents that do not change.

    Parameters
    ----------
    vectors : (n_docs, n_components), of length 1 (or 0)
    words : gives the table (stem: in the order of the alphabet, readable)
    frame : gives the table id, label, title and the other columns
    texts : of the documents
    """

    def __init__(
        self,
        vectors: VectorRows,
        postings: Postings,
        words: Callable[[], pl.DataFrame],
        frame: Callable[[], pl.DataFrame],
        texts: pl.Series | TextFile,
        graph: NeighbourGraph | None = None,
    ) -> None:
        self.vectors = vectors
        self.postings = postings
        self.graph = graph
        self.texts = texts
        self._read_words = words
        self._read_frame = frame

    @cached_property
    def words(self) -> pl.DataFrame:
        return self._read_words()

    @cached_property
    def frame(self) -> pl.DataFrame:
        return self._read_frame()

    @property
    def columns(self) -> dict[str, pl.DataType]:
        return dict(self.frame.schema)

    def __len__(self) -> int:
        return len(self.vectors)

    def by_words(self, stems: Sequence[str], top: int, selection: Selection) -> ByWords:
        numbers = [number for stem in stems if (number := self._number(stem)) is not None]
        scores = self.postings.scores(numbers)
        found = self.postings.best(numbers, scores, top, self._allowed(selection))
        return ByWords(found, lambda rows: scores[rows])

    def by_meaning(
        self, vector: Floats, top: int, least: int, selection: Selection, exact: bool
    ) -> ByMeaning:
        found = self._nearest(vector, top, least, self._allowed(selection), exact)
        return ByMeaning(found, vector, self.vectors_of)

    def _nearest(self, vector: Floats, top: int, least: int, allowed: Mask | None, exact: bool) -> Ranking:
        if allowed is not None and np.count_nonzero(allowed) <= _FEW_ROWS:
            return rank_rows(self.vectors, vector, np.flatnonzero(allowed), top)
        if self.graph is not None and not exact and least <= self.graph.facts.depth:
            [found] = self.graph.nearest(self.vectors, vector[np.newaxis], min(top, self.graph.facts.depth))
            if allowed is None:
                return found
            kept = allowed[found.rows]
            if np.count_nonzero(kept) >= least:
                return Ranking(found.rows[kept], found.scores[kept])
        return nearest_rows(self.vectors, vector[np.newaxis], top, allowed)[0]

    def nearest(self, vectors: Floats, top: int, selection: Selection, exact: bool) -> list[Ranking]:
        allowed = self._allowed(selection)
        if self.graph is not None and not exact:
            return [self._nearest(vector, top, top, allowed, exact) for vector in vectors]
        return nearest_rows(self.vectors, vectors, top, allowed)

    def known_stems(self, stems: Sequence[str]) -> set[str]:
        return {stem for stem in stems if self._number(stem) is not None}

    def suggest(self, word: str) -> list[str]:
        return close_words(word, self.words["readable"], np.diff(self.postings.starts))

    def documents(self, rows: Rows) -> pl.DataFrame:
        texts = (
            self.texts.gather(rows).to_list() if isinstance(self.texts, pl.Series) else self.texts.take(rows)
        )
        # a series of a list: one of an array would import numpy.ma
        found = self.frame[pl.Series(rows.tolist(), dtype=pl.Int64)]
        return found.with_columns(pl.Series("text", texts, dtype=pl.String))

    def values(self, rows: Rows, column: str) -> pl.Series:
        return self.frame[column].gather(rows)

    def row_of(self, id: str) -> int | None:  # noqa: A002 - the name of the column
        if not (isinstance(id, str) and is_encodable(id)):  # Polars cannot look for it
            return None
        rows = (self.frame["id"] == id).arg_true()
        return int(rows[0]) if len(rows) else None

    def rows_of(self, ids: Sequence[str]) -> dict[str, int]:
        column = self.frame["id"]
        rows = column.is_in(list(filter(is_encodable, ids))).arg_true()
        return dict(zip(column.gather(rows).to_list(), rows.to_list(), strict=True))

    def some_ids(self) -> list[str]:
        return self.frame["id"].head(3).to_list()

    def vectors_of(self, rows: Rows) -> Floats:
        return np.asarray(self.vectors[rows], dtype=np.float32)

    def everything(self) -> Everything:
        vectors = np.asarray(self.vectors[:], np.float32)
        return Everything(np.arange(len(self)), vectors, self.postings.words_of_documents())

    def _number(self, stem: str) -> int | None:
        stems = self.words["stem"]
        # in Python: Polars would look at all of them
        number = bisect_left(stems, stem)
        return number if number < len(stems) and stems[number] == stem else None

    def _allowed(self, selection: Selection) -> Mask | None:
        """Which rows may be found; None for all."""
        if selection.is_everything:
            return None
        allowed = np.ones(len(self), dtype=bool)
        if selection.where is not None:
            allowed &= selection.where.rows(self.frame).to_numpy()
        for stems in selection.phrases:
            held = np.zeros(len(self), dtype=bool)
            held[self._with_phrase(stems)] = True
            allowed &= held
        for stems in selection.without:
            allowed[self._with_phrase(stems)] = False
        return allowed

    def _with_phrase(self, stems: Sequence[str]) -> NDArray[np.integer[Any]]:
        numbers = [number for stem in stems if (number := self._number(stem)) is not None]
        if len(numbers) < len(stems):
            return np.empty(0, np.int64)
        return (
            self.postings.documents_with(numbers[0]) if len(numbers) == 1 else self.postings.phrase(numbers)
        )
