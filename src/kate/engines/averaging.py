"""Copies of a network that were trained apart from each other become one: arrays in, arrays out.

A copy is one flat array: the parameters, and behind them the optimizer's moments. The mean is taken entry by entry, in
the order in which the copies are given: whoever computes it, of whichever part, gets the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from kate.engines.network import Network, Optimizer

__all__ = ["as_flat", "mean_of_copies", "parts_of", "take_flat"]

Floats = NDArray[np.float32]

_AT_ONCE = 1 << 16  # numbers that stay in the cache while they are added up


def mean_of_copies(copies: Sequence[Floats], shares: Sequence[float]) -> Floats:
    """The sum of share · copy, added up in double precision, the first copy first.

    >>> mean_of_copies([np.float32([1, 2]), np.float32([5, 2])], [0.75, 0.25]).tolist()
    [2.0, 2.0]
    """
    mean = np.empty_like(copies[0])
    for start in range(0, len(mean), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        total = copies[0][part] * np.float64(shares[0])
        for copy, share in zip(copies[1:], shares[1:], strict=True):
            total += copy[part] * np.float64(share)
        mean[part] = total
    return mean


def as_flat(network: Network, optimizer: Optimizer) -> Floats:
    """The parameters and both moments of each, one after the other."""
    return np.concatenate([array.ravel() for array in _arrays(network, optimizer)])


def take_flat(flat: Floats, network: Network, optimizer: Optimizer) -> None:
    """Write what :func:`as_flat` gave into a network and its optimizer."""
    start = 0
    for array in _arrays(network, optimizer):
        array[...] = flat[start : start + array.size].reshape(array.shape)
        start += array.size


def parts_of(flat: Floats, n_parts: int) -> list[Floats]:
    """The same numbers in parts of about the same size.

    >>> [part.tolist() for part in parts_of(np.arange(5, dtype=np.float32), 2)]
    [[0.0, 1.0, 2.0], [3.0, 4.0]]
    """
    return np.array_split(flat, n_parts)


def _arrays(network: Network, optimizer: Optimizer) -> list[Floats]:
    return list(chain(network, optimizer.first, optimizer.second))
