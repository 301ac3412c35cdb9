"""Whether an id comes twice in a corpus that is larger than memory: 16 bytes are kept of each id."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["SeenIds"]

Hashes = NDArray[np.uint64]


# Parts that the hashes are dealt to, by their first bits: when runs are merged, only a part is copied.
_N_PARTS = 64
_FIRST_OF_PART = np.arange(1, _N_PARTS, dtype=np.uint64) << np.uint64(58)


class SeenIds:
    """The ids seen so far, as two hashes of 64 bits each: that both of two ids are the same by chance does not happen.

    They lie in sorted runs, which are merged when they are of about one length, so that an id costs a few comparisons.

    >>> seen = SeenIds()
    >>> seen.add(pl.Series(["a", "b"])), seen.add(pl.Series(["c", "b"])), seen.add(pl.Series(["d", "d"]))
    (None, 'b', 'd')
    """

    def __init__(self) -> None:
        self._parts: list[list[tuple[Hashes, Hashes]]] = [[] for _ in range(_N_PARTS)]

    def add(self, ids: pl.Series) -> str | None:
        """The first of some ids that was seen before, here or earlier; None if all are new."""
        first, second = ids.hash(1).to_numpy(), ids.hash(2).to_numpy()
        order = np.lexsort((second, first))
        first, second = first[order], second[order]
        again = np.zeros(len(ids), dtype=bool)
        # lexsort is stable: of equal ids the later row comes behind
        again[order[1:]] = (first[1:] == first[:-1]) & (second[1:] == second[:-1])
        ends = [0, *np.searchsorted(first, _FIRST_OF_PART).tolist(), len(first)]
        for runs, (start, stop) in zip(self._parts, pairwise(ends), strict=True):
            run = (first[start:stop], second[start:stop])
            for known in runs:
                again[order[start:stop][_are_in(run, known)]] = True
            _keep(runs, run)
        return str(ids[int(again.argmax())]) if again.any() else None


def _keep(runs: list[tuple[Hashes, Hashes]], run: tuple[Hashes, Hashes]) -> None:
    # a copy, which does not hold the hashes of the other parts
    run = run[0].copy(), run[1].copy()
    while runs and len(runs[-1][0]) <= 2 * len(run[0]):
        other = runs.pop()
        first, second = np.concatenate([other[0], run[0]]), np.concatenate([other[1], run[1]])
        # mergesort of two sorted runs is one pass
        order = np.argsort(first, kind="stable")
        run = first[order], second[order]
    runs.append(run)


def _are_in(run: tuple[Hashes, Hashes], known: tuple[Hashes, Hashes]) -> NDArray[np.bool_]:
    """For each pair of hashes whether it is among others; both are sorted by their first hash."""
    start = np.searchsorted(known[0], run[0], side="left")
    stop = np.searchsorted(known[0], run[0], side="right")
    found = np.zeros(len(run[0]), dtype=bool)
    for place in np.flatnonzero(start < stop).tolist():
        found[place] = bool((known[1][start[place] : stop[place]] == run[1][place]).any())
    return found
