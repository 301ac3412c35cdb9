"""Clusters: how well topics of documents agree with their labels, or with other topics of the same documents.

Needs a topic and a class for each document; any two labellings will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Agreement", "adjusted_rand", "compare_labels", "majority_labels"]


@dataclass(frozen=True)
class Agreement:
    """Of topics with labels.

    nmi : mutual information over the mean of the two entropies, 0 to 1
    ari : adjusted Rand index: pairs of documents that both put together or apart; 0 is chance, 1 the same partition
    purity : share of the documents that have the commonest label of their topic
    """

    nmi: float
    ari: float
    purity: float

    def scores(self) -> dict[str, float]:
        return {"nmi": self.nmi, "ari": self.ari, "purity": self.purity}


def compare_labels(topics: ArrayLike, labels: ArrayLike) -> Agreement:
    """How the topics of documents agree with their labels.

    >>> compare_labels([0, 0, 1, 1], ["a", "a", "b", "b"])
    Agreement(nmi=1.0, ari=1.0, purity=1.0)
    >>> compare_labels([0, 0, 1, 1], ["a", "b", "a", "b"]).nmi  # nothing to do with each other
    0.0
    """
    table = _together(topics, labels)
    shares = table / table.sum()
    entropies = [_entropy(shares.sum(axis=axis)) for axis in (0, 1)]
    mutual = max(sum(entropies) - _entropy(shares.ravel()), 0.0)
    # two partitions of one part each agree
    nmi = mutual / (sum(entropies) / 2) if sum(entropies) > 0 else 1.0
    return Agreement(min(nmi, 1.0), _adjusted_rand(table), float(table.max(axis=1).sum() / table.sum()))


def adjusted_rand(topics: ArrayLike, others: ArrayLike) -> float:
    """The adjusted Rand index of two labellings of the same documents; the numbers of topics do not matter.

    >>> adjusted_rand([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return _adjusted_rand(_together(topics, others))


def majority_labels(topics: ArrayLike, labels: Sequence[Any] | NDArray[Any]) -> dict[int, Any]:
    """The commonest label of every topic that has documents; of equals the first in order.

    >>> majority_labels([0, 0, 0, 2], ["b", "a", "b", "c"])
    {0: 'b', 2: 'c'}
    """
    names, places = np.unique(np.asarray(labels), return_inverse=True)
    numbers = np.asarray(topics)
    found = {}
    for topic in np.unique(numbers).tolist():
        found[topic] = names[np.bincount(places[numbers == topic]).argmax()].item()
    return found


def _together(topics: ArrayLike, labels: ArrayLike) -> NDArray[np.float64]:
    """How many documents have each topic and each label (n_topics, n_labels)."""
    rows, columns = np.asarray(topics), np.asarray(labels)
    if rows.ndim != 1 or rows.shape != columns.shape or not rows.size:
        raise ValueError(
            f"topics of shape {rows.shape} and labels of shape {columns.shape}; expected one of each for every "
            "document, and at least one document"
        )
    found, row = np.unique(rows, return_inverse=True)
    names, column = np.unique(columns, return_inverse=True)
    table = np.zeros((len(found), len(names)))
    np.add.at(table, (row, column), 1)
    return table


def _entropy(shares: NDArray[np.float64]) -> float:
    used = shares[shares > 0]
    return float(-(used * np.log(used)).sum())


def _adjusted_rand(table: NDArray[np.float64]) -> float:
    def pairs(counts: NDArray[np.float64]) -> float:
        return float((counts * (counts - 1) / 2).sum())

    both, all_pairs = pairs(table), pairs(np.array([table.sum()]))
    rows, columns = pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    expected = rows * columns / all_pairs if all_pairs else 0.0
    most = (rows + columns) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)
