"""Which words keep company: NPMI of pairs over documents, and the order that puts a coherent core first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

__all__ = ["N_CORE", "coherent_order", "pair_npmi"]

N_CORE = 10  # words of the coherent core that comes first
Doubles = NDArray[np.float64]
Columns = NDArray[np.int64]


def coherent_order(npmi: Doubles) -> Columns:
    """The order in which candidate words, given best first, describe a topic: its core, then the others.

    The word with the lowest sum of NPMI to the others is dropped until ten remain. These ten come first, as
    they are ranked, then the dropped ones, the last dropped first. In documents that had no part in
    choosing them, such words keep together better than the best-ranked ten (docs/defaults.md has the figures).
    """
    remaining, dropped = np.arange(len(npmi)), []
    while len(remaining) > N_CORE:
        fits = npmi[np.ix_(remaining, remaining)].sum(axis=1)
        loser = len(fits) - 1 - int(np.argmin(fits[::-1]))  # of equals the one that is ranked lower goes
        dropped.append(remaining[loser])
        remaining = np.delete(remaining, loser)
    return np.array([*remaining, *dropped[::-1]], dtype=np.int64)


def pair_npmi(present: csc_array, words: Columns) -> Doubles:
    """Document NPMI of any two words: -1 if they never meet, 0 if both are everywhere or it is one word."""
    occurs, n_documents = present[:, words], present.shape[0]
    joint = (occurs.T @ occurs).toarray().astype(np.float64) / n_documents
    single = joint.diagonal()
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(joint / np.outer(single, single)) / -np.log(joint)
    npmi[joint == 0] = -1
    npmi[joint == 1] = 0
    np.fill_diagonal(npmi, 0)
    return np.asarray(npmi)
