"""Texts → counts of words, in batches over a pool of threads.

A batch of texts is cut into chunks (see :mod:`kate.text.tokenizer`) and each chunk becomes a number: its place in the
list of distinct chunks. Nothing later reads the text again. Which words a distinct chunk stands for is worked out once;
counting is then a sparse product. Polars gives up the interpreter's lock while it works, so threads share the cores.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from kate.errors import quoted
from kate.text.phrases import Phrases
from kate.text.sequences import Sequences
from kate.text.tokenizer import Tokenizer
from kate.threads import require_own_threads, thread_count

__all__ = [
    "ChunkedTexts",
    "chunk_word_counts",
    "chunk_word_order",
    "factorize",
    "is_encodable",
    "map_in_order",
    "stack_rows",
    "text_batches",
]

# Characters of a batch: enough to keep a thread busy, few enough that its list of distinct chunks stays small.
BATCH_SIZE = 2_000_000
# Batches whose chunks are resolved together when texts are only counted: about 64 MB of text.
BATCHES_AT_ONCE = 32

Item = TypeVar("Item")
Result = TypeVar("Result")
# Strings, or lists of words.
PlainTexts: TypeAlias = Iterable[str] | Iterable[Sequence[str]]
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


def text_batches(texts: PlainTexts, size: int | None = None) -> Iterator[pl.Series]:
    """Batches of about ``size`` characters; every document is checked to be a string, or a list of strings.

    >>> [len(batch) for batch in text_batches(["four", "more", "words"], size=8)]
    [2, 1]
    >>> [batch.to_list() for batch in text_batches([["cut", "already"], ["words"]])]
    [[['cut', 'already'], ['words']]]
    """
    require_own_threads()
    size = size or BATCH_SIZE
    kind = type(texts).__name__
    if isinstance(texts, str | bytes):
        raise TypeError(f"expected a list of texts, got one {kind}; put it in a list: [text]")
    if isinstance(texts, Mapping) or hasattr(texts, "columns") or getattr(texts, "ndim", 1) != 1:
        raise TypeError(f"expected a list of texts, got a {kind}; pass its column of texts")
    if not isinstance(texts, Iterable):
        raise TypeError(f"expected a list of texts, got {kind}")
    return _series_batches(texts, size) if isinstance(texts, pl.Series) else _list_batches(texts, size)


def _series_batches(texts: pl.Series, size: int) -> Iterator[pl.Series]:
    are_lists = texts.dtype == pl.List(pl.String)
    if texts.dtype != pl.String and not are_lists and len(texts) > 0:
        raise TypeError(f"expected texts, got a Polars series of {texts.dtype}; cast it to String")
    if texts.null_count():
        raise TypeError(_not_a_text(int(texts.is_null().arg_max() or 0), None))
    # a word is taken for eight characters
    lengths = texts.list.len() * 8 if are_lists else texts.cast(pl.String).str.len_bytes()
    ends = lengths.cum_sum().to_numpy()
    start = 0
    while start < len(texts):
        reach = (int(ends[start - 1]) if start else 0) + size
        stop = max(start + 1, int(np.searchsorted(ends, reach, side="right")))
        yield texts.slice(start, stop - start)
        start = stop


def _list_batches(texts: Iterable[Any], size: int) -> Iterator[pl.Series]:
    batch: list[Any] = []
    length = 0
    # the first document tells: lists of words, or strings
    are_lists = False
    for position, given in enumerate(texts):
        text: Any = given.tolist() if isinstance(given, np.ndarray) and given.ndim == 1 else given
        if position == 0:
            are_lists = isinstance(text, list | tuple)
        if not (_are_words(text) if are_lists else isinstance(text, str)):
            raise TypeError(_not_a_text(position, text))
        width = 8 * len(text) if are_lists else len(text)
        if batch and length + width > size:
            yield _as_series(batch, position)
            batch, length = [], 0
        batch.append(text)
        length += width
    if batch:
        yield _as_series(batch, position + 1)


def _are_words(text: Any) -> bool:
    return isinstance(text, list | tuple) and all(isinstance(word, str) for word in text)


def _as_series(batch: list[Any], end: int) -> pl.Series:
    try:
        return pl.Series(batch, dtype=pl.String if isinstance(batch[0], str) else pl.List(pl.String))
    # half a surrogate pair, from a decoder that ignored errors
    except UnicodeEncodeError as error:
        broken = next(i for i, text in enumerate(batch) if not is_encodable(text))
        raise ValueError(
            f"document {end - len(batch) + broken} holds a character that is not valid Unicode "
            f'({error.reason}); clean it with text.encode("utf-8", "replace").decode("utf-8")'
        ) from None


def is_encodable(text: str | Iterable[str]) -> bool:
    try:
        "".join(text).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _not_a_text(position: int, found: object) -> str:
    what = "None" if found is None else f"{quoted(found, 40)} ({type(found).__name__})"
    return (
        f"document {position} is {what}; every document must be a str (or every one a list of str): drop it or "
        "replace it by ''"
    )
