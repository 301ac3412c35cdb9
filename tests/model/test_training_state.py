"""Fits that are interrupted or fail leave a model as it was; partial_fit goes on exactly where it was."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from kate import KATE
from kate.model.training import KATETraining
from model.two_themes import two_themes


def interrupt_after(monkeypatch, *losses):
    """Let validation losses come one by one, then Ctrl-C; gives the list of the weights of every epoch."""
    remaining, weights = iter(losses), []

    def validation_loss(training):
        weights.append(training.network.W.copy())
        for loss in remaining:
            return loss
        raise KeyboardInterrupt

    monkeypatch.setattr(KATETraining, "validation_loss", validation_loss)
    return weights


def fitted_state(model):
    """Everything that a model knows, to compare before and after."""
    arrays, facts = model._fitted_state()
    return {name: array.tobytes() for name, array in arrays.items()}, facts, set(vars(model))


def test_ctrl_c_leaves_the_model_as_it_was(monkeypatch):
    X, _ = two_themes()
    model = KATE(4, max_epochs=5, random_state=0).fit(X)
    before, vectors = fitted_state(model), model.transform(X)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 5.0, 4.0)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X[:, :12], validation=X[:20, :12])
        new = KATE(4, max_epochs=5)
        with pytest.raises(KeyboardInterrupt):
            new.fit(X)
    assert fitted_state(model) == before
    np.testing.assert_array_equal(model.transform(X), vectors)
    with pytest.raises(NotFittedError):
        new.transform(X)


def test_a_grid_search_does_not_take_an_interrupted_fit_for_a_finished_one(monkeypatch):
    X, theme = two_themes()
    interrupt_after(monkeypatch, 5.0)
    search = GridSearchCV(make_pipeline(KATE(4), LogisticRegression()), {"kate__n_components": [2, 4]}, cv=2)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, theme)


def test_the_best_epoch_before_an_interrupt_is_kept_on_request(monkeypatch):
    X, _ = two_themes()
    weights = interrupt_after(monkeypatch, 5.0, 4.0, 4.5)
    model = KATE(4, validation_fraction=0.2, patience=5, max_epochs=20, random_state=0)
    with pytest.warns(UserWarning, match="interrupted after 3 of at most 20 epochs; the best epoch so far"):
        model.fit(X, keep_on_interrupt=True)
    np.testing.assert_array_equal(model.neurons_.W, weights[1])
    assert [row["validation_loss"] for row in model.history_] == [5.0, 4.0, 4.5]
    assert model.transform(X).shape == (60, 4)


def test_without_a_patience_the_last_complete_epoch_is_kept_on_request(monkeypatch):
    X, _ = two_themes()
    train_epoch, weights = KATETraining.train_epoch, []

    def interrupted_in_the_third(self, epoch):
        loss = train_epoch(self, epoch)
        weights.append(self.network.W.copy())
        if epoch == 2:
            raise KeyboardInterrupt
        return loss

    monkeypatch.setattr(KATETraining, "train_epoch", interrupted_in_the_third)
    model = KATE(4, max_epochs=20, random_state=0)
    with pytest.warns(UserWarning, match="after 2 of at most 20 epochs; the last complete epoch so far"):
        model.fit(X, keep_on_interrupt=True)
    np.testing.assert_array_equal(model.neurons_.W, weights[1])
    assert len(model.history_) == 2


def test_before_the_first_epoch_is_over_there_is_nothing_to_keep(monkeypatch):
    X, _ = two_themes()
    interrupt_after(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        KATE(4, max_epochs=5).fit(X, keep_on_interrupt=True)


def test_partial_fit_goes_on_where_it_was():
    X, _ = two_themes()
    model = KATE(6, random_state=0, batch_size=10)
    for _ in range(15):
        model.partial_fit(X)
    assert len(model.history_) == 15
    assert model.history_[-1]["loss"] < model.history_[0]["loss"]
    assert model.n_documents_seen_ == 15 * 60
    before = model.word_vectors_.copy()
    model.partial_fit(X[:10])
    assert not np.array_equal(before, model.word_vectors_)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :7])


def test_partial_fit_after_fit_goes_on_drawing(monkeypatch):
    X, _ = two_themes()
    orders = []
    train_epoch = KATETraining.train_epoch

    def spy(self, epoch):
        orders.append(self.random.get_state()[2])  # how far the generator has gone
        return train_epoch(self, epoch)

    monkeypatch.setattr(KATETraining, "train_epoch", spy)
    model = KATE(6, random_state=0, max_epochs=3).fit(X).partial_fit(X).partial_fit(X)
    assert len(model.history_) == 5
    assert len(set(orders)) == 5


def test_a_pass_that_fails_leaves_the_optimizer_and_the_generator_as_they_were(monkeypatch):
    X, _ = two_themes()
    model, untouched = (KATE(6, random_state=0).partial_fit(X).partial_fit(X) for _ in range(2))
    before = fitted_state(model)
    train_epoch = KATETraining.train_epoch

    def failing(error):
        def train_then_fail(self, epoch):
            train_epoch(self, epoch)
            if error is not None:
                raise error
            return np.nan

        return train_then_fail

    for error in (KeyboardInterrupt(), MemoryError(), None):
        with monkeypatch.context() as patch:
            patch.setattr(KATETraining, "train_epoch", failing(error))
            with pytest.raises(type(error) if error is not None else ValueError):
                model.partial_fit(X)
        assert fitted_state(model) == before
    np.testing.assert_array_equal(model.partial_fit(X).word_vectors_, untouched.partial_fit(X).word_vectors_)


@pytest.mark.parametrize("optimizer", ["adam", "adadelta"])
@pytest.mark.parametrize("first", ["partial_fit", "fit"])
def test_partial_fit_after_a_reload_goes_on_to_the_bit(tmp_path, first, optimizer):
    X, _ = two_themes()
    settings = {"optimizer": optimizer, "max_epochs": 3, "random_state": 5}
    if optimizer == "adadelta":
        settings["learning_rate"] = 1.0
    model = getattr(KATE(6, **settings), first)(X[:40])
    model.save(tmp_path / "model")
    loaded = KATE.load(tmp_path / "model")
    for rows in (X[40:], X[:20]):
        model.partial_fit(rows)
        loaded.partial_fit(rows)
    assert fitted_state(loaded)[0] == fitted_state(model)[0]
    assert loaded.n_documents_seen_ == model.n_documents_seen_ == 80
    assert [row["loss"] for row in loaded.history_] == [row["loss"] for row in model.history_]


def test_partial_fit_says_so_where_it_cannot_go_on_exactly(tmp_path):
    X, _ = two_themes()
    other_kind = np.random.RandomState(np.random.PCG64(1))
    KATE(4, random_state=other_kind, max_epochs=1).fit(X).save(tmp_path / "model")
    model = KATE.load(tmp_path / "model")
    with pytest.warns(UserWarning, match="saved without what partial_fit needs to go on exactly"):
        model.partial_fit(X)
    assert len(model.history_) == 2


def test_partial_fit_follows_the_settings_that_the_model_was_fitted_with():
    X, _ = two_themes()
    plain, changed = (KATE(4, random_state=0, max_epochs=2).fit(X) for _ in range(2))
    changed.set_params(scaling="max", mean="keep", start_share=0.1, optimizer="adadelta")
    np.testing.assert_array_equal(plain.partial_fit(X).transform(X), changed.partial_fit(X).transform(X))


def test_the_mean_follows_all_documents_seen():
    X, _ = two_themes()
    model = KATE(4, random_state=0, learning_rate=1e-12).partial_fit(X[:45]).partial_fit(X[45:])
    responses = model.neurons_.respond(X)  # at that rate both calls have the same weights
    np.testing.assert_allclose(model.responses_.mean, responses.mean(axis=0), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model.responses_.deviation, responses.std(axis=0), rtol=1e-4)


def test_partial_fit_leaves_what_was_handed_out_alone():
    X, _ = two_themes()
    model = KATE(6, random_state=0, max_epochs=3).fit(X)
    before, kept = model.word_vectors_, model.word_vectors_.copy()
    model.partial_fit(X)
    np.testing.assert_array_equal(before, kept)
