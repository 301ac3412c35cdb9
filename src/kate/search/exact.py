"""The rows of highest cosine, exactly: BLAS finds the few that may be among the best, which are then scored anew.

A block of rows is multiplied with a batch of queries while it is in the cache, and compared at once with the least
score that still counts for each query; hardly any row passes once a few blocks have been seen. Those that do are
scored in double precision, so that the answer depends neither on the blocks nor on the threads: it is that of a
plain stable argsort.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

__all__ = ["Nearest", "best_of", "nearest", "thread_count"]

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

ROWS_AT_ONCE = 2048  # with the queries and their scores: about what a core's second-level cache holds
QUERIES_AT_ONCE = 256
ROWS_FOR_A_THREAD = 65_536  # fewer are not worth a thread of their own
_PAIRS_AT_ONCE = 16_384
_EPSILON = float(np.finfo(np.float32).eps)


class Nearest(NamedTuple):
    """The rows nearest to one query, the nearest first; of equals the earlier row."""

    rows: Rows
    scores: Floats


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
        first = np.searchsorted(queries, queries)  # where the pairs of the same query begin
        return self.at(order[np.arange(len(order)) - first < top])

    def at(self, places: NDArray[np.intp]) -> _Pairs:
        return _Pairs(self.queries[places], self.rows[places], self.scores[places])


def nearest(vectors: Floats, queries: Floats, top: int) -> list[Nearest]:
    """For each query the ``top`` rows of highest cosine; a row of zeros is near to nothing and never found.

    Both sides are of length 1 (or 0) already, so that a cosine is a product.

    >>> [found] = nearest(np.eye(3, dtype=np.float32), np.float32([[0.6, 0, 0.8]]), top=2)
    >>> found.rows.tolist(), found.scores.tolist()
    ([2, 0], [0.800000011920929, 0.6000000238418579])
    """
    found: list[Nearest] = []
    for first in range(0, len(queries), QUERIES_AT_ONCE):
        together = np.ascontiguousarray(queries[first : first + QUERIES_AT_ONCE])
        pairs = _over_threads(vectors, together, top).best(top)
        found += _by_query(pairs, len(together))
    return found


def best_of(vectors: Floats, query: Floats, rows: Rows, top: int) -> Nearest:
    """The ``top`` best of some rows for one query, scored and ordered as :func:`nearest` does."""
    pairs = _scored(vectors, query[np.newaxis], np.zeros(len(rows), np.int64), rows).best(top)
    return Nearest(pairs.rows, pairs.scores)


def thread_count() -> int:
    """As many threads as BLAS would take: all cores, or what OMP_NUM_THREADS and the like leave."""
    counts = [library["num_threads"] for library in _blas().info() if library["user_api"] == "blas"]
    return max(counts, default=1)


def _over_threads(vectors: Floats, queries: Floats, top: int) -> _Pairs:
    """The best rows of equal shares of all rows, a share a thread with one BLAS thread in it."""
    n_shares = min(thread_count(), max(1, len(vectors) // ROWS_FOR_A_THREAD))
    if n_shares == 1:
        return _among(vectors, queries, top, 0, len(vectors))
    bounds = np.linspace(0, len(vectors), n_shares + 1).astype(int).tolist()
    with _blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(n_shares) as pool:
        shares = pool.map(lambda ends: _among(vectors, queries, top, *ends), pairwise(bounds))
        return _joined(list(shares))


def _among(vectors: Floats, queries: Floats, top: int, start: int, stop: int) -> _Pairs:
    """The ``top`` best of the rows from ``start`` to ``stop`` for every query."""
    n_queries = len(queries)
    size = min(ROWS_AT_ONCE, stop - start)
    scores, passes = np.empty((size, n_queries), np.float32), np.empty((size, n_queries), bool)
    least = np.full(n_queries, -np.inf, np.float32)  # what a product must reach to count
    # how far a product of single precision may be from the cosine, on both sides together
    slack = _EPSILON * queries.shape[1] * (np.linalg.norm(queries, axis=1) + _EPSILON)
    best, waiting, n_waiting = _Pairs.none(), list[_Pairs](), 0
    for first in range(start, stop, size):
        block = vectors[first : min(first + size, stop)]
        product, mask = scores[: len(block)], passes[: len(block)]
        np.matmul(block, queries.T, out=product)
        np.greater_equal(product, least, out=mask)
        if len(block) > top and np.count_nonzero(mask) > 4 * top * n_queries:  # at the start, above all
            best_here = np.partition(product, len(block) - top, axis=0)[len(block) - top]
            np.maximum(least, best_here - slack, out=least, casting="same_kind")
            np.greater_equal(product, least, out=mask)
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


def _scored(vectors: Floats, queries: Floats, of_queries: Rows, rows: Rows) -> _Pairs:
    """Pairs with their cosines, without those whose row is nothing but zeros."""
    scores, is_something = np.empty(len(rows), np.float32), np.empty(len(rows), bool)
    for first in range(0, len(rows), _PAIRS_AT_ONCE):
        part = slice(first, first + _PAIRS_AT_ONCE)
        chosen = np.asarray(vectors[rows[part]])
        scores[part] = np.einsum("ij,ij->i", chosen, queries[of_queries[part]], dtype=np.float64)
        is_something[part] = chosen.any(axis=1)
    return _Pairs(of_queries, rows, scores).at(np.flatnonzero(is_something))


def _joined(parts: list[_Pairs]) -> _Pairs:
    return _Pairs(*map(np.concatenate, zip(*parts, strict=True)))


def _by_query(pairs: _Pairs, n_queries: int) -> list[Nearest]:
    bounds = np.searchsorted(pairs.queries, np.arange(n_queries + 1))
    return [Nearest(pairs.rows[first:last], pairs.scores[first:last]) for first, last in pairwise(bounds)]


@cache
def _blas() -> ThreadpoolController:
    """BLAS as it is loaded now; to look for it takes longer than a small search."""
    return ThreadpoolController()
