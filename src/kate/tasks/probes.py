"""Linear probes: softmax and logistic regression by L-BFGS, all outputs at once, over a path of strengths.

A probe of ``n`` documents minimises ``(1/n) Σ loss(W·z + b, target) + (l2/2)·‖W‖²`` where ``z`` is the
document's vector standardised with the mean and the deviation of the documents the probe is fitted on; ``b``
goes unpunished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kate.tasks.arrays import Floats

__all__ = ["STRENGTHS", "LinearProbe", "Loss", "fit_path", "fit_probe", "logistic_loss", "softmax_loss"]

STRENGTHS = (1.0, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5)
"""The L2 strengths that are tried, strongest first: each fit starts from the one before it."""

Loss = Callable[[NDArray[np.float32], NDArray[Any]], float]
"""(logits, targets) → the summed loss; the logits are overwritten by the gradient with respect to them."""

_BLOCK = 8192  # documents at a time: the logits of a large corpus never stand in memory together
_MAX_ITERATIONS = 300
_GRADIENT_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class LinearProbe:
    """``logits = ((vectors - mean) / scale) · weights + bias``.

    >>> probe = LinearProbe(np.zeros(2), np.ones(2), np.eye(2, dtype="f4"), np.array([0, 1], "f4"))
    >>> probe.decide(np.array([[2.0, 3.0]])).tolist()
    [[2.0, 4.0]]
    """

    mean: Floats  # (n_topics,)
    scale: Floats  # (n_topics,)
    weights: NDArray[np.float32]  # (n_topics, n_outputs)
    bias: NDArray[np.float32]  # (n_outputs,)

    def decide(self, vectors: Floats) -> NDArray[np.float32]:
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
    tails = np.exp(-np.abs(logits))  # never overflows, whatever the sign
    loss = np.log1p(tails).sum(dtype=np.float64) + np.maximum(logits, 0).sum(dtype=np.float64)
    loss -= logits[indicator].sum(dtype=np.float64)
    np.divide(np.where(logits >= 0, np.float32(1), tails), 1 + tails, out=logits)
    logits -= indicator
    return float(loss)


def fit_probe(
    vectors: Floats,
    targets: NDArray[Any],
    n_outputs: int,
    loss: Loss,
    *,
    l2: float,
    start: LinearProbe | None = None,
) -> LinearProbe:
    """The probe of one strength; ``start`` is a probe of a neighbouring problem to start from.

    >>> probe = fit_probe(np.array([[-1.0], [1.0]]), np.array([0, 1]), 2, softmax_loss, l2=0.01)
    >>> probe.decide(np.array([[-3.0], [2.0]])).argmax(axis=1).tolist()
    [0, 1]
    """
    mean, scale = standards(vectors)
    inputs = standardize(vectors, mean, scale)
    return LinearProbe(mean, scale, *_minimize(inputs, targets, n_outputs, loss, l2=l2, start=start))


def fit_path(
    vectors: Floats,
    targets: NDArray[Any],
    n_outputs: int,
    loss: Loss,
    strengths: tuple[float, ...] = STRENGTHS,
) -> Iterator[tuple[float, LinearProbe]]:
    """(strength, probe) for each strength from the strongest on, each started from the one before it."""
    mean, scale = standards(vectors)
    inputs = standardize(vectors, mean, scale)
    probe: LinearProbe | None = None
    for l2 in sorted(strengths, reverse=True):
        probe = LinearProbe(mean, scale, *_minimize(inputs, targets, n_outputs, loss, l2=l2, start=probe))
        yield l2, probe


def standards(vectors: Floats) -> tuple[Floats, Floats]:
    """Mean and deviation of each column; a column that (all but) never changes keeps its scale."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    deviation = vectors.std(axis=0, dtype=np.float64)
    still = deviation <= 1e-6 * max(float(deviation.max()), float(np.abs(mean).max()))
    return mean.astype(vectors.dtype), np.where(still, 1.0, deviation).astype(vectors.dtype)


def standardize(vectors: Floats, mean: Floats, scale: Floats) -> NDArray[np.float32]:
    """The standardised vectors in single precision: the products of the fit are twice as fast."""
    return ((vectors - mean) / scale).astype(np.float32, copy=False)


def _minimize(
    inputs: NDArray[np.float32],
    targets: NDArray[Any],
    n_outputs: int,
    loss: Loss,
    *,
    l2: float,
    start: LinearProbe | None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weights and bias at the minimum: products in float32, sums and the optimizer's state in float64."""
    from scipy.optimize import minimize  # noqa: PLC0415  takes long to import

    n_documents, n_inputs = inputs.shape
    shape = (n_inputs + 1, n_outputs)  # the last row is the bias

    def objective(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        parameters = flat.reshape(shape)
        single = parameters.astype(np.float32)
        total, gradient = 0.0, np.zeros(shape)
        for first in range(0, n_documents, _BLOCK):
            block = inputs[first : first + _BLOCK]
            logits = block @ single[:-1] + single[-1]
            total += loss(logits, targets[first : first + _BLOCK])
            gradient[:-1] += block.T @ logits  # the loss left its gradient there
            gradient[-1] += logits.sum(axis=0, dtype=np.float64)
        gradient /= n_documents
        gradient[:-1] += l2 * parameters[:-1]
        return total / n_documents + 0.5 * l2 * float(np.square(parameters[:-1]).sum()), gradient.ravel()

    first_guess = (
        np.zeros(shape) if start is None else np.vstack([start.weights, start.bias]).astype(np.float64)
    )
    found = minimize(
        objective,
        first_guess.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MAX_ITERATIONS, "gtol": _GRADIENT_TOLERANCE, "ftol": 1e-9},
    )
    parameters = np.asarray(found.x, dtype=np.float32).reshape(shape)
    return parameters[:-1], parameters[-1]
