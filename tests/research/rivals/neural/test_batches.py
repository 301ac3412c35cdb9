"""A batch of documents: sparse and dense say the same."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

torch = pytest.importorskip("torch")

from kate.research.rivals.neural.batches import SparseBatch  # noqa: E402

COUNTS = csr_matrix(np.array([[0, 2, 1, 0], [0, 0, 0, 0], [3, 0, 0, 5]], dtype=np.float32))


def batch(rows=slice(None)):
    return SparseBatch.of(COUNTS, rows, torch.device("cpu"))


def test_dense_is_the_matrix():
    np.testing.assert_array_equal(batch().dense(), COUNTS.toarray())
    np.testing.assert_array_equal(batch(np.array([2, 0])).dense(), COUNTS.toarray()[[2, 0]])


def test_times_is_the_product_and_so_is_its_gradient():
    weights = torch.randn(4, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)
    product = batch().times(weights)
    torch.testing.assert_close(product, batch().dense() @ weights)
    (gradient,) = torch.autograd.grad(product.square().sum(), weights)
    (expected,) = torch.autograd.grad((batch().dense() @ weights).square().sum(), weights)
    torch.testing.assert_close(gradient, expected)


def test_rows_lengths_and_totals_count_empty_documents_too():
    assert batch().rows.tolist() == [0, 0, 2, 2]
    assert batch().lengths.tolist() == [2, 0, 2]
    assert batch().totals.tolist() == [3, 0, 8]
    assert len(batch()) == 3
