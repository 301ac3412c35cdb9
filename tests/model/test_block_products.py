"""Products by several threads: the same whatever their number."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info

from kate.model import block_products as module
from kate.model.block_products import block_products


def with_threads(n_jobs, A, B):
    with block_products(n_jobs) as products:
        if sparse.issparse(A):
            return products.multiply(A, B)
        return products.multiply(A, B), products.gram(A, A)


@pytest.mark.parametrize("entries", [1, 7, 10_000])
def test_sparse_products_are_those_of_scipy(entries, monkeypatch):
    monkeypatch.setattr(module, "_ENTRIES", entries)
    A = sparse.random(40, 30, density=0.2, format="csr", dtype=np.float32, random_state=0)
    A = sparse.csr_matrix(sparse.vstack([A, sparse.csr_matrix((5, 30), dtype=np.float32), A]))
    B = np.random.default_rng(0).normal(size=(30, 5)).astype(np.float32)
    for n_jobs in (1, 2, 50):
        product = with_threads(n_jobs, A, B)
        assert product.dtype == np.float32
        np.testing.assert_array_equal(product, A @ B)


@pytest.mark.parametrize("rows", [3, 1000])
def test_dense_products_do_not_depend_on_the_number_of_threads(rows, monkeypatch):
    monkeypatch.setattr(module, "_ROWS", rows)
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(100, 9)).astype(np.float32)
    A, B = wide[:, :4], rng.normal(size=(4, 5)).astype(np.float32)
    one, gram = with_threads(1, A, B)
    np.testing.assert_allclose(one, A @ B, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gram, A.T @ A, rtol=1e-4, atol=1e-5)
    for n_jobs in (2, 50):
        for ours, expected in zip(with_threads(n_jobs, A, B), (one, gram), strict=True):
            np.testing.assert_array_equal(ours, expected)


def test_nothing_times_something_is_zero():
    assert not with_threads(2, sparse.csr_matrix((4, 3), dtype=np.float32), np.ones((3, 2), np.float32)).any()
    assert with_threads(
        2, sparse.csr_matrix((0, 3), dtype=np.float32), np.ones((3, 2), np.float32)
    ).shape == (0, 2)


def test_blas_has_its_threads_back_afterwards():
    def n_threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = n_threads()
    with block_products():
        assert set(n_threads()) <= {1}
    assert n_threads() == before
