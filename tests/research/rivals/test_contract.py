"""What every model with vectors keeps to, on a toy corpus whose answer is known: two themes that share no word.

A model that is added to the registry is tested here without another line.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix

from kate.model.encoder import EmptyDocumentsWarning
from kate.research.registry import MODELS, make_model

N_TOPICS, N_WORDS = 4, 24
RANKERS = {"bm25"}  # rank documents and have no vectors: test_bm25.py
# those over sequences take counts too; those over texts: today/test_todays_models.py
NAMES = [name for name, entry in MODELS.items() if name not in RANKERS and entry.inputs != "texts"]
# a toy has so few words that some must read them more often
TOY_SETTINGS = {
    "word2vec": {"epochs": 50, "subsample": 0.0},
    "doc2vec": {"method": "dbow", "epochs": 50, "inference_epochs": 50, "subsample": 0.0},
}


def two_themes(n_docs: int, seed: int) -> tuple[csr_matrix, NDArray[np.intp]]:
    """Even rows use the first half of the words, odd rows the second half, each word of a theme as likely."""
    random = np.random.default_rng(seed)
    themes = np.arange(n_docs) % 2
    X = np.zeros((n_docs, N_WORDS), dtype=np.int64)
    for row, theme in enumerate(themes):
        np.add.at(X[row], random.integers(0, N_WORDS // 2, size=12) + theme * N_WORDS // 2, 1)
    return csr_matrix(X), themes


TRAIN, TRAIN_THEMES = two_themes(64, seed=0)
TEST, TEST_THEMES = two_themes(30, seed=1)


def fitted_anew(name: str, seed: int = 0, X: Any = TRAIN) -> Any:
    reason = MODELS[name].why_not()
    if reason is not None:
        pytest.skip(reason)
    model: Any = make_model(name, N_TOPICS, TOY_SETTINGS.get(name), random_state=seed)
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=1)
    return model.fit(X)


@cache
def fitted(name: str) -> Any:
    """One fit for all tests that only look at it."""
    return fitted_anew(name)


def array(vectors: Any) -> NDArray[np.floating[Any]]:
    return np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors)


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    reason = MODELS[request.param].why_not()
    if reason is not None:
        pytest.skip(reason)
    return str(request.param)


def test_it_separates_two_themes_in_documents_it_has_not_seen(name: str) -> None:
    train, test = array(fitted(name).transform(TRAIN)), array(fitted(name).transform(TEST))
    centroids = np.stack([train[theme == TRAIN_THEMES].mean(axis=0) for theme in (0, 1)])
    distances = np.linalg.norm(test[:, None] - centroids, axis=2)  # (n_docs, 2)
    assert (distances.argmin(axis=1) == TEST_THEMES).mean() >= 0.9


def test_vectors_are_finite_and_one_a_document(name: str) -> None:
    vectors = array(fitted(name).transform(TEST))
    assert vectors.shape[0] == TEST.shape[0]
    assert vectors.ndim == 2
    assert np.isfinite(vectors).all()


def test_a_document_alone_has_the_vector_that_it_has_among_others(name: str) -> None:
    alone = array(fitted(name).transform(TEST[:1]))
    np.testing.assert_allclose(alone[0], array(fitted(name).transform(TEST))[0], atol=1e-4)


def test_saved_and_loaded_it_gives_the_same_vectors(name: str, tmp_path: Path) -> None:
    model = fitted(name)
    if not hasattr(model, "save"):
        pytest.skip(f"{type(model).__name__} is saved as part of a TextModel")
    model.save(tmp_path / "model")
    again = type(model).load(tmp_path / "model")
    np.testing.assert_array_equal(array(again.transform(TEST)), array(model.transform(TEST)))
    if hasattr(model, "components_"):
        np.testing.assert_array_equal(again.components_, model.components_)
    assert getattr(again, "settings_", None) == getattr(model, "settings_", None)


def test_the_same_seed_gives_the_same_vectors_and_leaves_other_draws_alone(name: str) -> None:
    before = np.random.get_state()[2]  # noqa: NPY002  the global generator, which is to stay as it is
    again = fitted_anew(name)
    np.testing.assert_array_equal(array(again.transform(TEST)), array(fitted(name).transform(TEST)))
    assert np.random.get_state()[2] == before  # noqa: NPY002


def test_documents_without_a_known_word_have_a_vector_too(name: str) -> None:
    empty = csr_matrix((3, N_WORDS), dtype=np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentsWarning)
        vectors = array(fitted(name).transform(empty))
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(vectors, np.broadcast_to(vectors[0], vectors.shape), atol=1e-6)


def test_an_empty_document_and_an_unused_word_do_no_harm_in_training(name: str) -> None:
    X = TRAIN.toarray()
    X[5] = 0
    X[:, 3] = 0
    assert np.isfinite(array(fitted_anew(name, X=csr_matrix(X)).transform(TEST))).all()


def test_sparse_and_dense_counts_of_any_type_are_the_same(name: str) -> None:
    expected = array(fitted(name).transform(TEST))
    for same in (csr_array(TEST), TEST.astype(np.float64), TEST.toarray()):
        np.testing.assert_allclose(array(fitted(name).transform(same)), expected, atol=1e-5)


def test_other_words_than_it_was_fitted_on_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="features"):
        fitted(name).transform(TEST[:, : N_WORDS - 1])


def test_topics_and_words_have_the_shapes_that_tasks_expect(name: str) -> None:
    model = fitted(name)
    if hasattr(model, "components_"):
        assert np.asarray(model.components_).shape == (N_TOPICS, N_WORDS)
    if hasattr(model, "word_vectors_"):
        assert np.asarray(model.word_vectors_).shape[0] == N_WORDS
