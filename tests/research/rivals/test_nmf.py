"""NMF: fitting and encoding by the compiled descent against scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.decomposition import non_negative_factorization

from kate.research.rivals.nmf import NMF
from kate.research.rivals.weighting import weigh

RANDOM = np.random.default_rng(0)
COUNTS = csr_matrix(RANDOM.poisson(RANDOM.gamma(0.2, 3.0, (60, 40))))


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
@pytest.mark.parametrize(
    ("n_components", "max_iter", "regularisation", "l1_ratio"),
    [
        (6, 1, 0.0, 0.0),
        (6, 200, 0.0, 0.0),  # ends before the last pass
        (6, 30, 1e-3, 0.0),
        (6, 30, 1e-3, 0.7),
        (50, 10, 0.0, 0.0),  # more topics than words: a random start
    ],
)
def test_fitting_agrees_with_scikit_learns(
    n_components: int, max_iter: int, regularisation: float, l1_ratio: float
) -> None:
    model = NMF(
        n_components, max_iter=max_iter, regularisation=regularisation, l1_ratio=l1_ratio, random_state=0
    ).fit(COUNTS)
    _, expected, n_passes = non_negative_factorization(
        weigh(COUNTS, model.idf_),
        n_components=n_components,
        init="nndsvda" if n_components == 6 else "random",
        alpha_W=regularisation,
        l1_ratio=l1_ratio,
        max_iter=max_iter,
        random_state=0,
    )
    assert (n_passes < max_iter) == (max_iter == 200)
    assert model.components_.dtype == np.float32
    np.testing.assert_allclose(model.components_, expected, atol=1e-4)


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
@pytest.mark.parametrize(("regularisation", "l1_ratio"), [(0.0, 0.0), (1e-3, 0.0), (1e-3, 0.7)])
def test_encoding_agrees_with_scikit_learns(regularisation: float, l1_ratio: float) -> None:
    model = NMF(6, regularisation=regularisation, l1_ratio=l1_ratio, random_state=0).fit(COUNTS)
    expected, _, _ = non_negative_factorization(
        weigh(COUNTS, model.idf_),
        H=model.components_,
        update_H=False,
        n_components=6,
        alpha_W=regularisation,
        l1_ratio=l1_ratio,
        tol=0.0,
        max_iter=50,
    )
    found = model.transform(COUNTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_document_without_a_word_has_no_share_and_a_topic_without_a_word_is_in_no_document() -> None:
    model = NMF(3, random_state=0).fit(COUNTS)
    assert not model.transform(csr_matrix((2, 40))).any()
    model.components_[1] = 0
    found = model.transform(COUNTS)
    assert np.isfinite(found).all()
    assert not found[:, 1].any()
