"""Near-duplicates: the pairs of a plain comparison, and memory that many copies do not fill."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from kate.search import duplicates
from kate.search.duplicates import find_duplicates
from kate.search.store import Everything


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def store_of(vectors, words):
    """Documents of vectors and sets of words, as far as duplicates ask a store."""
    columns = [word for row in words for word in row]
    starts = np.cumsum([0, *map(len, words)])
    held = sparse.csr_array((np.ones(len(columns), np.int8), columns, starts), shape=(len(words), 1000))
    titles = {"id": lambda rows: [str(row) for row in rows], "title": lambda rows: [None] * len(rows)}
    return SimpleNamespace(
        everything=lambda: Everything(np.arange(len(vectors)), vectors, held),
        values=lambda rows, name: pl.Series(titles[name](rows)),
    )


@pytest.mark.parametrize("tile", [(512, 4096), (7, 11)])
def test_the_groups_are_those_of_a_plain_comparison(tile, monkeypatch):
    monkeypatch.setattr(duplicates, "_ROWS_AT_ONCE", tile[0])
    monkeypatch.setattr(duplicates, "_COLUMNS_AT_ONCE", tile[1])
    random = np.random.default_rng(0)
    centres = random.standard_normal((60, 16))
    of = random.integers(0, 60, 150)
    vectors = unit(centres[of] + 0.1 * random.standard_normal((150, 16)))
    vectors[[3, 90]] = 0
    words = [sorted({10 * one, 10 * one + 1, 10 * one + 2, 700 + row % 3}) for row, one in enumerate(of)]
    near = vectors @ vectors.T >= 0.8
    same = [[len({*a} & {*b}) / len({*a} | {*b}) >= 0.8 for b in words] for a in words]
    links = sparse.csr_array(np.triu(near & np.array(same), 1))
    _, group_of = sparse.csgraph.connected_components(links, directed=False)
    expected = {tuple(map(str, np.flatnonzero(group_of == group))) for group in set(group_of)}
    found = {group.ids for group in find_duplicates(store_of(vectors, words), 0.8)}
    assert found == {group for group in expected if len(group) > 1}
    assert len(found) > 10


@pytest.mark.parametrize("noise", [0, 1e-3])
def test_thousands_of_copies_are_one_group_in_little_memory(noise):
    random = np.random.default_rng(0)
    vectors = unit(np.ones(32) + noise * random.standard_normal((6_000, 32)))
    vectors[::6] = unit(random.standard_normal((1_000, 32)))
    words = [[1, 2, 3] if row % 6 else [row // 6] for row in range(6_000)]
    tracemalloc.start()
    try:
        [group] = find_duplicates(store_of(vectors, words), 0.9)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(group.ids) == 5_000
    assert group.overlap == 1
    assert peak < 100 * 2**20
