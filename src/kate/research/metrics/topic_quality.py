"""Topic quality: do the words of topics go together in unseen documents, do they stand in the topics' documents, and
has each topic its own? Needs the words of every topic, and the topic of every document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from kate.topics.coherence import pair_npmi

__all__ = ["TopicQuality", "judge_topics"]


@dataclass(frozen=True)
class TopicQuality:
    """Of the words of topics, in documents that they were not chosen from.

    npmi : mean over topics of the mean NPMI of the pairs of their words; a pair that never meets counts -1
    coverage : share of the documents that hold one of their topic's words
    diversity : share of distinct words among all that are listed
    n_described : topics that have two words or more, of which npmi is the mean
    """

    npmi: float
    coverage: float
    diversity: float
    n_described: int

    def scores(self) -> dict[str, float]:
        return {"npmi": self.npmi, "coverage": self.coverage, "diversity": self.diversity}


def judge_topics(words: Sequence[ArrayLike], topics: ArrayLike, X: Any) -> TopicQuality:
    """``words`` are the columns of each topic's words, of any number; ``topics`` the topic of each row of the counts X.

    A document whose topic is below 0 has none and is left out of the coverage.

    >>> X = sp.csr_array([[1, 2, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 3]])
    >>> judge_topics([[0, 1], [2]], [0, 0, 1, 1], X)  # the words of topic 0 are always together, topic 1 has only one
    TopicQuality(npmi=1.0, coverage=0.75, diversity=1.0, n_described=1)
    """
    present = sp.csc_array(X)
    present.data = (present.data > 0).astype(np.float32)
    columns = [np.asarray(own, dtype=np.int64) for own in words]
    of_documents = np.asarray(topics)
    if of_documents.shape != (present.shape[0],) or of_documents.max(initial=-1) >= len(columns):
        raise ValueError(
            f"topics of shape {of_documents.shape}, up to {of_documents.max(initial=-1)}, for {present.shape[0]} "
            f"documents and {len(columns)} topics with words; expected one of these topics for every document"
        )
    listed = np.concatenate([*columns, np.zeros(0, dtype=np.int64)])
    pairs = [pair_npmi(present, own)[np.triu_indices(len(own), k=1)] for own in columns if len(own) > 1]
    has_topic = of_documents >= 0
    if not pairs or not has_topic.any():
        raise ValueError("no topic has two words, or no document has a topic; expected some of both")
    covered = np.zeros(present.shape[0], dtype=bool)
    for topic, own in enumerate(columns):
        rows = np.flatnonzero(of_documents == topic)
        covered[rows] = np.asarray(present[:, own].sum(axis=1)).reshape(-1)[rows] > 0
    return TopicQuality(
        float(np.mean([one.mean() for one in pairs])),
        float(covered[has_topic].mean()),
        len(np.unique(listed)) / len(listed),
        len(pairs),
    )
