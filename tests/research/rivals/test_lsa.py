"""LSA: scikit-learn's rules, what it computes, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from kate.research.registry import make_model
from kate.research.rivals.lsa import LSA

COUNTS = sp.csr_matrix(np.random.default_rng(0).poisson(0.5, (60, 30)))


@parametrize_with_checks([LSA(n_components=1, random_state=0)])
def test_follows_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


def test_is_sublinear_tfidf_and_truncated_svd() -> None:
    model = LSA(n_components=5, random_state=0).fit(COUNTS)
    tfidf = TfidfTransformer(sublinear_tf=True).fit(COUNTS)
    svd = TruncatedSVD(5, random_state=0).fit(tfidf.transform(COUNTS))

    assert model.transform(COUNTS).dtype == np.float32
    np.testing.assert_allclose(model.transform(COUNTS), svd.transform(tfidf.transform(COUNTS)), atol=1e-5)
    assert model.components_.shape == (5, 30)
    assert model.word_vectors_.shape == (30, 5)
    assert model.settings_ == {"n_components": 5, "random_state": 0}


def test_a_seed_gives_the_same_vectors_and_a_document_alone_the_same_as_among_others() -> None:
    first, second = (make_model("lsa", 4, random_state=3).fit(COUNTS).transform(COUNTS) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    alone = make_model("lsa", 4, random_state=3).fit(COUNTS).transform(COUNTS[:1])
    np.testing.assert_allclose(alone[0], first[0], atol=1e-6)


@pytest.mark.parametrize(
    ("n_components", "n_docs", "message"),
    [
        (30, 60, "n_components=30 for n_features=30 words"),
        (0, 60, "expected at least 1"),
        (20, 10, "n_samples=10 documents"),
    ],
)
def test_more_topics_than_there_can_be_are_refused(n_components: int, n_docs: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LSA(n_components).fit(COUNTS[:n_docs])
