"""The map of the vectors against a plain computation with all documents."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kate.model import vector_map
from kate.model.vector_map import make_vector_map, response_products


def problem(n_docs=90, n_words=40, n_neurons=12, seed=0):
    """Documents of length 1, trained neurons, and their start."""
    rng = np.random.default_rng(seed)
    T = rng.poisson(0.3, size=(n_docs, n_words)) * rng.uniform(1, 3, size=n_words)
    T /= np.maximum(np.linalg.norm(T, axis=1, keepdims=True), 1e-9)
    W, start = rng.normal(size=(2, n_words, n_neurons)).astype(np.float32)
    return T.astype(np.float32), W, start


def plain_vectors(T, W, start, n_components, start_share, project_mean):
    """Vectors of the documents, computed from all of them in double precision."""
    T, W, start = (array.astype(np.float64) for array in (T, W, start))
    size = np.linalg.norm(T @ W) / np.linalg.norm(T @ start)
    u = T @ ((1 - start_share) * W + start_share * size * start)
    if project_mean:
        direction = u.mean(axis=0) / np.linalg.norm(u.mean(axis=0))
        u = u - np.outer(u @ direction, direction)
    left, sizes, _ = np.linalg.svd(u, full_matrices=False)
    return left[:, :n_components] * sizes[:n_components]


@pytest.mark.parametrize("start_share", [0.0, 0.35])
@pytest.mark.parametrize("project_mean", [True, False])
def test_vectors_are_those_of_a_plain_computation(start_share, project_mean):
    T, W, start = problem()
    products = response_products(csr_matrix(T), W, start)
    made = make_vector_map(W, start, products, 7, start_share, project_mean=project_mean)
    assert (made.shape, made.dtype, made.flags.c_contiguous) == ((40, 7), np.float32, True)
    vectors, expected = T @ made, plain_vectors(T, W, start, 7, start_share, project_mean)
    # the sign of a component is not part of a decomposition
    expected = expected * np.sign((vectors * expected).sum(axis=0))
    np.testing.assert_allclose(vectors, expected, atol=1e-4)


def test_blocks_of_documents_change_nothing(monkeypatch):
    T, W, start = problem()
    whole = response_products(csr_matrix(T), W, start)
    monkeypatch.setattr(vector_map, "_BLOCK", 7)
    for ours, expected in zip(response_products(csr_matrix(T), W, start), whole, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-5)


def test_of_very_many_documents_some_are_enough(monkeypatch):
    T, W, start = problem(n_docs=3_000)
    whole = make_vector_map(W, start, response_products(csr_matrix(T), W, start), 4, 0.35)
    monkeypatch.setattr(vector_map, "_MOST_DOCUMENTS", 1_000)
    products = response_products(csr_matrix(T), W, start)
    assert products.n_documents == 1_000
    some = make_vector_map(W, start, products, 4, 0.35)
    ours, theirs = (np.linalg.qr(array.astype(np.float64))[0] for array in (some, whole))
    assert (np.linalg.svd(ours.T @ theirs)[1] ** 2).mean() > 0.7


def test_a_random_start_is_not_gone_back_to():
    T, W, _ = problem()
    products = response_products(csr_matrix(T), W, None)
    made = make_vector_map(W, None, products, 5, 0.35)
    expected = plain_vectors(T, W, W, 5, 0.0, project_mean=True)
    np.testing.assert_allclose(np.abs(T @ made), np.abs(expected), atol=1e-4)


def test_the_largest_weight_of_a_component_is_positive():
    T, W, start = problem()
    made = make_vector_map(W, start, response_products(csr_matrix(T), W, start), 7, 0.35)
    assert (made.max(axis=0) == np.abs(made).max(axis=0)).all()


def test_documents_without_words_make_a_map_of_finite_numbers():
    _, W, start = problem()
    products = response_products(csr_matrix((5, 40), dtype=np.float32), W, start)
    assert np.isfinite(make_vector_map(W, start, products, 7, 0.35)).all()
