"""Words and meaning together: how the two halves of a search become one order.

    score = w · BM25 / the best BM25 + (1 − w) · cosine / the best cosine,    w = 0.2 + 0.3 / words of the query

Who asks for one word wants that word; a long question is about its meaning. There are two steps. The first finds the
five documents that answer best. Then the query moves towards their mean, and its cosines are taken once more
("pseudo-relevance feedback"): what the best answers speak of is what the query is about. Chosen on validation
questions and queries: experiments/choose_join.py, docs/how-search-works.md. The documents that are joined are the best
300 of each half.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kate.search.exact_search import Ranking
from kate.search.store import ByMeaning, ByWords

__all__ = ["POOL", "join_halves", "ordered", "weight_of_words"]

WEIGHT_OF_WORDS, MORE_FOR_ONE_WORD = 0.2, 0.3
# The query moves by this many times its own length towards the mean of so many documents.
STEP, AMONG = 1.0, 5
# Documents of each half that are joined. Among a million short lines the ten best are then those of a join of
# everything for more than 99 % of queries.
POOL = 300
# Cosines are divided by the best one, but not by less than this: a filter may leave only documents of other themes.
_LEAST_COSINE = 0.1
# Scores that differ by less are equal: two stores add numbers up in different orders.
_DIGITS = 5

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]


def weight_of_words(n_words: int) -> float:
    """How much the words weigh beside the meaning, for a query of so many words.

    >>> weight_of_words(1), weight_of_words(3)
    (0.5, 0.3)
    """
    return round(WEIGHT_OF_WORDS + MORE_FOR_ONE_WORD / max(n_words, 1), 6)


def join_halves(words: ByWords, meaning: ByMeaning | None, n_words: int, top: int) -> Ranking:
    """The ``top`` best documents by both halves; by one of them where the other found nothing."""
    if meaning is None or not len(meaning.ranking.rows):
        rows, scores = words.ranking
        return ordered(rows, scores / max(float(scores.max(initial=0)), 1e-6), top)
    if not len(words.ranking.rows):
        return ordered(*meaning.ranking, top)
    # np.unique would import numpy.ma
    rows = np.array(sorted({*words.ranking.rows.tolist(), *meaning.ranking.rows.tolist()}), np.int64)
    by_words = words.score(rows).astype(np.float64)
    vectors, query = meaning.vectors_of(rows).astype(np.float64), meaning.query.astype(np.float64)
    weight = weight_of_words(n_words)
    first = _sum(by_words, vectors @ query, weight)
    best = np.lexsort((rows, -np.round(first, _DIGITS)))[:AMONG]
    mean = first[best] @ vectors[best]
    moved = query + STEP * mean / max(float(np.linalg.norm(mean)), 1e-9)
    second = _sum(by_words, vectors @ (moved / max(float(np.linalg.norm(moved)), 1e-9)), weight)
    return ordered(rows, second.astype(np.float32), top)


def _sum(by_words: Doubles, cosines: Doubles, weight: float) -> Doubles:
    """Each half divided by its best score, so that 1 is the best of both."""
    best_words, best_cosine = max(float(by_words.max()), 1e-6), max(float(cosines.max()), _LEAST_COSINE)
    return weight * by_words / best_words + (1 - weight) * cosines / best_cosine


def ordered(rows: Rows, scores: Floats, top: int) -> Ranking:
    """The ``top`` best, the best first; of equals the earlier row.

    >>> ordered(np.array([8, 3, 5]), np.float32([0.5, 0.5, 0.9]), 2).rows.tolist()
    [5, 3]
    """
    best = float(np.abs(scores).max(initial=0)) or 1.0
    order = np.lexsort((rows, -np.round(scores / best, _DIGITS)))[:top]
    return Ranking(rows[order], scores[order])
