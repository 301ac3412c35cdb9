"""Words and meaning together: how the two halves of a search become one order.

    score = 0.4 · BM25 / the best BM25 + 0.6 · cosine / the best cosine

Chosen on validation questions and queries: experiments/choose_join.py, docs/search.md. The documents that are
joined are the best 300 of each half; each of them is scored by both. (Among a million short lines the ten best are then
those of a join of everything in more than 99 % of queries, and with 500 in all.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kate.search.exact_search import Ranking
from kate.search.store import Scored

__all__ = ["POOL", "WEIGHT_OF_WORDS", "join_halves", "one_half", "ordered"]

WEIGHT_OF_WORDS = 0.4
# Documents of each half that are joined.
POOL = 300
# Scores that differ by less are equal: two stores add numbers up in different orders.
_DIGITS = 5

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


def join_halves(words: Scored, meaning: Scored, top: int) -> Ranking:
    """The ``top`` best documents by both halves; by one of them where the other found nothing."""
    if not len(meaning.ranking.rows):
        rows, scores = words.ranking
        return ordered(rows, scores / max(float(scores.max(initial=0)), 1e-6), top)
    if not len(words.ranking.rows):
        return one_half(words, meaning, top)
    rows = np.unique(np.concatenate([words.ranking.rows, meaning.ranking.rows]))
    # a graph may miss the nearest document, and a document of the words may be nearer
    by_words, cosines = words.score(rows), meaning.score(rows)
    best_words, best_cosine = max(float(by_words.max()), 1e-6), max(float(cosines.max()), 1e-6)
    joined = WEIGHT_OF_WORDS * by_words / best_words + (1 - WEIGHT_OF_WORDS) * cosines / best_cosine
    return ordered(rows, np.asarray(joined, np.float32), top)


def one_half(words: Scored, meaning: Scored, top: int) -> Ranking:
    """The ``top`` best documents by the half that was asked, with its own scores."""
    found = words.ranking if meaning.is_nothing else meaning.ranking
    return ordered(found.rows, found.scores, top)


def ordered(rows: Rows, scores: Floats, top: int) -> Ranking:
    """The ``top`` best, the best first; of equals the earlier row.

    >>> ordered(np.array([8, 3, 5]), np.float32([0.5, 0.5, 0.9]), 2).rows.tolist()
    [5, 3]
    """
    best = float(np.abs(scores).max(initial=0)) or 1.0
    order = np.lexsort((rows, -np.round(scores / best, _DIGITS)))[:top]
    return Ranking(rows[order], scores[order])
