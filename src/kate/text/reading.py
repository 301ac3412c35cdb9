"""Reading: tokenised texts that share one list of distinct chunks, ready to be counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from kate.text.sequences import Sequences
from kate.text.slices import Slice, cut, encode, in_order, read_slice
from kate.text.tokenizer import Tokenizer

__all__ = ["Reading", "meaning_matrix", "meaning_order", "stack"]

# Slices whose chunks are resolved together when texts are only counted: some 64 MB of text at a time.
SLICES_AT_ONCE = 32


@dataclass(frozen=True)
class Reading:
    """Slices of texts and the distinct chunks of them all.

    >>> reading = Reading.of(["to be, or not", "to be"], Tokenizer())
    >>> sorted(zip(reading.chunks.to_list(), reading.occurrences().tolist()))
    [('be', 2), ('not', 1), ('or', 1), ('to', 2)]
    """

    slices: list[Slice]
    codes: list[npt.NDArray[np.int32]]  # for each slice: its chunks as positions in ``chunks``
    chunks: pl.Series

    @classmethod
    def of(cls, texts: Iterable[str], tokens: Tokenizer, n_jobs: int | None = None) -> Reading:
        return cls._merge(list(in_order(lambda piece: read_slice(piece, tokens), cut(texts), n_jobs)))

    @classmethod
    def batches(cls, texts: Iterable[str], tokens: Tokenizer, n_jobs: int | None = None) -> Iterator[Reading]:
        """The same in batches, for texts that need not be together in memory."""
        slices = in_order(lambda piece: read_slice(piece, tokens), cut(texts), n_jobs)
        while batch := list(islice(slices, SLICES_AT_ONCE)):
            yield cls._merge(batch)

    @classmethod
    def _merge(cls, slices: list[Slice]) -> Reading:
        if not slices:
            return cls([], [], pl.Series([], dtype=pl.String))
        codes, chunks = encode(pl.concat([read.chunks for read in slices]))
        ends = np.cumsum([len(read.chunks) for read in slices])
        return cls(slices, np.split(codes, ends[:-1]), chunks)

    @property
    def n_documents(self) -> int:
        return sum(len(read) for read in self.slices)

    def occurrences(self) -> npt.NDArray[np.int64]:
        """How often each chunk occurs."""
        total = np.zeros(len(self.chunks), dtype=np.int64)
        for read, codes in zip(self.slices, self.codes, strict=True):
            total[codes] += np.bincount(read.codes, minlength=len(read.chunks))
        return total

    def count(self, meaning: sparse.csr_array, n_jobs: int | None = None) -> sparse.csr_array:
        """Counts (n_docs, n_words): occurrences of chunks (n_docs, n_chunks) times their ``meaning``."""

        def count_slice(pair: tuple[Slice, npt.NDArray[np.int32]]) -> sparse.csr_array:
            read, codes = pair
            ones = np.ones(len(read.codes), dtype=np.int32)
            starts = read.starts.astype(_index_dtype(len(read.codes)))
            shape = (len(read), len(read.chunks))
            chunks: sparse.csr_array = sparse.csr_array((ones, read.codes, starts), shape=shape)
            counts: sparse.csr_array = chunks @ meaning[codes]
            return counts

        pairs = zip(self.slices, self.codes, strict=True)
        return stack(in_order(count_slice, pairs, n_jobs), meaning.shape[1])

    def sequences(self, meaning: sparse.csr_array) -> Sequences:
        """The words of the documents in their order; ``meaning`` as :func:`meaning_order` gives it."""
        parts = [
            Sequences.translate(codes[read.codes], read.starts, meaning)
            for read, codes in zip(self.slices, self.codes, strict=True)
        ]
        return Sequences.concatenate(parts, meaning.shape[1])


def meaning_matrix(
    chunks: npt.NDArray[np.integer], columns: npt.NDArray[np.int32], shape: tuple[int, int]
) -> sparse.csr_array:
    """(n_chunks, n_words): how often each chunk holds each word, from pairs; a column of -1 is no word."""
    known = columns >= 0
    ones = np.ones(np.count_nonzero(known), dtype=np.int32)
    return sparse.csr_array((ones, (chunks[known].astype(np.int32), columns[known])), shape=shape)


def meaning_order(
    chunks: npt.NDArray[np.integer], columns: npt.NDArray[np.int32], shape: tuple[int, int]
) -> sparse.csr_array:
    """(n_chunks, n_words) whose rows list the words of a chunk as they stand in it, twice where they do."""
    known = np.flatnonzero(columns >= 0)
    known = known[np.argsort(chunks[known], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(chunks[known], minlength=shape[0]))])
    ones = np.ones(len(known), dtype=np.int8)
    return sparse.csr_array((ones, columns[known], starts.astype(np.int64)), shape=shape)


def stack(blocks: Iterable[sparse.csr_array], n_words: int) -> sparse.csr_array:
    """Rows of counts in one matrix: int32, columns sorted, 64-bit indices only where 32 bits do not reach."""
    first = sparse.csr_array((0, n_words), dtype=np.int32)
    counts = sparse.csr_array(sparse.vstack([first, *blocks], format="csr", dtype=np.int32))
    counts.sort_indices()
    width = _index_dtype(max(counts.nnz, n_words))
    counts.indices, counts.indptr = counts.indices.astype(width), counts.indptr.astype(width)
    return counts


def _index_dtype(largest: int) -> type[np.int32] | type[np.int64]:
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64
