"""Linear probes on a GPU minimise what they minimise on the CPU; through the tasks the rest is tested."""

import sys

import numpy as np
import pytest

from kate.research.metrics import probes
from kate.research.metrics.probes import _objective, fit_probe, logistic_loss, softmax_loss
from kate.research.metrics.torch_probes import gpu, objective_on


@pytest.mark.parametrize("kind", ["classes", "sets"])
def test_the_objective_of_a_gpu_is_the_same(kind):
    pytest.importorskip("torch", reason="probes on a GPU need PyTorch")
    random = np.random.default_rng(0)
    inputs = random.normal(size=(50, 6)).astype(np.float32)
    targets = random.integers(0, 3, 50) if kind == "classes" else random.random((50, 3)) < 0.3
    loss = softmax_loss if kind == "classes" else logistic_loss
    units, flat = random.uniform(0.5, 2, size=(7, 3)), random.normal(size=21)
    value, gradient = _objective(inputs, targets, loss, 0.1, units)(flat)
    other_value, other_gradient = objective_on("cpu", inputs, targets, 0.1, units)(flat)
    assert other_value == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(other_gradient, gradient, rtol=1e-4, atol=1e-6)


def test_no_gpu_is_looked_for_unless_pytorch_is_loaded(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert gpu() is None
    assert "torch" not in sys.modules


def test_where_the_gpu_is_full_the_cpu_takes_over(monkeypatch):
    torch = pytest.importorskip("torch", reason="probes on a GPU need PyTorch")
    vectors, classes = np.array([[-1.0], [1.0], [0.5]]), np.array([0, 1, 1])
    expected = fit_probe(vectors, classes, 2, softmax_loss, l2=0.01)

    def fails_with(error):
        def objective_on(*_):
            raise error

        return objective_on

    monkeypatch.setattr(probes, "gpu", lambda: "cuda")
    monkeypatch.setattr(probes, "objective_on", fails_with(torch.OutOfMemoryError("CUDA out of memory")))
    found = fit_probe(vectors, classes, 2, softmax_loss, l2=0.01)
    np.testing.assert_array_equal(found.weights, expected.weights)
    monkeypatch.setattr(probes, "objective_on", fails_with(RuntimeError("a fault of our own")))
    with pytest.raises(RuntimeError, match="a fault of our own"):
        fit_probe(vectors, classes, 2, softmax_loss, l2=0.01)
