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
    from sklearn.metrics import normalized_mutual_info_score
    from sklearn.metrics.cluster import contingency_matrix

    ari = adjusted_rand(topics, labels)
    nmi = normalized_mutual_info_score(np.asarray(labels), np.asarray(topics))
    table = contingency_matrix(np.asarray(topics), np.asarray(labels))
    return Agreement(float(nmi), ari, float(table.max(axis=1).sum() / table.sum()))


def adjusted_rand(topics: ArrayLike, others: ArrayLike) -> float:
    """The adjusted Rand index of two labellings of the same documents; the numbers of topics do not matter.

    >>> adjusted_rand([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    from sklearn.metrics import adjusted_rand_score

    rows, columns = np.asarray(topics), np.asarray(others)
    _require_pairs(rows, columns)
    return float(adjusted_rand_score(columns, rows))


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


def _require_pairs(topics: NDArray[Any], labels: NDArray[Any]) -> None:
    if topics.ndim != 1 or topics.shape != labels.shape or not topics.size:
        raise ValueError(
            f"topics of shape {topics.shape} and labels of shape {labels.shape}; expected one of each for every "
            "document, and at least one document"
        )
