"""Products by several threads: the same bits as SciPy's."""

import numpy as np
import pytest
from scipy import sparse

from kate.model import sparse_products
from kate.model.sparse_products import multiply


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 50])
@pytest.mark.parametrize("entries", [1, 7, 10_000])
def test_the_number_of_threads_changes_nothing(n_jobs, entries, monkeypatch):
    monkeypatch.setattr(sparse_products, "_ENTRIES", entries)
    A = sparse.random(40, 30, density=0.2, format="csr", dtype=np.float32, random_state=0)
    A[3:9] = 0
    A.eliminate_zeros()
    B = np.random.default_rng(0).normal(size=(30, 5)).astype(np.float32)
    product = multiply(A, B, n_jobs)
    assert product.dtype == np.float32
    np.testing.assert_array_equal(product, A @ B)


def test_nothing_times_something_is_zero():
    assert not multiply(sparse.csr_matrix((4, 3), dtype=np.float32), np.ones((3, 2), np.float32), 2).any()
    assert multiply(sparse.csr_matrix((0, 3), dtype=np.float32), np.ones((3, 2), np.float32), 2).shape == (
        0,
        2,
    )
