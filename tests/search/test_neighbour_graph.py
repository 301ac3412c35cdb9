"""The graph of neighbours, built by one thread so that every run sees the same graph."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kate.extras import install_command
from kate.search.exact_search import nearest_rows
from kate.search.neighbour_graph import GraphFacts, NeighbourGraph, require_usearch
from kate.storage.checked_files import BlockFile, block_checksums
from kate.storage.folders import FolderError

Floats = NDArray[np.float32]
N_TOPICS = 16


def clustered(n: int, seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    centres = random.normal(size=(20, N_TOPICS))
    vectors = centres[random.integers(20, size=n)] + 0.5 * random.normal(size=(n, N_TOPICS))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def opened(path: Path) -> BlockFile:
    return BlockFile(path, block_checksums(path))


@pytest.fixture(scope="module")
def vectors() -> Floats:
    vectors = clustered(3_000)
    vectors[::100] = 0  # documents without a known word
    return vectors


@pytest.fixture(scope="module")
def graph(vectors: Floats) -> NeighbourGraph:
    return NeighbourGraph.build(vectors, n_jobs=1)


def recall(graph: NeighbourGraph, vectors: Floats, queries: Floats) -> float:
    exact, found = nearest_rows(vectors, queries, 10), graph.nearest(vectors, queries, 10)
    shares = [len(np.intersect1d(a.rows, b.rows)) / 10 for a, b in zip(exact, found, strict=True)]
    return float(np.mean(shares))


def test_it_finds_what_exact_search_finds(graph: NeighbourGraph, vectors: Floats) -> None:
    queries = clustered(50, seed=1)
    assert recall(graph, vectors, queries) > 0.9
    found, expected = graph.nearest(vectors, queries, 1), nearest_rows(vectors, queries, 1)
    same = [
        (a.scores[0], b.scores[0]) for a, b in zip(found, expected, strict=True) if a.rows[0] == b.rows[0]
    ]
    assert len(same) > 45
    assert all(a == b for a, b in same)  # scored with the vectors, not with the graph's copies


def test_it_measures_its_recall_on_documents_that_did_not_choose_its_depth(graph: NeighbourGraph) -> None:
    assert 0.9 < graph.facts.recall_at_10 <= 1
    assert graph.facts.n_queries == 256
    assert graph.facts.depth == 64


def test_of_equally_near_documents_any_will_do() -> None:
    copies = np.repeat(clustered(3), 300, axis=0)
    assert NeighbourGraph.build(copies, n_jobs=1).facts.recall_at_10 > 0.9


def test_one_thread_builds_the_same_graph_again(graph: NeighbourGraph, vectors: Floats) -> None:
    again = NeighbourGraph.build(vectors, n_jobs=1)
    queries = clustered(20, seed=2)
    for a, b in zip(graph.nearest(vectors, queries, 5), again.nearest(vectors, queries, 5), strict=True):
        np.testing.assert_array_equal(a.rows, b.rows)
    assert again.facts == graph.facts


def test_documents_without_words_are_not_in_it(graph: NeighbourGraph, vectors: Floats) -> None:
    found = graph.nearest(vectors, clustered(20, seed=3), 50)
    assert all(len(one.rows) == 50 and vectors[one.rows].any(axis=1).all() for one in found)


def test_more_hits_than_it_looks_at_are_found_exactly(graph: NeighbourGraph, vectors: Floats) -> None:
    [found] = graph.nearest(vectors, vectors[1:2], 5_000)
    [expected] = nearest_rows(vectors, vectors[1:2], 5_000)
    np.testing.assert_array_equal(found.rows, expected.rows)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_handful_of_documents_will_do(n: int) -> None:
    few = clustered(n)
    graph = NeighbourGraph.build(few, n_jobs=1)
    assert graph.facts.recall_at_10 == 1
    [found] = graph.nearest(few, few[:1], 10)
    assert sorted(found.rows.tolist()) == list(range(n))


def test_no_document_with_words_no_hits() -> None:
    nothing = np.zeros((3, N_TOPICS), np.float32)
    [found] = NeighbourGraph.build(nothing, n_jobs=1).nearest(nothing, clustered(1), 2)
    assert found.rows.tolist() == []


def test_a_saved_graph_answers_alike(graph: NeighbourGraph, vectors: Floats, tmp_path: Path) -> None:
    graph.save(tmp_path / "graph.usearch")
    loaded = NeighbourGraph.load(opened(tmp_path / "graph.usearch"), graph.facts, vectors.shape)
    queries = clustered(10, seed=4)
    for a, b in zip(graph.nearest(vectors, queries, 5), loaded.nearest(vectors, queries, 5), strict=True):
        np.testing.assert_array_equal(a.rows, b.rows)


def test_a_file_that_is_no_such_graph_is_refused(
    graph: NeighbourGraph, vectors: Floats, tmp_path: Path
) -> None:
    (tmp_path / "bad").write_bytes(b"nothing" * 20)
    graph.save(tmp_path / "graph")
    with pytest.raises(FolderError, match=r"not a graph of usearch"):
        NeighbourGraph.load(opened(tmp_path / "bad"), graph.facts, vectors.shape).nearest(
            vectors, vectors[:1], 1
        )
    with pytest.raises(FolderError, match=r"its nodes are not the documents"):
        NeighbourGraph.load(opened(tmp_path / "graph"), graph.facts, (2, 16)).nearest(vectors, vectors[:1], 1)


def test_without_the_extra_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    monkeypatch.setitem(sys.modules, "usearch", None)
    with pytest.raises(ImportError, match=re.escape(install_command("ann"))):
        require_usearch()
    (tmp_path / "graph").write_bytes(b"x")
    with pytest.raises(ImportError, match=r"kate search --exact"):
        NeighbourGraph.load(opened(tmp_path / "graph"), GraphFacts(64, 1.0, 1), (1, 2)).nearest(
            np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), 1
        )
