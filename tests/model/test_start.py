"""Where training starts: the directions that a full decomposition finds, also where there are few of them."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kate.model.start import fixed_rotation, leading_directions
from kate.model.training import Machine, initial_network, scaled_rows


def documents(n_docs, n_words, n_themes=30, seed=0):
    """Rows of length 1 whose words come from themes of different weight: a spectrum that falls, as that of texts."""
    rng = np.random.default_rng(seed)
    themes = rng.dirichlet(np.full(n_words, 0.1), size=n_themes)
    of_document = rng.choice(n_themes, size=n_docs, p=np.arange(n_themes, 0, -1) / sum(range(n_themes + 1)))
    T = np.array([rng.multinomial(40, themes[theme]) for theme in of_document], dtype=np.float32)
    return csr_matrix(T / np.linalg.norm(T, axis=1, keepdims=True))


def exact(T, n_directions):
    return np.linalg.svd(T.toarray().astype(np.float64), full_matrices=False)[2][:n_directions].T


def overlap(a, b):
    """How much of one subspace lies in the other: 1 for the same."""
    return float((np.linalg.svd(a.T @ b)[1] ** 2).mean())


@pytest.mark.parametrize(
    ("n_docs", "n_words", "n_directions"),
    [(400, 300, 20), (300, 900, 20), (900, 250, 16), (100, 300, 80), (300, 60, 50)],
    ids=["krylov", "more words", "more documents", "few documents", "few words"],
)
def test_directions_are_those_of_a_full_decomposition(n_docs, n_words, n_directions):
    T = documents(n_docs, n_words)
    found = leading_directions(T, n_directions)
    assert (found.shape, found.dtype) == ((n_words, n_directions), np.float32)
    np.testing.assert_allclose(found.T @ found, np.eye(n_directions), atol=2e-4)
    best = exact(T, n_directions)
    # the last of them are nearly as long as those left out
    assert overlap(found.astype(np.float64), best) > 0.85
    kept, most = (np.linalg.norm(T @ directions) ** 2 for directions in (found, best))
    assert kept > 0.95 * most
    # the first ones carry most of all, and are found as such
    assert overlap(found[:, :5].astype(np.float64), best[:, :5]) > 0.99


@pytest.mark.parametrize(("n_docs", "n_words"), [(400, 300), (300, 900)])
def test_more_steps_come_closer(n_docs, n_words):
    T = documents(n_docs, n_words)
    best = exact(T, 20)
    found = [overlap(leading_directions(T, 20, steps).astype(np.float64), best) for steps in (1, 3, 12)]
    assert found[0] < found[1] < found[2]
    assert found[2] > 0.995


def test_directions_are_the_same_every_time():
    T = documents(300, 200)
    np.testing.assert_array_equal(leading_directions(T, 16), leading_directions(T, 16))


@pytest.mark.parametrize("n_directions", [1, 2, 7])
def test_fewer_documents_than_neurons_leave_columns_of_zeros(n_directions):
    T = csr_matrix(np.array([[0.6, 0.8, 0, 0], [0, 0, 1, 0]], dtype=np.float32))
    found = leading_directions(T, n_directions)
    n_found = min(2, n_directions)
    assert found.shape == (4, n_directions)
    np.testing.assert_allclose(found[:, :n_found].T @ found[:, :n_found], np.eye(n_found), atol=1e-6)
    assert not found[:, n_found:].any()


def test_one_word_has_one_direction():
    found = leading_directions(csr_matrix(np.ones((5, 1), dtype=np.float32)), 3)
    np.testing.assert_allclose(np.abs(found), [[1, 0, 0]], atol=1e-6)


def test_documents_without_words_change_nothing():
    T = documents(200, 60)
    with_empty = T.tolil()
    with_empty[::3] = 0
    with_empty = with_empty.tocsr()
    without = with_empty[np.diff(with_empty.indptr) > 0]
    ours, theirs = (leading_directions(rows, 32).astype(np.float64) for rows in (with_empty, without))
    assert overlap(ours, theirs) > 0.999
    found, best = leading_directions(with_empty, 8), exact(with_empty, 8)
    assert np.linalg.norm(with_empty @ found) ** 2 > 0.93 * np.linalg.norm(with_empty @ best) ** 2
    assert not leading_directions(csr_matrix((6, 4), dtype=np.float32), 3).any()


@pytest.mark.parametrize("n_docs", [3, 300])
def test_documents_that_are_all_alike_have_one_direction(n_docs):
    row = np.arange(1, 101, dtype=np.float32)
    row /= np.linalg.norm(row)
    found = leading_directions(csr_matrix(np.tile(row, (n_docs, 1))), 10)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.abs(found[:, 0]), row, atol=1e-5)
    np.testing.assert_allclose(np.abs(row @ found[:, 1:]), 0, atol=1e-4)


def test_the_rotation_is_orthonormal_and_always_the_same():
    rotation = fixed_rotation(64)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(64), atol=1e-5)
    np.testing.assert_array_equal(rotation, fixed_rotation(64))


def test_a_network_starts_at_the_directions_of_what_its_encoder_reads():
    rng = np.random.default_rng(0)
    counts = csr_matrix(rng.poisson(0.2, size=(120, 40)).astype(np.float32))
    weights = rng.uniform(1, 4, size=40).astype(np.float32)
    settings = {
        "n_neurons": 24, "scaling": "root", "start": "svd", "output_bias": "frequency", "loss": "softmax"
    }  # fmt: skip
    rows = scaled_rows(counts, "root", weights)
    network, start = initial_network(rows, settings, np.random.RandomState(0), Machine(device="cpu"))
    np.testing.assert_array_equal(network.W, start)
    assert not network.b.any()
    read = np.sqrt(counts.toarray()) * weights
    read /= np.maximum(np.linalg.norm(read, axis=1, keepdims=True), 1e-9)
    assert overlap(network.W.astype(np.float64), exact(csr_matrix(read), 24)) > 0.99
    # all neurons start alike: each has a share of the first direction, which is nearly the mean
    sizes = np.linalg.norm(read @ network.W, axis=0)
    assert sizes.max() < 10 * np.median(sizes)
    other, _ = initial_network(rows, settings, np.random.RandomState(1), Machine(device="cpu"))
    np.testing.assert_array_equal(other.W, network.W)  # whatever the seed
