"""A model's map from words to vectors in sixteen bits or fewer, as a page holds it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAP_BITS", "SmallMap"]

Floats = NDArray[np.float32]

# With 16 bits the ten best of a query are those of Python in nearly all cases: docs/explorer.md has the figures.
MAP_BITS = 16


@dataclass(frozen=True, eq=False)
class SmallMap:
    """Rows of whole numbers, each with a scale of its own.

    codes : (n_words, n_components), int16
    scales : (n_words,)

    >>> small = SmallMap.of(np.float32([[0.6, -0.8], [0, 0]]), bits=8)
    >>> small.codes.tolist(), small.values().round(3).tolist()
    ([[95, -127], [0, 0]], [[0.5979999899864197, -0.800000011920929], [0.0, 0.0]])
    """

    codes: NDArray[np.int16]
    scales: Floats
    bits: int

    @classmethod
    def of(cls, weights: Floats, bits: int = MAP_BITS) -> SmallMap:
        """The nearest numbers of so many bits."""
        largest = np.abs(weights).max(axis=1, initial=0).astype(np.float64)
        scales = np.where(largest > 0, largest / (2 ** (bits - 1) - 1), 1).astype(np.float32)
        codes = np.rint(weights / scales[:, None].astype(np.float64)).astype(np.int16)
        return cls(codes, scales, bits)

    def values(self) -> Floats:
        """The rows as a page reads them."""
        return np.asarray(self.codes * self.scales[:, None], dtype=np.float32)

    def sections(self) -> dict[str, bytes]:
        """Scales, then the high bytes of all numbers, component by component, then the low ones.

        The high bytes of a component are alike and compress; the low ones hardly do.
        """
        by_component = np.ascontiguousarray(self.codes.T)
        return {
            "scales": self.scales.astype("<f4").tobytes(),
            "high": (by_component >> 8).astype(np.int8).tobytes(),
            "low": (by_component & 255).astype(np.uint8).tobytes(),
        }
