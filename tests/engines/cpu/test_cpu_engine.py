"""The CPU engine's step against an independent dense implementation, and that one against finite differences."""

import numpy as np
import pytest
from numba import njit
from scipy.sparse import csr_matrix

from engines import dense
from kate.competition import compete as compete_by_definition
from kate.engines.cpu import cpu_engine, hidden
from kate.engines.cpu.barrier import run_together
from kate.engines.cpu.buffers import GRADIENT, ROW, new_workspace, padded, rule_of
from kate.engines.cpu.cpu_engine import CPUEngine
from kate.engines.cpu.simd_math import TILE
from kate.engines.cpu.winners import compete
from kate.engines.network import Network, Optimizer, Recipe

LOSSES = ["cross-entropy", "softmax"]


def make_problem(n_docs=7, n_words=30, n_components=9, seed=0, density=0.3):
    rng = np.random.default_rng(seed)
    x = rng.random((n_docs, n_words)) * (rng.random((n_docs, n_words)) < density)
    W = rng.normal(scale=0.5, size=(n_words, n_components))
    b, c = rng.normal(scale=0.3, size=n_components), rng.normal(scale=0.3, size=n_words)
    return x, W, b, c


def as_network(W, b, c):
    return Network(*(np.ascontiguousarray(array, dtype=np.float32) for array in (W, b, c)))


def as_rows(x):
    return csr_matrix(x.astype(np.float32))


SETTINGS = [
    {"n_winners": 2, "alpha": 6.26},  # few enough for the decoder that passes over the losers
    {"n_winners": 2, "alpha": 0.5, "activation": "sigmoid"},
    {"n_winners": 4, "alpha": 6.26},
    {"n_winners": 5, "alpha": 0.5},
    {"n_winners": 1, "alpha": 1.0},
    {"n_winners": 9, "alpha": 0.25},
    {"n_winners": 0, "alpha": 0.0},
    {"n_winners": 4, "alpha": 2.0, "activation": "sigmoid"},
]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_dense_gradient_matches_finite_differences(loss, setting):
    x, *parameters = make_problem()
    gradients = dense.gradient(x, *parameters, loss=loss, **setting)
    step = 1e-6
    rng = np.random.default_rng(1)
    for array, gradient in zip(parameters, gradients, strict=True):
        for place in rng.choice(array.size, size=min(25, array.size), replace=False):
            index = np.unravel_index(place, array.shape)
            before = array[index]
            array[index] = before + step
            above = dense.mean_loss(x, *parameters, loss=loss, **setting)
            array[index] = before - step
            below = dense.mean_loss(x, *parameters, loss=loss, **setting)
            array[index] = before
            assert gradient[index] == pytest.approx((above - below) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("n_words", [30, TILE, 3 * TILE + 17])
def test_gradient_matches_the_dense_one(loss, setting, n_words):
    x, W, b, c = make_problem(n_words=n_words, density=0.1)
    recipe = Recipe(loss, setting.get("activation", "tanh"), setting["n_winners"], setting["alpha"])
    value, gradient = CPUEngine(as_network(W, b, c), recipe).gradient(as_rows(x), np.arange(len(x)))
    assert value == pytest.approx(dense.mean_loss(x, W, b, c, loss=loss, **setting), rel=1e-5)
    for ours, expected in zip(gradient, dense.gradient(x, W, b, c, loss=loss, **setting), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_winners", [0, 2, 5, 11, 20, 40, 150])
def test_gradient_of_a_wide_layer_matches_the_dense_one(loss, n_winners):
    """More neurons than a block of a tile has rows, and logits so high that the softmax must change its level."""
    x, W, b, c = make_problem(n_docs=13, n_words=5 * TILE + 1, n_components=150, density=0.1)
    c[3 * TILE :] += np.linspace(0, 200, 2 * TILE + 1)
    setting = {"loss": loss, "n_winners": n_winners, "alpha": 0.5}
    engine = CPUEngine(as_network(W, b, c), Recipe(loss, "tanh", n_winners, 0.5))
    value, gradient = engine.gradient(as_rows(x), np.arange(len(x)))
    assert value == pytest.approx(dense.mean_loss(x, W, b, c, **setting), rel=1e-5)
    for ours, expected in zip(gradient, dense.gradient(x, W, b, c, **setting), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_with_dropout_is_that_of_the_words_kept(loss):
    x, W, b, c = make_problem(density=0.5)
    X, dropout, seed = as_rows(x), 0.4, 11
    kept = X.copy()
    kept.data *= [is_kept(seed, entry, dropout) / (1 - dropout) for entry in range(X.nnz)]
    assert 0 < np.count_nonzero(kept.data) < X.nnz
    setting = {"loss": loss, "n_winners": 4, "alpha": 1.5}
    engine = CPUEngine(as_network(W, b, c), Recipe(loss, "tanh", 4, 1.5, dropout))
    value, gradient = engine.gradient(X, np.arange(len(x)), seed)
    assert value == pytest.approx(dense.mean_loss(x, W, b, c, x_in=kept.toarray(), **setting), rel=1e-5)
    for ours, expected in zip(
        gradient, dense.gradient(x, W, b, c, x_in=kept.toarray(), **setting), strict=True
    ):
        np.testing.assert_allclose(ours, expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_the_encoder_may_read_other_values_than_those_to_reconstruct(loss, dropout):
    x, W, b, c = make_problem(density=0.5)
    X, seed = as_rows(x), 11
    inputs = (X.data * np.random.default_rng(2).uniform(0.2, 3, X.nnz)).astype(np.float32)
    read = X.copy()
    read.data = inputs * [is_kept(seed, entry, dropout) / (1 - dropout) for entry in range(X.nnz)]
    setting = {"loss": loss, "n_winners": 4, "alpha": 1.5, "x_in": read.toarray()}
    engine = CPUEngine(as_network(W, b, c), Recipe(loss, "tanh", 4, 1.5, dropout))
    value, gradient = engine.gradient(X, np.arange(len(x)), seed, inputs)
    assert value == pytest.approx(dense.mean_loss(x, W, b, c, **setting), rel=1e-5)
    for ours, expected in zip(gradient, dense.gradient(x, W, b, c, **setting), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=2e-4, atol=2e-5)
    whole = X.copy()
    whole.data = inputs
    expected_loss = dense.mean_loss(x, W, b, c, loss=loss, x_in=whole.toarray())
    assert engine.loss(X, inputs) == pytest.approx(expected_loss, rel=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_validation_loss_has_no_competition_and_no_dropout(loss):
    x, W, b, c = make_problem(n_docs=20)
    engine = CPUEngine(as_network(W, b, c), Recipe(loss, "tanh", 4, 6.26, 0.5))
    expected = dense.mean_loss(x, W, b, c, loss=loss)
    assert engine.loss(as_rows(x)) == pytest.approx(expected, rel=1e-5)
    assert engine.loss(as_rows(x), block=3) == pytest.approx(expected, rel=1e-5)


def dense_adam(p, g, state, t, rate):
    state[0] = 0.9 * state[0] + 0.1 * g
    state[1] = 0.999 * state[1] + 0.001 * g**2
    return p - rate * (state[0] / (1 - 0.9**t)) / (np.sqrt(state[1] / (1 - 0.999**t)) + 1e-8)


def dense_adadelta(p, g, state, t, rate):
    state[0] = 0.95 * state[0] + 0.05 * g**2
    change = g * np.sqrt(state[1] + 1e-8) / np.sqrt(state[0] + 1e-8)
    state[1] = 0.95 * state[1] + 0.05 * change**2
    return p - rate * change


@pytest.mark.parametrize(
    ("method", "rule", "rate"), [("adam", dense_adam, 0.01), ("adadelta", dense_adadelta, 2.0)]
)
@pytest.mark.parametrize("loss", LOSSES)
def test_several_steps_follow_the_optimizer(loss, method, rule, rate):
    x, *parameters = make_problem(n_docs=12)
    network = as_network(*parameters)
    optimizer = getattr(Optimizer, method)(network)
    batches = [np.arange(0, 5), np.arange(5, 10), np.arange(10, 12)]
    engine = CPUEngine(network, Recipe(loss, "tanh", 4, 1.0))
    engine.train(as_rows(x), batches, np.full(3, rate), optimizer, np.arange(3))
    states = [[0.0, 0.0] for _ in parameters]
    for t, batch in enumerate(batches, start=1):
        gradients = dense.gradient(x[batch], *parameters, loss=loss, n_winners=4, alpha=1.0)
        parameters = [rule(p, g, s, t, rate) for p, g, s in zip(parameters, gradients, states, strict=True)]
    for ours, expected in zip(network, parameters, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-3, atol=1e-4)


def test_competition_of_the_engine_is_the_definition():
    rng = np.random.default_rng(3)
    n_components = 21
    z = np.round(rng.normal(size=(40, n_components)), 1)  # many ties
    for n_winners in (1, 2, 5, 8, 21):
        a = compete_by_definition(z.astype(np.float32), n_winners, 0.7)
        ours = competed_by_engine(z, n_winners, 0.7)
        np.testing.assert_allclose(ours, a, rtol=1e-5, atol=1e-6)


def competed_by_engine(z, n_winners, alpha):
    space = new_workspace(TILE, padded(z.shape[1]), len(z), n_winners, 1, keeps_tiles=True, is_softmax=False)
    rule = rule_of(Recipe("cross-entropy", "tanh", n_winners, alpha), None, GRADIENT, z.shape[1])
    space.Z[:, : z.shape[1]] = z
    for d in range(len(z)):
        compete_document(d, rule, space)
        n = space.n_active[d]
        assert (space.active[d, :n] // ROW).tolist() == np.flatnonzero(space.A[d]).tolist()
        np.testing.assert_array_equal(space.active_value[d, :n], space.A[d][space.A[d] != 0])
    return space.A[:, : z.shape[1]]


@njit
def compete_document(d, rule, space):
    compete(0, d, rule, space)


@njit
def is_kept(seed, entry, dropout):
    return hidden.is_kept(seed, entry, dropout)


@pytest.mark.usefixtures("many_threads")
def test_threads_do_not_change_the_result():
    x, W, b, c = make_problem(n_docs=40, n_words=3 * TILE)
    results = []
    for n_jobs in (1, 2):
        network = as_network(W, b, c)
        batches = [np.arange(i, i + 10) for i in range(0, 40, 10)]
        engine = CPUEngine(network, Recipe("softmax", "tanh", 4, 0.5, 0.3), n_jobs=n_jobs)
        engine.train(as_rows(x), batches, np.full(4, 0.01), Optimizer.adam(network), np.arange(4))
        results.append(network)
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)


def test_no_more_threads_are_started_than_help(monkeypatch):
    """Two documents of a few words are done before a second thread has started."""
    asked = []

    def run(function, n_threads, state):
        asked.append(n_threads)
        run_together(function, n_threads, state)

    monkeypatch.setattr(cpu_engine, "run_together", run)
    for n_docs, n_words in ((2, 10 * TILE), (200, 10 * TILE), (200, 200 * TILE), (200, 3 * TILE)):
        x, W, b, c = make_problem(n_docs=n_docs, n_words=n_words, density=0.05)
        engine = CPUEngine(as_network(W, b, c), Recipe("softmax", "tanh", 4), n_jobs=64)
        engine.gradient(as_rows(x), np.arange(n_docs))
    assert asked[0] == 1
    assert 1 < asked[1] <= 10
    assert asked[2] == 64
    assert 1 <= asked[3] <= 3


def test_dropout_keeps_the_share_it_should():
    kept = np.mean([is_kept(5, entry, 0.7) for entry in range(20_000)])
    assert kept == pytest.approx(0.3, abs=0.01)


def test_entries_beyond_32_bits(tmp_path):
    """Documents that begin after 2^31 entries: files with a hole stand for the entries before, which nobody reads."""
    x, W, b, c = make_problem()
    small = as_rows(x)
    start = 2**31 + 5
    large = csr_matrix(small.shape, dtype=np.float32)
    large.data = np.memmap(tmp_path / "data", np.float32, "w+", shape=start + small.nnz)
    large.indices = np.memmap(tmp_path / "indices", np.int64, "w+", shape=start + small.nnz)
    large.indptr = small.indptr.astype(np.int64) + start
    large.data[start:], large.indices[start:] = small.data, small.indices
    engine = CPUEngine(as_network(W, b, c), Recipe("softmax", "tanh", 4, 0.5))
    (value, gradient), (expected, known) = (engine.gradient(X, np.arange(len(x))) for X in (large, small))
    assert value == expected
    for ours, theirs in zip(gradient, known, strict=True):
        np.testing.assert_array_equal(ours, theirs)
