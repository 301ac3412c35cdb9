"""Sequences: the words of every document in their order, for models that look at neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kate.sparse_arrays import sparse

__all__ = ["Sequences"]


@dataclass(frozen=True, eq=False)
class Sequences:
    """Documents as columns of the vocabulary in the order of the text: one flat array and where each starts.

    Document i has ``codes[starts[i]:starts[i + 1]]``; words without a column are not there.

    >>> sequences = Sequences.of([[2, 0, 2], [], [1]], n_words=3)
    >>> sequences[0], len(sequences), sequences.shape
    (array([2, 0, 2], dtype=int32), 3, (3, 3))
    >>> sequences.counts().toarray().tolist()
    [[1, 0, 2], [0, 0, 0], [0, 1, 0]]
    """

    codes: npt.NDArray[np.int32]  # (n_tokens,)
    starts: npt.NDArray[np.int64]  # (n_docs + 1,)
    n_words: int

    @classmethod
    def of(cls, documents: list[list[int]] | list[npt.NDArray[np.int32]], n_words: int) -> Sequences:
        """From the columns of each document."""
        codes = [np.asarray(document, dtype=np.int32) for document in documents]
        starts = np.concatenate([[0], np.cumsum([len(document) for document in codes], dtype=np.int64)])
        return cls(np.concatenate([np.zeros(0, np.int32), *codes]), starts.astype(np.int64), n_words)

    @classmethod
    def of_counts(cls, X: sparse.csr_array | sparse.csr_matrix, seed: int = 0) -> Sequences:
        """From counts (n_docs, n_words): each word as often as it occurs, in an order drawn at random.

        For documents whose order is not known. The order depends on the seed and the document alone, not on
        other documents.

        >>> sorted(Sequences.of_counts(sparse.csr_array([[2, 0, 1]]))[0].tolist())
        [0, 0, 2]
        """
        X = sparse.csr_array(X)
        codes = np.repeat(X.indices.astype(np.int32), np.rint(X.data).astype(np.int64))
        lengths = np.rint(X.sum(axis=1)).astype(np.int64)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        for start, end in pairwise(starts):
            np.random.default_rng([seed, int(end - start)]).shuffle(codes[start:end])
        return cls(codes, starts, int(X.shape[1]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """(n_docs, n_words), as of the counts."""
        return len(self), self.n_words

    def __getitem__(self, row: int) -> npt.NDArray[np.int32]:
        """The words of one document; a view, nothing is copied."""
        return self.codes[self.starts[row] : self.starts[row + 1]]

    def __iter__(self) -> Iterator[npt.NDArray[np.int32]]:
        return (self[row] for row in range(len(self)))

    def take(self, rows: npt.NDArray[np.integer]) -> Sequences:
        """The documents of some rows, in this order.

        >>> Sequences.of([[2, 0], [1], [0]], 3).take(np.array([2, 0])).codes
        array([0, 2, 0], dtype=int32)
        """
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
        return Sequences(_gather(self.codes, self.starts[:-1][rows], lengths), starts, self.n_words)

    def counts(self) -> sparse.csr_array:
        """The counts (n_docs, n_words) of the same documents."""
        ones = np.ones(len(self.codes), dtype=np.int32)
        counts = sparse.csr_array((ones, self.codes.copy(), self.starts.copy()), shape=self.shape)
        # in place, hence the copies above
        counts.sum_duplicates()
        return counts

    @classmethod
    def concatenate(cls, parts: list[Sequences], n_words: int) -> Sequences:
        """The documents of all parts, one part after the other."""
        lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.starts) for part in parts)])
        codes = np.concatenate([np.zeros(0, np.int32), *(part.codes for part in parts)])
        return cls(codes, np.cumsum(lengths), n_words)

    @classmethod
    def translate(
        cls,
        codes: npt.NDArray[np.int32],
        starts: npt.NDArray[np.int64],
        dictionary: sparse.csr_array,
    ) -> Sequences:
        """Documents of codes as documents of words; a code may stand for no word or for several.

        ``dictionary`` has one row per code; the columns of the row, in the order they are stored, are its words.
        """
        lengths = np.diff(dictionary.indptr).astype(np.int64)[codes]
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        words = _gather(dictionary.indices, dictionary.indptr[:-1][codes], lengths)
        return cls(words.astype(np.int32, copy=False), ends[starts], dictionary.shape[1])


def _gather(
    values: npt.NDArray[np.int32], firsts: npt.NDArray[np.integer], lengths: npt.NDArray[np.int64]
) -> npt.NDArray[np.int32]:
    """``values[first : first + length]`` for every pair, one after the other."""
    before = np.cumsum(lengths) - lengths
    return values[np.repeat(firsts - before, lengths) + np.arange(int(lengths.sum()))]
