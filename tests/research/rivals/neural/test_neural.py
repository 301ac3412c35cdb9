"""What all neural models share: the rules of scikit-learn, settings, early stopping, seeds, saving, errors."""

import re
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

torch = pytest.importorskip("torch")

from kate.extras import install_command  # noqa: E402
from kate.model.encoder import EmptyDocumentsWarning, scale_counts  # noqa: E402
from kate.research.rivals.neural.autoencoders import AE, CAE, DAE, KSAE  # noqa: E402
from kate.research.rivals.neural.docnade import DocNADE  # noqa: E402
from kate.research.rivals.neural.neural_training import NeuralTraining, threads  # noqa: E402
from kate.threads import available_cpus  # noqa: E402

COUNTS = csr_matrix(np.random.default_rng(0).poisson(0.4, (40, 20)))


@parametrize_with_checks([AE(n_components=3, max_epochs=2), DocNADE(n_components=3, max_epochs=2)])
def test_follows_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


def test_the_papers_settings():
    expected = {
        "optimizer": "adadelta", "learning_rate": 2.0, "batch_size": 50, "max_epochs": 100, "patience": 5,
        "validation_fraction": 0.1, "scaling": "max", "loss": "cross-entropy", "reduction": "sum",
        "output_bias": "zero", "output": "activation",
    }  # fmt: skip
    for cls, activation in ((AE, "sigmoid"), (DAE, "sigmoid"), (CAE, "sigmoid"), (KSAE, "linear")):
        settings = cls.paper(128, random_state=1).get_params()
        assert {name: settings[name] for name in expected} == expected
        assert (settings["epsilon"], cls.paper(20).epsilon) == (1e-8, 1e-6)
        assert (settings["activation"], settings["n_components"], settings["random_state"]) == (
            activation,
            128,
            1,
        )
    assert [KSAE.paper(m).n_winners for m in (20, 128, 512, 40)] == [6, 32, 102, 10]
    assert AE.paper(20, patience=None).patience is None


def test_codes_are_what_the_equation_says():
    model = AE.paper(5, max_epochs=2, random_state=0).fit(COUNTS)
    x = scale_counts(COUNTS.astype(np.float32), "max").toarray()
    expected = 1 / (1 + np.exp(-(x @ model.word_vectors_ + model.module_.b.detach().numpy())))
    np.testing.assert_allclose(model.transform(COUNTS), expected, atol=1e-5)


def test_none_follows_the_documents():
    settings = AE(4, random_state=0, max_epochs=None).fit(COUNTS).settings_
    assert settings["batch_size"] == 16
    assert settings["batch_size"] * settings["max_epochs"] >= 500
    winners = [KSAE(8, max_epochs=1, n_winners=k).fit(COUNTS).settings_["n_winners"] for k in (None, 0.5, 3)]
    assert winners == [2, 4, 3]


def test_early_stopping_keeps_the_best_epoch(monkeypatch):
    losses, weights = iter([5.0, 3.0, 3.5, 3.2, 9.0]), []

    def scripted_loss(self):
        weights.append(self.module.W.detach().numpy().copy())
        return next(losses)

    monkeypatch.setattr(NeuralTraining, "validation_loss", scripted_loss)
    model = AE(4, validation_fraction=0.2, patience=3, max_epochs=50, random_state=0).fit(COUNTS)
    assert [row["validation_loss"] for row in model.history_] == [5.0, 3.0, 3.5, 3.2, 9.0]
    np.testing.assert_array_equal(model.word_vectors_, weights[1])


def test_training_lowers_the_loss_and_explicit_validation_is_followed():
    history = DAE(4, max_epochs=15, random_state=0).fit(COUNTS[:30], validation=COUNTS[30:]).history_
    assert history[-1]["loss"] < history[0]["loss"]
    assert all(np.isfinite(row["validation_loss"]) for row in history)


def test_threads_and_the_global_generator_are_left_as_they_were():
    before = torch.get_num_threads()
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    DAE(4, max_epochs=1, n_jobs=before + 1).fit(COUNTS).transform(COUNTS)
    assert torch.get_num_threads() == before
    assert torch.rand(1) == expected


def test_threads_are_counted_as_everywhere():
    with threads(-1):
        assert torch.get_num_threads() == available_cpus()
    with pytest.raises(ValueError, match="n_jobs is 0"), threads(0):
        pass
    assert AE(2, max_epochs=1, n_jobs=-1, random_state=0).fit_transform(COUNTS).shape == (40, 2)


def test_the_whole_matrix_is_never_dense(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("densified")

    for method in ("toarray", "todense"):
        monkeypatch.setattr(csr_matrix, method, refuse)
    AE(4, max_epochs=1, scaling="l2").fit(COUNTS).transform(COUNTS)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KSAE(4, n_winners=5), "n_winners=5 is more than n_components=4"),
        (KSAE(4, n_winners=1.5), "n_winners=1.5: expected a whole number"),
        (KSAE(4, n_winners=0), "n_winners=0: expected a whole number"),
        (AE(0), "n_components=0: expected a whole number"),
        (AE(4, loss="hinge"), "loss='hinge' is not known; choose one of 'softmax', 'cross-entropy'"),
        (DAE(4, noise_level=1.0), "noise_level=1.0: expected a number from 0 to below 1"),
        (AE(4, learning_rate=0), "learning_rate=0"),
        (CAE(4, penalty=-1), "penalty=-1"),
        (AE(4, patience=2), "patience=2 needs held-out documents"),
        (AE(4, batch_size=2.5), "batch_size=2.5"),
        (AE(4, learning_rate=1e38, max_epochs=40), "training diverged"),
    ],
)
def test_settings_that_make_no_sense_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(COUNTS)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_told():
    with pytest.raises(ValueError, match='device="cuda", but PyTorch finds no CUDA GPU'):
        AE(4, device="cuda").fit(COUNTS)


def test_other_bad_input():
    with pytest.raises(NotFittedError):
        AE(4).transform(COUNTS)
    with pytest.raises(NotFittedError):
        _ = AE(4).components_
    with pytest.warns(EmptyDocumentsWarning, match="1 of 1 documents"):
        AE(4, max_epochs=1).fit(COUNTS).transform(csr_matrix((1, 20)))


def test_without_torch_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=re.escape(f"AE needs PyTorch: {install_command('paper')}")):
        AE(4).fit(COUNTS)
