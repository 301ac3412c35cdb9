"""Where the names on a map may stand: on their own points or on none, near to their place, on no other name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Box", "densest_place", "place_labels"]

Doubles = NDArray[np.float64]

_CELL = 6.0  # pixels of the grid that points are counted on
_GAP = 4.0  # between two names
_PER_PIXEL = 0.09  # a name goes 11 pixels further rather than stand on one more point of another topic
_NOBODYS = 0.3  # what a point of no topic counts beside that
_OWN = 9.0  # what all points of a name's own topic count: a name must not hide a small one
_MOST_TRIED = 4_000  # places that a line is tried from


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: Box, gap: float = 0.0) -> bool:
        return (
            self.left < other.right + gap
            and other.left < self.right + gap
            and self.bottom < other.top + gap
            and other.bottom < self.top + gap
        )

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """The point of the box that is nearest to a place."""
        return min(max(x, self.left), self.right), min(max(y, self.bottom), self.top)

    def is_crossed(self, start: tuple[float, float], end: tuple[float, float]) -> bool:
        """Whether a line goes through."""
        along = np.linspace(0, 1, 60)[:, None]
        points = np.asarray(start) * (1 - along) + np.asarray(end) * along
        inside = (points > (self.left, self.bottom)) & (points < (self.right, self.top))
        return bool(inside.all(axis=1).any())


def densest_place(points: Doubles, n_cells: int = 24) -> tuple[float, float]:
    """The mean of the points in the fullest neighbourhood of a coarse grid.

    >>> densest_place(np.array([[0.0, 0.0], [10.0, 10.0], [10.0, 10.0]]))
    (10.0, 10.0)
    """
    low, high = points.min(axis=0), points.max(axis=0)
    cell = np.maximum((high - low) / n_cells, 1e-9)
    places = np.minimum(((points - low) / cell).astype(int), n_cells - 1)  # (n, 2)
    counts = np.zeros((n_cells + 2, n_cells + 2))
    np.add.at(counts, (places[:, 0] + 1, places[:, 1] + 1), 1)
    around = sum(np.roll(counts, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1))
    best = np.unravel_index(int(np.argmax(around)), counts.shape)
    near = (np.abs(places + 1 - np.array(best)) <= 1).all(axis=1)
    x, y = points[near].mean(axis=0)
    return float(x), float(y)


def place_labels(
    points: Doubles,
    groups: NDArray[np.int64],
    anchors: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    area: Box,
) -> list[Box]:
    """A box for each name, inside ``area``; one that has no free place stands where it covers least.

    points : (n, 2), in pixels; groups : (n,), the row of ``anchors`` that each belongs to, or -1
    anchors, sizes : for each name, the place that it is meant for, and its width and height
    """
    everyone = _summed(points[groups >= 0], area) + _NOBODYS * _summed(points[groups < 0], area)
    taken: list[Box] = []
    for row, (anchor, size) in enumerate(zip(anchors, sizes, strict=True)):
        own = _summed(points[groups == row], area)
        burden = everyone - own + own * (_OWN / max(float(own[-1, -1]), 1.0))
        lefts, bottoms, costs = _candidates(burden, anchor, size, area)
        taken.append(_first_free(lefts, bottoms, costs, anchor, size, taken))
    return taken


def _summed(points: Doubles, area: Box) -> Doubles:
    """How many points are to the left of and below each corner of a grid."""
    shape = (int((area.right - area.left) / _CELL) + 1, int((area.top - area.bottom) / _CELL) + 1)
    counts = np.zeros((shape[0] + 1, shape[1] + 1))
    cells = ((points - (area.left, area.bottom)) / _CELL).astype(int)
    inside = ((cells >= 0) & (cells < shape)).all(axis=1)
    np.add.at(counts, (cells[inside, 0] + 1, cells[inside, 1] + 1), 1)
    return np.asarray(counts.cumsum(axis=0).cumsum(axis=1))


def _candidates(
    burden: Doubles, anchor: tuple[float, float], size: tuple[float, float], area: Box
) -> tuple[Doubles, Doubles, Doubles]:
    """Left and lower edges of all boxes of a size, and the cost of each: what it covers, and the way there."""
    wide, high = (int(np.ceil(side / _CELL)) + 1 for side in size)
    n_wide, n_high = burden.shape[0] - wide, burden.shape[1] - high
    if n_wide < 1 or n_high < 1:  # the name is larger than the sheet
        return np.array([area.left]), np.array([area.bottom]), np.zeros(1)
    covered = (
        burden[wide:, high:] - burden[:n_wide, high:] - burden[wide:, :n_high] + burden[:n_wide, :n_high]
    )
    lefts, bottoms = np.meshgrid(
        area.left + _CELL * np.arange(n_wide), area.bottom + _CELL * np.arange(n_high), indexing="ij"
    )
    way = np.hypot(lefts + size[0] / 2 - anchor[0], bottoms + size[1] / 2 - anchor[1])
    return lefts.ravel(), bottoms.ravel(), (covered + _PER_PIXEL * way).ravel()


def _first_free(
    lefts: Doubles,
    bottoms: Doubles,
    costs: Doubles,
    anchor: tuple[float, float],
    size: tuple[float, float],
    taken: Sequence[Box],
) -> Box:
    """The cheapest box on no other name, if possible without a line that crosses one."""
    free = np.ones(len(lefts), dtype=bool)
    for other in taken:
        free &= ~(
            (lefts < other.right + _GAP)
            & (lefts + size[0] > other.left - _GAP)
            & (bottoms < other.top + _GAP)
            & (bottoms + size[1] > other.bottom - _GAP)
        )
    order = np.flatnonzero(free) if free.any() else np.arange(len(lefts))
    order = order[np.argsort(costs[order], kind="stable")]
    boxes = (
        Box(float(lefts[at]), float(bottoms[at]), float(lefts[at] + size[0]), float(bottoms[at] + size[1]))
        for at in order[:_MOST_TRIED]
    )
    first = None
    for box in boxes:
        first = first or box
        if not any(other.is_crossed(box.nearest(*anchor), anchor) for other in taken):
            return box
    assert first is not None
    return first
