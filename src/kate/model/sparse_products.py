"""Products of sparse rows with dense columns, by several threads: SciPy takes one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.threads import thread_count

__all__ = ["multiply"]

_ENTRIES = 2**17  # multiplied at a time: enough to keep a thread busy, few enough to share them evenly

Floats = NDArray[np.float32]


def multiply(A: csr_matrix, B: Floats, n_jobs: int | None = None) -> Floats:
    """A @ B; every row is computed as SciPy does it, so that the number of threads changes no bit.

    >>> multiply(csr_matrix(np.eye(3, dtype=np.float32)), np.ones((3, 2), dtype=np.float32)).sum()
    np.float32(6.0)
    """
    n_rows, n_entries = A.shape[0], int(A.indptr[-1])
    n_blocks = min(n_rows, -(-n_entries // _ENTRIES))
    n_threads = min(thread_count(n_jobs), n_blocks)
    if n_threads <= 1:
        return np.asarray(A @ B)
    product = np.empty((n_rows, B.shape[1]), dtype=np.float32)
    bounds = np.searchsorted(A.indptr, np.linspace(0, n_entries, n_blocks + 1)[1:-1])
    bounds = np.unique([0, *bounds, n_rows])

    def multiply_block(first: int, end: int) -> None:
        entries = slice(A.indptr[first], A.indptr[end])
        starts = A.indptr[first : end + 1] - A.indptr[first]
        rows = csr_matrix((A.data[entries], A.indices[entries], starts), shape=(end - first, A.shape[1]))
        product[first:end] = rows @ B

    # SciPy gives up Python's lock while it multiplies
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(multiply_block, bounds[:-1], bounds[1:]))
    return product
