"""Vectors in eight bits."""

from __future__ import annotations

import numpy as np

from kate.search.exact_search import nearest_rows
from kate.search.small_vectors import Int8Vectors


def test_they_find_nearly_the_same_and_tell_how_nearly() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(2_000, 32)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[::50] = 0
    small = Int8Vectors.of(vectors)
    assert small.shape == vectors.shape
    np.testing.assert_allclose(small[:], vectors, atol=0.01)
    assert not small[np.array([0, 50])].any()
    assert small.facts is not None
    assert small.facts.recall_at_10 > 0.95
    assert small.facts.n_queries == 256
    [found] = nearest_rows(small, vectors[7:8], 3)
    assert found.rows[0] == 7
