"""Where documents stand: the same vectors the same map, neighbours side by side, and few documents apart."""

import numpy as np
import pytest

from kate.explore.map_layout import FEWEST_LAID_OUT, lay_out


def groups(n, n_groups=4, d=8):
    """Vectors of length 1 around as many directions."""
    dice = np.random.default_rng(0)
    centres = np.eye(d)[np.arange(n) % n_groups]
    vectors = centres + dice.normal(0, 0.15, (n, d))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def part_of_own_group(places, n_groups=4):
    """How many of the five nearest on the map are of the same group."""
    apart = np.linalg.norm(places[:, None].astype(float) - places[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    nearest = np.argsort(apart, axis=1)[:, :5]
    return float(np.mean(nearest % n_groups == (np.arange(len(places)) % n_groups)[:, None]))


@pytest.mark.parametrize("n", [5, 12, FEWEST_LAID_OUT - 1])
def test_few_documents_stand_apart(n):
    vectors = groups(n)
    found = lay_out(vectors, np.ones(n, bool))
    assert found.method == "principal components"
    assert len(np.unique(found.places, axis=0)) == n
    assert np.ptp(found.places, axis=0).max() > 60_000
    assert (lay_out(vectors, np.ones(n, bool)).places == found.places).all()


def test_documents_that_are_all_the_same_and_documents_without_words():
    same = lay_out(np.tile(groups(1), (6, 1)), np.array([True] * 5 + [False]))
    assert same.places.shape == (6, 2)
    nothing = lay_out(np.zeros((3, 4), np.float32), np.zeros(3, bool))
    assert nothing.places.shape == (3, 2)


def test_neighbours_stand_side_by_side_and_the_map_is_always_the_same():
    pytest.importorskip("openTSNE")
    vectors = groups(200)
    found = lay_out(vectors, np.ones(200, bool))
    assert found.method == "t-SNE (openTSNE)"
    assert part_of_own_group(found.places) > 0.95
    assert (lay_out(vectors, np.ones(200, bool)).places == found.places).all()
