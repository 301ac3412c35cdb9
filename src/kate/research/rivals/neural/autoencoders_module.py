"""The tied autoencoder: one module for AE, DAE, CAE and KSAE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from kate.research.rivals.neural.batches import Batch
from kate.research.rivals.neural.document_module import DocumentModule, glorot
from kate.research.rivals.neural.losses import binary_cross_entropy, multinomial_loss

__all__ = ["Autoencoder", "Corruption", "LayerActivation", "Noise"]

LayerActivation = Literal["sigmoid", "tanh", "relu", "linear"]
Noise = Literal["masking", "gaussian", "salt-and-pepper"]


@dataclass(frozen=True)
class Corruption:
    """How the input is corrupted in training; the target is not.

    "masking"          a share ``level`` of the words is left out (the others are scaled up, so that the mean stays)
    "gaussian"         noise of the deviation ``level`` on every word of the vocabulary
    "salt-and-pepper"  a share ``level`` of the vocabulary is set to 0 or 1 at random
    """

    noise: Noise
    level: float


class Autoencoder(DocumentModule):
    """A tied autoencoder, with what DAE, CAE and KSAE add to it.

        x̃  = corrupt(x)                          in training, if there is a corruption
        z  = g(Wᵀ x̃ + b)                         W (n_words, n_components)
        z  = the n_winners highest of z          if there is a competition: k-sparse
        x̂  = output(W z + c)                     sigmoid ("cross-entropy") or softmax
        loss = -Σ x ln x̂ …  +  penalty · ‖∂g(Wᵀ x + b)/∂x‖²      the contractive penalty, on W itself

    The code of a document is g(Wᵀ x + b), or Wᵀ x + b where ``output`` is "preactivation".
    """

    def __init__(
        self,
        n_words: int,
        n_components: int,
        generator: torch.Generator,
        *,
        activation: LayerActivation = "sigmoid",
        loss: Literal["cross-entropy", "softmax"] = "cross-entropy",
        reduction: Literal["sum", "mean"] = "sum",
        corruption: Corruption | None = None,
        n_winners: int | None = None,
        penalty: float = 0.0,
        output: Literal["activation", "preactivation"] = "activation",
    ) -> None:
        super().__init__(generator)
        self.W = glorot(n_words, n_components, generator)
        self.b = nn.Parameter(torch.zeros(n_components, device=generator.device))
        self.c = nn.Parameter(torch.zeros(n_words, device=generator.device))
        self.activation: LayerActivation = activation
        self.reconstruction = binary_cross_entropy if loss == "cross-entropy" else multinomial_loss
        self.scale = 1 / n_words if reduction == "mean" else 1.0
        self.corruption, self.n_winners, self.penalty = corruption, n_winners, penalty
        self.output = output

    def loss(self, documents: Batch) -> Tensor:
        hidden = activate(self._potential(documents), self.activation)  # (n_docs, n_components)
        kept = hidden if self.n_winners is None else self._compete(hidden)
        loss = self.scale * self.reconstruction(functional.linear(kept, self.W, self.c), documents)
        return loss + self.penalty * self.contraction(hidden) if self.penalty else loss

    def codes(self, documents: Batch) -> Tensor:
        potential = documents.times(self.W) + self.b
        return potential if self.output == "preactivation" else activate(potential, self.activation)

    def topics(self) -> Tensor:
        return self.W.T

    def word_vectors(self) -> Tensor:
        return self.W

    def contraction(self, hidden: Tensor) -> Tensor:
        """The squared Frobenius norm of ∂hidden/∂x, Σⱼ g'ⱼ² Σᵢ Wᵢⱼ²; the mean of the documents."""
        slopes = slope(hidden, self.activation)
        return (slopes.square() @ self.W.square().sum(dim=0)).mean()

    def _potential(self, documents: Batch) -> Tensor:
        """Wᵀ x + b, of the corrupted x while training."""
        corruption = self.corruption if self.training else None
        if corruption is None:
            return documents.times(self.W) + self.b
        if corruption.noise == "masking":
            keep = 1 - corruption.level
            values = documents.values * self.mask_like(documents.values, keep) / keep
            return documents.with_values(values).times(self.W) + self.b
        return self._shaken(documents.dense(), corruption) @ self.W + self.b

    def _shaken(self, x: Tensor, corruption: Corruption) -> Tensor:
        """Noise on all words, also absent ones: the result is not sparse."""
        if corruption.noise == "gaussian":
            return x + corruption.level * self.normal_like(x)
        is_hit = self.mask_like(x, corruption.level).bool()
        return torch.where(is_hit, self.mask_like(x, 0.5), x)

    def _compete(self, hidden: Tensor) -> Tensor:
        assert self.n_winners is not None
        winners = hidden.topk(self.n_winners, dim=1)
        return torch.zeros_like(hidden).scatter(1, winners.indices, winners.values)


def activate(potential: Tensor, activation: LayerActivation) -> Tensor:
    if activation == "sigmoid":
        return potential.sigmoid()
    if activation == "tanh":
        return potential.tanh()
    return potential.relu() if activation == "relu" else potential


def slope(activated: Tensor, activation: LayerActivation) -> Tensor:
    """The derivative of the activation, computed from its value."""
    if activation == "sigmoid":
        return activated * (1 - activated)
    if activation == "tanh":
        return 1 - activated.square()
    return (activated > 0).to(activated.dtype) if activation == "relu" else torch.ones_like(activated)
