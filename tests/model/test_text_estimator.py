"""TextModel as scikit-learn sees it, and as it learns bit by bit."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

import kate
from kate import KATE, Counts, TextModel
from kate.model.training import KATETraining
from kate.text import stopwords

PEACE = ["peace", "treaty", "nations", "embassy", "minister", "negotiation", "ratified", "allies"]
MONEY = ["gold", "silver", "coin", "bank", "treasury", "currency", "mint", "dollars"]


def toy_texts(n: int, seed: int = 0) -> list[str]:
    """Texts about peace and about money in turn."""
    random = np.random.default_rng(seed)
    return [" ".join(random.choice((PEACE, MONEY)[i % 2], size=5, replace=False)) for i in range(n)]


TEXTS, THEMES = toy_texts(40), np.arange(40) % 2


def same_model(one: TextModel, two: TextModel) -> None:
    """Fails unless both know the same, to the bit."""
    a, b = one._fitted(), two._fitted()
    for name in ("W", "b", "mean"):
        np.testing.assert_array_equal(getattr(a.encoder, name), getattr(b.encoder, name))
    np.testing.assert_array_equal(a.output_bias, b.output_bias)
    np.testing.assert_array_equal(a.responses, b.responses)
    for name, array in a.topics.to_arrays().items():
        np.testing.assert_array_equal(array, b.topics.to_arrays()[name])
    assert list(a.vocabulary.to_lines()) == list(b.vocabulary.to_lines())
    assert (a.settings, a.n_documents_seen) == (b.settings, b.n_documents_seen)
    assert [row["loss"] for row in a.history] == [row["loss"] for row in b.history]


def test_the_parameters_are_those_of_counts_and_of_kate() -> None:
    ours = dict(inspect.signature(TextModel).parameters)
    assert ours.pop("unknown").kind is inspect.Parameter.VAR_KEYWORD
    theirs = {**inspect.signature(Counts).parameters, **inspect.signature(KATE).parameters}
    assert set(ours) == set(theirs) == set(TextModel().get_params())
    for name, parameter in ours.items():
        assert parameter.default == theirs[name].default, name
        assert name == "stop_words" or parameter.annotation == theirs[name].annotation, name
        keyword_only = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert keyword_only != (name == "n_components")
        for described in (TextModel, KATE if name in KATE().get_params() else Counts):
            assert f"\n    {name} : " in (described.__doc__ or ""), name


def test_the_constructor_only_stores() -> None:
    stop_words = ["gold"]
    model = TextModel(2, stop_words=stop_words, loss="nonsense")  # type: ignore[arg-type]
    assert model.stop_words is stop_words
    assert vars(model) == model.get_params()


def test_clone_get_params_and_set_params() -> None:
    model = TextModel(3, stop_words=["gold"], random_state=7, max_epochs=1).fit(TEXTS)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert repr(copy) == "TextModel(n_components=3), not fitted"
    assert copy.set_params(n_components=5, dropout=0.1) is copy
    assert (copy.n_components, copy.dropout, model.n_components) == (5, 0.1, 3)


def test_other_parameters_wait_for_the_next_fit() -> None:
    model = TextModel(3, max_epochs=1).fit(TEXTS)
    model.set_params(n_components=5)
    assert model.encode(["gold"]).shape == (1, 3)
    assert repr(model).startswith("TextModel(n_components=3), fitted")
    assert model.fit(TEXTS).encode(["gold"]).shape == (1, 5)


def test_check_is_fitted_and_tags() -> None:
    model = TextModel(2, max_epochs=1)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    check_is_fitted(model.fit(TEXTS))
    tags = get_tags(model)
    assert (tags.input_tags.string, tags.input_tags.two_d_array, tags.target_tags.required) == (
        True,
        False,
        False,
    )


def test_it_works_in_a_pipeline_and_a_grid_search() -> None:
    pipeline = make_pipeline(TextModel(2, max_epochs=30, dropout=0.3), LogisticRegression())
    search = GridSearchCV(pipeline, {"textmodel__n_components": [2, 4]}, cv=2).fit(TEXTS, THEMES)
    assert search.best_score_ > 0.9
    assert search.predict(["a treaty of peace", "gold and silver"]).tolist() == [0, 1]
    assert "TextModel" in repr(pipeline)
    assert pipeline[:-1].fit(TEXTS).get_feature_names_out().tolist() == ["textmodel0", "textmodel1"]


def separation(model: TextModel, texts: list[str], themes: Any) -> float:
    """How far the themes are apart: a scorer for a search without a classifier."""
    vectors = model.transform(texts)
    return float(np.linalg.norm(vectors[themes == 0].mean(axis=0) - vectors[themes == 1].mean(axis=0)))


# the search has something to find: a network from a random start gets better
FROM_NOTHING: dict[str, Any] = {"n_neurons": 2, "start": "random", "learning_rate": 0.02, "dropout": 0.3}


def test_a_grid_search_with_a_scorer_of_ones_own() -> None:
    search = GridSearchCV(
        TextModel(2, **FROM_NOTHING), {"max_epochs": [1, 30]}, scoring=separation, cv=2, error_score="raise"
    )
    search.fit(TEXTS, THEMES)
    assert search.best_params_ == {"max_epochs": 30}
    assert search.best_estimator_.encode(["gold"]).shape == (1, 2)


def test_transform_is_encode_and_fit_transform_both_at_once() -> None:
    model = TextModel(2, max_epochs=2)
    vectors = model.fit_transform(TEXTS, THEMES)
    np.testing.assert_array_equal(vectors, model.transform(TEXTS))
    np.testing.assert_array_equal(vectors, model.encode(TEXTS))


def test_a_pickled_model_is_the_same_model() -> None:
    model = TextModel(2, max_epochs=2).partial_fit(TEXTS)
    same_model(pickle.loads(pickle.dumps(model)), model)


def test_the_paper_to_the_letter() -> None:
    paper, network = (
        TextModel.paper(128, max_epochs=3).get_params(),
        KATE.paper(128, max_epochs=3).get_params(),
    )
    assert {name: paper[name] for name in network} == network


def test_partial_fit_learns_bit_by_bit() -> None:
    model = TextModel(2, dropout=0.3, batch_size=5)
    for seed in range(8):
        model.partial_fit(toy_texts(20, seed))
    peace, also_peace, money = model.encode(["treaty of peace", "allies ratified", "gold and silver"])
    assert peace @ also_peace > 0 > peace @ money
    assert [row["epoch"] for row in model.history_] == list(range(1, len(model.history_) + 1))
    assert model.n_documents_ == 160
    assert model.vocabulary_.document_frequencies.sum() == 160 * 5
    described = [set(topic.words) for topic in model.topics(2)]
    assert len(described) == 2
    assert all(words <= set(PEACE) or words <= set(MONEY) for words in described)


def test_the_first_call_is_a_fit() -> None:
    same_model(TextModel(2, random_state=3).partial_fit(TEXTS), TextModel(2, random_state=3).fit(TEXTS))


@pytest.mark.parametrize("first", ["partial_fit", "fit"])
def test_partial_fit_after_a_reload_goes_on_to_the_bit(first: str, tmp_path: Path) -> None:
    model: TextModel = getattr(TextModel(3, max_epochs=3, random_state=4), first)(TEXTS)
    model.save(tmp_path / "model")
    loaded = kate.load(tmp_path / "model")
    same_model(loaded, model)
    for seed in (1, 2):
        same_model(loaded.partial_fit(toy_texts(10, seed)), model.partial_fit(toy_texts(10, seed)))


def test_what_only_partial_fit_needs_may_be_left_out(tmp_path: Path) -> None:
    model = TextModel(3).partial_fit(TEXTS)
    model.save(tmp_path / "model", resumable=False)
    assert not (tmp_path / "model" / "training.safetensors").exists()
    loaded = kate.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.encode(TEXTS), model.encode(TEXTS))
    with pytest.raises(kate.UpdateError, match="saved without what an update needs"):
        loaded.partial_fit(TEXTS)


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_what_fails_leaves_the_model_as_it_was(
    learn: str, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, untouched = (TextModel(2).partial_fit(TEXTS) for _ in range(2))
    train_epoch = KATETraining.train_epoch

    def failing(self: KATETraining, epoch: int) -> float:
        train_epoch(self, epoch)
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(KATETraining, "train_epoch", failing)
        with pytest.raises(error):
            getattr(model, learn)(toy_texts(30, seed=1))
        with pytest.raises(error):
            getattr(clone(model), learn)(TEXTS)
    same_model(model, untouched)
    same_model(model.partial_fit(TEXTS), untouched.partial_fit(TEXTS))


def test_a_saved_model_keeps_its_stop_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = TextModel(2, max_epochs=1).fit(TEXTS)
    vectors = model.encode(["the gold of all nations"])
    model.save(tmp_path / "model")
    # a later version, in which two words of the texts have become stop words
    monkeypatch.setattr(stopwords, "ENGLISH", stopwords.ENGLISH | {"gold", "nations"})
    stopwords.stop_words_of.cache_clear()
    try:
        loaded = kate.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.encode(["the gold of all nations"]), vectors)
        assert loaded.stop_words is None
        assert "gold" not in loaded.fit(TEXTS).vocabulary_.words  # a new fit takes the list of its time
    finally:
        stopwords.stop_words_of.cache_clear()
