"""Retrieval: every test document is a query for the nearest training documents; a hit has the same label.

Needs vectors (or similarities, of a model that ranks without vectors) and labels, one class per document or sets of
labels. Exact, in blocks of queries: the matrix of all cosines is never in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from kate.research.metrics.arrays import (
    as_classes,
    as_indicator,
    as_vectors_of_one_model,
    class_numbers,
    sorted_classes,
)
from kate.unit_rows import unit_rows

__all__ = ["FRACTIONS", "Retrieval", "retrieve", "retrieve_ranked"]

FRACTIONS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""The fractions of the training set that are fetched."""

_SHALLOW = 0.05  # without the full ranking, fractions above this are left out
_BLOCK = 256  # queries at a time
_MOST_KEYS = 4_000_000  # sort keys at a time, 32 MB: fewer queries if there are many documents

Relevance = Callable[[slice], NDArray[np.bool_]]
BlockSimilarity = Callable[[slice], NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class Retrieval:
    """Means over the queries that have something to find; the others (``n_skipped``) would be 0 for any model."""

    precision: dict[float, float]  # fraction of the training set fetched → share of hits among it
    precision_at_10: float
    mean_average_precision: float | None  # None without the full ranking
    n_queries: int
    n_skipped: int

    def scores(self) -> dict[str, float]:
        """The numbers for one row of a table."""
        named = {f"precision@{100 * fraction:g}%": value for fraction, value in self.precision.items()}
        named["precision@10"] = self.precision_at_10
        if self.mean_average_precision is not None:
            named["map"] = self.mean_average_precision
        return named


def retrieve(
    train_vectors: ArrayLike,
    train_labels: Any,
    test_vectors: ArrayLike,
    test_labels: Any,
    *,
    fractions: Sequence[float] = FRACTIONS,
    center: bool = False,
    full: bool = True,
) -> Retrieval:
    """Precision of the nearest training documents by cosine, and mean average precision.

    ``labels`` are one class per document, or an indicator matrix (n_docs, n_labels), where a hit shares any
    label. ``center`` subtracts the mean of the training vectors first. ``full=False`` ranks only the nearest
    documents: quicker, without mean average precision and without the fractions above 0.05. A vector of zeros
    has cosine 0 with everything; of equals the earlier training document comes first.

    >>> train, test = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]], [[1.0, 0.2]]
    >>> found = retrieve(train, ["a", "b", "a", "a"], test, ["a"], fractions=(0.5, 1.0))
    >>> found.precision, round(found.mean_average_precision, 4)  # ranks: b, a, a, a
    ({0.5: 0.5, 1.0: 0.75}, 0.6389)
    """
    documents, queries = as_vectors_of_one_model(train_vectors=train_vectors, test_vectors=test_vectors)
    middle = documents.mean(axis=0, dtype=np.float64) if center else np.zeros(documents.shape[1])
    documents, queries = unit_rows(documents - middle), unit_rows(queries - middle)
    return retrieve_ranked(
        lambda rows: queries[rows] @ documents.T,
        (len(documents), train_labels),
        (len(queries), test_labels),
        fractions=fractions,
        full=full,
    )


def retrieve_ranked(
    similarity: BlockSimilarity,
    train: tuple[int, Any],
    test: tuple[int, Any],
    *,
    fractions: Sequence[float] = FRACTIONS,
    full: bool = True,
) -> Retrieval:
    """The same for any ranking: ``similarity`` returns, for a slice of the queries, their scores (n, n_documents).

    ``train`` and ``test`` are how many documents and queries there are, and their labels.

    >>> scores = np.array([[0.9, 0.8, 0.1]], dtype=np.float32)
    >>> found = retrieve_ranked(lambda rows: scores[rows], (3, ["b", "a", "a"]), (1, ["a"]), fractions=(1.0,))
    >>> round(found.mean_average_precision, 4)  # ranks: b, a, a
    0.5833
    """
    n_documents, n_queries = train[0], test[0]
    fetched = _depths(fractions, n_documents, full)
    relevance = _relevance(train[1], n_documents, test[1], n_queries)
    depths = np.array([*fetched.values(), min(10, n_documents)])
    ranked = _ranked_hits(
        similarity, (n_queries, n_documents), relevance, None if full else int(depths.max())
    )
    hits, average_precisions, n_skipped = _tally(ranked, depths, full)
    n_asked = n_queries - n_skipped
    if n_asked == 0:
        raise ValueError(f"none of the {n_queries} test documents shares a label with a training document")
    precisions = hits / (depths * n_asked)
    return Retrieval(
        precision={fraction: float(value) for fraction, value in zip(fetched, precisions[:-1], strict=True)},
        precision_at_10=float(precisions[-1]),
        mean_average_precision=average_precisions / n_asked if full else None,
        n_queries=n_asked,
        n_skipped=n_skipped,
    )


def _tally(
    ranked_hits: Iterable[tuple[NDArray[np.bool_], NDArray[np.int64]]], depths: NDArray[np.int64], full: bool
) -> tuple[NDArray[np.float64], float, int]:
    """Hits at each depth and average precisions, both summed over the queries, and the queries left out."""
    hits, average_precisions, n_skipped = np.zeros(len(depths)), 0.0, 0
    for ranked, n_relevant in ranked_hits:
        asked = n_relevant > 0
        n_skipped += int((~asked).sum())
        found = np.cumsum(ranked[asked], axis=1, dtype=np.int32)
        hits += found[:, depths - 1].sum(axis=0)
        if full:
            precision_sums = (found * ranked[asked]) @ (1.0 / np.arange(1, ranked.shape[1] + 1))
            average_precisions += float((precision_sums / n_relevant[asked]).sum())
    return hits, average_precisions, n_skipped


def _depths(fractions: Sequence[float], n_documents: int, full: bool) -> dict[float, int]:
    """How many documents each fraction fetches, one at least."""
    wrong = [fraction for fraction in fractions if not 0 < fraction <= 1]
    if wrong:
        raise ValueError(
            f"fractions holds {wrong}; expected fractions of the training set, above 0 and at most 1"
        )
    kept = [fraction for fraction in fractions if full or fraction <= _SHALLOW]
    return {fraction: max(1, round(fraction * n_documents)) for fraction in kept}


def _relevance(train_labels: Any, n_train: int, test_labels: Any, n_test: int) -> Relevance:
    """A function: queries → which training documents share a label with each, (n_queries, n_train)."""
    if _is_matrix(train_labels) != _is_matrix(test_labels):
        raise ValueError(
            "train_labels and test_labels are of different kinds; give classes for both or sets for both"
        )
    if not _is_matrix(train_labels):
        train_classes = as_classes(train_labels, n_train, "train_labels")
        test_classes = as_classes(test_labels, n_test, "test_labels")
        classes = sorted_classes([*train_classes, *test_classes])
        codes, asked = class_numbers(train_classes, classes), class_numbers(test_classes, classes)
        return lambda rows: asked[rows, None] == codes
    train_sets = as_indicator(train_labels, n_train, "train_labels").astype(np.float32)
    test_sets = as_indicator(test_labels, n_test, "test_labels").astype(np.float32)
    if train_sets.shape[1] != test_sets.shape[1]:
        raise ValueError(
            f"train_labels has {train_sets.shape[1]} labels and test_labels {test_sets.shape[1]}; "
            "give both the same columns"
        )
    return lambda rows: test_sets[rows] @ train_sets.T > 0


def _is_matrix(labels: Any) -> bool:
    return sp.issparse(labels) or getattr(labels, "ndim", 1) == 2


def _ranked_hits(
    similarity: BlockSimilarity, shape: tuple[int, int], relevance: Relevance, deepest: int | None
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.int64]]]:
    """For each block of queries: hit or miss in order of rank (to ``deepest``), and all the hits there are.

    Each document becomes one integer to sort, ``(falling cosine, row, hit)``: ties fall to the earlier row
    and the hits come out in order with no second look-up, several times faster than a stable argsort.
    """
    n_queries, n_documents = shape
    rows_of_documents = np.arange(n_documents, dtype=np.uint64) << np.uint64(1)
    size = max(1, min(_BLOCK, _MOST_KEYS // n_documents))
    for first in range(0, n_queries, size):
        block = slice(first, min(first + size, n_queries))
        relevant = relevance(block)
        keys = _falling_keys(np.array(similarity(block), dtype=np.float32))
        keys <<= np.uint64(32)
        keys |= rows_of_documents
        keys |= relevant
        if deepest is not None and deepest < n_documents:
            keys = np.partition(keys, deepest - 1, axis=1)[:, :deepest]
        keys.sort(axis=1)
        yield (keys & np.uint64(1)).astype(np.bool_), relevant.sum(axis=1)


def _falling_keys(cosines: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Unsigned integers below 2³² in the opposite order of the cosines.

    The bits of a float, read as an integer, rise with its size: right for negative numbers (their sign bit
    puts them behind all others); flipping the 31 bits below the sign turns the order of the positive ones.
    """
    cosines += np.float32(0)  # -0.0 becomes 0.0: equal cosines must have equal keys
    bits = cosines.view(np.uint32)
    return np.where(bits >> 31 == 1, bits, bits ^ np.uint32(0x7FFFFFFF)).astype(np.uint64)
