"""Texts in slices: cut to a size, tokenised over a pool of threads, never more than a few in flight.

Polars releases the interpreter's lock while it works, so threads share the cores. A slice is
dictionary-encoded: its chunks are integers into the list of its distinct chunks, and nothing later touches
the text again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from kate.text.tokenizer import Tokenizer

__all__ = ["Slice", "cut", "encode", "in_order", "read_slice"]

# Characters a slice: large enough to keep threads busy, small enough that its list of chunks is no burden.
SLICE_SIZE = 2_000_000

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Slice:
    """Documents as the codes of their chunks: document i has ``codes[starts[i]:starts[i + 1]]``."""

    starts: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    chunks: pl.Series  # the chunk of each code

    def __len__(self) -> int:
        return len(self.starts) - 1


def cut(texts: Iterable[str], size: int | None = None) -> Iterator[pl.Series]:
    """Slices of about ``size`` characters; every document is checked to be a string.

    >>> [len(piece) for piece in cut(["four", "more", "words"], size=8)]
    [2, 1]
    """
    size = size or SLICE_SIZE
    kind = type(texts).__name__
    if isinstance(texts, str | bytes):
        raise TypeError(f"expected a list of texts, got one {kind}; put it in a list: [text]")
    if isinstance(texts, Mapping) or hasattr(texts, "columns") or getattr(texts, "ndim", 1) != 1:
        raise TypeError(f"expected a list of texts, got a {kind}; pass its column of texts")
    if not isinstance(texts, Iterable):
        raise TypeError(f"expected a list of texts, got {kind}")
    return _cut_series(texts, size) if isinstance(texts, pl.Series) else _cut_iterable(texts, size)


def _cut_series(texts: pl.Series, size: int) -> Iterator[pl.Series]:
    if texts.dtype != pl.String and len(texts) > 0:
        raise TypeError(f"expected texts, got a Polars series of {texts.dtype}; cast it to String")
    if texts.null_count():
        raise TypeError(_not_a_text(int(texts.is_null().arg_max() or 0), None))
    ends = texts.cast(pl.String).str.len_bytes().cum_sum().to_numpy()
    start = 0
    while start < len(texts):
        reach = (int(ends[start - 1]) if start else 0) + size
        stop = max(start + 1, int(np.searchsorted(ends, reach, side="right")))
        yield texts.slice(start, stop - start)
        start = stop


def _cut_iterable(texts: Iterable[str], size: int) -> Iterator[pl.Series]:
    piece: list[str] = []
    length = 0
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(_not_a_text(position, text))
        if piece and length + len(text) > size:
            yield _series(piece, position)
            piece, length = [], 0
        piece.append(text)
        length += len(text)
    if piece:
        yield _series(piece, position + 1)


def _series(piece: list[str], end: int) -> pl.Series:
    try:
        return pl.Series(piece, dtype=pl.String)
    except UnicodeEncodeError as error:  # half a surrogate pair, from a decoder that let errors pass
        broken = next(i for i, text in enumerate(piece) if not _is_encodable(text))
        raise ValueError(
            f"document {end - len(piece) + broken} holds a character that is not valid Unicode "
            f'({error.reason}); clean it with text.encode("utf-8", "replace").decode("utf-8")'
        ) from None


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _not_a_text(position: int, found: object) -> str:
    what = "None" if found is None else f"{repr(found)[:40]} ({type(found).__name__})"
    return f"document {position} is {what}; every document must be a str: drop it or replace it by ''"


def read_slice(texts: pl.Series, tokens: Tokenizer) -> Slice:
    """Tokenise and dictionary-encode.

    >>> read = read_slice(pl.Series(["to be, or not", "to be"]), Tokenizer())
    >>> read.chunks[read.codes].to_list(), read.starts.tolist()
    (['to', 'be', 'or', 'not', 'to', 'be'], [0, 4, 6])
    """
    chunks = tokens.cut(texts)
    starts = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(chunks.list.len().to_numpy(), out=starts[1:])
    codes, distinct = encode(chunks.explode().drop_nulls())
    return Slice(starts, codes, distinct)


def encode(strings: pl.Series) -> tuple[npt.NDArray[np.int32], pl.Series]:
    """Codes and distinct strings: ``distinct[codes]`` is ``strings`` again; the order of codes is arbitrary.

    A cast to Categorical is several times as quick as grouping strings.
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


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None
) -> Iterator[Result]:
    """``map`` over a pool of threads that runs only a little ahead of its reader: memory stays bounded.

    ``n_jobs=None`` takes as many threads as Polars does (environment variable POLARS_MAX_THREADS).

    >>> list(in_order(abs, [-1, 2, -3], n_jobs=2))
    [1, 2, 3]
    """
    if n_jobs is not None and n_jobs < 1 and n_jobs != -1:
        raise ValueError(f"n_jobs is {n_jobs}; give a number of threads, or None (or -1) for one a core")
    workers = pl.thread_pool_size() if n_jobs in {None, -1} else int(n_jobs or 1)
    items = iter(items)
    start = list(islice(items, 2))
    if workers == 1 or len(start) < 2:  # a query of one text is answered before a pool would have started
        yield from map(function, chain(start, items))
        return
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="kate-text") as pool:
        try:
            for item in chain(start, items):
                pending.append(pool.submit(function, item))
                if len(pending) > 2 * workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
