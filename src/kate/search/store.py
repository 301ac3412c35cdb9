"""What a store of documents can do: both stores (files, lance) are asked in the same words and give the same hits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.model.text_model import TextModel
from kate.search.exact_search import Ranking
from kate.search.filters import Filter
from kate.sparse_arrays import sparse
from kate.spelling import close_names
from kate.text.documents import Documents

__all__ = [
    "DOCUMENT_COLUMNS",
    "ByMeaning",
    "ByWords",
    "DocumentStore",
    "Everything",
    "LivingStore",
    "Selection",
    "close_words",
]

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

# What every document has; other columns are the user's.
DOCUMENT_COLUMNS = ("id", "label", "title")
# A suggestion is looked for among so many words, the most frequent of those that look a little alike.
_SUGGESTED_AMONG = 5_000


@dataclass(frozen=True)
class Selection:
    """Which documents may be found: those that meet a filter, hold phrases and do not hold others, all as stems."""

    where: Filter | None = None
    phrases: tuple[tuple[str, ...], ...] = ()
    without: tuple[tuple[str, ...], ...] = ()

    @property
    def is_everything(self) -> bool:
        return self.where is None and not self.phrases and not self.without


class ByWords(NamedTuple):
    """The best documents by their words, and what scores any others."""

    ranking: Ranking
    score: Callable[[Rows], Floats]


class ByMeaning(NamedTuple):
    """The nearest documents to a vector, the vector, and what gives the vectors of these and any others."""

    ranking: Ranking
    query: Floats
    vectors_of: Callable[[Rows], Floats]


class Everything(NamedTuple):
    """All documents of a store: their rows, vectors and words (n_docs, n_words), which word each holds."""

    rows: Rows
    vectors: Floats
    words: sparse.csr_array


class DocumentStore(Protocol):
    """Documents with their vectors and words, by row: a number that orders them as they were given."""

    @property
    def columns(self) -> dict[str, pl.DataType]:
        """The columns that a filter may name, and their types."""
        ...

    def __len__(self) -> int: ...

    def by_words(self, stems: Sequence[str], top: int, selection: Selection) -> ByWords:
        """The best documents by BM25 that hold one of the stems."""
        ...

    def by_meaning(
        self, vector: Floats, top: int, least: int, selection: Selection, exact: bool
    ) -> ByMeaning:
        """The nearest documents to a vector: ``top`` of them, or fewer but ``least`` where that is much cheaper."""
        ...

    def nearest(self, vectors: Floats, top: int, selection: Selection, exact: bool) -> list[Ranking]:
        """The nearest documents to each of several vectors."""
        ...

    def known_stems(self, stems: Sequence[str]) -> set[str]:
        """Those of the stems that some document holds."""
        ...

    def suggest(self, word: str) -> list[str]:
        """Words of the documents that are spelled like a word that none of them holds."""
        ...

    def documents(self, rows: Rows) -> pl.DataFrame:
        """The documents of some rows in this order: id, label, title, the other columns, text."""
        ...

    def values(self, rows: Rows, column: str) -> pl.Series:
        """One column of some documents."""
        ...

    def row_of(self, id: str) -> int | None:  # noqa: A002 - the name of the column
        """The row of the document with an id."""
        ...

    def rows_of(self, ids: Sequence[str]) -> dict[str, int]:
        """The rows of the documents with these ids, as far as there are any."""
        ...

    def some_ids(self) -> list[str]:
        """The first ids, to show what they look like."""
        ...

    def vectors_of(self, rows: Rows) -> Floats: ...

    def everything(self) -> Everything:
        """All documents at once."""
        ...


@runtime_checkable
class LivingStore(Protocol):
    """A store whose documents change."""

    def add(self, model: TextModel, documents: Documents) -> int: ...

    def update(self, model: TextModel, documents: Documents) -> tuple[int, int]: ...

    def remove(self, ids: Sequence[str], where: Filter | None) -> int: ...

    def compact(self) -> None: ...


def close_words(word: str, words: pl.Series, frequencies: NDArray[Any], n: int = 3) -> list[str]:
    """At most ``n`` of many words that are spelled like ``word``, the closest first.

    >>> close_words("silvr", pl.Series(["gold", "silver", "sliver"]), np.array([3, 9, 1]))
    ['silver', 'sliver']
    """
    lengths = words.str.len_chars()
    alike = lengths.is_between(max(0, len(word) - 2), len(word) + 2) & (
        words.str.starts_with(word[:1]) | words.str.ends_with(word[-2:])
    )
    rows = alike.arg_true().to_numpy()
    rows = rows[np.argsort(-np.asarray(frequencies)[rows], kind="stable")][:_SUGGESTED_AMONG]
    return close_names(word, words.gather(rows).to_list(), n, cutoff=0.7)
