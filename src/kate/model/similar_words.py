"""Which words are nearest to a word, by the cosine of their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kate.unit_rows import unit_rows

__all__ = ["nearest"]

_BLOCK = 256  # queries at a time


def nearest(
    words: ArrayLike, column: int | Sequence[int] | NDArray[np.integer], top: int = 10
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The ``top`` words nearest to a word, itself left out: (columns, cosines), both in order of cosine.

    For several columns at once both have one row per query. A vector of zeros has cosine 0 with everything. Of equal
    cosines the earlier column comes first. If there are fewer than ``top`` other words, all of them are given.

    >>> columns, cosines = nearest([[1.0, 0.0], [3.0, 4.0], [2.0, 0.0]], column=0, top=2)
    >>> columns.tolist(), [f"{cosine:.2f}" for cosine in cosines]
    ([2, 1], ['1.00', '0.60'])
    >>> nearest([[1.0, 0.0], [3.0, 4.0], [2.0, 0.0]], column=[0, 1], top=1)[0].tolist()
    [[2], [0]]
    """
    vectors = _checked(words)
    queries = np.atleast_1d(np.asarray(column))
    _require_columns(queries, len(vectors))
    if top < 1:
        raise ValueError(f"top is {top}; expected one word at least")
    units = unit_rows(vectors)
    top = min(top, len(units) - 1)
    columns = np.empty((len(queries), top), dtype=np.int64)
    cosines = np.empty((len(queries), top), dtype=np.float32)
    for first in range(0, len(queries), _BLOCK):
        block = slice(first, first + _BLOCK)
        similarity = units[queries[block]] @ units.T
        similarity[np.arange(len(similarity)), queries[block]] = -np.inf  # no word is its own neighbour
        columns[block] = np.argsort(-similarity, axis=1, kind="stable")[:, :top]
        cosines[block] = np.take_along_axis(similarity, columns[block], axis=1)
    return (columns[0], cosines[0]) if np.ndim(column) == 0 else (columns, cosines)


def _checked(words: ArrayLike) -> NDArray[Any]:
    vectors = np.asarray(words)
    if vectors.ndim != 2:
        raise ValueError(
            f"words has shape {vectors.shape}; expected the word vectors (n_words, n_components)"
        )
    if not np.isfinite(vectors).all():
        raise ValueError("words has NaN or infinite values; expected finite word vectors")
    return vectors


def _require_columns(queries: NDArray[np.integer], n_words: int) -> None:
    if queries.ndim != 1 or queries.dtype.kind not in "iu":
        raise TypeError(f"column has shape {queries.shape} and type {queries.dtype}; expected word columns")
    outside = queries[(queries < 0) | (queries >= n_words)]
    if outside.size:
        raise IndexError(f"there is no word in column {outside[0]}; expected 0 to {n_words - 1}")
    if n_words < 2:
        raise ValueError("words has one row; expected two words or more to compare")
