"""The GPU engine on PyTorch's CPU device, in PyTorch's own operations, against the dense implementation and the CPU
engine. Where there is a GPU the same tests run on it, with the captured graph and the fused kernels."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

torch = pytest.importorskip("torch", reason="the GPU engine needs the extra gpu")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from engines import dense  # noqa: E402
from engines.cpu.test_cpu_engine import LOSSES, SETTINGS, as_network, as_rows, make_problem  # noqa: E402
from kate.competition import compete  # noqa: E402
from kate.engines.cpu.cpu_engine import CPUEngine  # noqa: E402
from kate.engines.gpu import torch_engine  # noqa: E402
from kate.engines.gpu.torch_engine import TorchEngine  # noqa: E402
from kate.engines.gpu.torch_step import Competition  # noqa: E402
from kate.engines.network import Network, Optimizer, Recipe  # noqa: E402

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
pytestmark = pytest.mark.parametrize("device", DEVICES)
CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def assert_close(ours: Network, expected, **tolerance) -> None:
    for name, a, b in zip(Network._fields, ours, expected, strict=True):
        np.testing.assert_allclose(a, b, err_msg=name, **(CLOSE | tolerance))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_gradient_matches_the_dense_one(device, loss, setting):
    x, W, b, c = make_problem()
    x[2] = 0  # a document without words
    recipe = Recipe(loss, setting.get("activation", "tanh"), setting["n_winners"], setting["alpha"])
    value, gradient = TorchEngine(as_network(W, b, c), recipe, device).gradient(as_rows(x), np.arange(len(x)))
    assert value == pytest.approx(dense.mean_loss(x, W, b, c, loss=loss, **setting), rel=1e-5)
    assert_close(gradient, dense.gradient(x, W, b, c, loss=loss, **setting))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_the_encoder_may_read_other_values_than_those_to_reconstruct(device, loss, dropout):
    x, W, b, c = make_problem(n_docs=11, density=0.5)
    X, docs = as_rows(x), np.array([9, 0, 4, 10])
    inputs = (X.data * np.random.default_rng(2).uniform(0.2, 3, X.nnz)).astype(np.float32)
    recipe = Recipe(loss, "tanh", 4, 1.5, dropout)
    ours, theirs = (
        TorchEngine(as_network(W, b, c), recipe, device),
        CPUEngine(as_network(W, b, c), recipe),
    )
    value, gradient = ours.gradient(X, docs, 5, inputs)
    expected, expected_gradient = theirs.gradient(X, docs, 5, inputs)
    assert value == pytest.approx(expected, rel=1e-5)
    assert_close(gradient, expected_gradient)
    assert ours.loss(X, inputs) == pytest.approx(theirs.loss(X, inputs), rel=1e-5)
    assert ours.loss(X) == pytest.approx(theirs.loss(X), rel=1e-5)


def test_competition_is_the_definition_ties_included(device):
    rng = np.random.default_rng(3)
    z = np.round(rng.normal(size=(40, 21)), 1).astype(np.float32)  # many ties, and zeros
    z[0], z[1], z[2] = 0, np.abs(z[1]), -np.abs(z[2])
    for n_winners in (1, 2, 5, 8, 21):
        competition = Competition(Recipe(n_winners=n_winners, amplification=0.7), 21, torch.device(device))
        competed = torch.empty(z.shape, device=device)
        competition.forward(torch.from_numpy(z).to(device), out=competed)
        np.testing.assert_allclose(competed.cpu(), compete(z, n_winners, 0.7), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dropout", [0.1, 0.7])
def test_dropout_keeps_the_words_that_the_cpu_engine_keeps(device, loss, dropout):
    x, W, b, c = make_problem(n_docs=11, density=0.5)
    X, docs, recipe = as_rows(x), np.array([9, 0, 4, 4, 10]), Recipe(loss, "tanh", 4, 1.5, dropout)
    for seed in (0, 11, 2**62 - 1):
        value, gradient = TorchEngine(as_network(W, b, c), recipe, device).gradient(X, docs, seed)
        expected_value, expected = CPUEngine(as_network(W, b, c), recipe).gradient(X, docs, seed)
        assert value == pytest.approx(expected_value, rel=1e-5)
        assert_close(gradient, expected)


def trained(engine, X, network, method, rate, n_epochs=3):
    """Three epochs of the same batches in another order, the last batch a short one; the losses of the epochs."""
    optimizer = getattr(Optimizer, method)(network)
    rng = np.random.default_rng(5)
    losses = []
    for _ in range(n_epochs):
        order = rng.permutation(X.shape[0])
        batches = [order[i : i + 5] for i in range(0, len(order), 5)]
        seeds = rng.integers(2**62, size=len(batches))
        losses.append(engine.train(X, batches, np.full(len(batches), rate), optimizer, seeds))
    return losses, optimizer


@pytest.mark.parametrize(("method", "rate"), [("adam", 0.01), ("adadelta", 2.0)])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_epochs_end_where_those_of_the_cpu_engine_end(device, loss, method, rate, dropout):
    x, *parameters = make_problem(n_docs=23, n_words=40)
    x[[3, 8]] = 0
    X, recipe = as_rows(x), Recipe(loss, "tanh", 4, 1.0, dropout)
    network, expected = as_network(*parameters), as_network(*parameters)
    ours = TorchEngine(network, recipe, device)
    losses, optimizer = trained(ours, X, network, method, rate)
    expected_losses, expected_optimizer = trained(CPUEngine(expected, recipe), X, expected, method, rate)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-4)
    assert not np.allclose(network.W, expected.W, atol=1e-4)  # it is still where it was
    ours.fetch()
    assert_close(network, expected, rtol=1e-3, atol=1e-4)
    assert optimizer.n_steps == expected_optimizer.n_steps == 15
    assert_close(optimizer.first, expected_optimizer.first, rtol=1e-3, atol=1e-4)
    assert_close(optimizer.second, expected_optimizer.second, rtol=1e-3, atol=1e-4)
    assert ours.loss(X) == pytest.approx(CPUEngine(expected, recipe).loss(X), rel=1e-4)


@pytest.mark.parametrize("steps_at_once", [1, 3])
def test_how_many_steps_are_laid_out_together_changes_nothing(device, monkeypatch, steps_at_once):
    x, *parameters = make_problem(n_docs=23, n_words=40)
    X, recipe = as_rows(x), Recipe("softmax", "tanh", 4, 1.0, 0.5)
    networks = []
    for at_once in (100, steps_at_once):
        monkeypatch.setattr(torch_engine, "_STEPS_AT_ONCE", at_once)
        networks.append(as_network(*parameters))
        engine = TorchEngine(networks[-1], recipe, device)
        trained(engine, X, networks[-1], "adam", 0.01)
        engine.fetch()
    assert_close(networks[1], networks[0], rtol=0, atol=1e-7)


class _Recording(TorchDispatchMode):
    """What a CUDA graph is, on any device: the operations with the very memory they read and wrote, to do again."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        self.calls.append((operation, args, kwargs or {}, out))
        return out

    def replay(self):
        with torch.no_grad():
            for operation, args, kwargs, out in self.calls:
                again = operation(*args, **kwargs)
                for old, new in zip(as_tuple(out), as_tuple(again), strict=True):
                    if old.data_ptr() != new.data_ptr():  # neither a view nor written in place
                        old.copy_(new)


def as_tuple(out):
    return tuple(out) if isinstance(out, tuple | list) else (out,)


@pytest.fixture
def recorded_graphs(monkeypatch):
    """Recordings in the place of CUDA graphs; the list of those that were made."""
    made = []

    def new_graph():
        made.append(_Recording())
        return made[-1]

    stream = SimpleNamespace(wait_stream=lambda other: None)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", new_graph)
    monkeypatch.setattr(torch.cuda, "graph", lambda graph: graph)
    monkeypatch.setattr(torch.cuda, "Stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: nullcontext())
    return made


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("method", "rate"), [("adam", 0.01), ("adadelta", 2.0)])
def test_a_step_that_is_recorded_once_and_replayed_does_the_same(
    device, loss, method, rate, request, monkeypatch
):
    """Nothing that changes from step to step may stand in Python, and warming up must leave no trace."""
    x, *parameters = make_problem(n_docs=23, n_words=40)
    X, recipe = as_rows(x), Recipe(loss, "tanh", 4, 1.0, 0.5)
    results = []
    for is_recorded in (False, True):
        monkeypatch.setattr(torch_engine, "_has_graphs", lambda device, has_graphs=is_recorded: has_graphs)
        is_made_up = is_recorded and device == "cpu"  # a GPU has graphs of its own
        graphs = request.getfixturevalue("recorded_graphs") if is_made_up else []
        network = as_network(*parameters)
        engine = TorchEngine(network, recipe, device)
        losses, optimizer = trained(engine, X, network, method, rate)
        engine.fetch()
        results.append((losses, network, optimizer))
        assert (engine._epoch.graph is not None) == is_recorded
        assert len(graphs) == is_made_up
    (losses, network, optimizer), (same_losses, same_network, same_optimizer) = results
    exactly = {"rtol": 0, "atol": 0} if device == "cpu" else {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(losses, same_losses, **exactly)
    for ours, same in ((network, same_network), (optimizer.first, same_optimizer.first)):
        assert_close(ours, same, **exactly)


class _Operations(TorchDispatchMode):
    """Every operation that PyTorch is asked for, by name."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.names.append(operation.overloadpacket.__name__)
        return operation(*args, **(kwargs or {}))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("method", ["adam", "adadelta"])
def test_a_step_reads_nothing_back_and_sends_nothing(device, loss, method):
    """A CUDA graph can neither wait for the host nor copy from it, and every shape must be known beforehand."""
    x, W, b, c = make_problem()
    network = as_network(W, b, c)
    engine = TorchEngine(network, Recipe(loss, "tanh", 4, 1.0, 0.5), device)
    trained(engine, as_rows(x), network, method, 0.01, n_epochs=1)
    step, update = engine._epoch.step, engine._epoch.update
    step.at.zero_()
    with _Operations() as operations, torch.no_grad():
        step.run(update)
    assert "mm" in operations.names
    waits = {"_local_scalar_dense", "item", "nonzero", "masked_select", "unique", "equal", "is_nonzero"}
    sends = {"lift_fresh", "scalar_tensor", "tensor", "pin_memory"}
    assert not (waits | sends) & set(operations.names)


@pytest.mark.parametrize("loss", LOSSES)
def test_validation_loss_has_no_competition_and_no_dropout(device, loss):
    x, W, b, c = make_problem(n_docs=20)
    x[7] = 0
    engine = TorchEngine(as_network(W, b, c), Recipe(loss, "tanh", 4, 6.26, 0.5), device)
    expected = dense.mean_loss(x, W, b, c, loss=loss)
    assert engine.loss(as_rows(x)) == pytest.approx(expected, rel=1e-5)
    assert engine.loss(as_rows(x), block=3) == pytest.approx(expected, rel=1e-5)


def test_what_is_sent_is_what_it_goes_on_with(device):
    x, W, b, c = make_problem()
    network = as_network(W, b, c)
    engine = TorchEngine(network, Recipe("softmax"), device)
    before = engine.loss(as_rows(x))
    network.W[...] = 0
    assert engine.loss(as_rows(x)) == before
    engine.send()
    assert engine.loss(as_rows(x)) == pytest.approx(
        dense.mean_loss(x, np.zeros_like(W), b, c, loss="softmax"), rel=1e-5
    )


def test_an_epoch_of_fuller_batches_than_before_is_no_problem(device):
    """The memory of a step has room for the entries of the epoch that it was made in, and a little more."""
    x, W, b, c = make_problem(n_docs=10, n_words=50, density=0.9)
    x[:5] *= np.arange(50) < 2
    X, recipe = as_rows(x), Recipe("softmax", "tanh", 4, 0.5)
    networks = as_network(W, b, c), as_network(W, b, c)
    engines = TorchEngine(networks[0], recipe, device), CPUEngine(networks[1], recipe)
    optimizers = [Optimizer.adam(network) for network in networks]
    for docs in (np.arange(5), np.arange(5, 10), np.arange(5)):
        losses = [
            engine.train(X, [docs], np.array([0.01]), optimizer, np.zeros(1, np.int64))
            for engine, optimizer in zip(engines, optimizers, strict=True)
        ]
        assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_a_recorded_step_serves_other_documents_and_fewer_steps(device, dropout):
    """A corpus that is read piece by piece: every piece is another matrix, the last one a small one."""
    parts = [
        make_problem(n_docs=n, n_words=50, density=0.6)[0] * (part + 1) for part, n in enumerate((20, 20, 10))
    ]
    _, *parameters = make_problem(n_docs=20, n_words=50)
    recipe, networks = Recipe("softmax", "tanh", 4, 0.5, dropout), [as_network(*parameters) for _ in range(2)]
    engines = TorchEngine(networks[0], recipe, device), CPUEngine(networks[1], recipe)
    optimizers = [Optimizer.adam(network) for network in networks]
    steps = set()
    for part in parts:
        X = as_rows(part)
        batches = list(np.arange(len(part)).reshape(-1, 5))
        given = batches, np.full(len(batches), 0.01)
        seeds = np.arange(len(batches))
        inputs = (X.data * 0.5).astype(np.float32)
        losses = [
            engine.train(X, *given, optimizer, seeds, inputs)
            for engine, optimizer in zip(engines, optimizers, strict=True)
        ]
        assert losses[0] == pytest.approx(losses[1], rel=1e-4)
        steps.add(id(engines[0]._epoch.step))
    assert len(steps) == 1
    engines[0].fetch()
    assert_close(*networks, rtol=1e-3, atol=1e-4)


def test_documents_without_any_word(device):
    _, W, b, c = make_problem()
    X, docs = csr_matrix((4, len(W)), dtype=np.float32), np.arange(4)
    for loss in LOSSES:
        recipe = Recipe(loss, "tanh", 4, 1.0, 0.5)
        value, gradient = TorchEngine(as_network(W, b, c), recipe, device).gradient(X, docs)
        expected_value, expected = CPUEngine(as_network(W, b, c), recipe).gradient(X, docs)
        assert value == pytest.approx(expected_value, rel=1e-5)
        assert_close(gradient, expected)


def test_a_loss_that_is_not_finite_is_told(device):
    x, W, b, c = make_problem()
    W[0, 0] = np.nan
    network = as_network(W, b, c)
    engine = TorchEngine(network, Recipe("softmax"), device)
    loss = engine.train(
        as_rows(x), [np.arange(7)], np.ones(1), Optimizer.adam(network), np.zeros(1, np.int64)
    )
    assert np.isnan(loss)


def test_coarser_products_are_near(device):
    x, W, b, c = make_problem()
    network, X, docs = as_network(W, b, c), as_rows(x), np.arange(len(x))
    exact = TorchEngine(network, Recipe("softmax", n_winners=0), device).gradient(X, docs)[1]
    for precision, tolerance in (("tf32", 5e-3), ("bf16", 5e-2)):
        before = torch.get_float32_matmul_precision()
        engine = TorchEngine(network, Recipe("softmax", n_winners=0), device, precision)
        gradient = engine.gradient(X, docs)[1]
        assert torch.get_float32_matmul_precision() == before
        assert np.abs(gradient.W - exact.W).max() < tolerance * np.abs(exact.W).max()
        is_same = np.allclose(gradient.W, exact.W, rtol=1e-3, atol=1e-5)
        if precision == "bf16":
            assert not is_same
        elif device == "cpu":  # which has no TF32
            assert is_same
