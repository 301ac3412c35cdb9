"""Texts → counts of words, in batches over a pool of threads.

A batch of texts is cut into chunks (see :mod:`kate.text.tokenizer`) and each chunk becomes a number: its place in the
list of distinct chunks. Nothing later reads the text again. Which words a distinct chunk stands for is worked out once;
counting is then a sparse product. Polars gives up the interpreter's lock while it works, so threads share the cores.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from kate.sparse_arrays import sparse
from kate.text.phrases import Phrases
from kate.text.sequences import Sequences
from kate.text.text_batches import PlainTexts, text_batches
from kate.text.tokenizer import Tokenizer
from kate.threads import thread_count

__all__ = [
    "ChunkedTexts",
    "chunk_word_counts",
    "chunk_word_order",
    "factorize",
    "map_in_order",
    "stack_rows",
]

# Batches whose chunks are resolved together when texts are only counted: about 64 MB of text.
BATCHES_AT_ONCE = 32

Item = TypeVar("Item")
Result = TypeVar("Result")
Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class ChunkedBatch:
    """Some documents as the codes of their chunks: document i has ``codes[starts[i]:starts[i + 1]]``."""

    starts: npt.NDArray[np.int64]  # (n_docs + 1,)
    codes: npt.NDArray[np.int32]
    chunks: pl.Series  # the distinct chunks: the chunk of each code

    @classmethod
    def of(cls, texts: pl.Series, tokenizer: Tokenizer, breaks: bool = False) -> ChunkedBatch:
        """Cut texts into chunks and number these.

        >>> batch = ChunkedBatch.of(pl.Series(["to be, or not", "to be"]), Tokenizer())
        >>> batch.chunks[batch.codes].to_list(), batch.starts.tolist()
        (['to', 'be', 'or', 'not', 'to', 'be'], [0, 4, 6])
        """
        chunks = tokenizer.cut(texts, breaks)
        starts = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum(chunks.list.len().to_numpy(), out=starts[1:])
        codes, distinct = factorize(chunks.explode().drop_nulls())
        return cls(starts, codes, distinct)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def chunk_counts(self) -> sparse.csr_array:
        """How often each document has each distinct chunk (n_docs, n_chunks)."""
        ones = np.ones(len(self.codes), dtype=np.int32)
        starts = self.starts.astype(_index_dtype(len(self.codes)))
        return sparse.csr_array((ones, self.codes, starts), shape=(len(self), len(self.chunks)))


@dataclass(frozen=True)
class ChunkedTexts:
    """Batches of documents and the distinct chunks of them all.

    >>> chunked = ChunkedTexts.of(["to be, or not", "to be"], Tokenizer())
    >>> sorted(zip(chunked.chunks.to_list(), chunked.occurrences().tolist()))
    [('be', 2), ('not', 1), ('or', 1), ('to', 2)]
    """

    batches: list[ChunkedBatch]
    places: list[npt.NDArray[np.int32]]  # for each batch: where its chunks stand in ``chunks``
    chunks: pl.Series

    @classmethod
    def of(cls, texts: PlainTexts, tokenizer: Tokenizer, n_jobs: int | None = None) -> ChunkedTexts:
        """All texts at once."""
        return cls.of_batches(text_batches(texts), tokenizer, n_jobs)

    @classmethod
    def of_batches(
        cls,
        batches: Iterable[pl.Series],
        tokenizer: Tokenizer,
        n_jobs: int | None = None,
        breaks: bool = False,
    ) -> ChunkedTexts:
        """The same from batches as :func:`text_batches` gives them; ``breaks`` keeps what ends a phrase."""
        return cls._merge(list(_chunked_batches(batches, tokenizer, n_jobs, breaks)))

    @classmethod
    def parts(
        cls, texts: PlainTexts, tokenizer: Tokenizer, n_jobs: int | None = None, breaks: bool = False
    ) -> Iterator[ChunkedTexts]:
        """The same part by part: the texts need not be in memory together."""
        batches = _chunked_batches(text_batches(texts), tokenizer, n_jobs, breaks)
        while some := list(islice(batches, BATCHES_AT_ONCE)):
            yield cls._merge(some)

    @classmethod
    def _merge(cls, batches: list[ChunkedBatch]) -> ChunkedTexts:
        if not batches:
            return cls([], [], pl.Series([], dtype=pl.String))
        codes, chunks = factorize(pl.concat([batch.chunks for batch in batches]))
        ends = np.cumsum([len(batch.chunks) for batch in batches])
        return cls(batches, np.split(codes, ends[:-1]), chunks)

    @property
    def n_documents(self) -> int:
        return sum(len(batch) for batch in self.batches)

    def occurrences(self) -> npt.NDArray[np.int64]:
        """How often each chunk occurs."""
        total = np.zeros(len(self.chunks), dtype=np.int64)
        for batch, places in zip(self.batches, self.places, strict=True):
            total[places] += np.bincount(batch.codes, minlength=len(batch.chunks))
        return total

    def count(
        self, words: sparse.csr_array, n_jobs: int | None = None, phrases: Phrases | None = None
    ) -> sparse.csr_array:
        """Counts (n_docs, n_words); ``words`` as :func:`chunk_word_counts` gives it, and phrases if there are any."""

        def count_batch(pair: tuple[ChunkedBatch, npt.NDArray[np.int32]]) -> sparse.csr_array:
            batch, places = pair
            counts: sparse.csr_array = batch.chunk_counts() @ words[places]
            return counts if phrases is None else counts + phrases.count(places[batch.codes], batch.starts)

        pairs = zip(self.batches, self.places, strict=True)
        return stack_rows(map_in_order(count_batch, pairs, n_jobs), words.shape[1])

    def sequences(self, words: sparse.csr_array) -> Sequences:
        """The words of the documents in their order; ``words`` as :func:`chunk_word_order` gives it."""
        parts = [
            Sequences.translate(places[batch.codes], batch.starts, words)
            for batch, places in zip(self.batches, self.places, strict=True)
        ]
        return Sequences.concatenate(parts, words.shape[1])


def _chunked_batches(
    batches: Iterable[pl.Series], tokenizer: Tokenizer, n_jobs: int | None, breaks: bool = False
) -> Iterator[ChunkedBatch]:
    return map_in_order(lambda batch: ChunkedBatch.of(batch, tokenizer, breaks), batches, n_jobs)


def chunk_word_counts(
    chunks: Ints, columns: npt.NDArray[np.int32], shape: tuple[int, int]
) -> sparse.csr_array:
    """(n_chunks, n_words): how often each chunk holds each word, from pairs; a column of -1 is no word."""
    known = columns >= 0
    ones = np.ones(np.count_nonzero(known), dtype=np.int32)
    return sparse.csr_array((ones, (chunks[known].astype(np.int32), columns[known])), shape=shape)


def chunk_word_order(
    chunks: Ints, columns: npt.NDArray[np.int32], shape: tuple[int, int]
) -> sparse.csr_array:
    """(n_chunks, n_words): a row lists the words of a chunk in their order; a repeated word is listed again."""
    known = np.flatnonzero(columns >= 0)
    known = known[np.argsort(chunks[known], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(chunks[known], minlength=shape[0]))])
    ones = np.ones(len(known), dtype=np.int8)
    return sparse.csr_array((ones, columns[known], starts.astype(np.int64)), shape=shape)


def stack_rows(blocks: Iterable[sparse.csr_array], n_words: int) -> sparse.csr_array:
    """Blocks of counts as one matrix: int32, columns sorted, 64-bit indices only if 32 bits are too few."""
    first = sparse.csr_array((0, n_words), dtype=np.int32)
    counts = sparse.csr_array(sparse.vstack([first, *blocks], format="csr", dtype=np.int32))
    counts.sort_indices()
    width = _index_dtype(max(counts.nnz, n_words))
    counts.indices, counts.indptr = counts.indices.astype(width), counts.indptr.astype(width)
    return counts


def _index_dtype(largest: int) -> type[np.int32] | type[np.int64]:
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def factorize(strings: pl.Series) -> tuple[npt.NDArray[np.int32], pl.Series]:
    """Codes and distinct strings: ``distinct[codes]`` is ``strings`` again; the order of codes is arbitrary.

    A cast to Categorical is several times as fast as grouping strings.
    """
    physical = strings.cast(pl.Categorical).to_physical().to_numpy()
    # Other categoricals of the process may share the physical numbers: close the gaps.
    present = np.flatnonzero(np.bincount(physical))
    code_of = np.zeros(present[-1] + 1 if len(present) else 0, dtype=np.int32)
    code_of[present] = np.arange(len(present), dtype=np.int32)
    codes = code_of[physical]
    somewhere = np.zeros(len(present), dtype=np.int64)
    somewhere[codes] = np.arange(len(codes))
    return codes, strings.gather(somewhere)


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None
) -> Iterator[Result]:
    """``map`` over threads that run only a little ahead of the reader, so that memory stays bounded.

    ``n_jobs=None`` takes all cores, or fewer if OMP_NUM_THREADS or POLARS_MAX_THREADS says so.

    >>> list(map_in_order(abs, [-1, 2, -3], n_jobs=2))
    [1, 2, 3]
    """
    n_threads = thread_count(n_jobs)
    if n_jobs is None:
        n_threads = min(n_threads, pl.thread_pool_size())
    items = iter(items)
    first_two = list(islice(items, 2))
    # one text, such as a query, is done before a pool would have started
    if n_threads == 1 or len(first_two) < 2:
        yield from map(function, chain(first_two, items))
        return
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(n_threads, thread_name_prefix="kate-text") as pool:
        try:
            for item in chain(first_two, items):
                pending.append(pool.submit(function, item))
                if len(pending) > 2 * n_threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
