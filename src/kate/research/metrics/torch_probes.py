"""What a linear probe minimises, computed on a GPU: the formulas of ``probes``, for all documents at once.

Without it, the probe on the vectors of a model that was trained on a GPU takes longer than the model.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Objective", "gpu", "is_full", "objective_on"]

Objective = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]


def gpu() -> str | None:
    """The GPU, if PyTorch has been loaded already and finds one; PyTorch is not loaded just for this."""
    torch = sys.modules.get("torch")
    return "cuda" if torch is not None and torch.cuda.is_available() else None


def is_full(error: RuntimeError) -> bool:
    """Whether an error of PyTorch says that the GPU has no memory left; other programs may use it, too."""
    return isinstance(error, sys.modules["torch"].OutOfMemoryError)


def objective_on(
    device: str, inputs: NDArray[np.float32], targets: NDArray[Any], l2: float, units: NDArray[np.float64]
) -> Objective:
    """The mean loss and its gradient, in ``units``: logistic for an indicator matrix, softmax for classes."""
    import torch
    from torch.nn import functional

    x, scale = torch.from_numpy(inputs).to(device), torch.from_numpy(units).to(device)
    is_indicator = targets.ndim == 2
    wanted = torch.from_numpy(targets.astype(np.float32 if is_indicator else np.int64)).to(device)
    one_hot = wanted if is_indicator else functional.one_hot(wanted, units.shape[1]).float()

    def objective(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        parameters = torch.from_numpy(flat).to(device).view(scale.shape) * scale
        single = parameters.float()
        logits = torch.addmm(single[-1], x, single[:-1])
        if is_indicator:
            losses = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
            slopes = logits.sigmoid() - one_hot
        else:
            losses = functional.cross_entropy(logits, wanted, reduction="none")
            slopes = logits.softmax(dim=1) - one_hot
        gradient = torch.cat([(x.T @ slopes).double(), slopes.sum(dim=0, dtype=torch.float64)[None]])
        gradient /= len(x)
        gradient[:-1] += l2 * parameters[:-1]
        total = losses.sum(dtype=torch.float64) / len(x) + 0.5 * l2 * parameters[:-1].square().sum()
        told = torch.cat([total[None], (gradient * scale).view(-1)]).cpu().numpy()  # one copy back to the CPU
        return float(told[0]), told[1:]

    return objective
