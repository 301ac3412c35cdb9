"""Where documents stand on the map: neighbours by their vectors are neighbours in the plane.

t-SNE by openTSNE (extra ``explore``), on the graph of each document's nearest neighbours. Of many documents a sample is
laid out and the others stand among their neighbours in it. The same vectors always give the same map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.extras import install_command

__all__ = ["MapLayout", "Step", "lay_out"]

FEWEST_LAID_OUT = 40  # documents: among fewer all are neighbours, and t-SNE draws them into one point
MOST_LAID_OUT = 25_000  # documents; the others are placed
_NEIGHBOURS = 15  # of each document, among which t-SNE keeps it
_EARLY, _LATE = 150, 300  # rounds: first clusters find their places, then documents theirs
_EARLY_EXAGGERATION, _EXAGGERATION = 12.0, 1.5  # a little more than 1: room between clusters
_TOLD_EVERY = 10  # rounds
_PLACED_BY = 5  # neighbours in whose middle a document is placed
_BLOCK = 1024
_SIDE = 65_535
_GOLDEN = np.pi * (3 - np.sqrt(5))  # turning by this angle, points of a spiral keep away from one another
_CROWDED = 0.3  # the radius of the disc of unknown documents, over that which their share of the map has
_SAME, _STEP = 8, 48  # of the side: documents so near stand at one place, and are moved so far

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Numbers = NDArray[np.int64]
Step = Callable[[float], None]
"""Told the share of the work that is done, from 0 to 1."""


@dataclass(frozen=True, eq=False)
class MapLayout:
    """Two coordinates for each document, from 0 to 65,535, and how they came about."""

    places: NDArray[np.uint16]  # (n, 2)
    method: str


def lay_out(vectors: Floats, known: NDArray[np.bool_], step: Step | None = None) -> MapLayout:
    """A map of documents by their vectors (n, d) of length 1; those without a known word stand at its edge."""
    told = step or (lambda share: None)
    rows = np.flatnonzero(known)
    places = np.zeros((len(vectors), 2))
    if len(rows) < 4:
        places[rows] = np.column_stack([np.arange(len(rows)), np.zeros(len(rows))])
        method = "row"
    elif len(rows) < FEWEST_LAID_OUT:
        places[rows] = _principal_axes(vectors[rows])
        method = "principal components"
    elif not _has_opentsne():
        places[rows] = _first_components(vectors[rows])
        method = f"first components ({install_command('explore')} for neighbourhoods: t-SNE)"
    else:
        places[rows] = _neighbourhoods(vectors[rows], told)
        method = "t-SNE (openTSNE)"
    _place_unknown(places, known)
    told(1.0)
    return MapLayout(_apart(_scaled(places)), method)


def _has_opentsne() -> bool:
    with suppress(ImportError):
        import openTSNE  # noqa: F401

        return True
    return False


def _first_components(vectors: Floats) -> Doubles:
    """The two components that carry most; vectors of one component lie on a line."""
    two = vectors[:, :2].astype(np.float64)
    return two if two.shape[1] == 2 else np.column_stack([two[:, 0], np.zeros(len(two))])


def _principal_axes(vectors: Floats) -> Doubles:
    """The two directions in which the vectors differ most, each with the sign of its largest number."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    rotated, spread, _ = np.linalg.svd(centred, full_matrices=False)
    two = np.zeros((len(vectors), 2))
    for axis in range(min(2, len(spread))):
        column = rotated[:, axis] * spread[axis]
        two[:, axis] = column * np.sign(column[np.abs(column).argmax()] or 1)
    return two


def _neighbourhoods(vectors: Floats, told: Step) -> Doubles:
    n = len(vectors)
    picked = np.sort(np.random.default_rng(0).permutation(n)[:MOST_LAID_OUT])
    sample = vectors[picked]
    of_sample = _tsne(sample, told, share=0.95 if len(picked) == n else 0.8)
    if len(picked) == n:
        return of_sample
    places = np.empty((n, 2))
    places[picked] = of_sample
    others = np.setdiff1d(np.arange(n), picked)
    for rows, nearest in _nearest(vectors[others], sample, _PLACED_BY):
        places[others[rows]] = np.median(of_sample[nearest], axis=1)
        told(0.8 + 0.2 * rows.stop / len(others))
    # by the same seed: documents with the same neighbours do not hide one another
    spread = 0.004 * np.ptp(of_sample, axis=0)
    places[others] += np.random.default_rng(0).normal(0, spread, (len(others), 2))
    return places


def _tsne(vectors: Floats, told: Step, share: float) -> Doubles:
    from openTSNE import TSNEEmbedding
    from openTSNE.affinity import PrecomputedAffinities
    from threadpoolctl import threadpool_limits

    neighbours = _neighbour_graph(vectors, lambda done: told(0.2 * share * done))
    start = _first_components(vectors)
    # documents that are alike to the last bit must not start at one point
    start = start / max(float(start[:, 0].std()), 1e-12) + np.random.default_rng(0).normal(
        0, 1e-2, start.shape
    )
    rounds = _Rounds(lambda done: told(share * (0.2 + 0.8 * done)))
    with threadpool_limits(1, user_api="blas"):
        embedding = TSNEEmbedding(
            1e-4 * start,
            PrecomputedAffinities(neighbours),
            negative_gradient_method="fft" if len(vectors) > 3_000 else "bh",
            random_state=0,
            n_jobs=1,
            callbacks=rounds,
            callbacks_every_iters=_TOLD_EVERY,
        )
        embedding.optimize(_EARLY, exaggeration=_EARLY_EXAGGERATION, momentum=0.5, inplace=True)
        embedding.optimize(_LATE, exaggeration=_EXAGGERATION, momentum=0.8, inplace=True)
    return np.asarray(embedding, dtype=np.float64)


class _Rounds:
    """Counts the rounds of both phases, which openTSNE counts from 1 each."""

    def __init__(self, told: Step) -> None:
        self._told, self._done = told, 0

    def __call__(self, iteration: int, error: float, embedding: Any) -> None:
        self._done += _TOLD_EVERY
        self._told(min(self._done / (_EARLY + _LATE), 1.0))


def _neighbour_graph(vectors: Floats, told: Step) -> csr_matrix:
    """1 between a document and each of its nearest, in both directions, over the sum of all (n, n)."""
    n, k = len(vectors), min(_NEIGHBOURS, len(vectors) - 1)
    found = np.empty((n, k), dtype=np.int64)
    for rows, nearest in _nearest(vectors, vectors, k, itself=True):
        found[rows] = nearest
        told(rows.stop / n)
    graph = csr_matrix((np.ones(n * k), found.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    both = csr_matrix(graph + graph.T)
    both.data /= both.data.sum()
    return both


def _nearest(
    vectors: Floats, others: Floats, k: int, *, itself: bool = False
) -> Iterator[tuple[slice, Numbers]]:
    """Blocks of vectors, and for each vector the rows of its ``k`` nearest others, itself left out if it is there."""
    turned = np.ascontiguousarray(others.T)
    for first in range(0, len(vectors), _BLOCK):
        rows = slice(first, min(first + _BLOCK, len(vectors)))
        cosines = vectors[rows] @ turned
        if itself:
            cosines[np.arange(rows.stop - first), np.arange(first, rows.stop)] = -2
        best = min(k, cosines.shape[1])
        yield rows, np.argpartition(cosines, -best, axis=1)[:, -best:]


def _place_unknown(places: Doubles, known: NDArray[np.bool_]) -> None:
    """Documents without a known word have no neighbours: they stand together in a disc below the others."""
    rows = np.flatnonzero(~known)
    if not len(rows):
        return
    inside = places[known] if known.any() else np.zeros((1, 2))
    low, high = inside.min(axis=0), inside.max(axis=0)
    span = float(np.maximum(high - low, 1.0).max())
    radius = _CROWDED * span / 2 * np.sqrt(len(rows) / len(places))
    angle, away = np.arange(len(rows)) * _GOLDEN, radius * np.sqrt((np.arange(len(rows)) + 0.5) / len(rows))
    places[rows, 0] = low[0] + radius + away * np.cos(angle)
    places[rows, 1] = low[1] - 0.03 * span - radius + away * np.sin(angle)


def _scaled(places: Doubles) -> NDArray[np.uint16]:
    """The map in the middle of a square, its sides in proportion."""
    if not len(places):
        return np.zeros((0, 2), dtype=np.uint16)
    low, high = places.min(axis=0), places.max(axis=0)
    side = max(float((high - low).max()), 1e-12)
    middle = (low + high) / 2
    scaled = np.round((places - middle) / side * _SIDE + _SIDE / 2)
    return np.asarray(scaled.clip(0, _SIDE), dtype=np.uint16)


def _apart(places: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Documents that stand at one place, mostly copies of one another, in a small spiral: each can be seen."""
    _, cell, sizes = np.unique(places // _SAME, axis=0, return_inverse=True, return_counts=True)
    cell = cell.ravel()
    order = np.argsort(cell, kind="stable")
    rank = np.empty(len(places), dtype=np.int64)
    rank[order] = np.arange(len(places)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    angle, radius = rank * _GOLDEN, _STEP * np.sqrt(rank)
    moved = places + np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return np.asarray(np.round(moved).clip(0, _SIDE), dtype=np.uint16)
