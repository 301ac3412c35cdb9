"""The tree of topics: Ward's joins against SciPy, cuts that nest, numbers that stay, suggestions that fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from kate.topics.coarse_groups import MOST_GROUPS, coarse_groups
from kate.topics.leaf_clusters import leaf_clusters, leaves_in_groups, nearest_centres
from kate.topics.topic_tree import MOST_LEAVES, TopicTree
from kate.topics.ward_joins import joined, joined_by_group
from kate.unit_rows import unit_rows


def documents(n_groups: int = 6, n_each: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors around some directions, and the direction of each."""
    random = np.random.default_rng(seed)
    middles = unit_rows(random.normal(size=(n_groups, 16)).astype(np.float32))
    groups = np.repeat(np.arange(n_groups), n_each)
    noise = random.normal(size=(len(groups), 16)).astype(np.float32) * 0.1
    return unit_rows(middles[groups] + noise), groups


def test_joins_of_single_points_are_those_of_scipy() -> None:
    points = np.random.default_rng(0).normal(size=(40, 5))
    joins, costs = joined(points, np.ones(40, dtype=np.int64))
    expected = linkage(points, "ward")
    np.testing.assert_array_equal(joins, np.sort(expected[:, :2].astype(int), axis=1))
    np.testing.assert_allclose(costs, expected[:, 2] ** 2 / 2)  # SciPy gives the root of twice the cost


def test_a_leaf_weighs_as_much_as_it_has_documents() -> None:
    points = np.random.default_rng(1).normal(size=(12, 3))
    copies = np.array([1, 4, 2, 1, 3, 1, 1, 2, 5, 1, 1, 2])
    _, costs = joined(points, copies)
    _, of_copies = joined(np.repeat(points, copies, axis=0), np.ones(copies.sum(), dtype=np.int64))
    np.testing.assert_allclose(costs, of_copies[-len(costs) :], atol=1e-12)


def test_groups_that_are_there_are_found() -> None:
    vectors, groups = documents()
    tree = TopicTree.of(vectors)
    assert tree.n_leaves == pytest.approx(len(vectors) // 3, abs=40)
    centres = unit_rows(np.stack([tree.sums[tree.cut(6) == number].sum(axis=0) for number in range(6)]))
    found = nearest_centres(vectors, centres)
    assert len({(one, other) for one, other in zip(groups, found, strict=True)}) == 6
    assert tree.suggest().n_topics == 6
    assert "6 topics" in tree.suggest().reason


def coarse_and_fine(n_each: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors in which documents differ in two ways, coarse ones that know the first way only, and groups by it."""
    random = np.random.default_rng(5)
    middles = unit_rows(random.normal(size=(3, 16)).astype(np.float32))
    groups = np.repeat(np.arange(3), n_each)
    within = random.normal(size=(3 * n_each, 16)).astype(np.float32)
    coarse = unit_rows(middles[groups] + 0.02 * within)
    fine = unit_rows(
        middles[groups]
        + 0.2 * random.choice([-1, 1], (len(groups), 1)) * middles[(groups + 1) % 3]
        + 0.1 * within
    )
    return fine, coarse, groups


def test_coarse_vectors_make_the_upper_part_of_the_tree() -> None:
    fine, coarse, groups = coarse_and_fine()
    tree = TopicTree.of(fine, coarse)
    assert tree.n_leaves <= MOST_LEAVES
    tree.require_whole(16)
    found, _ = coarse_groups(fine, coarse, 400)
    assert found.max() + 1 <= MOST_GROUPS
    # no group mixes documents that the coarse vectors hold apart
    assert all(len(set(groups[found == group])) == 1 for group in range(found.max() + 1))
    n_groups = int(found.max()) + 1
    leaves = leaves_in_groups(fine, found, 400)
    assert all(len(set(found[leaves == leaf])) == 1 for leaf in range(leaves.max() + 1))
    # cut at the number of groups, the tree gives them back
    cut = tree.cut(n_groups)
    assert sorted(np.bincount(cut, tree.sizes).astype(int)) == sorted(np.bincount(found))


def test_of_short_documents_the_coarse_vectors_join_the_groups() -> None:
    # both kinds of vectors know the same six groups, and differ in which of them belong together
    random = np.random.default_rng(7)
    groups = np.arange(600) % 6
    own, pairs, halves = np.eye(6), np.eye(3)[[0, 0, 1, 1, 2, 2]], np.eye(3)[[0, 1, 2, 0, 1, 2]]
    noise = 0.02 * random.normal(size=(600, 9))
    fine, coarse = (
        unit_rows((np.hstack([own, of])[groups] + noise).astype(np.float32)) for of in (pairs, halves)
    )

    def of_three(short: bool) -> set[frozenset[int]]:
        tree = TopicTree.of(fine, coarse, short=short)
        tree.require_whole(9)
        centres = unit_rows(np.stack([tree.sums[tree.cut(3) == number].sum(axis=0) for number in range(3)]))
        found = nearest_centres(fine, centres)
        return {frozenset(groups[found == number].tolist()) for number in range(3)}

    assert of_three(short=False) == {frozenset(pair) for pair in ((0, 1), (2, 3), (4, 5))}
    assert of_three(short=True) == {frozenset(pair) for pair in ((0, 3), (1, 4), (2, 5))}


def test_joins_that_are_given_cost_what_they_cost() -> None:
    sums = np.random.default_rng(2).normal(size=(9, 4)).astype(np.float32)
    sizes = np.array([1, 4, 2, 1, 3, 1, 1, 2, 5])
    joins, costs = joined_by_group(sums, sizes, np.arange(9))
    again = joined_by_group(sums, sizes, np.arange(9), joins)
    np.testing.assert_array_equal(again[0], joins)
    np.testing.assert_allclose(again[1], costs)


def test_few_documents_have_no_upper_part() -> None:
    vectors, _ = documents(2, 10)
    assert set(coarse_groups(vectors, vectors, 6)[0]) == {0}
    np.testing.assert_array_equal(TopicTree.of(vectors, vectors).joins, TopicTree.of(vectors).joins)


@pytest.mark.parametrize("of", ["fine", "fine and coarse"])
def test_cuts_nest_and_topics_keep_their_numbers(of: str) -> None:
    fine, coarse, _ = coarse_and_fine(100)
    tree = TopicTree.of(fine, coarse if of == "fine and coarse" else None)
    before = tree.cut(1)
    assert set(before) == {0}
    for n in range(2, tree.n_leaves + 1):
        cut = tree.cut(n)
        assert set(cut) == set(range(n))
        changed = cut != before
        # one topic lost leaves, all of them to the new one, and no more than it kept
        assert set(cut[changed]) == {n - 1}
        [parent] = set(before[changed])
        assert tree.sizes[cut == parent].sum() >= tree.sizes[changed].sum()
        before = cut


def test_the_same_vectors_give_the_same_tree() -> None:
    vectors, _ = documents(seed=3)
    one, two = TopicTree.of(vectors), TopicTree.of(vectors.copy())
    np.testing.assert_array_equal(one.joins, two.joins)
    np.testing.assert_array_equal(one.costs, two.costs)
    np.testing.assert_array_equal(one.sums, two.sums)


def test_there_are_at_most_so_many_leaves() -> None:
    vectors = unit_rows(np.random.default_rng(0).normal(size=(3 * MOST_LEAVES + 300, 8)).astype(np.float32))
    assert TopicTree.of(vectors).n_leaves <= MOST_LEAVES


@pytest.mark.parametrize("n_documents", [1, 2, 3, 7])
def test_few_documents_make_a_small_tree(n_documents: int) -> None:
    tree = TopicTree.of(documents(1, n_documents)[0])
    assert tree.n_leaves == max(1, n_documents // 3)
    assert tree.sizes.sum() == n_documents
    assert 1 <= tree.suggest().n_topics <= tree.n_leaves


@pytest.mark.parametrize("vector", [np.zeros(4, np.float32), np.array([1, 0, 0, 0], np.float32)])
def test_documents_that_are_all_alike_are_one_leaf(vector: np.ndarray) -> None:
    tree = TopicTree.of(np.tile(vector, (50, 1)))
    assert tree.n_leaves == 1
    assert tree.suggest().n_topics == 1
    with pytest.raises(
        ValueError, match="2 topics were asked for; this model tells at most one small group of"
    ):
        tree.cut(2)


def test_clusters_are_numbered_by_their_first_documents() -> None:
    vectors, _ = documents()
    clusters = leaf_clusters(vectors, 20)
    firsts = [int(np.flatnonzero(clusters == number)[0]) for number in range(clusters.max() + 1)]
    assert firsts == sorted(firsts)


@pytest.mark.parametrize("coarse", [False, True])
def test_halves_of_a_node_are_its_children(coarse: bool) -> None:
    fine, of_start, _ = coarse_and_fine(100)
    tree = TopicTree.of(fine, of_start if coarse else None)
    ten, eleven = tree.cut(10), tree.cut(11)
    [parent] = set(ten[ten != eleven])
    larger, smaller = tree.halves(np.flatnonzero(ten == parent))
    assert set(larger) == set(np.flatnonzero(eleven == parent))
    assert set(smaller) == set(np.flatnonzero(eleven == 10))
