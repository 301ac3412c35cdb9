"""Products of tall matrices, block by block over threads of our own; BLAS takes one thread meanwhile.

SciPy multiplies sparse matrices by one thread. BLAS starts as many as there are cores, and they wait for each other
without sleeping: on a busy machine, or in a container that may use few of the cores, that takes many times as long.
Blocks do not depend on the number of threads and their sums have a fixed order, so that the result does not either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kate.sparse_arrays import sparse
from kate.threads import one_blas_thread, thread_count

__all__ = ["BlockProducts", "block_products"]

_ROWS = 2048  # of a dense matrix at a time
_ENTRIES = 2**17  # of a sparse matrix: enough to keep a thread busy, few enough to share them evenly

Floats = NDArray[np.float32]
Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def block_products(n_jobs: int | None = None) -> Iterator[BlockProducts]:
    """Products by ``n_jobs`` threads (None: all cores), and one thread for every call of BLAS as long as it is open."""
    n_threads = thread_count(n_jobs)
    with one_blas_thread():
        if n_threads == 1:
            yield BlockProducts(None)
            return
        with ThreadPoolExecutor(n_threads, thread_name_prefix="kate-products") as pool:
            yield BlockProducts(pool)


class BlockProducts(NamedTuple):
    """Products of matrices with many rows; made by :func:`block_products`.

    >>> with block_products() as products:
    ...     products.multiply(sparse.csr_matrix(np.eye(2, dtype=np.float32)), np.ones((2, 3), dtype=np.float32)).sum()
    np.float32(6.0)
    """

    pool: ThreadPoolExecutor | None

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """``map`` in the order of the items."""
        if self.pool is None or len(items) < 2:
            return map(function, items)
        return self.pool.map(function, items)

    def multiply(self, A: sparse.csr_matrix | Floats, B: Floats) -> Floats:
        """A @ B for a sparse or dense A."""
        product = np.empty((A.shape[0], B.shape[1]), dtype=np.float32)

        def multiply_block(rows: slice) -> None:
            if isinstance(A, np.ndarray):
                np.matmul(A[rows], B, out=product[rows])
            else:
                product[rows] = _rows_of(A, rows) @ B

        list(self.map(multiply_block, _blocks_of(A)))
        return product

    def gram(self, A: Floats, B: Floats) -> Floats:
        """Aᵀ B of dense matrices."""
        total: Floats = np.zeros((A.shape[1], B.shape[1]), dtype=np.float32)
        for part in self.map(lambda rows: A[rows].T @ B[rows], _blocks_of(A)):
            total += part
        return total


def _blocks_of(A: sparse.csr_matrix | Floats) -> list[slice]:
    """The rows of a matrix, about as much work in every block."""
    n_rows = A.shape[0]
    if isinstance(A, np.ndarray):
        bounds: Any = [*range(0, n_rows, _ROWS), n_rows]
    else:
        n_entries = int(A.indptr[-1])
        steps = np.arange(_ENTRIES, n_entries, _ENTRIES)
        bounds = np.unique([0, *np.searchsorted(A.indptr, steps), n_rows]).tolist()
    return [slice(first, end) for first, end in pairwise(bounds)]


def _rows_of(A: sparse.csr_matrix, rows: slice) -> sparse.csr_matrix:
    """Some rows of a sparse matrix, without a copy of its entries."""
    first, end = A.indptr[rows.start], A.indptr[rows.stop]
    starts = A.indptr[rows.start : rows.stop + 1] - first
    return sparse.csr_matrix((A.data[first:end], A.indices[first:end], starts), (len(starts) - 1, A.shape[1]))
