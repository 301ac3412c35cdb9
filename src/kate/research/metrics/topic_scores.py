"""Topics: how distinct they are (MSCD, diversity) and how well their words go together (NPMI, c_v).

Needs topics; coherence also needs the counts of a corpus, preferably of all documents. ``top_words`` is an integer
array (n_topics, n_top): the columns of each topic's strongest words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from kate.research.metrics.arrays import as_vectors
from kate.topics.coherence import joint_shares, npmi_of

__all__ = ["Coherence", "c_v", "diversity", "mscd", "npmi"]


@dataclass(frozen=True, eq=False)
class Coherence:
    """The coherence of each topic, and their mean."""

    per_topic: NDArray[np.float64]  # (n_topics,)

    @property
    def mean(self) -> float:
        """The mean over topics."""
        return float(self.per_topic.mean())


def mscd(topics: ArrayLike) -> float:
    """Mean squared cosine deviation among the topics (n_topics, n_words): 0 all orthogonal, 1 all parallel.

    ``sqrt(2 / (m(m-1)) · Σ_{i<j} cos²(v_i, v_j))``, as the paper defines it; a topic of zeros has cosine 0
    with all.

    >>> mscd([[1.0, 0.0], [0.0, 3.0]]), mscd([[3.0, 4.0], [-3.0, -4.0]])
    (0.0, 1.0)
    """
    vectors = as_vectors(topics, "topics").astype(np.float64)
    n_topics = len(vectors)
    if n_topics < 2:
        raise ValueError("topics has one row; expected two topics or more to compare")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / np.where(norms > 0, norms, 1)
    squares = np.square(units @ units.T)
    np.fill_diagonal(squares, 0)
    # rounding may give more than 1
    return float(np.sqrt(min(squares.sum() / (n_topics * (n_topics - 1)), 1.0)))


def diversity(top_words: ArrayLike) -> float:
    """The share of distinct words among the top words of all topics.

    >>> diversity([[0, 1], [1, 2]])
    0.75
    """
    columns = _as_top_words(top_words)
    return len(np.unique(columns)) / columns.size


def npmi(top_words: ArrayLike, X: Any) -> Coherence:
    """Normalised pointwise mutual information of the pairs of a topic's words, over document co-occurrence.

    The mean over the pairs of a topic of :func:`kate.topics.coherence.npmi_of`. A pair that never meets counts -1; a
    pair that stands in every document, for which it is undefined, counts 0. ``X`` holds the counts (n_docs, n_words);
    only whether a word occurs matters.

    >>> X = sp.csr_array([[1, 2, 0], [1, 1, 0], [0, 0, 1], [0, 0, 3]])
    >>> npmi([[0, 1], [0, 2]], X).per_topic.tolist()  # always together, never together
    [1.0, -1.0]
    """

    def mean_over_pairs(joint: NDArray[np.float64]) -> float:
        return float(npmi_of(joint)[np.triu_indices(len(joint), k=1)].mean())

    return Coherence(np.array([mean_over_pairs(joint) for joint in _shares_of_topics(top_words, X)]))


def c_v(top_words: ArrayLike, X: Any, *, gamma: float = 1.0) -> Coherence:
    """The c_v coherence of Röder, Both and Hinneburg (2015): words are alike if they occur with the same words.

    Each word of a topic has the vector of its NPMI with the topic's words (itself included) to the power
    ``gamma``; the score is the mean cosine between a word's vector and the sum of all. Words meet in a document,
    where the usual c_v takes windows of 110 tokens. As in gensim, a pair that never meets is smoothed by 1e-12; other
    than in gensim, a pair that stands in every document counts 0 rather than -1, and a word that stands in none has
    cosine 0 rather than none at all.

    >>> X = sp.csr_array([[1, 2, 0], [1, 1, 0], [0, 0, 1], [0, 0, 3]])
    >>> c_v([[0, 1]], X).per_topic.round(6).tolist()
    [1.0]
    """

    def mean_cosine(joint: NDArray[np.float64]) -> float:
        company = np.power(npmi_of(joint, epsilon=1e-12), gamma)
        of_the_topic = company.sum(axis=0)
        sizes = np.linalg.norm(company, axis=1) * np.linalg.norm(of_the_topic)
        return float(
            np.divide(company @ of_the_topic, sizes, out=np.zeros_like(sizes), where=sizes > 0).mean()
        )

    return Coherence(np.array([mean_cosine(joint) for joint in _shares_of_topics(top_words, X)]))


def _shares_of_topics(top_words: ArrayLike, X: Any) -> Iterator[NDArray[np.float64]]:
    """For each topic: the shares of documents that hold each pair of its words (n_top, n_top)."""
    if not sp.issparse(X) and np.ndim(X) != 2:
        raise ValueError(f"X has shape {np.shape(X)}; expected the counts of a corpus (n_docs, n_words)")
    present = sp.csc_array(X)
    if present.shape[0] == 0:
        raise ValueError("X has no rows; expected the counts of at least one document")
    present.data = (present.data > 0).astype(np.float64)  # of this matrix alone: X stays as it is
    columns = _as_top_words(top_words, present.shape[1])
    if columns.shape[1] < 2:
        raise ValueError("top_words has one word per topic; expected two or more to form pairs")
    for words in columns:
        yield joint_shares(present, words)


def _as_top_words(top_words: ArrayLike, n_words: int | None = None) -> NDArray[np.int64]:
    columns = np.asarray(top_words)
    if columns.ndim != 2 or columns.size == 0 or columns.dtype.kind not in "iu":
        raise ValueError(
            f"top_words has shape {columns.shape} and type {columns.dtype}; "
            "expected the word columns of each topic, integers (n_topics, n_top)"
        )
    if columns.min() < 0 or (n_words is not None and columns.max() >= n_words):
        raise ValueError(
            f"top_words holds columns from {columns.min()} to {columns.max()}; expected columns of X, "
            f"0 to {'n_words' if n_words is None else n_words} - 1"
        )
    ordered = np.sort(columns, axis=1)
    repeated = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if repeated.size:
        raise ValueError(
            f"top_words lists a word twice in topic {repeated[0]}; expected distinct words in a topic"
        )
    return columns.astype(np.int64)
