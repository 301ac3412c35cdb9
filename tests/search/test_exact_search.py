"""Exact search against the plainest one: every cosine in double precision, then a stable argsort."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from kate.search import exact_search
from kate.search.exact_search import nearest_rows, rank_rows

Floats = NDArray[np.float32]


def unit_vectors(seed: int, n: int, n_components: int = 16) -> Floats:
    vectors = np.random.default_rng(seed).normal(size=(n, n_components)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def assert_like_argsort(vectors: Floats, queries: Floats, top: int) -> None:
    found = nearest_rows(vectors, queries, top)
    assert len(found) == len(queries)
    for query, one in zip(queries, found, strict=True):
        cosines = (vectors.astype(np.float64) @ query.astype(np.float64)).astype(np.float32)
        order = np.argsort(-cosines, kind="stable")
        order = order[vectors[order].any(axis=1)][:top]
        assert one.rows.tolist() == order.tolist()
        np.testing.assert_array_equal(one.scores, cosines[order])


@pytest.fixture(params=[(7, 3, 10), (64, 5, 40), (2048, 256, 65_536)], ids=str)
def in_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows and queries at once, and rows for a thread: small enough that there are several of each."""
    names = ("ROWS_AT_ONCE", "QUERIES_AT_ONCE", "ROWS_FOR_A_THREAD")
    for name, value in zip(names, request.param, strict=True):
        monkeypatch.setattr(exact_search, name, value)
    monkeypatch.setattr(exact_search, "thread_count", lambda n_jobs: 2)


@pytest.mark.usefixtures("in_blocks")
@pytest.mark.parametrize("top", [1, 10, 299, 1000])
def test_it_is_a_plain_argsort(top: int) -> None:
    assert_like_argsort(unit_vectors(0, 300), unit_vectors(1, 12), top)


@pytest.mark.usefixtures("in_blocks")
def test_of_copies_the_earlier_rows_are_found() -> None:
    """A product of BLAS may differ in its last bit from block to block; the order of equals must not."""
    vectors = np.tile(unit_vectors(2, 20, 37), (15, 1))
    assert_like_argsort(vectors, unit_vectors(3, 9, 37), top=40)
    assert_like_argsort(vectors, vectors[:9], top=40)


@pytest.mark.usefixtures("in_blocks")
def test_rows_in_rising_order_of_their_score_are_no_trap() -> None:
    """Every row passes the threshold of the rows before it."""
    vectors, query = unit_vectors(4, 500), unit_vectors(5, 1)
    rising = vectors[np.argsort(vectors @ query[0])]
    assert_like_argsort(rising, query, top=10)


@pytest.mark.usefixtures("in_blocks")
def test_rows_of_zeros_are_never_found_and_a_query_of_zeros_finds_the_first() -> None:
    vectors = unit_vectors(6, 100)
    vectors[::2] = 0
    assert_like_argsort(vectors, unit_vectors(7, 4), top=60)
    [found] = nearest_rows(vectors, np.zeros((1, 16), np.float32), top=3)
    assert found.rows.tolist() == [1, 3, 5]
    [nothing] = nearest_rows(np.zeros((5, 16), np.float32), unit_vectors(8, 1), top=3)
    assert nothing.rows.tolist() == []


def test_some_rows_are_scored_and_ordered_as_all_are() -> None:
    vectors, [query] = unit_vectors(9, 50), unit_vectors(10, 1)
    [all_of_them] = nearest_rows(vectors, query[np.newaxis], top=50)
    found = rank_rows(vectors, query, np.arange(50)[::-1].copy(), top=5)
    np.testing.assert_array_equal(found.rows, all_of_them.rows[:5])
    np.testing.assert_array_equal(found.scores, all_of_them.scores[:5])
    assert len(rank_rows(vectors, query, np.empty(0, np.int64), top=5).rows) == 0


def test_no_queries_no_answers() -> None:
    assert nearest_rows(unit_vectors(0, 3), np.empty((0, 16), np.float32), top=2) == []
