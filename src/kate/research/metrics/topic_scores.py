"""Topics: how distinct they are (MSCD, diversity) and how well their words hang together (NPMI, c_v).

Needs topics; coherence also needs the counts of a corpus, best of all documents. ``top_words`` is an integer
array (n_topics, n_top): the columns of each topic's strongest words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from kate.research.metrics.arrays import as_vectors

__all__ = ["Coherence", "c_v", "diversity", "mscd", "npmi", "sliding_windows"]


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
    return float(np.sqrt(min(squares.sum() / (n_topics * (n_topics - 1)), 1.0)))  # rounding may end above 1


def diversity(top_words: ArrayLike) -> float:
    """The share of distinct words among the top words of all topics.

    >>> diversity([[0, 1], [1, 2]])
    0.75
    """
    columns = _as_top_words(top_words)
    return len(np.unique(columns)) / columns.size


def npmi(top_words: ArrayLike, X: Any, *, weights: ArrayLike | None = None) -> Coherence:
    """Normalised pointwise mutual information of the pairs of a topic's words, over document co-occurrence.

    ``log(p_ij / (p_i p_j)) / -log p_ij``, averaged over the pairs of a topic. A pair that never meets counts
    -1; a pair that stands in every document, for which it is undefined, counts 0. ``X`` holds the counts
    (n_docs, n_words); only whether a word occurs matters. ``weights`` says how many documents a row stands
    for.

    >>> X = sp.csr_array([[1, 2, 0], [1, 1, 0], [0, 0, 1], [0, 0, 3]])
    >>> npmi([[0, 1], [0, 2]], X).per_topic.tolist()  # always together, never together
    [1.0, -1.0]
    """

    def mean_over_pairs(together: NDArray[np.float64], total: float) -> float:
        pairs = np.triu_indices(len(together), k=1)
        return float(_pair_npmi(together, total, epsilon=0.0)[pairs].mean())

    return Coherence(np.array([mean_over_pairs(*met) for met in _meetings(top_words, X, weights)]))


def c_v(top_words: ArrayLike, X: Any, *, weights: ArrayLike | None = None, gamma: float = 1.0) -> Coherence:
    """The c_v coherence of Röder, Both and Hinneburg (2015): words are alike that keep the same company.

    Each word of a topic has the vector of its NPMI with the topic's words (itself included) to the power
    ``gamma``; the score is the mean cosine between a word's vector and the sum of all. Over documents as they
    are, or over windows of them: ``windows, weights = sliding_windows(...)``, then ``c_v(top_words, windows,
    weights=weights)``. As in gensim, a pair that never meets is smoothed by 1e-12; other than in gensim, a
    pair that stands in every document counts 0 rather than -1, and a word that stands in none has cosine 0
    rather than none at all.

    >>> X = sp.csr_array([[1, 2, 0], [1, 1, 0], [0, 0, 1], [0, 0, 3]])
    >>> c_v([[0, 1]], X).per_topic.round(6).tolist()
    [1.0]
    """

    def mean_cosine(together: NDArray[np.float64], total: float) -> float:
        company = np.power(_pair_npmi(together, total, epsilon=1e-12), gamma)
        of_the_topic = company.sum(axis=0)
        sizes = np.linalg.norm(company, axis=1) * np.linalg.norm(of_the_topic)
        return float(
            np.divide(company @ of_the_topic, sizes, out=np.zeros_like(sizes), where=sizes > 0).mean()
        )

    return Coherence(np.array([mean_cosine(*met) for met in _meetings(top_words, X, weights)]))


def sliding_windows(
    documents: Iterable[Sequence[int] | NDArray[Any]],
    top_words: ArrayLike,
    n_words: int,
    *,
    window: int = 110,
) -> tuple[sp.csr_array[Any, tuple[int, int]], NDArray[np.int64]]:
    """Every window of ``window`` tokens as a row of counts, for coherence over windows: (rows, weights).

    ``documents`` are sequences of word columns, in order, negative for a word outside the vocabulary. A
    document no longer than the window is one window. Only the top words are kept, and neighbouring windows
    that hold the same of them share a row, whose weight is their number: the cost follows the top words, not
    the tokens. A word that leaves a window in which it stands a second time is still in it (gensim 4.4
    forgets it).

    >>> rows, weights = sliding_windows([[0, 2, 2, 1]], [[0, 1]], n_words=3, window=2)
    >>> rows.toarray().tolist(), weights.tolist()
    ([[1, 0, 0], [0, 0, 0], [0, 1, 0]], [1, 1, 1])
    """
    if window < 1:
        raise ValueError(f"window is {window}; expected at least one token")
    wanted = np.zeros(n_words + 1, dtype=np.bool_)  # the last is where words outside the vocabulary (-1) look
    wanted[_as_top_words(top_words, n_words)] = True
    row_parts, column_parts, weight_parts, n_rows = [], [], [], 0
    for document in documents:
        tokens = np.maximum(np.asarray(document, dtype=np.int64), -1)
        if tokens.size == 0:
            continue
        if tokens.max() >= n_words:
            raise ValueError(
                f"documents holds word column {tokens.max()}; expected columns below n_words = {n_words}"
            )
        positions = np.flatnonzero(wanted[tokens])
        runs, occurrences, run_of = _runs(positions, len(tokens), window)
        row_parts.append(run_of + n_rows)
        column_parts.append(tokens[positions][occurrences])
        weight_parts.append(runs)
        n_rows += len(runs)
    if n_rows == 0:
        raise ValueError("documents is empty; expected at least one document with a token")
    rows, columns = np.concatenate(row_parts), np.concatenate(column_parts)
    windows = sp.csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=(n_rows, n_words))
    windows.data[:] = 1  # a word twice in a window is there once
    return windows, np.concatenate(weight_parts)


def _runs(
    positions: NDArray[np.intp], n_tokens: int, window: int
) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.intp]]:
    """The windows of one document in runs that hold the same occurrences.

    Gives the length of each run, and for every occurrence in every run that holds it: (which occurrence,
    which run).
    """
    n_windows = max(n_tokens - window, 0) + 1
    entered = np.maximum(positions - window + 1, 0)  # the first window that holds the occurrence
    left = np.minimum(positions + 1, n_windows)  # the first one that no longer does
    bounds = np.unique(np.concatenate([[0, n_windows], entered, left]))
    first, last = np.searchsorted(bounds, entered), np.searchsorted(bounds, left)
    spans = last - first
    occurrences = np.repeat(np.arange(len(positions)), spans)
    within = np.arange(spans.sum()) - np.repeat(np.cumsum(spans) - spans, spans)
    return np.diff(bounds), occurrences, first[occurrences] + within


def _meetings(
    top_words: ArrayLike, X: Any, weights: ArrayLike | None
) -> Iterator[tuple[NDArray[np.float64], float]]:
    """For each topic: in how many documents its words meet (n_top, n_top), and the number of documents."""
    if not sp.issparse(X) and np.ndim(X) != 2:
        raise ValueError(f"X has shape {np.shape(X)}; expected the counts of a corpus (n_docs, n_words)")
    present = sp.csc_array(X)
    if present.shape[0] == 0:
        raise ValueError("X has no rows; expected the counts of at least one document")
    columns = _as_top_words(top_words, present.shape[1])
    n_each = np.ones(present.shape[0]) if weights is None else np.asarray(weights, dtype=np.float64)
    if n_each.shape != (present.shape[0],):
        raise ValueError(
            f"weights has shape {n_each.shape} for {present.shape[0]} rows; give one weight a row"
        )
    if columns.shape[1] < 2:
        raise ValueError("top_words has one word a topic; expected two or more to form pairs")
    for words in columns:
        occurs = present[:, words]
        occurs.data = (occurs.data > 0).astype(np.float64)
        weighted = occurs.copy()
        weighted.data *= n_each[weighted.indices]
        yield (occurs.T @ weighted).toarray(), float(n_each.sum())


def _pair_npmi(together: NDArray[np.float64], total: float, epsilon: float) -> NDArray[np.float64]:
    """NPMI of every pair; -1 (or what ``epsilon`` makes of it) if they never meet, 0 if it is undefined."""
    joint = together / total
    single = joint.diagonal()
    expected = np.outer(single, single)
    everywhere = together >= total
    defined = (expected > 0) & (joint + epsilon > 0) & ~everywhere
    result = np.where(joint > 0, 0.0, -1.0) if epsilon == 0 else np.zeros_like(joint)
    smoothed = joint[defined] + epsilon
    result[defined] = np.log(smoothed / expected[defined]) / -np.log(smoothed)
    return result


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
