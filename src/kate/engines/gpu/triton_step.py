"""The step of the GPU engine with fused kernels between its matrix products: nine kernels instead of fifty.

The matrices are those of ``torch_step``. A kernel changes the result of the product before it in place: Z = X_in W
becomes g(Z + b), R = A Wᵀ becomes the residual, D = R W becomes the gradient for the encoder.
"""

from __future__ import annotations

import warnings
from functools import cache

import torch
import triton

from kate.engines.devices import Precision
from kate.engines.gpu import triton_kernels as kernels
from kate.engines.gpu.device_batches import Layout
from kate.engines.gpu.torch_step import DeviceParameters, DeviceUpdate, Step
from kate.engines.network import Recipe

__all__ = ["FusedStep", "can_compile"]

_WORDS = 1024  # of a document at once
_WEIGHTS = 1024  # of a program that updates them
_ROWS, _COLUMNS = 64, 32  # of a tile whose columns are summed


class FusedStep(Step):
    """The step with fused kernels."""

    def __init__(
        self, recipe: Recipe, parameters: DeviceParameters, layout: Layout, precision: Precision
    ) -> None:
        super().__init__(recipe, parameters, layout, precision)
        self.Z = torch.zeros_like(self.A)
        self.numbers = torch.ones(3, device=self.Z.device)  # the optimizer's for this step
        self.n_lanes = max(16, triton.next_power_of_2(self.Z.shape[1]))
        # sums over a row are fastest within one warp
        self.n_warps = min(8, max(1, self.n_lanes // 128))

    def run(self, update: DeviceUpdate | None) -> None:
        self._encode_and_decode()
        self._multiply(self.R, self.parameters.W, out=self.D)
        B, m = self.Z.shape
        kernels.backward[(B,)](
            self.D, self.Z, self.A, self.at, self.layout.numbers, self.numbers, m, float(self.recipe.amplification),
            HAS_WINNERS=self.recipe.n_winners > 0, IS_TANH=self.recipe.activation == "tanh",
            BLOCK=self.n_lanes, num_warps=self.n_warps,
        )  # fmt: skip
        self._fill_gradient_of_weights()
        self._learn(update)

    def add_losses(self) -> None:
        self._encode_and_decode()
        self.at += 1

    def _encode_and_decode(self) -> None:
        """All up to the residual and the losses."""
        layout, recipe, W = self.layout, self.recipe, self.parameters.W
        (V, m), B = W.shape, layout.batch_size
        kernels.place[(B,)](
            self.at, layout.ends, layout.places, layout.kept, layout.values, self.X_in, self.X, len(layout.slots), V,
            HAS_DROPOUT=self.target is not None, BLOCK=_WORDS, num_warps=8,
        )  # fmt: skip
        self._multiply(self.X_in, W, out=self.Z)
        kernels.compete[(B,)](
            self.Z, self.A, self.parameters.b, m, float(recipe.amplification), N_WINNERS=recipe.n_winners,
            IS_TANH=recipe.activation == "tanh", BLOCK=self.n_lanes, num_warps=self.n_warps,
        )  # fmt: skip
        self._multiply(self.A, W.T, out=self.R)
        kernels.decode[(B,)](
            self.R, self.X, self.parameters.c, layout.facts, self.at, self.losses, V,
            IS_SOFTMAX=recipe.loss == "softmax", BLOCK=_WORDS, num_warps=8,
        )  # fmt: skip

    def _learn(self, update: DeviceUpdate | None) -> None:
        """The biases' gradients, and with an update the optimizer's step."""
        (V, m), B, gradient = self.parameters.W.shape, self.layout.batch_size, self.gradient.flat
        n_programs = triton.cdiv(m, _COLUMNS) + triton.cdiv(V, _COLUMNS)
        method, decay, epsilon = "none", (0.0, 0.0), 0.0
        moments = (gradient, gradient)  # not read
        if update is not None:
            n_programs += triton.cdiv(V * m, _WEIGHTS)
            method, decay, epsilon = update.method, update.decay, update.epsilon
            moments = (update.first.flat, update.second.flat)
        kernels.learn[(n_programs,)](
            self.parameters.flat, gradient, *moments, self.numbers, self.R, self.D, B, V, m, V * m,
            METHOD=method, DECAY1=decay[0], DECAY2=decay[1], EPSILON=epsilon,
            ROWS=_ROWS, COLUMNS=_COLUMNS, BLOCK=_WEIGHTS, num_warps=4,
        )  # fmt: skip


@cache
def can_compile(device: torch.device) -> bool:
    """Whether Triton can compile and start a kernel: besides a GPU that it knows, it needs a C compiler."""
    Z, b = torch.zeros((1, 1), device=device), torch.zeros(1, device=device)
    try:
        kernels.compete[(1,)](Z, Z, b, 1, 0.0, N_WINNERS=0, IS_TANH=True, BLOCK=16, num_warps=1)
    except Exception as error:  # whatever a compiler may say
        warnings.warn(
            f"Triton cannot compile the fused kernels here; without them training takes about twice as long: {error}",
            stacklevel=2,
        )
        return False
    return True
