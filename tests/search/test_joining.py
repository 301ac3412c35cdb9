"""Words and meaning as one order, on numbers that are spelled out."""

from __future__ import annotations

import numpy as np
import pytest

from kate.search.exact_search import Ranking
from kate.search.joining import AMONG, STEP, join_halves, ordered, weight_of_words
from kate.search.store import ByMeaning, ByWords

rng = np.random.default_rng(0)
VECTORS = rng.normal(size=(40, 4)).astype(np.float32)
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)
WORDS = np.where(rng.random(40) < 0.5, rng.random(40) * 9, 0).astype(np.float32)
QUERY = VECTORS[3]


def halves(n_words: int = 40, n_near: int = 40) -> tuple[ByWords, ByMeaning]:
    cosines = VECTORS @ QUERY
    by_words = np.argsort(-WORDS, kind="stable")[:n_words]
    by_words = by_words[WORDS[by_words] > 0]
    near = np.argsort(-cosines, kind="stable")[:n_near]
    return (
        ByWords(Ranking(by_words, WORDS[by_words]), lambda rows: WORDS[rows]),
        ByMeaning(Ranking(near, cosines[near]), QUERY, lambda rows: VECTORS[rows]),
    )


def by_hand() -> np.ndarray:
    def summed(cosines: np.ndarray) -> np.ndarray:
        weight = weight_of_words(2)
        return weight * WORDS / WORDS.max() + (1 - weight) * cosines / cosines.max()

    first = summed(VECTORS @ QUERY)
    best = np.argsort(-first)[:AMONG]
    mean = first[best] @ VECTORS[best]
    moved = QUERY + STEP * mean / np.linalg.norm(mean)
    return summed(VECTORS @ moved / np.linalg.norm(moved))


def test_the_join_is_that_of_the_formula() -> None:
    expected = by_hand()
    found = join_halves(*halves(), 2, 40)
    assert found.rows.tolist() == np.argsort(-expected).tolist()
    np.testing.assert_allclose(found.scores, np.sort(expected)[::-1], atol=1e-5)
    assert len(join_halves(*halves(), 2, 7).rows) == 7


def test_only_the_best_of_each_half_are_joined() -> None:
    words, meaning = halves(5, 6)
    found = join_halves(words, meaning, 2, 40)
    assert set(found.rows) == {*words.ranking.rows, *meaning.ranking.rows}


def test_where_one_half_found_nothing_the_other_answers() -> None:
    words, meaning = halves()
    nothing = Ranking(np.empty(0, np.int64), np.empty(0, np.float32))
    alone = join_halves(words, None, 2, 3)
    assert alone.rows.tolist() == words.ranking.rows[:3].tolist()
    assert alone.scores[0] == 1
    assert join_halves(words, meaning._replace(ranking=nothing), 2, 3).rows.tolist() == alone.rows.tolist()
    near = join_halves(words._replace(ranking=nothing), meaning, 2, 3)
    assert near.scores.tolist() == pytest.approx(meaning.ranking.scores[:3].tolist())


def test_documents_of_other_themes_keep_scores_of_the_usual_size() -> None:
    words, meaning = halves()
    away = np.flatnonzero(VECTORS @ QUERY < 0)
    words = words._replace(ranking=Ranking(away, WORDS[away]))
    found = join_halves(words, meaning._replace(ranking=Ranking(away, (VECTORS @ QUERY)[away])), 2, 40)
    assert np.abs(found.scores).max() < 10


def test_scores_that_hardly_differ_are_equal() -> None:
    found = ordered(np.array([5, 2, 9]), np.float32([0.5, 0.5 + 1e-7, 0.5 - 1e-7]), 3)
    assert found.rows.tolist() == [2, 5, 9]
    assert ordered(np.empty(0, np.int64), np.empty(0, np.float32), 3).rows.tolist() == []
