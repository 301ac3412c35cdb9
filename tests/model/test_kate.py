"""KATE as an estimator: conventions, settings, determinism, early stopping, bad input."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from kate import KATE
from kate.model import finishing
from kate.model.encoder import EmptyDocumentsWarning, Encoder, scale_counts
from kate.model.settings import MACHINE_PARAMETERS, NETWORK_PARAMETERS, settings_for
from kate.model.training import KATETraining
from model.two_themes import two_themes


@parametrize_with_checks([KATE(n_components=4, max_epochs=3), KATE.paper(3, max_epochs=3)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


@pytest.mark.parametrize("make", [KATE, KATE.paper], ids=["defaults", "paper"])
def test_it_separates_two_themes(make):
    X, theme = two_themes()
    vectors = make(8, random_state=0).fit_transform(X)
    centred = vectors - vectors.mean(axis=0)
    means = [centred[theme == t].mean(axis=0) for t in (0, 1)]
    assert cosine(*means) < -0.9
    same = [cosine(v, means[t]) > cosine(v, means[1 - t]) for v, t in zip(centred, theme, strict=True)]
    assert all(same)


@pytest.mark.parametrize("loss", ["softmax", "cross-entropy"])
def test_a_sample_of_the_words_is_enough_to_separate_themes(loss):
    X, theme = two_themes(n_words=400)
    model = KATE(8, reconstruction_sampling=20, loss=loss, batch_size=5, max_epochs=100, random_state=0)
    vectors = model.fit_transform(X)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines, same = unit @ unit.T, theme[:, None] == theme
    # over all pairs: two documents alone may be near by chance, and machines round differently
    assert cosines[~same].mean() < 0 < cosines[same & ~np.eye(len(theme), dtype=bool)].mean()
    assert model.settings_["reconstruction_sampling"] == 20
    assert KATE().reconstruction_sampling == "auto"
    assert KATE.paper().reconstruction_sampling is None


def test_training_lowers_the_loss():
    X, _ = two_themes()
    history = KATE(8, random_state=0, max_epochs=20).fit(X).history_
    assert [row["epoch"] for row in history] == list(range(1, 21))
    assert history[-1]["loss"] < history[0]["loss"]
    assert all(row["validation_loss"] is None for row in history)
    assert [row["documents_per_second"] * row["seconds"] for row in history] == pytest.approx([60] * 20)


def test_same_seed_same_weights_to_the_bit():
    X, _ = two_themes()
    one, two, other = (KATE(6, random_state=seed, max_epochs=4).fit(X) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.word_vectors_, two.word_vectors_)
    np.testing.assert_array_equal(one.transform(X), two.transform(X))
    assert not np.array_equal(one.word_vectors_, other.word_vectors_)


def test_threads_do_not_change_the_result():
    X, _ = two_themes()
    one, two = (KATE(6, random_state=0, max_epochs=4, n_jobs=n).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.word_vectors_, two.word_vectors_)


def test_sparse_dense_and_permuted_columns_give_the_same():
    X, _ = two_themes()
    vectors = [KATE(5, random_state=0, max_epochs=3).fit_transform(x) for x in (X, csr_array(X), X.toarray())]
    np.testing.assert_array_equal(vectors[0], vectors[1])
    np.testing.assert_array_equal(vectors[0], vectors[2])
    unsorted = X.copy()
    for row in range(X.shape[0]):
        part = slice(unsorted.indptr[row], unsorted.indptr[row + 1])
        unsorted.indices[part], unsorted.data[part] = unsorted.indices[part][::-1], unsorted.data[part][::-1]
    unsorted.has_sorted_indices = False
    np.testing.assert_allclose(
        KATE(5, random_state=0, max_epochs=3).fit_transform(unsorted), vectors[0], atol=1e-5
    )


def test_the_paper_to_the_letter():
    settings = KATE.paper(128).get_params()
    expected = {
        "n_winners": 32, "amplification": 6.26, "loss": "cross-entropy", "activation": "tanh", "scaling": "max",
        "dropout": 0.0, "output_bias": "zero", "optimizer": "adadelta", "learning_rate": 2.0, "batch_size": 50,
        "max_epochs": 100, "max_steps": None, "patience": 5, "weighting": "none", "start": "random",
        "reconstruction_sampling": None, "output": "activation", "mean": "keep",
    }  # fmt: skip
    assert {name: settings[name] for name in expected} == expected
    assert [KATE.paper(m).n_winners for m in (20, 512, 40, 2)] == [6, 102, 10, 1]
    assert KATE.paper(20, max_epochs=3, random_state=1).max_epochs == 3
    assert [KATE.paper(m).epsilon for m in (20, 128, 512)] == [1e-6, 1e-8, 1e-8]
    X, _ = two_themes()
    assert KATE.paper(5, max_epochs=1).fit(X).settings_["n_neurons"] == 5


def test_the_papers_vectors_are_tanh_codes():
    X, _ = two_themes()
    model = KATE.paper(5, max_epochs=2, random_state=0).fit(X)
    x = np.log1p(X.toarray()) / np.log1p(X.toarray()).max(axis=1, keepdims=True)
    expected = np.tanh(x @ model.word_vectors_ + model.encoder_.b)
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-5)


def test_default_vectors_are_centred():
    X, _ = two_themes()
    vectors = KATE(5, random_state=0, max_epochs=3).fit_transform(X)
    np.testing.assert_allclose(vectors.mean(axis=0), 0, atol=1e-5)


def test_none_follows_components_and_documents():
    X, _ = two_themes()
    settings = KATE(8, random_state=0).fit(X).settings_
    assert (settings["n_neurons"], settings["n_winners"], settings["amplification"]) == (256, 64, 0.7)
    assert (settings["batch_size"], settings["max_epochs"], settings["max_steps"]) == (16, 5, 500)
    many = KATE(512, max_epochs=1, random_state=0).fit(X).settings_
    assert (many["n_neurons"], many["n_winners"], many["max_epochs"]) == (512, 128, 1)
    assert many["amplification"] == pytest.approx(0.175)
    neurons = KATE(8, output="preactivation", mean="subtract", random_state=0).fit(X).settings_
    assert (neurons["n_neurons"], neurons["n_winners"]) == (8, 2)


@pytest.mark.parametrize(
    ("n_documents", "batch_size", "max_epochs"),
    [
        (60, 16, 5),
        (2_000, 100, 5),
        (11_314, 200, 5),
        (20_000, 200, 5),
        (40_000, 400, 5),
        (1_000_000, 1_000, 1),
    ],
)
def test_batches_grow_with_the_documents_and_steps_do_not(n_documents, batch_size, max_epochs):
    settings = settings_for(KATE(), n_documents)
    assert (settings["batch_size"], settings["max_epochs"]) == (batch_size, max_epochs)
    assert settings["max_steps"] == 500
    assert settings_for(KATE(max_epochs=7), n_documents)["max_epochs"] == 7
    assert settings_for(KATE(max_epochs=7), n_documents)["max_steps"] is None


def test_scaling_by_hand():
    X = csr_matrix(np.array([[1, 3, 0], [0, 0, 0], [7, 0, 0]]))
    scaled = scale_counts(X, "max").toarray()
    np.testing.assert_allclose(scaled, [[0.5, 1, 0], [0, 0, 0], [1, 0, 0]], rtol=1e-6)
    norm = np.hypot(np.log(2), np.log(4))
    expected = [[min(1, 3 * np.log(2) / norm), 1, 0], [0, 0, 0], [1, 0, 0]]
    np.testing.assert_allclose(scale_counts(X, "l2").toarray(), expected, rtol=1e-6)
    root = [[0.5, 3**0.5 / 2, 0], [0, 0, 0], [1, 0, 0]]
    np.testing.assert_allclose(scale_counts(X, "root").toarray(), root, rtol=1e-6)
    weights = np.array([3, 1, 1], dtype=np.float32)
    weighted = [[3 / 12**0.5, 3**0.5 / 12**0.5, 0], [0, 0, 0], [1, 0, 0]]
    np.testing.assert_allclose(scale_counts(X, "root", weights).toarray(), weighted, rtol=1e-6)


@pytest.mark.parametrize("scaling", ["root", "l2", "max"])
@pytest.mark.parametrize("output", ["projection", "preactivation", "activation"])
def test_the_vector_of_one_document_is_that_of_many(scaling, output):
    random = np.random.default_rng(0)
    W, b, mean = (random.normal(size=size).astype(np.float32) for size in ((30, 4), 4, 4))
    weights = random.random(30, dtype=np.float32)
    X = csr_matrix(random.poisson(0.3, size=(20, 30)) * (np.arange(20) > 0)[:, None])  # the first has no word
    for weighed in (None, weights, 0 * weights):
        encoder = Encoder(W, b, mean, scaling, "tanh", output, weighed)
        one_by_one = [encoder.vector(row.indices, row.data) for row in X]
        np.testing.assert_allclose(one_by_one, encoder.vectors(X), rtol=1e-5, atol=1e-6)


def test_early_stopping_keeps_the_best_epoch(monkeypatch):
    X, _ = two_themes()
    losses = iter([5.0, 4.0, 3.0, 3.5, 3.2, 9.0])
    weights = []

    def scripted_loss(self):
        weights.append(self.network.W.copy())
        return next(losses)

    monkeypatch.setattr(KATETraining, "validation_loss", scripted_loss)
    model = KATE(4, validation_fraction=0.2, patience=3, max_epochs=50, random_state=0).fit(X)
    assert [row["validation_loss"] for row in model.history_] == [5.0, 4.0, 3.0, 3.5, 3.2, 9.0]
    np.testing.assert_array_equal(model.neurons_.W, weights[2])


def test_explicit_validation_documents():
    X, _ = two_themes()
    model = KATE(4, max_epochs=3, random_state=0).fit(X[:40], validation=X[40:])
    assert all(np.isfinite(row["validation_loss"]) for row in model.history_)


def test_given_parameters_stay_as_given_and_settings_say_what_they_came_to(tmp_path):
    X, _ = two_themes()
    model = KATE(4).fit(X)
    given = model.get_params()
    assert (given["batch_size"], given["max_epochs"], given["n_winners"]) == (None, None, None)
    assert (model.settings_["batch_size"], model.settings_["max_epochs"]) == (16, 5)
    assert model.settings_["precision"] == "float32"
    assert not {"n_jobs", "device", "verbose"} & set(model.settings_)
    model.save(tmp_path / "model")
    loaded = KATE.load(tmp_path / "model")
    assert (loaded.get_params(), loaded.settings_) == (given, model.settings_)
    assert loaded.fit(np.tile(X.toarray(), (80, 1))).settings_["batch_size"] == 200


def test_the_seed_is_0_unless_another_is_given_and_none_draws_one():
    X, _ = two_themes()
    assert KATE().random_state == 0
    first, second = (KATE(4, max_epochs=1).fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.word_vectors_, second.word_vectors_)
    drawn, other = (KATE(4, max_epochs=1, random_state=None).fit(X) for _ in range(2))
    assert not np.array_equal(drawn.word_vectors_, other.word_vectors_)
    assert drawn.random_state is None
    again = KATE(4, max_epochs=1, random_state=drawn.settings_["random_state"]).fit(X)
    np.testing.assert_array_equal(again.word_vectors_, drawn.word_vectors_)
    with pytest.raises(ValueError, match="expected a whole number, None, or a"):
        KATE(4, random_state="seed").fit(X)


@pytest.mark.parametrize("neurons", [False, True], ids=["projection", "neurons"])
def test_one_pass_over_the_documents_after_a_fit(monkeypatch, neurons):
    X, _ = two_themes()
    respond, products, seen = Encoder.respond, finishing.response_products, []
    monkeypatch.setattr(
        Encoder, "respond", lambda self, rows: seen.append(rows.shape[0]) or respond(self, rows)
    )
    monkeypatch.setattr(
        finishing,
        "response_products",
        lambda rows, *rest, **how: seen.append(rows.shape[0]) or products(rows, *rest, **how),
    )
    KATE(4, max_epochs=1, **({"output": "preactivation", "mean": "subtract"} if neurons else {})).fit(X)
    assert sum(seen) == 60


def test_the_callers_matrix_stays_as_it_is():
    data, indices, indptr = np.ones(6, np.float32), np.array([3, 1, 1, 2, 0, 2]), np.array([0, 3, 6])
    data[5] = 0
    X = csr_matrix((data, indices, indptr), shape=(2, 4))
    KATE(2, max_epochs=1).fit(X)
    np.testing.assert_array_equal(X.indices, [3, 1, 1, 2, 0, 2])
    np.testing.assert_array_equal(X.data, [1, 1, 1, 1, 1, 0])


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.bool_, np.float64])
def test_the_kind_of_the_numbers_changes_nothing_and_the_callers_matrix_stays(dtype):
    X = csr_matrix(np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]], dtype=dtype))
    before = X.copy()
    ours = KATE(2, random_state=0, max_epochs=2).fit_transform(X)
    np.testing.assert_array_equal(
        ours, KATE(2, random_state=0, max_epochs=2).fit_transform(X.astype(np.float32))
    )
    assert X.dtype == dtype
    assert (before != X).nnz == 0


def test_a_single_sparse_row_is_refused_with_what_to_do():
    with pytest.raises(ValueError, match="Expected 2D"):
        KATE(2).fit(csr_array(np.array([1, 2, 0, 3])))


def test_stored_zeros_are_no_words():
    X, _ = two_themes()
    model = KATE(4, max_epochs=1, random_state=0).fit(X)
    nothing = csr_matrix((np.zeros(2), [0, 1], [0, 2]), shape=(1, 20))
    with pytest.warns(EmptyDocumentsWarning, match="1 of 1 documents"):
        model.transform(nothing)


def test_pipeline_grid_search_clone_and_set_output():
    pd = pytest.importorskip("pandas")
    X, theme = two_themes()
    pipeline = make_pipeline(KATE(4, max_epochs=5, random_state=0), LogisticRegression())
    search = GridSearchCV(pipeline, {"kate__n_components": [2, 4]}, cv=2).fit(X, theme)
    assert search.best_score_ > 0.9
    copy = clone(KATE(7, dropout=0.1))
    assert (copy.n_components, copy.dropout) == (7, 0.1)
    frame = KATE(3, max_epochs=2, random_state=0).set_output(transform="pandas").fit_transform(X)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["kate0", "kate1", "kate2"]


@pytest.mark.parametrize("neurons", [False, True], ids=["projection", "neurons"])
def test_empty_documents_get_the_zero_documents_vector_and_a_warning(neurons):
    X, _ = two_themes()
    changes = {"output": "preactivation", "mean": "subtract"} if neurons else {}
    model = KATE(4, max_epochs=2, random_state=0, **changes).fit(X)
    some_empty = X.copy().tolil()
    some_empty[3] = 0
    some_empty[7] = 0
    with pytest.warns(EmptyDocumentsWarning, match="2 of 60 documents have no word"):
        vectors = model.transform(some_empty.tocsr())
    np.testing.assert_array_equal(vectors[3], vectors[7])
    expected = model.encoder_.b - model.responses_.mean if neurons else np.zeros(4)
    np.testing.assert_allclose(vectors[3], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_winners": 257}, "n_winners=257 is more than the 256 neurons"),
        ({"n_winners": 9, "n_neurons": 8}, "n_winners=9 is more than the 8 neurons.*raise n_neurons"),
        ({"n_neurons": 3}, "n_neurons=3 is less than n_components=4"),
        ({"n_neurons": 8, "output": "activation", "mean": "keep"}, "n_neurons=8 is not n_components=4"),
        (
            {"mean": "subtract"},
            "mean='subtract' does not go with output='projection'; take 'project' or 'keep'",
        ),
        ({"output": "activation"}, "mean='project' does not go with output='activation'; take 'subtract'"),
        ({"weighting": "bm25"}, "weighting='bm25' is not known; choose one of 'idf', 'none'"),
        ({"start": "pca"}, "start='pca' is not known"),
        ({"start_share": 1.0}, "start_share=1.0: expected a number from 0 to below 1"),
        ({"max_steps": 0}, "max_steps=0: expected a whole number of at least 1"),
        ({"n_components": 0}, "n_components=0: expected a whole number"),
        ({"n_winners": -1}, "n_winners=-1"),
        ({"dropout": 1.0}, "dropout=1.0: expected a number from 0 to below 1"),
        ({"loss": "hinge"}, "loss='hinge' is not known; choose one of 'softmax', 'cross-entropy'"),
        ({"device": "tpu"}, "device='tpu' is not known"),
        ({"precision": "float64"}, "precision='float64' is not known"),
        ({"amplification": -1}, "amplification=-1"),
        ({"batch_size": 2.5}, "batch_size=2.5"),
        ({"validation_fraction": 0.999}, "leaves none to train on"),
        ({"patience": 2}, "patience=2 needs held-out documents"),
        ({"n_components": None}, "n_components=None"),
        ({"learning_rate": 0}, "learning_rate=0"),
        ({"epsilon": 0}, "epsilon=0"),
        ({"epsilon": 1e-30, "optimizer": "adadelta"}, "epsilon=1e-30: Adadelta needs at least 1e-18"),
        ({"reconstruction_sampling": 0}, "reconstruction_sampling=0: expected a whole number of at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change, message):
    X, _ = two_themes()
    with pytest.raises(ValueError, match=message):
        KATE(**({"n_components": 4} | change)).fit(X)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_counts_that_make_no_sense_are_refused(bad):
    X, _ = two_themes()
    X = X.astype(float)
    X.data[5] = bad
    with pytest.raises(ValueError, match="Negative values" if bad == -1 else "NaN|infinity"):
        KATE(4).fit(X)


def test_other_bad_input():
    X, _ = two_themes()
    with pytest.raises(NotFittedError):
        KATE(4).transform(X)
    with pytest.raises(NotFittedError):
        _ = KATE(4).components_
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        KATE(4).fit(X[:1])
    model = KATE(4, max_epochs=1).fit(X)
    with pytest.raises(ValueError, match="features"):
        model.transform(X[:, :5])


def test_divergence_is_an_error():
    X, _ = two_themes()
    with pytest.raises(ValueError, match=r"training diverged.*lower learning_rate"):
        KATE(4, learning_rate=1e38, max_epochs=30).fit(X)


def test_the_parameters_of_the_network_are_those_of_kate() -> None:
    others = {*MACHINE_PARAMETERS, "random_state"}
    assert set(NETWORK_PARAMETERS) == set(KATE().get_params()) - others
