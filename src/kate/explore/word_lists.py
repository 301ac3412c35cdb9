"""Sparse counts as bytes for a page: for each word the documents that hold it, and how often."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["list_sections", "signed_varints", "varints"]

Ints = NDArray[np.integer[Any]]


def varints(numbers: Ints) -> bytes:
    """Whole numbers from 0 on, seven bits to a byte, the lowest first; the highest bit says that more follow.

    >>> varints(np.array([5, 300])).hex()
    '05ac02'
    """
    values = np.asarray(numbers, dtype=np.uint64)
    if not len(values):
        return b""
    n_bytes = np.ones(len(values), dtype=np.int64)
    for bits in range(7, 64, 7):
        n_bytes += values >= np.uint64(1 << bits)
    starts = np.cumsum(n_bytes) - n_bytes
    found = np.zeros(int(n_bytes.sum()), dtype=np.uint8)
    for place in range(int(n_bytes.max())):
        held = np.flatnonzero(n_bytes > place)
        seven = (values[held] >> np.uint64(7 * place)) & np.uint64(0x7F)
        more = (n_bytes[held] > place + 1).astype(np.uint8) << 7
        found[starts[held] + place] = seven.astype(np.uint8) | more
    return found.tobytes()


def signed_varints(numbers: Ints) -> bytes:
    """The same for numbers below 0 too: 0, -1, 1, -2, … are written as 0, 1, 2, 3, …

    >>> signed_varints(np.array([0, -1, 1])).hex()
    '000102'
    """
    values = np.asarray(numbers, dtype=np.int64)
    return varints(np.where(values < 0, -2 * values - 1, 2 * values))


def list_sections(counts: sparse.csc_array, prefix: str = "") -> dict[str, bytes]:
    """Counts (n_docs, n_words) in three sections: documents per word, steps from one to the next, counts less one.

    A step is the distance to the document before it in the list, from -1 on, less one. Sections of a kind compress
    better than all mixed.

    >>> held = sparse.csc_array(np.array([[1, 0], [0, 2], [3, 0]]))
    >>> {name: list(data) for name, data in list_sections(held).items()}
    {'sizes': [2, 1], 'steps': [0, 1, 1], 'counts': [0, 4, 2]}
    """
    counts = sparse.csc_array(counts)
    counts.sort_indices()
    sizes = np.diff(counts.indptr)
    rows = counts.indices.astype(np.int64)
    before = np.concatenate([[-1], rows[:-1]])[: len(rows)]
    first = counts.indptr[:-1][sizes > 0]
    before[first] = -1
    return {
        f"{prefix}sizes": varints(sizes),
        f"{prefix}steps": varints(rows - before - 1),
        f"{prefix}counts": signed_varints(counts.data.astype(np.int64) - 1),
    }
