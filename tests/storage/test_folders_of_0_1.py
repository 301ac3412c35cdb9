"""Folders that Kate 0.1 wrote (an index with its model, an estimator) are still read, and give the same answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kate

FOLDER = Path(__file__).parent / "kate_0_1"
TEXTS = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5


def test_a_model_folder_gives_the_same_vectors() -> None:
    model = kate.load(FOLDER / "index" / "model")
    np.testing.assert_allclose(
        model.encode(["a coin of gold"]), [[0.19972825050354004, -0.826230525970459]], rtol=1e-6
    )
    assert (model.n_components, model.settings_["n_components"], model.n_documents_) == (2, 2, 20)
    assert "n_topics" not in model.settings_
    assert len(model.topics()) == 4


def test_a_model_can_be_saved_in_the_present_format_and_fitted_anew(tmp_path: Path) -> None:
    model = kate.load(FOLDER / "index" / "model")
    model.save(tmp_path / "model")
    again = kate.load(tmp_path / "model")
    np.testing.assert_array_equal(again.encode(TEXTS), model.encode(TEXTS))
    assert again.get_params()["max_epochs"] == 5
    assert again.fit(TEXTS).n_documents_ == 20


def test_partial_fit_goes_on_from_the_weights_and_says_that_it_starts_afresh() -> None:
    model = kate.load(FOLDER / "index" / "model")
    with pytest.warns(UserWarning, match="saved without what partial_fit needs"):
        model.partial_fit(TEXTS)
    assert (len(model.history_), model.n_documents_) == (6, 40)


def test_an_index_finds_the_same() -> None:
    index = kate.Index.load(FOLDER / "index")
    assert [hit.snippet for hit in index.search("gold coin", top=1)] == ["gold and silver coin"]


def test_an_estimator_gives_the_same_vectors_and_can_be_fitted_anew() -> None:
    model = kate.KATE.load(FOLDER / "estimator")
    X = kate.Counts().fit_transform(TEXTS)
    np.testing.assert_allclose(model.transform(X[:1]), [[-0.3889475464820862, 1.194333553314209]], rtol=1e-6)
    assert (model.n_components, model.settings_["n_components"]) == (2, 2)
    assert model.batch_size is None
    assert model.fit(X).settings_["batch_size"] == 16
