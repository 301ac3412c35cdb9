"""Vectors of length 1: what all cosines are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["unit_rows"]


def unit_rows(vectors: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Rows divided by their length; rows of zeros stay as they are.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
