"""The compiled mean-field iteration: its exp ψ against SciPy's, its γ against the same rule in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import psi

from kate.research.rivals.lda import infer_proportions
from kate.research.rivals.lda_inference import converge, exp_psi

RANDOM = np.random.default_rng(0)
COUNTS = csr_matrix(RANDOM.poisson(RANDOM.gamma(0.2, 3.0, (60, 40))))
N_TOPICS = 7
TOPICS = RANDOM.dirichlet(np.full(40, 0.1), N_TOPICS).astype(np.float32)
PRIOR = np.linspace(0.01, 0.5, N_TOPICS, dtype=np.float32)


def proportions_by_numpy(
    X: csr_matrix, strengths: NDArray[np.float32], prior: NDArray[np.float32]
) -> NDArray[np.float64]:
    """E[θ] in float64, one document after the other."""
    words, result = strengths.T.astype(np.float64) + 1e-30, []
    for row in X.toarray():
        present, gamma = np.flatnonzero(row), np.ones(len(prior))
        for _ in range(50):
            theta = np.exp(psi(gamma) - psi(gamma).max())
            shares = row[present] / (words[present] @ theta)
            before, gamma = gamma, prior + theta * (shares @ words[present])
            if np.abs(gamma - before).mean() < 1e-3:
                break
        result.append(gamma / gamma.sum())
    return np.array(result)


@pytest.mark.parametrize(("lowest", "tolerance"), [(1.0, 1e-6), (0.1, 2e-6), (0.0125, 1e-5)])
def test_exp_psi_agrees_with_scipys(lowest: float, tolerance: float) -> None:
    x = np.geomspace(lowest, 1e9, 10_000).astype(np.float32)
    found = np.empty_like(x)
    exp_psi(x, found)
    np.testing.assert_allclose(found, np.exp(psi(x.astype(np.float64))), rtol=tolerance)


def test_exp_psi_of_nearly_nothing_is_nothing() -> None:
    found = np.ones(3, dtype=np.float32)
    exp_psi(np.array([1e-40, 1e-6, 0.01], dtype=np.float32), found)
    assert found.tolist() == [0, 0, 0]


def test_proportions_agree_with_numpys() -> None:
    found = infer_proportions(COUNTS, TOPICS, PRIOR)
    np.testing.assert_allclose(found, proportions_by_numpy(COUNTS, TOPICS, PRIOR), atol=1e-4)


def test_a_document_without_a_word_has_the_priors_proportions() -> None:
    found = infer_proportions(csr_matrix((2, 40)), TOPICS, PRIOR)
    np.testing.assert_allclose(found, np.tile(PRIOR / PRIOR.sum(), (2, 1)), rtol=1e-6)


def test_one_word_among_very_many_equal_topics_stays_finite() -> None:
    topics = np.full((2000, 1), 1.0, dtype=np.float32)  # exp ψ(1 / 2000) is below every float
    found = infer_proportions(csr_matrix([[1]]), topics, np.full(2000, 1e-6, dtype=np.float32))
    np.testing.assert_allclose(found, 1 / 2000, rtol=1e-3)


def test_statistics_are_added_and_share_out_every_count() -> None:
    words = np.ascontiguousarray(TOPICS.T) + np.float32(1e-30)
    gamma = np.ones((60, N_TOPICS), dtype=np.float32)
    statistics = np.ones_like(words)
    n_converged = converge(
        COUNTS, words, PRIOR, gamma, iterations=200, tolerance=1e-3, epsilon=1e-12, statistics=statistics
    )
    assert n_converged == 60
    shared = (statistics - 1) * words
    np.testing.assert_allclose(shared.sum(axis=1), COUNTS.sum(axis=0).A1, rtol=1e-3, atol=1e-3)
