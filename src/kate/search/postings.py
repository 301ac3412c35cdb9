"""Postings: for each word the documents that hold it, what it adds to their score (BM25), and its places for phrases.

    score(document, word) = idf · tf (k1 + 1) / (tf + k1 (1 − b + b |d| / mean |d|)),   k1 = 1.2, b = 0.75
    idf = log(1 + (N − df + 0.5) / (df + 0.5))

The formula and its constants are those of LanceDB's own index, so that both stores score alike. What a word adds is
worked out when the index is built: a search adds up one list for each word of the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kate.search.exact_search import Ranking
from kate.sparse_arrays import sparse
from kate.storage.folders import FolderError
from kate.text.sequences import Sequences

__all__ = ["Postings", "best_of"]

K1, B = 1.2, 0.75

Floats = NDArray[np.float32]
PackedRows = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Postings:
    """Lists of documents by word, one after the other; arrays may be mapped files.

    Attributes
    ----------
    starts : (n_words + 1,), where the list of each word begins
    rows : documents, rising in each list
    weights : what the word adds to the score of the document
    place_starts, places : where each word stands; a place is a number that counts the words of all documents, with
        one number between documents left out, so that no phrase reaches from one into the next
    document_starts : (n_docs + 1,), the place where each document begins

    >>> postings = Postings.of(Sequences.of([[0, 1, 0], [1, 2]], n_words=3))
    >>> postings.best([0, 2], postings.scores([0, 2]), top=10).rows.tolist(), postings.phrase([1, 0]).tolist()
    ([0, 1], [0])
    """

    starts: NDArray[np.int64]
    rows: Any
    weights: Any
    place_starts: NDArray[np.int64]
    places: Any
    document_starts: Any

    @classmethod
    def of(cls, sequences: Sequences) -> Postings:
        """The postings of documents, given as the numbers of their words in order."""
        counts = sparse.csr_array(sequences.counts()).tocsc()
        lengths = np.diff(sequences.starts).astype(np.float64)
        df = np.diff(counts.indptr).astype(np.float64)
        idf = np.log1p((len(sequences) - df + 0.5) / (df + 0.5))
        mean = lengths.mean() if lengths.size and lengths.any() else 1.0
        norms = (K1 * (1 - B + B * lengths / mean))[counts.indices]
        tf = counts.data.astype(np.float64)
        weights = np.repeat(idf, np.diff(counts.indptr)) * tf * (K1 + 1) / (tf + norms)
        of_token = np.repeat(np.arange(len(sequences)), np.diff(sequences.starts))
        order = np.argsort(sequences.codes, kind="stable")
        places = order + of_token[order]
        width = np.uint32 if int(places.max(initial=0)) < 2**32 else np.int64
        occurrences = np.bincount(sequences.codes, minlength=sequences.n_words)
        return cls(
            counts.indptr.astype(np.int64),
            counts.indices.astype(np.int32),
            weights.astype(np.float32),
            np.concatenate([[0], np.cumsum(occurrences)]).astype(np.int64),
            places.astype(width),
            sequences.starts + np.arange(len(sequences) + 1),
        )

    def opened(self) -> Postings:
        """The same with the starts of the lists in memory: every search looks at them. Lists of others are refused."""
        opened = replace(self, starts=np.array(self.starts[:]), place_starts=np.array(self.place_starts[:]))
        whole = (
            _parts(opened.starts, len(self.rows))
            and _parts(opened.place_starts, len(self.places))
            and len(self.weights) == len(self.rows)
            and len(opened.starts) == len(opened.place_starts)
            and len(self.document_starts) > 0
        )
        if not whole:
            raise ValueError("the postings do not hold together")
        return opened

    @property
    def n_documents(self) -> int:
        return len(self.document_starts) - 1

    def documents_with(self, word: int) -> PackedRows:
        """The documents that hold a word."""
        found: PackedRows = self.rows[self.starts[word] : self.starts[word + 1]]
        return self._there(found)

    def _there(self, rows: Any) -> PackedRows:
        """Rows of documents; those of a stranger's folder may be none, and are refused."""
        if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < self.n_documents:
            raise FolderError(
                "the index names documents that are not there: it is damaged; index the documents anew"
            )
        there: PackedRows = rows
        return there

    def scores(self, words: Sequence[int]) -> Floats:
        """The score of every document, (n_docs,)."""
        total = np.zeros(self.n_documents, np.float32)
        for word in words:
            part = slice(int(self.starts[word]), int(self.starts[word + 1]))
            total[self.documents_with(word)] += self.weights[part]
        return total

    def best(self, words: Sequence[int], scores: Floats, top: int, allowed: Mask | None = None) -> Ranking:
        """The ``top`` documents of highest score that hold one of the words; of equals the earlier first.

        ``scores`` are the :meth:`scores` of the words.
        """
        rows = np.asarray(
            self.documents_with(words[0]) if len(words) == 1 else np.flatnonzero(scores), np.int64
        )
        if allowed is not None:
            rows = rows[allowed[rows]]
        return best_of(rows, scores[rows], top)

    def words_of_documents(self) -> sparse.csr_array:
        """(n_docs, n_words): which words each document holds."""
        rows, starts = np.asarray(self.rows[:]), np.asarray(self.starts[:])
        self._there(rows)  # SciPy would write where they point
        ones = np.ones(len(rows), np.int8)
        by_word = sparse.csc_array((ones, rows, starts), shape=(self.n_documents, len(starts) - 1))
        return sparse.csr_array(by_word)

    def sequences(self) -> Sequences:
        """The words of the documents in their order, as they were given to :meth:`of`."""
        n_words, ends = len(self.starts) - 1, np.asarray(self.document_starts[:])
        numbers = np.repeat(np.arange(n_words, dtype=np.int32), np.diff(self.place_starts[:]))
        # one place between documents is empty
        codes = np.full(int(ends[-1]), -1, np.int32)
        codes[np.asarray(self.places[:])] = numbers
        return Sequences(codes[codes >= 0], ends - np.arange(len(ends)), n_words)

    def phrase(self, words: Sequence[int]) -> NDArray[np.int64]:
        """The documents in which the words stand side by side in this order."""
        first = words[0]
        here = np.asarray(self.places[self.place_starts[first] : self.place_starts[first + 1]], np.int64)
        for distance, word in enumerate(words[1:], 1):
            there = np.asarray(self.places[self.place_starts[word] : self.place_starts[word + 1]], np.int64)
            here = here[np.isin(here, there - distance, assume_unique=True)]
        starts = np.asarray(self.document_starts[:])
        found = np.unique(np.searchsorted(starts, here, side="right") - 1)
        self._there(found)
        return found


def _parts(starts: NDArray[np.int64], length: int) -> bool:
    """Whether these are the starts, and the end, of parts of an array."""
    return (
        starts.ndim == 1
        and starts.size > 0
        and (int(starts[0]), int(starts[-1])) == (0, length)
        and not (np.diff(starts) < 0).any()
    )


def best_of(rows: NDArray[np.int64], scores: Floats, top: int) -> Ranking:
    """The ``top`` best of rows that rise, the best first; of equals the earlier row.

    >>> best_of(np.array([3, 5, 8]), np.float32([0.5, 0.9, 0.5]), 2).rows.tolist()
    [5, 3]
    """
    if len(rows) > 4 * top:
        least = np.partition(scores, len(scores) - top)[len(scores) - top]
        chosen = np.flatnonzero(scores >= least)
        rows, scores = rows[chosen], scores[chosen]
    order = np.argsort(-scores, kind="stable")[:top]
    return Ranking(rows[order], scores[order])
