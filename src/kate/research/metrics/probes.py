"""Linear probes: softmax and logistic regression by L-BFGS, all outputs at once, over a path of strengths.

A probe of ``n`` documents minimises ``(1/n) Σ loss(W·z + b, target) + (l2/2)·‖W‖²`` where ``z`` is the
document's vector, standardised with the mean and the deviation of the documents the probe is fitted on; ``b``
has no penalty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kate.research.metrics.arrays import AnyFloats
from kate.research.metrics.torch_probes import Objective, gpu, is_full, objective_on

__all__ = [
    "STRENGTHS",
    "LinearProbe",
    "LossFunction",
    "fit_path",
    "fit_probe",
    "logistic_loss",
    "softmax_loss",
]

STRENGTHS = (1.0, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5)
"""The L2 strengths that are tried, strongest first: each fit starts from the one before it."""

LossFunction = Callable[[NDArray[np.float32], NDArray[Any]], float]
"""(logits, targets) → the summed loss; the logits are overwritten by the gradient with respect to them."""

_BLOCK = 1024  # documents at a time: their logits stay in the processor's cache
_MAX_ITERATIONS = 300
_GRADIENT_TOLERANCE = 1e-4
_WIDEST_TURN = 2048  # columns; for wider inputs the eigenvectors cost more than they save


@dataclass(frozen=True, eq=False)
class LinearProbe:
    """``logits = ((vectors - mean) / scale) · weights + bias``.

    >>> probe = LinearProbe(np.zeros(2), np.ones(2), np.eye(2, dtype="f4"), np.array([0, 1], "f4"))
    >>> probe.decide(np.array([[2.0, 3.0]])).tolist()
    [[2.0, 4.0]]
    """

    mean: AnyFloats  # (n_components,)
    scale: AnyFloats  # (n_components,)
    weights: NDArray[np.float32]  # (n_components, n_outputs)
    bias: NDArray[np.float32]  # (n_outputs,)

    def decide(self, vectors: AnyFloats) -> NDArray[np.float32]:
        """The logits (n_docs, n_outputs) of the documents."""
        return standardize(vectors, self.mean, self.scale) @ self.weights + self.bias


def softmax_loss(logits: NDArray[np.float32], classes: NDArray[np.intp]) -> float:
    """Cross-entropy of the softmax; the logits become ``softmax - one_hot(classes)``.

    >>> logits = np.zeros((1, 2), np.float32)
    >>> round(softmax_loss(logits, np.array([1])), 4), logits.tolist()
    (0.6931, [[0.5, -0.5]])
    """
    rows = np.arange(len(classes))
    logits -= logits.max(axis=1, keepdims=True)
    of_the_true_class = logits[rows, classes].sum(dtype=np.float64)
    np.exp(logits, out=logits)
    totals = logits.sum(axis=1, keepdims=True)
    logits /= totals
    logits[rows, classes] -= 1
    return float(np.log(totals).sum(dtype=np.float64) - of_the_true_class)


def logistic_loss(logits: NDArray[np.float32], indicator: NDArray[np.bool_]) -> float:
    """Binary cross-entropy summed over labels; the logits become ``sigmoid - indicator``.

    >>> logits = np.zeros((1, 2), np.float32)
    >>> round(logistic_loss(logits, np.array([[True, False]])), 4), logits.tolist()
    (1.3863, [[-0.5, 0.5]])
    """
    sizes = np.abs(logits)
    loss = 0.5 * (sizes.sum(dtype=np.float64) + logits.sum(dtype=np.float64))  # max(logit, 0)
    loss -= logits.sum(where=indicator, dtype=np.float64)
    loss += np.log1p(np.exp(-sizes)).sum(dtype=np.float64)  # never overflows, for either sign
    logits *= 0.5
    np.tanh(logits, out=logits)
    logits *= 0.5
    logits += 0.5
    logits -= indicator
    return float(loss)


def fit_probe(
    vectors: AnyFloats,
    targets: NDArray[Any],
    n_outputs: int,
    loss: LossFunction,
    *,
    l2: float,
    start: LinearProbe | None = None,
) -> LinearProbe:
    """The probe of one strength; ``start`` is a probe of a neighbouring problem to start from.

    >>> probe = fit_probe(np.array([[-1.0], [1.0]]), np.array([0, 1]), 2, softmax_loss, l2=0.01)
    >>> probe.decide(np.array([[-3.0], [2.0]])).argmax(axis=1).tolist()
    [0, 1]
    """
    [(_, probe)] = fit_path(vectors, targets, n_outputs, loss, strengths=(l2,), start=start)
    return probe


def fit_path(
    vectors: AnyFloats,
    targets: NDArray[Any],
    n_outputs: int,
    loss: LossFunction,
    *,
    strengths: tuple[float, ...] = STRENGTHS,
    start: LinearProbe | None = None,
) -> Iterator[tuple[float, LinearProbe]]:
    """(strength, probe) for each strength, the strongest first, each started from the one before it."""
    mean, scale = standards(vectors)
    turned = _turn(standardize(vectors, mean, scale))
    probe = start
    for l2 in sorted(strengths, reverse=True):
        probe = LinearProbe(mean, scale, *_minimize(turned, targets, n_outputs, loss, l2=l2, start=probe))
        yield l2, probe


def standards(vectors: AnyFloats) -> tuple[AnyFloats, AnyFloats]:
    """Mean and deviation of each column; the scale of an (almost) constant column is 1."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    deviation = vectors.std(axis=0, dtype=np.float64)
    still = deviation <= 1e-6 * max(float(deviation.max()), float(np.abs(mean).max()))
    return mean.astype(vectors.dtype), np.where(still, 1.0, deviation).astype(vectors.dtype)


def standardize(vectors: AnyFloats, mean: AnyFloats, scale: AnyFloats) -> NDArray[np.float32]:
    """The standardised vectors in single precision: the products of the fit are twice as fast."""
    return ((vectors - mean) / scale).astype(np.float32, copy=False)


@dataclass(frozen=True, eq=False)
class _Turned:
    """Inputs rotated to axes in which they do not correlate; L2 is the same after any rotation."""

    inputs: NDArray[np.float32]  # (n_docs, n_components)
    axes: NDArray[np.float64] | None  # (n_components, n_components); None where the inputs stay as they were
    variances: NDArray[np.float64]  # (n_components,)


def _turn(inputs: NDArray[np.float32]) -> _Turned:
    n_documents, n_inputs = inputs.shape
    if n_inputs > _WIDEST_TURN:
        return _Turned(inputs, None, np.square(inputs).mean(axis=0, dtype=np.float64))
    variances, axes = np.linalg.eigh((inputs.T @ inputs).astype(np.float64) / n_documents)
    return _Turned(inputs @ axes.astype(np.float32), axes, np.maximum(variances, 0))


def _minimize(
    turned: _Turned,
    targets: NDArray[Any],
    n_outputs: int,
    loss: LossFunction,
    *,
    l2: float,
    start: LinearProbe | None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weights and bias at the minimum.

    L-BFGS sees each parameter in units of its own curvature (at the base rates of the outputs), so that rare
    labels and narrow axes take no more steps than the others.
    """
    units = _units(turned.variances, targets, n_outputs, l2)  # (n_components + 1, n_outputs), bias last
    guess = np.zeros(units.shape)
    if start is not None:
        guess[:-1] = start.weights if turned.axes is None else turned.axes.T @ start.weights
        guess[-1] = start.bias
    device = gpu() if loss in (softmax_loss, logistic_loss) else None
    found = None
    if device is not None:
        try:
            found = _descend(objective_on(device, turned.inputs, targets, l2, units), guess / units)
        except RuntimeError as error:
            if not is_full(error):
                raise
    if found is None:
        found = _descend(_objective(turned.inputs, targets, loss, l2, units), guess / units)
    parameters = found * units
    weights = parameters[:-1] if turned.axes is None else turned.axes @ parameters[:-1]
    return weights.astype(np.float32), parameters[-1].astype(np.float32)


def _descend(objective: Objective, start: NDArray[np.float64]) -> NDArray[np.float64]:
    """The minimum that L-BFGS comes to from ``start``."""
    from scipy.optimize import minimize

    # One thread: blocks are small, and a score must not depend on the number of cores.
    with threadpool_limits(1, user_api="blas"):
        found = minimize(
            objective,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _MAX_ITERATIONS, "gtol": _GRADIENT_TOLERANCE, "ftol": 1e-9},
        )
    return np.asarray(found.x).reshape(start.shape)


def _objective(
    inputs: NDArray[np.float32],
    targets: NDArray[Any],
    loss: LossFunction,
    l2: float,
    units: NDArray[np.float64],
) -> Objective:
    """What to minimise, and its gradient, in ``units``; products are in float32, sums in float64."""

    def objective(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        parameters = flat.reshape(units.shape) * units
        single = parameters.astype(np.float32)
        total, gradient = 0.0, np.zeros(units.shape)
        for first in range(0, len(inputs), _BLOCK):
            block = inputs[first : first + _BLOCK]
            logits = block @ single[:-1] + single[-1]
            total += loss(logits, targets[first : first + _BLOCK])
            gradient[:-1] += block.T @ logits  # the loss left its gradient there
            gradient[-1] += logits.sum(axis=0, dtype=np.float64)
        gradient /= len(inputs)
        gradient[:-1] += l2 * parameters[:-1]
        penalty = 0.5 * l2 * float(np.square(parameters[:-1]).sum())
        return total / len(inputs) + penalty, (gradient * units).ravel()

    return objective


def _units(
    variances: NDArray[np.float64], targets: NDArray[Any], n_outputs: int, l2: float
) -> NDArray[np.float64]:
    """One over the root of each parameter's curvature, ``share·(1 - share)·variance + l2``."""
    is_indicator = targets.ndim == 2
    totals = targets.sum(axis=0) if is_indicator else np.bincount(targets, minlength=n_outputs)
    shares = (totals + 0.5) / (len(targets) + 1.0)
    curvature = np.outer(np.append(variances, 1.0), shares * (1 - shares))
    curvature[:-1] += l2
    return 1 / np.sqrt(curvature)
