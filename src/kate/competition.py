"""The k-competitive layer (Algorithm 2 of the paper) in NumPy: the definition every engine is tested against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["compete", "winners"]


def compete(z: ArrayLike, n_winners: int, amplification: float) -> NDArray[np.floating[Any]]:
    """Let the neurons of each row of ``z`` compete: winners take the losers' energy, losers become 0.

    With k = ``n_winners``, the ceil(k/2) largest positive activations win their side and the floor(k/2) lowest
    negative ones win theirs. On each side::

        ẑ_i = z_i + amplification · Σ_losers z_j    for a winner i
        ẑ_i = 0                                     for a loser i

    and a side with no more neurons than its share of winners is left as it is. Of equal activations the one
    with the lower index wins.

    Parameters
    ----------
    z : array
        activations, (n_components,) or (n_docs, n_components)
    n_winners : int
        k, at least 1
    amplification : float
        the paper's alpha; 0 is a k-sparse layer, 2/k passes the energy on without a gain

    Examples
    --------
    >>> compete([0.8, 0.2, 0.1, -0.1, -0.3, -0.6], n_winners=2, amplification=1.0).round(6).tolist()
    [1.1, 0.0, 0.0, 0.0, 0.0, -1.0]
    """
    activations = _as_activations(z)
    if not np.isfinite(amplification):
        raise ValueError(f"amplification is {amplification}; give a finite number")
    rows = np.atleast_2d(activations)  # (n_docs, n_components)
    won = winners(rows, n_winners)
    competed = np.where(won, rows, 0)
    for side in (rows > 0, rows < 0):
        lost = np.where(side & ~won, rows, 0).sum(axis=1, keepdims=True)  # (n_docs, 1)
        competed += np.where(side & won, amplification * lost, 0)
    return competed.reshape(activations.shape).astype(activations.dtype, copy=False)


def winners(z: ArrayLike, n_winners: int) -> NDArray[np.bool_]:
    """Which neurons win: the ceil(k/2) largest positive and the floor(k/2) lowest negative of each row.

    >>> winners([0.8, 0.2, -0.3, -0.6, 0.0], n_winners=3).tolist()
    [True, True, False, True, False]
    """
    activations = _as_activations(z)
    if n_winners != int(n_winners) or n_winners < 1:
        raise ValueError(
            f"n_winners is {n_winners}; the competition needs a whole number, at least one winner"
        )
    rows = np.atleast_2d(activations)
    won = _largest(rows, (n_winners + 1) // 2) | _largest(-rows, n_winners // 2)
    return won.reshape(activations.shape)


def _largest(rows: NDArray[np.floating[Any]], share: int) -> NDArray[np.bool_]:
    """Mark the ``share`` largest positive entries of each row; a stable sort gives ties to the lower index."""
    order = np.argsort(-rows, axis=1, kind="stable")[:, :share]
    marked = np.zeros(rows.shape, dtype=bool)
    np.put_along_axis(marked, order, True, axis=1)
    return marked & (rows > 0)


def _as_activations(z: ArrayLike) -> NDArray[np.floating[Any]]:
    activations = np.asarray(z)
    if not np.issubdtype(activations.dtype, np.floating):
        activations = activations.astype(np.float64)
    if activations.ndim not in (1, 2):
        raise ValueError(
            f"activations have {activations.ndim} dimensions; give one vector or a batch of rows"
        )
    if not np.isfinite(activations).all():
        raise ValueError("activations hold NaN or infinity; competition needs finite numbers")
    return activations
