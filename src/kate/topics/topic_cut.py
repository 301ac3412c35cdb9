"""A cut of the tree: topics with their centres, and what documents have to do with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kate.topics.document_sketch import DocumentSketch
from kate.topics.leaf_clusters import nearest_centres, settle
from kate.topics.topic_tree import TopicTree
from kate.unit_rows import unit_rows

__all__ = ["TopicCut"]

_SETTLED_ON = 10_000  # documents, of those that the centres settle among
_SHARPNESS = np.geomspace(1.0, 100.0, 41)

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TopicCut:
    """Topics as a set of centres; a topic that was merged has several.

    centres : (n_centres, d), of length 1
    numbers : (n_centres,), the topic of each centre
    leaves : for each centre the leaves of the tree that it stands for
    n_base : at how many topics the tree was cut before topics were merged, split or dropped
    """

    tree: TopicTree
    sketch: DocumentSketch
    centres: Floats
    numbers: Numbers
    leaves: tuple[Numbers, ...]
    n_base: int
    next_number: int  # of a topic that is new

    @classmethod
    def of(cls, tree: TopicTree, sketch: DocumentSketch, n_topics: int) -> TopicCut:
        """The tree cut at ``n_topics``."""
        topics = tree.cut(n_topics)
        leaves = tuple(np.flatnonzero(topics == number) for number in range(n_topics))
        some = sketch.units[:: max(1, -(-len(sketch) // _SETTLED_ON))]
        centres = settle(some, _centres(tree, leaves))
        return cls(tree, sketch, centres, np.arange(n_topics), leaves, n_topics, n_topics)

    @cached_property
    def topics(self) -> Numbers:
        """The numbers of the topics, in order."""
        return np.unique(self.numbers)

    def nearest(self, vectors: Floats) -> Numbers:
        """For each unit vector the place of its topic in :attr:`topics`: that of the nearest centre."""
        places = np.searchsorted(self.topics, self.numbers)
        return np.asarray(places[nearest_centres(vectors, self.centres)])

    def shares(self, vectors: Floats) -> Floats:
        """How much of each unit vector belongs to each topic (n, n_topics); rows sum to 1."""
        scores = np.exp(self.sharpness * (vectors @ self.centres.T - 1))
        of_topics = np.zeros((len(vectors), len(self.topics)), dtype=np.float32)
        for place, number in enumerate(self.topics):
            of_topics[:, place] = scores[:, self.numbers == number].sum(axis=1)
        return np.asarray(of_topics / of_topics.sum(axis=1, keepdims=True), dtype=np.float32)

    @cached_property
    def sharpness(self) -> float:
        """How fast a topic's share grows with the cosine: shares of one half of a text foretell the other's topic best.

        So a share of 0.7 means that other words of the same text would fall to the topic about seven times in ten.
        """
        one, other = self.sketch.one_half.astype(np.float32), self.sketch.other_half.astype(np.float32)
        usable = one.any(axis=1) & other.any(axis=1)
        if usable.sum() < 10 or len(self.centres) < 2:
            return 10.0
        cosines = one[usable] @ self.centres.T
        right = cosines[np.arange(len(cosines)), nearest_centres(other[usable], self.centres)]
        losses = [
            np.mean(np.log(np.exp(sharp * (cosines - right[:, None])).sum(axis=1))) for sharp in _SHARPNESS
        ]
        return float(_SHARPNESS[int(np.argmin(losses))])

    @cached_property
    def sketch_topics(self) -> Numbers:
        """The place of the topic of each document of the sketch."""
        return self.nearest(self.sketch.units)

    def merged(self, numbers: list[int]) -> TopicCut:
        """Several topics as one, with the first one's number."""
        joined = np.where(np.isin(self.numbers, numbers), numbers[0], self.numbers)
        return self._changed(self.centres, joined, self.leaves)

    def dropped(self, number: int) -> TopicCut:
        """Without a topic; its documents go to the next nearest."""
        kept = np.flatnonzero(self.numbers != number)
        return self._changed(self.centres[kept], self.numbers[kept], tuple(self.leaves[row] for row in kept))

    def split(self, number: int) -> TopicCut:
        """A topic in two: its larger half keeps the number, the other gets a new one."""
        of_topic = np.flatnonzero(self.numbers == number)
        leaves = np.sort(np.concatenate([self.leaves[row] for row in of_topic]))
        if len(leaves) < 2:
            raise ValueError(f"topic {number} is one small group of documents and cannot be split further")
        halves = self.tree.halves(leaves)
        own = self.sketch.units[self.sketch_topics == np.searchsorted(self.topics, number)]
        centres = settle(own, _centres(self.tree, halves)) if len(own) else _centres(self.tree, halves)
        others = np.flatnonzero(self.numbers != number)
        return TopicCut(
            self.tree,
            self.sketch,
            np.concatenate([self.centres[others], centres]),
            np.append(self.numbers[others], [number, self.next_number]),
            (*(self.leaves[row] for row in others), *halves),
            self.n_base,
            self.next_number + 1,
        )

    def _changed(self, centres: Floats, numbers: Numbers, leaves: tuple[Numbers, ...]) -> TopicCut:
        return TopicCut(self.tree, self.sketch, centres, numbers, leaves, self.n_base, self.next_number)


def _centres(tree: TopicTree, groups: tuple[Numbers, ...]) -> Floats:
    return unit_rows(np.stack([tree.sums[leaves].sum(axis=0) for leaves in groups]))
