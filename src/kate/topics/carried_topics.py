"""Topics that outlive an update: each keeps its number and name, and documents that fit none make new ones.

Documents of the sketch that were there before carry the topics over: the centre of a topic is that of its documents, in
the new vectors. Groups of new documents are candidates for new topics. What a group, or a topic, is worth is how much
nearer its documents are to its centre than to the next one, summed up. A group becomes a topic where
    hardly an old document belongs to it,
    the old topics fit its documents worse than they fit their own,
    it is worth half as much as the usual old topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kate.topics.document_sketch import DocumentSketch
from kate.topics.leaf_clusters import cluster_sums, nearest_centres, settle
from kate.topics.topic_cut import TopicCut
from kate.topics.topic_tree import TopicTree
from kate.unit_rows import unit_rows

__all__ = ["KeptTopics", "carry"]

_LEAST_DOCUMENTS = 10
_LEAST_WORTH = 0.5  # of that of the usual old topic
# a group that holds more of all old documents for what it holds of all new ones is nothing new
_OLD_TO_NEW = 0.2
_MOST_NEW = 10
_LARGEST_NUMBER = 2**53  # of a topic: more would be of no kind that an array has
_BLOCK = 4096

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class KeptTopics:
    """Topics by themselves, no cut of a tree: what an update leaves.

    centres : (n_centres, d), of length 1
    numbers : (n_centres,), the topic of each centre
    names : by the numbers of the topics that have been named, by the user or by what they were before
    next_number : of the next topic that is new; no number is given twice
    """

    centres: Floats
    numbers: Numbers
    names: Mapping[int, str]
    next_number: int

    @classmethod
    def from_parts(
        cls, arrays: Mapping[str, NDArray[Any]], config: Mapping[str, Any], n_components: int
    ) -> KeptTopics:
        """From what a folder holds, if it belongs together."""
        centres, numbers = arrays["kept_centres"], arrays["kept_numbers"]
        names = {int(number): str(name) for number, name in config["names"].items()}
        next_number = int(config["next_number"])
        whole = (
            len(centres) > 0
            and centres.shape == (len(numbers), n_components)
            and centres.dtype == np.float32
            and numbers.dtype == np.int64
            and bool(np.isfinite(centres).all())
            and numbers.min() >= 0
            and numbers.max() < next_number <= _LARGEST_NUMBER
            and set(names) <= set(numbers.tolist())
        )
        if not whole:
            raise ValueError("the topics that were kept through an update do not hold together")
        return cls(centres, numbers, names, next_number)

    def __len__(self) -> int:
        """How many topics."""
        return len(np.unique(self.numbers))

    def cut(self, tree: TopicTree, sketch: DocumentSketch) -> TopicCut:
        """The topics on a tree: each leaf is with the centre that is nearest to it."""
        nearest = nearest_centres(unit_rows(tree.sums), self.centres)
        leaves = tuple(np.flatnonzero(nearest == row) for row in range(len(self.centres)))
        return TopicCut(tree, sketch, self.centres, self.numbers, leaves, len(self), self.next_number)


def carry(cut: TopicCut, names: Mapping[int, str], stay: Numbers, sketch: DocumentSketch) -> KeptTopics:
    """The topics of a cut after an update.

    ``stay`` are those documents of the cut's sketch with which the new ``sketch`` begins, in the same order; the others
    of it are new.
    """
    units, n_old = sketch.units, len(stay)
    of_centres = nearest_centres(cut.sketch.units[stay], cut.centres)
    used = np.flatnonzero(np.bincount(of_centres, minlength=len(cut.centres)) > 0)
    centres = unit_rows(cluster_sums(units[:n_old], of_centres, len(cut.centres)))[used]
    numbers, next_number = cut.numbers[used], cut.next_number
    if len(centres) == 0:  # of the documents that were there none is left
        centres, numbers = cut.centres, cut.numbers
    for centre in _new_centres(units, n_old, centres):
        centres = np.concatenate([centres, centre[None]])
        numbers, next_number = np.append(numbers, next_number), next_number + 1
    present = set(numbers.tolist())
    own = {number: name for number, name in names.items() if number in present}
    return KeptTopics(settle(units, centres), numbers, own, next_number)


def _new_centres(units: Floats, n_old: int, centres: Floats) -> list[Floats]:
    """The centres of groups of documents that fit no topic; the first ``n_old`` documents are not new."""
    groups = _Groups.of(units[n_old:])
    usual_worth, usual_fit = _usual(units[:n_old], centres)
    least, found = _LEAST_WORTH * usual_worth, list[Floats]()
    fit = (units @ centres.T).max(axis=1)
    while len(found) < _MOST_NEW:
        node = _best_group(units, n_old, fit, groups.centres, least, usual_fit)
        if node is None:
            break
        found += groups.parts(node, units, fit, least)
        fit = np.maximum(fit, (units @ np.stack(found).T).max(axis=1))
    return found


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups of documents of every size: the nodes of a tree of these documents alone.

    centres : of every node, leaves first; zeros where a group is too small to be a topic
    joins : the two nodes that every node beyond the leaves is made of
    """

    centres: Floats
    joins: Numbers

    @classmethod
    def of(cls, units: Floats) -> _Groups:
        if len(units) < _LEAST_DOCUMENTS:
            return cls(units[:0], np.zeros((0, 2), dtype=np.int64))
        tree = TopicTree.of(units)
        sums, sizes = list(tree.sums), list(tree.sizes)
        for one, other in tree.joins.tolist():
            sums.append(sums[one] + sums[other])
            sizes.append(sizes[one] + sizes[other])
        large = np.array(sizes) >= _LEAST_DOCUMENTS
        return cls(unit_rows(np.stack(sums)) * large[:, None].astype(np.float32), tree.joins)

    def parts(self, node: int, units: Floats, fit: Floats, least: float) -> list[Floats]:
        """The centres of a group's parts, as long as each of two is worth enough beside the other; or its own."""
        n_leaves = len(self.centres) - len(self.joins)
        if node >= n_leaves:
            halves = self.joins[node - n_leaves].tolist()
            cosines = [units @ self.centres[half] for half in halves]
            beside = [np.maximum(fit, cosine) for cosine in reversed(cosines)]
            worth = [np.maximum(own - other, 0).sum() for own, other in zip(cosines, beside, strict=True)]
            if all(self.centres[half].any() for half in halves) and min(worth) >= least:
                return [
                    part
                    for half, other in zip(halves, beside, strict=True)
                    for part in self.parts(half, units, other, least)
                ]
        return [self.centres[node]]


def _usual(units: Floats, centres: Floats) -> tuple[float, float]:
    """What a topic is worth (the median), and how near documents are to their topic on average."""
    if len(centres) < 2 or len(units) == 0:
        return 0.0, float((units @ centres.T).max(axis=1).mean()) if len(units) else 1.0
    cosines = np.partition(units @ centres.T, -2, axis=1)[:, -2:]
    worth = np.bincount(
        nearest_centres(units, centres), cosines[:, 1] - cosines[:, 0], minlength=len(centres)
    )
    return float(np.median(worth)), float(cosines[:, 1].mean())


def _best_group(
    units: Floats, n_old: int, fit: Floats, groups: Floats, least: float, usual_fit: float
) -> int | None:
    """The group that is worth most among those that are new; None where none is. ``fit``: cosines with the topics."""
    if len(groups) == 0:
        return None
    worth, old, new, fits = np.zeros((4, len(groups)))
    for first in range(0, len(units), _BLOCK):
        some = slice(first, first + _BLOCK)
        gain = np.maximum(units[some] @ groups.T - fit[some, None], 0)
        inside = gain > 0
        worth += gain.sum(axis=0)
        is_old = np.arange(len(units))[some] < n_old
        old += inside[is_old].sum(axis=0)
        new += inside[~is_old].sum(axis=0)
        fits += fit[some] @ inside
    n_new = max(len(units) - n_old, 1)
    is_new = old / max(n_old, 1) <= _OLD_TO_NEW * new / n_new
    is_new &= (new >= _LEAST_DOCUMENTS) & (fits < usual_fit * (old + new)) & (worth >= least)
    return int(np.where(is_new, worth, -1).argmax()) if is_new.any() else None
