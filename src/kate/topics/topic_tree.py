"""The tree of topics: small clusters of documents, joined two at a time until one is left.

Cutting the tree at n gives n topics, and the topics of a smaller n are unions of those of a larger one. Its upper part
joins a few dozen groups that are alike for all seeds (``coarse_groups.py``); below, each group is a tree of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kate.errors import quoted
from kate.topics.coarse_groups import coarse_groups
from kate.topics.leaf_clusters import cluster_sums, leaves_in_groups
from kate.topics.ward_joins import joined_by_group

__all__ = ["Suggestion", "TopicTree"]

MOST_LEAVES = 500
_DOCUMENTS_PER_LEAF = 3
_FEWEST, _FEWEST_OF_MANY, _MOST = 5, 10, 60  # topics that may be suggested
_MANY = 2_000  # documents of which fewer than ten topics say little

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Suggestion:
    """A number of topics, and why."""

    n_topics: int
    reason: str


@dataclass(frozen=True, eq=False)
class TopicTree:
    """Leaves, and the joins that make one tree of them.

    sums : (n_leaves, d), the sum of the unit vectors of each leaf's documents
    sizes : (n_leaves,), how many documents that are
    joins : (n_leaves - 1, 2), the two nodes that each join makes one; a leaf is a node by its row, and join j makes
        node n_leaves + j
    costs : (n_leaves - 1,), how much each join adds to the scatter within the clusters
    """

    sums: Floats
    sizes: Numbers
    joins: Numbers
    costs: Doubles

    @classmethod
    def of(cls, vectors: Floats, coarse: Floats | None = None, *, short: bool = False) -> TopicTree:
        """The tree of documents by their unit vectors (n_docs, d).

        coarse : (n_docs, any), unit vectors that hardly depend on the seed and say which documents lie together at
            large; None leaves that to the vectors too
        short : the documents are short: the coarse vectors also say how groups join at large
        """
        n_leaves = max(1, min(MOST_LEAVES, len(vectors) // _DOCUMENTS_PER_LEAF))
        groups, upper = np.zeros(len(vectors), dtype=np.int64), None
        if coarse is not None:
            groups, upper = coarse_groups(vectors, coarse, n_leaves)
        clusters = leaves_in_groups(vectors, groups, n_leaves)
        n_leaves = int(clusters.max(initial=0)) + 1
        sums = cluster_sums(vectors, clusters, n_leaves)
        sizes = np.maximum(np.bincount(clusters, minlength=n_leaves), 1)
        group_of_leaf = np.zeros(n_leaves, dtype=np.int64)
        group_of_leaf[clusters] = groups
        joins, costs = joined_by_group(sums, sizes, group_of_leaf, upper if short else None)
        return cls(sums, sizes, joins, costs)

    @property
    def n_leaves(self) -> int:
        return len(self.sizes)

    @cached_property
    def _sizes(self) -> list[int]:
        """The documents of every node."""
        sizes = list(self.sizes.tolist())
        for one, other in self.joins.tolist():
            sizes.append(sizes[one] + sizes[other])
        return sizes

    @cached_property
    def _firsts(self) -> list[int]:
        """The first leaf of every node."""
        firsts = list(range(self.n_leaves))
        for one, other in self.joins.tolist():
            firsts.append(min(firsts[one], firsts[other]))
        return firsts

    def splits(self) -> list[tuple[int, int, int]]:
        """What each further topic is made from: (topic that is split, node that keeps its number, node of the new one).

        The topics of a cut at n have the numbers 0 to n - 1. When n grows by one, one topic is split: its larger half
        keeps the number, the other half gets the number n. So a topic keeps its number however often the tree is cut.
        """
        number_of = {self.n_leaves + len(self.joins) - 1: 0}
        found: list[tuple[int, int, int]] = []
        for join in range(len(self.joins) - 1, -1, -1):
            number = number_of.pop(self.n_leaves + join)
            # of equal halves, the one with the earlier document keeps the number
            halves = sorted(
                self.joins[join].tolist(), key=lambda node: (-self._sizes[node], self._firsts[node])
            )
            number_of |= {halves[0]: number, halves[1]: len(found) + 1}
            found.append((number, halves[0], halves[1]))
        return found

    def cut(self, n_topics: int) -> Numbers:
        """For each leaf the number of its topic, 0 to ``n_topics`` - 1."""
        self.require(n_topics)
        nodes = {0: self.n_leaves + len(self.joins) - 1}
        for made, (number, kept, new) in enumerate(self.splits()[: n_topics - 1], 1):
            nodes |= {number: kept, made: new}
        topics = np.empty(self.n_leaves, dtype=np.int64)
        for number, node in nodes.items():
            topics[self.leaves_of(node)] = number
        return topics

    def leaves_of(self, node: int) -> list[int]:
        """The leaves under a node."""
        leaves, open_nodes = [], [node]
        while open_nodes:
            node = open_nodes.pop()
            if node < self.n_leaves:
                leaves.append(node)
            else:
                open_nodes.extend(self.joins[node - self.n_leaves].tolist())
        return sorted(leaves)

    def halves(self, leaves: Numbers) -> tuple[Numbers, Numbers]:
        """Some leaves in two parts, those that the tree joins last; the larger part first."""
        part_of: dict[int, list[int]] = {leaf: [leaf] for leaf in leaves.tolist()}
        last: tuple[list[int], list[int]] = ([], [])
        for made, (one, other) in enumerate(self.joins.tolist(), self.n_leaves):
            parts = part_of.pop(one, []), part_of.pop(other, [])
            if all(parts):
                last = parts
            if any(parts):
                part_of[made] = parts[0] + parts[1]
        halves = sorted(last, key=lambda part: (-int(self.sizes[part].sum()), min(part)))
        return np.sort(halves[0]), np.sort(halves[1])

    def require(self, n_topics: int) -> None:
        if isinstance(n_topics, bool) or not isinstance(n_topics, int | np.integer) or n_topics < 1:
            raise ValueError(
                f"n is {quoted(n_topics)}; expected a whole number of topics, 1 or more, or None"
            )
        if n_topics > self.n_leaves:
            raise ValueError(
                f"{n_topics:,} topics were asked for; this model tells at most {_groups(self.n_leaves)} of documents "
                "apart: ask for fewer, or fit it on more documents"
            )

    def require_whole(self, n_components: int) -> None:
        """Refuse arrays, of a stranger's folder say, that are no tree."""
        n, joins = self.n_leaves, self.joins
        kinds = [array.dtype.kind for array in (self.sums, self.sizes, joins, self.costs)]
        whole = (
            kinds == ["f", "i", "i", "f"]
            and n > 0
            and self.sums.shape == (n, n_components)
            and self.sizes.shape == (n,)
            and joins.shape == (n - 1, 2)
            and self.costs.shape == (n - 1,)
            and (self.sizes > 0).all()
            and np.isfinite(self.sums).all()
            and np.isfinite(self.costs).all()
            # every node but the last is joined once, and after it was made
            and np.array_equal(np.sort(joins, axis=None), np.arange(2 * n - 2))
            and (joins < np.arange(n, 2 * n - 1)[:, None]).all()
        )
        if not whole:
            raise ValueError("the tree of topics does not hold together")

    def suggest(self) -> Suggestion:
        """The number of topics at which joining two more would cost most, compared with the joins around it.

        Costs fall with the number of topics like a power of it; what stands out from that is a gap in the data.
        """
        fewest = _FEWEST if self.sizes.sum() < _MANY else _FEWEST_OF_MANY
        most = min(_MOST, self.n_leaves - 1)
        if most < fewest:
            n_topics = min(self.n_leaves, 2)
            return Suggestion(n_topics, f"the documents fall into {_groups(self.n_leaves)} only")
        # where groups begin that are trees of their own, a join may cost less than one before it
        # costs[n - 2] joins n topics to n - 1
        costs = np.maximum.accumulate(np.maximum(self.costs, 1e-12))[::-1]
        numbers = np.arange(2, most + 2)
        slope = np.polyfit(np.log(numbers), np.log(costs[: len(numbers)]), 1)[0]
        gaps = np.log(costs[: most - 1] / costs[1:most]) + slope * np.log1p(1 / numbers[: most - 1])
        choices = numbers[: most - 1] >= fewest
        best = int(np.flatnonzero(choices)[np.argmax(gaps[choices])])
        n_topics, ratio = int(numbers[best]), float(costs[best] / costs[best + 1])
        return Suggestion(
            n_topics,
            f"between {fewest} and {most}, {n_topics} topics lie furthest apart for their number: joining two of "
            f"them costs {ratio:.2f} times what the join before cost",
        )


def _groups(n: int) -> str:
    return "one small group" if n == 1 else f"{n:,} small groups"
