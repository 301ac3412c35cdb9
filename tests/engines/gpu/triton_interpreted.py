"""The fused step in Triton's interpreter, against the plain one; test_triton.py runs this file in a process of its own.

Whether kernels are compiled or interpreted is settled when Triton is imported: TRITON_INTERPRET=1 must be set before.
"""

import numpy as np
import pytest
import torch
from triton.runtime import interpreter

from engines.cpu.test_cpu_engine import LOSSES, as_network, as_rows, make_problem
from kate.competition import compete
from kate.engines.gpu import torch_engine, triton_kernels, triton_step
from kate.engines.gpu.torch_engine import TorchEngine
from kate.engines.gpu.torch_step import PlainStep
from kate.engines.gpu.triton_step import FusedStep
from kate.engines.network import Network, Optimizer, Recipe

KINDS = [PlainStep, FusedStep]
RECIPES = [  # activation, winners, amplification, dropout
    ("tanh", 6, 1.5, 0.0),
    ("tanh", 5, 0.4, 0.5),
    ("sigmoid", 1, 0.7, 0.5),
    ("tanh", 21, 2.0, 0.0),
    ("sigmoid", 0, 0.0, 0.3),
    ("tanh", 0, 0.0, 0.0),
]


@pytest.fixture(autouse=True)
def bounds_of_loops(monkeypatch):
    """NumPy 2.4 makes no number of an array with one element any more, as Triton 3.6 does where a loop ends."""
    patch = interpreter._patch_lang_tensor

    def patch_with_index(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())

    monkeypatch.setattr(interpreter, "_patch_lang_tensor", patch_with_index)


@pytest.fixture
def small_blocks(monkeypatch):
    """Documents of more than one block of words, batches and parameters of more than one tile."""
    for name, size in {"_WORDS": 32, "_WEIGHTS": 256, "_ROWS": 2, "_COLUMNS": 16}.items():
        monkeypatch.setattr(triton_step, name, size)


@pytest.fixture
def take(monkeypatch):
    """Call it with a kind of step, which the engines then use."""
    return lambda kind: monkeypatch.setattr(torch_engine, "_kind_of_step", lambda device: kind)


def problem():
    x, W, b, c = make_problem(n_docs=23, n_words=41, n_components=21)
    x[[2, 8]] = 0  # without words
    W[:, 4] = W[:, 3]  # topics that tie, of which the first wins
    b[4] = b[3]
    W[:, 7], b[7] = 0, 0  # and one that has nothing to say
    return as_rows(x), (W, b, c)


def assert_close(ours, expected, **tolerance):
    for name, a, b in zip(Network._fields, ours, expected, strict=True):
        np.testing.assert_allclose(a, b, err_msg=name, **({"rtol": 1e-4, "atol": 1e-6} | tolerance))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("how", RECIPES, ids=str)
@pytest.mark.usefixtures("small_blocks")
def test_gradient_is_that_of_the_plain_step(loss, how, take):
    X, parameters = problem()
    recipe, docs = Recipe(loss, *how), np.array([22, 8, 5, 5])
    results = []
    for kind in KINDS:
        take(kind)
        engine = TorchEngine(as_network(*parameters), recipe, "cpu")
        results.append((*engine.gradient(X, docs, seed=11), engine.loss(X[:4], block=3)))
    (value, gradient, whole), (fused_value, fused, fused_whole) = results
    assert fused_value == pytest.approx(value, rel=1e-6)
    assert fused_whole == pytest.approx(whole, rel=1e-6)  # the last block is a short one
    assert_close(fused, gradient)


@pytest.mark.parametrize(
    ("loss", "method", "rate"), [("softmax", "adam", 0.01), ("cross-entropy", "adadelta", 2.0)]
)
def test_epochs_end_where_those_of_the_plain_step_end(loss, method, rate, take):
    X, parameters = problem()
    results = []
    for kind in KINDS:
        take(kind)
        network = as_network(*parameters)
        engine = TorchEngine(network, Recipe(loss, "tanh", 4, 1.0, 0.5), "cpu")
        optimizer, rng = getattr(Optimizer, method)(network), np.random.default_rng(5)
        for _ in range(2):
            batches = np.split(rng.permutation(8), [3, 6])  # the last one is short
            seeds = rng.integers(2**62, size=3)
            loss_of_epoch = engine.train(X, batches, rate * np.array([1, 0.5, 0.7]), optimizer, seeds)
        engine.fetch()
        results.append((loss_of_epoch, network, optimizer))
        assert isinstance(engine._epoch.step, kind)
    (expected_loss, expected, expected_optimizer), (loss_of_epoch, ours, optimizer) = results
    assert loss_of_epoch == pytest.approx(expected_loss, rel=1e-5)
    assert_close(ours, expected, atol=1e-5)
    assert_close(optimizer.first, expected_optimizer.first, atol=1e-6)
    assert_close(optimizer.second, expected_optimizer.second, atol=1e-8)


def activated(h, n_winners=0, alpha=0.0, is_tanh=True):
    Z = torch.from_numpy(h.astype(np.float32))
    A, (n_docs, n_components) = torch.full_like(Z, np.nan), Z.shape
    n_lanes = max(16, 1 << (n_components - 1).bit_length())
    triton_kernels.compete[(n_docs,)](
        Z,
        A,
        torch.zeros(n_components),
        n_components,
        alpha,
        N_WINNERS=n_winners,
        IS_TANH=is_tanh,
        BLOCK=n_lanes,
    )
    return Z.numpy(), A.numpy()


@pytest.mark.parametrize("n_components", [21, 300])
def test_competition_is_the_definition_ties_included(n_components):
    h = np.random.default_rng(3).normal(size=(5, n_components)).round(1)  # many ties, and zeros
    h[0], h[1], h[2] = 0, np.abs(h[1]), -np.abs(h[2])
    h[3] += np.where(h[3] > 0, 20, -20)  # all but a few saturated, as large as it gets
    for n_winners in (1, 8, n_components):
        z, competed = activated(h, n_winners, 0.7)
        np.testing.assert_allclose(competed, compete(z, n_winners, 0.7), rtol=1e-5, atol=1e-6)


def test_activations_are_exact_to_the_last_digits():
    h = np.concatenate([np.geomspace(1e-30, 30, 61), [0, 0.2499, 0.2501, 700]], dtype=np.float32)
    h = np.stack([h, -h])
    np.testing.assert_allclose(activated(h)[0], np.tanh(h.astype(float)), rtol=1e-6)
    sigmoid = 1 / (1 + np.exp(-h.astype(float)))
    np.testing.assert_allclose(activated(h, is_tanh=False)[0], sigmoid, rtol=1e-6, atol=1e-38)


def test_logits_of_any_size_give_finite_losses(take):
    X, (W, b, c) = problem()
    c = np.linspace(-200, 200, len(c))
    for loss in LOSSES:
        values = []
        for kind in KINDS:
            take(kind)
            engine = TorchEngine(as_network(W, b, c), Recipe(loss), "cpu")
            values.append(engine.gradient(X, np.arange(5)))
        assert np.isfinite(values[1][0])
        assert values[1][0] == pytest.approx(values[0][0], rel=1e-5)
        assert_close(values[1][1], values[0][1])


def test_coarser_products_and_losses_that_are_not_finite(take):
    X, (W, b, c) = problem()
    take(FusedStep)
    docs = np.arange(5)
    exact, coarse = (
        TorchEngine(as_network(W, b, c), Recipe("softmax"), "cpu", precision).gradient(X, docs)[1].W
        for precision in ("float32", "bf16")
    )
    assert 0 < np.abs(coarse - exact).max() < 0.05 * np.abs(exact).max()
    W[0, 0] = np.nan
    network = as_network(W, b, c)
    engine = TorchEngine(network, Recipe("softmax", "tanh", 4, 1.0), "cpu")
    assert np.isnan(engine.train(X, [docs], np.ones(1), Optimizer.adam(network), np.zeros(1, np.int64)))


def test_without_a_compiler_the_plain_step_is_taken(monkeypatch):
    class Broken:
        def __getitem__(self, grid):
            raise RuntimeError("Failed to find C compiler")

    monkeypatch.setattr(triton_kernels, "compete", Broken())
    triton_step.can_compile.cache_clear()
    with pytest.warns(UserWarning, match="cannot compile the fused kernels here.*C compiler"):
        assert not triton_step.can_compile(torch.device("cpu"))
    triton_step.can_compile.cache_clear()
