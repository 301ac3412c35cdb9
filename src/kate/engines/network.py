"""What every engine trains and how: the parameters, the recipe of a step, and the optimizer's state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kate.sparse_arrays import sparse

__all__ = ["Engine", "Network", "Optimizer", "Recipe", "floats"]

Floats = NDArray[np.float32]
Loss = Literal["cross-entropy", "softmax"]
Activation = Literal["tanh", "sigmoid"]


def floats(*shape: int) -> Floats:
    """Zeros aligned to cache lines, so that rows of whole vectors touch no more lines than needed."""
    n = int(np.prod(shape))
    room = np.zeros(n + 16, np.float32)
    start = -room.ctypes.data % 64 // 4
    return room[start : start + n].reshape(shape)


class Network(NamedTuple):
    """The parameters: W (n_words, n_components), the hidden bias b (n_components,) and the output bias c (n_words,)."""

    W: Floats
    b: Floats
    c: Floats

    def copy(self) -> Network:
        other = self.zeros()
        for new, old in zip(other, self, strict=True):
            new[...] = old
        return other

    def zeros(self) -> Network:
        return Network(floats(*self.W.shape), floats(*self.b.shape), floats(*self.c.shape))


@dataclass(frozen=True)
class Recipe:
    """What a step computes: the loss, the activation, the competition (none for 0 winners), the word dropout.

    ``n_sampled``: only the words of a batch are reconstructed, and so many of the others, drawn anew for every batch; 0
    reconstructs all words.
    """

    loss: Loss = "cross-entropy"
    activation: Activation = "tanh"
    n_winners: int = 0
    amplification: float = 0.0
    dropout: float = 0.0
    n_sampled: int = 0

    def as_encoding(self) -> Recipe:
        """The recipe by which the same network encodes: no competition, no dropout."""
        return Recipe(self.loss, self.activation)


@dataclass
class Optimizer:
    """Adam or Adadelta, with two running moments for every parameter.

    ``decay`` is Adam's (beta1, beta2); for Adadelta both are rho.
    """

    method: Literal["adam", "adadelta"]
    decay: tuple[float, float]
    epsilon: float
    first: Network
    second: Network
    n_steps: int = 0

    @classmethod
    def adam(
        cls, network: Network, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8
    ) -> Optimizer:
        return cls("adam", (beta1, beta2), epsilon, network.zeros(), network.zeros())

    @classmethod
    def adadelta(cls, network: Network, rho: float = 0.95, epsilon: float = 1e-8) -> Optimizer:
        return cls("adadelta", (rho, rho), epsilon, network.zeros(), network.zeros())


class Engine(Protocol):
    """What trains a network on sparse rows that are already scaled (float32 CSR), on the CPU or on a GPU."""

    network: Network

    def train(
        self,
        X: sparse.csr_matrix,
        batches: list[NDArray[np.int64]],
        rates: NDArray[np.float64],
        optimizer: Optimizer,
        seeds: NDArray[np.int64],
        inputs: Floats | None = None,
    ) -> float:
        """One step per batch of documents, with its learning rate and dropout seed; returns the summed loss.

        ``inputs`` are what the encoder reads of each entry of X; None: the entries themselves, which are the target.
        """

    def loss(self, X: sparse.csr_matrix, inputs: Floats | None = None) -> float:
        """The mean loss of a document without competition and dropout, as encoding works."""

    def fetch(self) -> None:
        """Copy what was learned into ``network`` and the optimizer, where it was learned on another device."""

    def send(self, optimizer: Optimizer | None = None) -> None:
        """Copy ``network`` to the device, where there is one, and go on from there; so too a changed optimizer."""
