"""A uniform sample of all documents seen, kept while new ones come: which stay and which enter.

Every document seen is in it with the same chance, however many updates have passed. What is drawn follows from the
numbers of documents alone, so that the same updates give the same sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Drawn", "draw_together"]

_MANY = 10**9

Numbers = NDArray[np.int64]


class Drawn(NamedTuple):
    """Rows of the documents that stay in a sample, and of the new documents that enter it."""

    stay: Numbers
    enter: Numbers


def draw_together(n_sample: int, n_seen: int, n_new: int, most: int) -> Drawn:
    """A sample of ``n_sample`` of ``n_seen`` documents and ``n_new`` others → one of all, of ``most`` at most.

    >>> [len(rows) for rows in draw_together(100, 100, 50, most=200)]
    [100, 50]
    >>> drawn = draw_together(1_000, 9_000, 1_000, most=1_000)
    >>> len(drawn.stay) + len(drawn.enter), 60 < len(drawn.enter) < 140
    (1000, True)
    """
    # a sample that is not everything cannot grow: of what is gone nothing comes back
    size = min(most, n_seen + n_new if n_sample == n_seen else n_sample)
    random = np.random.default_rng([n_seen, n_new])
    if max(n_new, n_seen) < _MANY:
        n_enter = int(random.hypergeometric(n_new, n_seen, size))
    else:  # NumPy draws from no more; of so many it is the same to put each back
        n_enter = min(n_new, int(random.binomial(size, n_new / (n_new + n_seen))))
    stay = random.permutation(n_sample)[: size - n_enter]
    return Drawn(np.sort(stay), np.sort(random.permutation(n_new)[:n_enter]))
