"""Regression: how well a number can be predicted from the vectors, by the paper's two-layer network and by ridge.

Needs vectors and one number per document.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kate.research.metrics.adam import Descent, Parameters, descend
from kate.research.metrics.arrays import AnyFloats, as_vectors, as_vectors_of_one_model
from kate.research.metrics.probes import standardize, standards

__all__ = ["NumberProbe", "Regression", "fit_paper_network", "fit_ridge", "regress"]

HIDDEN = (16, 64)
NETWORK_STRENGTHS = (1e-3, 1e-4, 1e-5)
RIDGE_STRENGTHS = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001)

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NumberProbe:
    """``low + (high - low) · sigmoid(tanh(z·W₁ + b₁)·W₂ + b₂)`` of the standardised vectors z.

    With two parameters instead of four it is the linear ``low + (high - low) · (z·W + b)``.
    """

    mean: AnyFloats
    scale: AnyFloats
    low: float
    high: float
    parameters: Parameters
    strength: float  # L2, chosen on the validation documents

    @property
    def hidden(self) -> int:
        """The size of the hidden layer; 0 for ridge, which has none."""
        return self.parameters[0].shape[1] if len(self.parameters) == 4 else 0

    def predict(self, vectors: ArrayLike) -> Doubles:
        """The number of each document."""
        inputs = standardize(as_vectors(vectors, "vectors"), self.mean, self.scale)
        if len(self.parameters) == 4:
            outputs = _forward(self.parameters, inputs)[1]
        else:
            outputs = inputs @ self.parameters[0] + self.parameters[1]
        return self.low + (self.high - self.low) * outputs


@dataclass(frozen=True, eq=False)
class Regression:
    """Coefficients of determination on the test documents: 1 is perfect, 0 no better than their mean."""

    r2: float
    ridge_r2: float  # a linear reference, which the network should reach
    hidden: int
    strength: float
    ridge_strength: float

    def scores(self) -> dict[str, float]:
        """The numbers for one row of a table."""
        return {"r2": self.r2, "ridge_r2": self.ridge_r2}


def regress(
    train_vectors: ArrayLike,
    train_numbers: ArrayLike,
    validation_vectors: ArrayLike,
    validation_numbers: ArrayLike,
    test_vectors: ArrayLike,
    test_numbers: ArrayLike,
    *,
    random_state: int = 0,
) -> Regression:
    """Fit the network and the ridge on training and validation documents, score both on the test documents.

    >>> x = np.linspace(-1, 1, 40)[:, None]
    >>> result = regress(x, 3 * x[:, 0], x, 3 * x[:, 0], x[::2], 3 * x[::2, 0])
    >>> result.ridge_r2 > 0.99
    True
    """
    # mistakes are told before the fit
    _, test = as_vectors_of_one_model(train_vectors=train_vectors, test_vectors=test_vectors)
    truth = _as_numbers(test_numbers, len(test), "test_numbers")
    _require_difference(truth, "test_numbers")
    known = train_vectors, train_numbers, validation_vectors, validation_numbers
    network, ridge = fit_paper_network(*known, random_state=random_state), fit_ridge(*known)
    return Regression(
        r2=_r2(network.predict(test), truth),
        ridge_r2=_r2(ridge.predict(test), truth),
        hidden=network.hidden,
        strength=network.strength,
        ridge_strength=ridge.strength,
    )


def fit_paper_network(
    train_vectors: ArrayLike,
    train_numbers: ArrayLike,
    validation_vectors: ArrayLike,
    validation_numbers: ArrayLike,
    *,
    random_state: int = 0,
) -> NumberProbe:
    """The paper's network, a hidden layer and a sigmoid neuron with squared error, trained by Adam.

    Numbers are mapped so that those of the training documents span 0 to 1, as a sigmoid can give. Size and L2
    strength are those of the best validation error. It learns from the training documents alone: the
    validation documents say when to stop.
    """
    train, numbers, validation, validation_truth = _checked(
        train_vectors, train_numbers, validation_vectors, validation_numbers
    )
    low, high = float(numbers.min()), float(numbers.max())
    mean, scale = standards(train)
    inputs = standardize(train, mean, scale), standardize(validation, mean, scale)
    targets = (numbers - low) / (high - low), (validation_truth - low) / (high - low)
    tried = [
        (_train(inputs, targets, hidden, l2=strength, random_state=random_state), strength)
        for hidden in HIDDEN
        for strength in NETWORK_STRENGTHS
    ]
    found, strength = min(tried, key=lambda one: one[0].validation_loss)
    return NumberProbe(mean, scale, low, high, found.parameters, strength)


def fit_ridge(
    train_vectors: ArrayLike,
    train_numbers: ArrayLike,
    validation_vectors: ArrayLike,
    validation_numbers: ArrayLike,
) -> NumberProbe:
    """Ridge regression of the best validation error, refit on training and validation documents together."""
    train, numbers, validation, validation_truth = _checked(
        train_vectors, train_numbers, validation_vectors, validation_numbers
    )
    errors = {
        strength: np.square(probe.predict(validation) - validation_truth).mean()
        for strength in RIDGE_STRENGTHS
        for probe in [_ridge(train, numbers, strength)]
    }
    chosen = min(errors, key=lambda strength: float(errors[strength]))
    return _ridge(np.concatenate([train, validation]), np.concatenate([numbers, validation_truth]), chosen)


def _ridge(vectors: AnyFloats, numbers: Doubles, strength: float) -> NumberProbe:
    """The minimum of ``(1/n) ‖z·w + b - y‖² + strength·‖w‖²``; z has mean zero, so b is the mean of y."""
    mean, scale = standards(vectors)
    inputs = standardize(vectors, mean, scale).astype(np.float64)
    middle = float(numbers.mean())
    gram = inputs.T @ inputs / len(inputs) + strength * np.eye(inputs.shape[1])
    slopes = inputs.T @ (numbers - middle) / len(inputs)
    weights = np.asarray(np.linalg.solve(gram, slopes), dtype=np.float64)
    return NumberProbe(mean, scale, 0.0, 1.0, [weights, np.array(middle)], strength)


def _train(
    inputs: tuple[NDArray[np.float32], NDArray[np.float32]],
    targets: tuple[Doubles, Doubles],
    hidden: int,
    *,
    l2: float,
    random_state: int,
) -> Descent:
    (train, validation), (numbers, validation_truth) = inputs, targets

    def gradients(parameters: Parameters, rows: NDArray[np.intp]) -> Parameters:
        vectors = train[rows]
        activity, outputs = _forward(parameters, vectors)
        slope = 2 * (outputs - numbers[rows]) * outputs * (1 - outputs) / len(rows)  # (n_rows,)
        backward = np.outer(slope, parameters[2]) * (1 - activity**2)  # (n_rows, hidden)
        return [
            vectors.T @ backward + 2 * l2 * parameters[0],
            backward.sum(axis=0),
            activity.T @ slope + 2 * l2 * parameters[2],
            slope.sum(axis=0, keepdims=True),
        ]

    def validation_loss(parameters: Parameters) -> float:
        return float(np.square(_forward(parameters, validation)[1] - validation_truth).mean())

    generator = np.random.default_rng(random_state)
    n_inputs, share = train.shape[1], float(np.clip(numbers.mean(), 0.01, 0.99))
    start = [
        generator.normal(scale=1 / np.sqrt(n_inputs), size=(n_inputs, hidden)),
        np.zeros(hidden),
        generator.normal(scale=1 / np.sqrt(hidden), size=hidden),
        np.array([np.log(share / (1 - share))]),  # learning starts from the mean of the numbers
    ]
    return descend(start, gradients, validation_loss, len(train), random_state=random_state)


def _forward(parameters: Parameters, inputs: NDArray[np.float32]) -> tuple[Doubles, Doubles]:
    """The activity of the hidden layer (n_docs, hidden) and the output (n_docs,)."""
    inner, inner_bias, outer, outer_bias = parameters
    activity = np.tanh(inputs @ inner + inner_bias)
    return activity, 0.5 * (1 + np.tanh(0.5 * (activity @ outer + outer_bias)))


def _r2(predicted: Doubles, truth: Doubles) -> float:
    return float(1 - np.square(predicted - truth).sum() / np.square(truth - truth.mean()).sum())


def _checked(
    train_vectors: ArrayLike,
    train_numbers: ArrayLike,
    validation_vectors: ArrayLike,
    validation_numbers: ArrayLike,
) -> tuple[AnyFloats, Doubles, AnyFloats, Doubles]:
    train, validation = as_vectors_of_one_model(
        train_vectors=train_vectors, validation_vectors=validation_vectors
    )
    numbers = _as_numbers(train_numbers, len(train), "train_numbers")
    _require_difference(numbers, "train_numbers")
    return train, numbers, validation, _as_numbers(validation_numbers, len(validation), "validation_numbers")


def _as_numbers(numbers: ArrayLike, n_documents: int, name: str) -> Doubles:
    array = np.asarray(numbers, dtype=np.float64)
    if array.shape != (n_documents,):
        raise ValueError(
            f"{name} has shape {array.shape} for {n_documents} vectors; give one number per document"
        )
    broken = np.flatnonzero(~np.isfinite(array))
    if broken.size:
        raise ValueError(
            f"{name} has {broken.size} NaN or infinite values (the first in row {broken[0]}); "
            "leave documents without a number out"
        )
    return array


def _require_difference(numbers: Doubles, name: str) -> None:
    if numbers.min() == numbers.max():
        raise ValueError(f"{name} are all {numbers[0]:g}; expected numbers that differ")
