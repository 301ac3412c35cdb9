"""Adadelta for PyTorch's parameters in one pass over them: the optimizer of the paper's settings.

PyTorch's own makes eight passes, which on a CPU take as long as the network. On a GPU its own is used.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numba import njit

__all__ = ["Adadelta"]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"}, error_model="numpy")
def _update(p, g, squares, changes, rate, rho, epsilon):
    """squares = ρ squares + (1 - ρ) g²,  change = g √((changes + ε) / (squares + ε)),  p -= rate · change."""
    rest = np.float32(1) - rho
    for j in range(p.size):
        squares[j] = rho * squares[j] + rest * g[j] * g[j]
        change = g[j] * np.sqrt((changes[j] + epsilon) / (squares[j] + epsilon))
        changes[j] = rho * changes[j] + rest * change * change
        p[j] -= rate * change


class Adadelta(torch.optim.Optimizer):
    """The same steps as :class:`torch.optim.Adadelta`, for dense float32 parameters on the CPU."""

    def __init__(
        self, parameters: Iterable[torch.nn.Parameter], lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6
    ) -> None:
        super().__init__(parameters, {"lr": lr, "rho": rho, "eps": eps})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]  # no loss is computed again
        for group in self.param_groups:
            numbers = [np.float32(group[name]) for name in ("lr", "rho", "eps")]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["squares"] = torch.zeros_like(parameter, memory_format=torch.contiguous_format)
                    state["changes"] = torch.zeros_like(state["squares"])
                arrays = (parameter.detach(), parameter.grad.contiguous(), state["squares"], state["changes"])
                _update(*(array.view(-1).numpy() for array in arrays), *numbers)
