"""Which words occur together: NPMI of pairs over documents, and the order that puts a coherent core first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kate.sparse_arrays import sparse

__all__ = ["N_CORE", "coherent_order", "joint_shares", "npmi_of", "pair_npmi"]

N_CORE = 10  # words of the coherent core that comes first
Doubles = NDArray[np.float64]
Columns = NDArray[np.int64]


def coherent_order(npmi: Doubles) -> Columns:
    """The order in which candidate words, given best first, describe a topic: its core, then the others.

    The word with the lowest sum of NPMI to the others is dropped until ten remain. These ten come first, as
    they are ranked, then the dropped ones, the last dropped first. In unseen documents such words occur together
    more often than the best-ranked ten do (docs/defaults.md has the figures).
    """
    remaining, dropped = np.arange(len(npmi)), []
    while len(remaining) > N_CORE:
        fits = npmi[np.ix_(remaining, remaining)].sum(axis=1)
        loser = len(fits) - 1 - int(np.argmin(fits[::-1]))  # of equals the lower ranked is dropped
        dropped.append(remaining[loser])
        remaining = np.delete(remaining, loser)
    return np.array([*remaining, *dropped[::-1]], dtype=np.int64)


def pair_npmi(present: sparse.csc_array, words: Columns) -> Doubles:
    """Document NPMI of any two words: -1 if they never meet, 0 if both are everywhere or it is one word."""
    npmi = npmi_of(joint_shares(present, words))
    np.fill_diagonal(npmi, 0)
    return npmi


def joint_shares(present: sparse.csc_array, words: Columns) -> Doubles:
    """The share of documents that hold both of two words; on the diagonal, the share that holds the word."""
    occurs = present[:, words]
    return np.asarray((occurs.T @ occurs).toarray(), dtype=np.float64) / present.shape[0]


def npmi_of(joint: Doubles, epsilon: float = 0.0) -> Doubles:
    """NPMI of any two words from their :func:`joint_shares`: log(p_ij / (p_i p_j)) / -log p_ij.

    0 for words that are everywhere. Words that never meet have -1, or what comes out of p_ij = ``epsilon``; with an
    ``epsilon``, a word that is in no document has 0.
    """
    single = joint.diagonal()
    expected, smoothed = np.outer(single, single), joint + epsilon
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(smoothed / expected) / -np.log(smoothed)
    npmi[joint == 0 if epsilon == 0 else expected == 0] = -1 if epsilon == 0 else 0
    npmi[joint == 1] = 0
    return np.asarray(npmi)
