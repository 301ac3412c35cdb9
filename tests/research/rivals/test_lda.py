"""LDA: inference and training against the libraries' own, the one rule for all, parameters that make no sense."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

pytest.importorskip("gensim", exc_type=ImportError)

from kate.research.rivals.lda import GensimLDA, SklearnLDA, TomotopyLDA, infer_proportions

RANDOM = np.random.default_rng(0)
COUNTS = csr_matrix(RANDOM.poisson(np.where(np.arange(16) % 2 == np.arange(40)[:, None] % 2, 2.0, 0.1)))


def test_inference_agrees_with_gensims_own() -> None:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    model = GensimLDA(3, random_state=0).fit(COUNTS)
    own = LdaModel(num_topics=3, id2word={i: str(i) for i in range(16)}, iterations=500, gamma_threshold=1e-6)
    own.expElogbeta, own.alpha = model.strengths_, model.prior_
    gamma, _ = own.inference(list(Sparse2Corpus(COUNTS, documents_columns=False)))
    found = infer_proportions(COUNTS, model.strengths_, model.prior_, iterations=500)
    np.testing.assert_allclose(found, gamma / gamma.sum(axis=1, keepdims=True), atol=2e-3)


@pytest.mark.parametrize(
    ("alpha", "eta"), [("symmetric", 0.1), ("asymmetric", "symmetric"), ("auto", "auto")]
)
def test_training_agrees_with_gensims_own(
    alpha: str, eta: str | float, caplog: pytest.LogCaptureFixture
) -> None:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    counts = np.random.default_rng(1).poisson(0.5, (60, 40))
    counts[7] = 0  # a document without a word
    X = csr_matrix(counts)
    # gensim's messages read the topics and the chunks; a command that ran before may have set the level of ours
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, logger="kate"):
        model = GensimLDA(5, passes=3, chunk_size=25, alpha=alpha, eta=eta, random_state=3).fit(X)
    own = LdaModel(
        Sparse2Corpus(X, documents_columns=False),
        num_topics=5,
        id2word={i: str(i) for i in range(40)},
        passes=3,
        chunksize=25,
        alpha=alpha,
        eta=eta,
        eval_every=None,
        random_state=3,
    )
    np.testing.assert_allclose(model.components_, own.get_topics(), rtol=1e-3)
    np.testing.assert_allclose(model.prior_, own.alpha, rtol=1e-3)
    assert "documents converged within 50 iterations" in caplog.text


@pytest.mark.parametrize(("alpha", "eta", "dtype"), [(None, None, np.float32), (0.5, 0.1, np.float64)])
def test_training_agrees_with_scikit_learns_own(
    alpha: float | None, eta: float | None, dtype: type[np.floating[Any]]
) -> None:
    from sklearn.decomposition import LatentDirichletAllocation

    counts = np.random.default_rng(1).poisson(0.5, (60, 40))
    counts[7] = 0  # a document without a word
    X = csr_matrix(counts, dtype=dtype)
    model = SklearnLDA(5, passes=3, batch_size=25, alpha=alpha, eta=eta, random_state=3).fit(X)
    own = LatentDirichletAllocation(
        5,
        doc_topic_prior=alpha,
        topic_word_prior=eta,
        learning_method="online",
        max_iter=3,
        batch_size=25,
        max_doc_update_iter=50,
        random_state=3,
    ).fit(X)
    topics = own.components_ / own.components_.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.components_, topics, rtol=1e-3)
    np.testing.assert_allclose(model.prior_, own.doc_topic_prior_)


def test_a_tiny_prior_and_a_word_of_no_topic_stay_finite() -> None:
    topics = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]], dtype=np.float32)
    counts = csr_matrix([[0, 0, 3], [2, 0, 0], [0, 0, 0]])
    found = infer_proportions(counts, topics, np.full(2, 1e-6, dtype=np.float32))
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("model", [GensimLDA(2), SklearnLDA(2), TomotopyLDA(2, sweeps=50)])
def test_topics_are_distributions_and_tell_the_themes_apart(model: GensimLDA) -> None:
    topics = model.set_params(random_state=0).fit(COUNTS).components_
    np.testing.assert_allclose(topics.sum(axis=1), 1, rtol=1e-4)
    assert np.argsort(topics[0])[-8:].tolist() != np.argsort(topics[1])[-8:].tolist()
    assert {tuple(sorted(np.argsort(topic)[-8:] % 2)) for topic in topics} == {(0,) * 8, (1,) * 8}


def test_numbers_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="passes=0: expected a whole number of at least 1"):
        GensimLDA(2, passes=0).fit(COUNTS)
    with pytest.raises(ValueError, match=r"n_components=2\.5"):
        SklearnLDA(2.5).fit(COUNTS)
