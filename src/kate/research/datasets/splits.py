"""Random splits that are the same on every machine, and keep groups of documents together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["draw", "draw_groups"]

Rows = NDArray[np.int64]


def draw(rows: Rows, size: int, seed: int) -> tuple[Rows, Rows]:
    """Draw ``size`` of ``rows`` at random: (drawn, the others), each in order.

    >>> drawn, others = draw(np.arange(5), size=2, seed=0)
    >>> drawn.size, sorted([*drawn, *others]) == [0, 1, 2, 3, 4]
    (2, True)
    """
    if not 0 <= size <= rows.size:
        raise ValueError(f"cannot draw {size:,} of {rows.size:,} documents")
    shuffled = np.random.default_rng(seed).permutation(rows)
    return np.sort(shuffled[:size]), np.sort(shuffled[size:])


def draw_groups(groups: Sequence[Hashable], rows: Rows, size: int, seed: int) -> tuple[Rows, Rows]:
    """Draw ``size`` of ``rows`` so that rows of one group are drawn together or not at all.

    Whole groups are taken in random order, skipping those too large for what is left to draw; ``groups[row]``
    is the group of a row.

    >>> drawn, others = draw_groups(["a", "b", "a", "c"], np.arange(4), size=2, seed=0)
    >>> (0 in drawn) == (2 in drawn)
    True
    """
    members: dict[Hashable, list[int]] = {}
    for row in rows.tolist():
        members.setdefault(groups[row], []).append(row)
    in_order = list(members.values())
    drawn: list[int] = []
    for index in np.random.default_rng(seed).permutation(len(in_order)):
        group = in_order[index]
        if len(drawn) + len(group) <= size:
            drawn.extend(group)
    if len(drawn) != size:
        raise ValueError(f"no choice of whole groups has {size:,} of the {rows.size:,} documents")
    chosen = np.array(sorted(drawn), dtype=np.int64)
    return chosen, np.setdiff1d(rows, chosen)
