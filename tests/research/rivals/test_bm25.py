"""BM25: the formula by hand, queries that repeat words, saving."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

pytest.importorskip("bm25s", exc_type=ImportError)

from kate.research.rivals.bm25 import BM25

COUNTS = np.array([[3, 1, 0], [0, 2, 2], [1, 0, 0], [0, 0, 0]])


def by_hand(query: np.ndarray, k1: float, b: float) -> np.ndarray:
    """Lucene's BM25, document by document."""
    n_docs, lengths = len(COUNTS), COUNTS.sum(axis=1)
    frequency = (COUNTS > 0).sum(axis=0)
    idf = np.log(1 + (n_docs - frequency + 0.5) / (frequency + 0.5))
    damped = COUNTS / (COUNTS + k1 * (1 - b + b * lengths / lengths.mean())[:, None])
    return (query * idf * damped).sum(axis=1)


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.5, 0.0)])
def test_scores_are_those_of_the_formula(k1: float, b: float) -> None:
    queries = np.array([[1, 0, 0], [2, 0, 1], [0, 0, 0]])
    found = BM25(k1=k1, b=b).fit(COUNTS).similarities(csr_matrix(queries))
    np.testing.assert_allclose(found, [by_hand(query, k1, b) for query in queries], rtol=1e-5)


def test_a_repeated_word_of_a_query_counts_once_where_that_is_asked_for() -> None:
    once = BM25(repeat=False).fit(COUNTS)
    np.testing.assert_array_equal(once.similarities([[5, 0, 0]]), once.similarities([[1, 0, 0]]))
    assert BM25().fit(COUNTS).similarities([[5, 0, 0]]).max() > once.similarities([[5, 0, 0]]).max()


def test_saved_and_loaded_it_ranks_the_same(tmp_path: Path) -> None:
    model = BM25().fit(COUNTS)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(
        BM25.load(tmp_path / "model").similarities(COUNTS), model.similarities(COUNTS)
    )
