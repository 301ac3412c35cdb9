"""Mini-batch Adam with early stopping, for the small networks that the paper puts on top of the vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

__all__ = ["Descent", "descend"]

Parameters = list[NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Descent:
    """The parameters of the best epoch, that epoch (counted from 1) and its validation loss."""

    parameters: Parameters
    epoch: int
    validation_loss: float


def descend(
    start: Sequence[NDArray[np.float64]],
    gradients: Callable[[Parameters, NDArray[np.intp]], Parameters],
    validation_loss: Callable[[Parameters], float],
    n_documents: int,
    *,
    random_state: int = 0,
    learning_rate: float = 1e-3,
    batch_size: int = 100,
    patience: int = 5,
    max_epochs: int = 200,
) -> Descent:
    """Descend until the validation loss has not fallen for ``patience`` epochs; the best epoch counts.

    ``gradients(parameters, rows)`` gives the gradient over those training documents, one array per parameter.

    >>> toward_three = lambda parameters, rows: [2 * (parameters[0] - 3.0)]
    >>> distance = lambda parameters: float((parameters[0][0] - 3.0) ** 2)
    >>> found = descend([np.zeros(1)], toward_three, distance, 100, learning_rate=0.1)
    >>> bool(abs(found.parameters[0][0] - 3.0) < 0.1)
    True
    """
    generator = np.random.default_rng(random_state)
    parameters = [array.copy() for array in start]
    means = [np.zeros_like(array) for array in parameters]
    squares = [np.zeros_like(array) for array in parameters]
    best = Descent([array.copy() for array in parameters], 0, validation_loss(parameters))
    step = 0
    # One thread: batches are small, and a score must not depend on the number of cores.
    with threadpool_limits(1, user_api="blas"):
        for epoch in range(1, max_epochs + 1):
            order = generator.permutation(n_documents)
            for first in range(0, n_documents, batch_size):
                step += 1
                slopes = gradients(parameters, order[first : first + batch_size])
                for moments in zip(parameters, slopes, means, squares, strict=True):
                    _adam_step(*moments, step=step, rate=learning_rate)
            loss = validation_loss(parameters)
            if loss < best.validation_loss:
                best = Descent([array.copy() for array in parameters], epoch, loss)
            elif epoch - best.epoch >= patience:
                break
    return best


def _adam_step(
    parameter: NDArray[np.float64],
    slope: NDArray[np.float64],
    mean: NDArray[np.float64],
    square: NDArray[np.float64],
    *,
    step: int,
    rate: float,
) -> None:
    """One step of Kingma & Ba (2015), algorithm 1, with their constants, in place."""
    beta1, beta2, epsilon = 0.9, 0.999, 1e-8
    mean += (1 - beta1) * (slope - mean)
    square += (1 - beta2) * (slope * slope - square)
    unbiased = mean / (1 - beta1**step)
    parameter -= rate * unbiased / (np.sqrt(square / (1 - beta2**step)) + epsilon)
