"""Exact search: the rows of highest cosine, by comparing a query with every row.

A block of rows is multiplied with a batch of queries while it is in the cache. Each product is compared at once with
the lowest score that still counts for its query; after a few blocks hardly any row passes. The rows that pass are
scored again in double precision, so that the result does not depend on blocks and threads: it is that of a plain
stable argsort.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kate.threads import one_blas_thread, thread_count

__all__ = ["Ranking", "VectorRows", "nearest_rows", "rank_rows"]

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


class VectorRows(Protocol):
    """Vectors by row: an array, or what reads some rows of a file (checked, or stored in eight bits)."""

    @property
    def shape(self) -> Any: ...

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Any, /) -> Any: ...


# A block, with the queries and their scores, fits into the second-level cache of a core.
ROWS_AT_ONCE = 2048
QUERIES_AT_ONCE = 256
# Fewer rows are not worth a thread of their own.
ROWS_FOR_A_THREAD = 65_536
_PAIRS_AT_ONCE = 16_384
_EPSILON = float(np.finfo(np.float32).eps)


class Ranking(NamedTuple):
    """The rows nearest to one query and their scores, the nearest first; of equals the earlier row first."""

    rows: Rows
    scores: Floats

    def page(self, top: int, offset: int = 0) -> Ranking:
        """``top`` of them after the first ``offset``."""
        return Ranking(self.rows[offset : offset + top], self.scores[offset : offset + top])


class _Pairs(NamedTuple):
    """Rows that may be among the best of a query, with their scores: three arrays of one length."""

    queries: Rows
    rows: Rows
    scores: Floats

    @classmethod
    def none(cls) -> _Pairs:
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))

    def best(self, top: int) -> _Pairs:
        """The ``top`` best rows of every query, by query, then by score, then by row."""
        order = np.lexsort((self.rows, -self.scores, self.queries))
        queries = self.queries[order]
        # where the pairs of the same query begin
        first = np.searchsorted(queries, queries)
        return self.at(order[np.arange(len(order)) - first < top])

    def at(self, places: NDArray[np.intp]) -> _Pairs:
        return _Pairs(self.queries[places], self.rows[places], self.scores[places])


def nearest_rows(
    vectors: VectorRows, queries: Floats, top: int, allowed: Mask | None = None
) -> list[Ranking]:
    """For each query the ``top`` rows of highest cosine; a row of zeros is never found.

    All vectors have length 1 (or 0), so that a product is a cosine. ``allowed`` says which rows may be found.

    >>> [found] = nearest_rows(np.eye(3, dtype=np.float32), np.float32([[0.6, 0, 0.8]]), top=2)
    >>> found.rows.tolist(), found.scores.tolist()
    ([2, 0], [0.800000011920929, 0.6000000238418579])
    """
    found: list[Ranking] = []
    for first in range(0, len(queries), QUERIES_AT_ONCE):
        together = np.ascontiguousarray(queries[first : first + QUERIES_AT_ONCE])
        pairs = _over_threads(vectors, together, top, allowed).best(top)
        found += _by_query(pairs, len(together))
    return found


def rank_rows(vectors: VectorRows, query: Floats, rows: Rows, top: int) -> Ranking:
    """The ``top`` best of some rows for one query, scored and ordered as :func:`nearest_rows` does."""
    pairs = _scored(vectors, query[np.newaxis], np.zeros(len(rows), np.int64), rows).best(top)
    return Ranking(pairs.rows, pairs.scores)


def _over_threads(vectors: VectorRows, queries: Floats, top: int, allowed: Mask | None) -> _Pairs:
    """The best rows of each share of the rows: one share per thread, and one BLAS thread in it."""
    n_shares = min(thread_count(None), max(1, len(vectors) // ROWS_FOR_A_THREAD))
    if n_shares == 1:
        return _among(vectors, queries, top, allowed, 0, len(vectors))
    bounds = np.linspace(0, len(vectors), n_shares + 1).astype(int).tolist()
    with one_blas_thread(), ThreadPoolExecutor(n_shares) as pool:
        shares = pool.map(lambda ends: _among(vectors, queries, top, allowed, *ends), pairwise(bounds))
        return _joined(list(shares))


def _among(
    vectors: VectorRows, queries: Floats, top: int, allowed: Mask | None, start: int, stop: int
) -> _Pairs:
    """The ``top`` best of the rows from ``start`` to ``stop`` for every query."""
    n_queries = len(queries)
    size = min(ROWS_AT_ONCE, stop - start)
    scores, passes = np.empty((size, n_queries), np.float32), np.empty((size, n_queries), bool)
    # the least product that can still be among the best, for each query
    least = np.full(n_queries, -np.inf, np.float32)
    # the largest error of a product in single precision
    slack = _EPSILON * queries.shape[1] * (np.linalg.norm(queries, axis=1) + _EPSILON)
    best, waiting, n_waiting = _Pairs.none(), list[_Pairs](), 0
    for first in range(start, stop, size):
        block = vectors[first : min(first + size, stop)]
        product, mask = scores[: len(block)], passes[: len(block)]
        np.matmul(block, queries.T, out=product)
        if allowed is not None:
            product[~allowed[first : first + len(block)]] = -np.inf
        np.greater_equal(product, least, out=mask)
        # too many pass, mostly in the first blocks: raise the limit to the best of this block
        if len(block) > top and np.count_nonzero(mask) > 4 * top * n_queries:
            best_here = np.partition(product, len(block) - top, axis=0)[len(block) - top]
            np.maximum(least, best_here - slack, out=least, casting="same_kind")
            np.greater_equal(product, least, out=mask)
        if allowed is not None:
            mask &= allowed[first : first + len(block), np.newaxis]
        places = np.flatnonzero(mask)
        if not places.size:
            continue
        rows, of_queries = np.divmod(places, n_queries)
        waiting.append(_scored(vectors, queries, of_queries, rows + first))
        n_waiting += places.size
        if n_waiting >= top * n_queries:
            best, waiting, n_waiting = _joined([best, *waiting]).best(top), [], 0
            full = np.flatnonzero(np.bincount(best.queries, minlength=n_queries) == top)
            last = np.searchsorted(best.queries, full, side="right") - 1
            least[full] = np.maximum(least[full], best.scores[last] - slack[full])
    return _joined([best, *waiting])


def _scored(vectors: VectorRows, queries: Floats, of_queries: Rows, rows: Rows) -> _Pairs:
    """Pairs with their cosines, without rows of zeros."""
    scores, is_not_zero = np.empty(len(rows), np.float32), np.empty(len(rows), bool)
    for first in range(0, len(rows), _PAIRS_AT_ONCE):
        part = slice(first, first + _PAIRS_AT_ONCE)
        chosen = np.asarray(vectors[rows[part]])
        scores[part] = np.einsum("ij,ij->i", chosen, queries[of_queries[part]], dtype=np.float64)
        is_not_zero[part] = chosen.any(axis=1)
    return _Pairs(of_queries, rows, scores).at(np.flatnonzero(is_not_zero))


def _joined(parts: list[_Pairs]) -> _Pairs:
    return _Pairs(*map(np.concatenate, zip(*parts, strict=True)))


def _by_query(pairs: _Pairs, n_queries: int) -> list[Ranking]:
    bounds = np.searchsorted(pairs.queries, np.arange(n_queries + 1))
    return [Ranking(pairs.rows[first:last], pairs.scores[first:last]) for first, last in pairwise(bounds)]
