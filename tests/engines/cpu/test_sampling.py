"""Reconstruction sampling: what it draws, and that its gradient is the full one on average."""

import numpy as np
import pytest

from engines import dense
from engines.cpu.test_cpu_engine import LOSSES, as_network, as_rows, make_problem
from kate.engines.cpu.cpu_engine import CPUEngine
from kate.engines.network import Optimizer, Recipe

N_WORDS = 265  # some tiles and a few words more, whatever the width of a machine's vectors


def make_sparse_problem():
    """Few words in the documents, so that most of the others are to be drawn; a frequency that rises with the word."""
    x, W, b, c = make_problem(n_docs=6, n_words=N_WORDS, n_components=8, density=0.03)
    return x, 0.3 * W, b, c + np.linspace(-3, 0, N_WORDS)


def mean_gradient(problem, loss, n_sampled, n_seeds, n_jobs=1):
    x, *parameters = problem
    engine = CPUEngine(
        as_network(*parameters), Recipe(loss, "tanh", 3, 0.5, n_sampled=n_sampled), n_jobs=n_jobs
    )
    runs = [engine.gradient(as_rows(x), np.arange(len(x)), seed) for seed in range(n_seeds)]
    value = np.mean([value for value, _ in runs])
    means = [np.mean([g[i] for _, g in runs], axis=0, dtype=np.float64) for i in range(3)]
    errors = [np.std([g[i] for _, g in runs], axis=0) / np.sqrt(n_seeds) for i in range(3)]
    return value, means, errors


def test_the_mean_over_samples_is_the_full_gradient_of_the_cross_entropy():
    problem = make_sparse_problem()
    setting = {"loss": "cross-entropy", "n_winners": 3, "alpha": 0.5}
    value, means, errors = mean_gradient(problem, "cross-entropy", 40, 1500)
    assert value == pytest.approx(dense.mean_loss(*problem, **setting), rel=0.01)
    for mean, error, full in zip(means, errors, dense.gradient(*problem, **setting), strict=True):
        away = np.abs(mean - full) / (error + 1e-6)  # in standard errors
        assert away.max() < 5
        assert np.sqrt(np.mean(away**2)) < (1.2 if away.size > 100 else 2)


def test_the_bias_of_the_sampled_softmax_falls_with_the_sample():
    problem = make_sparse_problem()
    full = np.concatenate(
        [g.ravel() for g in dense.gradient(*problem, loss="softmax", n_winners=3, alpha=0.5)]
    )

    def bias(n_sampled, n_seeds):
        _, means, errors = mean_gradient(problem, "softmax", n_sampled, n_seeds)
        away = np.sum((np.concatenate([m.ravel() for m in means]) - full) ** 2)
        noise = sum(np.sum(error**2) for error in errors)  # that so many seeds leave in the mean
        return np.sqrt(max(0, away - noise)) / np.linalg.norm(full)

    few, many, most = bias(4, 300), bias(64, 900), bias(128, 900)
    assert many < few / 5
    assert many < 0.03
    assert most < many / 1.5
    assert most < 0.02


@pytest.mark.parametrize("loss", LOSSES)
def test_a_sample_of_all_words_is_the_full_gradient(loss):
    problem = make_sparse_problem()
    value, means, _ = mean_gradient(problem, loss, N_WORDS, 1)
    setting = {"loss": loss, "n_winners": 3, "alpha": 0.5}
    assert value == pytest.approx(dense.mean_loss(*problem, **setting), rel=1e-5)
    for mean, full in zip(means, dense.gradient(*problem, **setting), strict=True):
        np.testing.assert_allclose(mean, full, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("method", ["adam", "adadelta"])
def test_only_the_rows_of_words_that_were_decoded_change(method):
    x, *parameters = make_sparse_problem()
    network, before = as_network(*parameters), as_network(*parameters)
    optimizer = getattr(Optimizer, method)(network)
    engine = CPUEngine(network, Recipe("softmax", "tanh", 3, 0.5, n_sampled=10))
    engine.train(as_rows(x), [np.arange(3), np.arange(3, 6)], np.full(2, 0.1), optimizer, np.arange(2))
    changed = np.flatnonzero((network.W != before.W).any(axis=1))
    own = np.flatnonzero(x.any(axis=0))
    assert set(own) <= set(changed)
    assert len(own) < len(changed) <= len(own) + 20
    untouched = np.setdiff1d(np.arange(N_WORDS), changed)
    for part in (optimizer.first, optimizer.second):
        assert not part.W[untouched].any()
        assert not part.c[untouched].any()
    np.testing.assert_array_equal(network.c[untouched], before.c[untouched])


@pytest.mark.usefixtures("many_threads")
@pytest.mark.parametrize("loss", LOSSES)
def test_threads_do_not_change_the_sample(loss):
    problem = make_sparse_problem()
    one, two = (mean_gradient(problem, loss, 70, 1, n_jobs=n_jobs)[1] for n_jobs in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_validation_loss_is_the_full_one():
    x, *parameters = make_sparse_problem()
    engines = [CPUEngine(as_network(*parameters), Recipe("softmax", n_sampled=n)) for n in (0, 10)]
    assert engines[0].loss(as_rows(x)) == engines[1].loss(as_rows(x))


@pytest.mark.usefixtures("many_threads")
def test_threads_learn_the_same_from_the_first_batch_on():
    x, *parameters = make_problem(n_docs=40, n_words=2_000, n_components=16, density=0.03)
    networks = []
    for n_jobs in (1, 4):
        network = as_network(*parameters)
        engine, optimizer = (
            CPUEngine(network, Recipe("softmax", "tanh", 4, 0.5, n_sampled=300), n_jobs=n_jobs),
            Optimizer.adam(network),
        )
        rows = as_rows(x)
        for seed in range(30):  # each call begins with a batch whose words nobody could choose before
            engine.train(rows, [np.arange(40)], np.full(1, 1e-3), optimizer, np.array([seed]))
        networks.append(network)
    for one, many in zip(*networks, strict=True):
        np.testing.assert_array_equal(one, many)
