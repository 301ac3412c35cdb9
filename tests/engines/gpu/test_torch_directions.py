"""The start and the end of training on a GPU against NumPy's; PyTorch's CPU device where there is none."""

import numpy as np
import pytest
import scipy.sparse as sp

torch = pytest.importorskip("torch")

from kate.engines.gpu.torch_directions import krylov_directions, response_sums  # noqa: E402
from kate.model.start import _sketch, leading_directions  # noqa: E402
from kate.model.vector_map import response_products  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture(scope="module")
def documents():
    """300 documents about 12 subjects: directions that are told apart by their strength."""
    random = np.random.default_rng(0)
    subjects = random.gamma(0.2, size=(12, 400)) * np.linspace(1, 3, 12)[:, np.newaxis]
    X = random.poisson(subjects[random.integers(0, 12, 300)]).astype(np.float32)
    return sp.csr_matrix(X)


def test_the_directions_are_those_of_the_cpu(documents):
    ours = krylov_directions(documents, _sketch(300, 10), 10, 3, DEVICE)
    theirs = leading_directions(documents, 10)
    np.testing.assert_allclose(ours.T @ ours, np.eye(10), atol=1e-5)
    assert np.linalg.norm(ours.T @ theirs) ** 2 / 10 > 0.999  # the same subspace


@pytest.mark.parametrize("has_start", [True, False])
def test_the_sums_are_those_of_the_cpu(documents, has_start):
    random = np.random.default_rng(1)
    W = random.normal(size=(400, 7)).astype(np.float32)
    start = random.normal(size=(400, 7)).astype(np.float32) if has_start else None
    sums, products = response_sums(documents, W, start, DEVICE)
    expected = response_products(documents, W, start)
    np.testing.assert_allclose(sums[0], expected.sum_a, rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(products[0], expected.aa, rtol=1e-4, atol=1e-1)
    np.testing.assert_allclose(products[1], expected.ab, rtol=1e-4, atol=1e-1)
