"""What every network offers to the training loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn

from kate.research.rivals.neural.batches import Batch

__all__ = ["DocumentModule", "dropped", "glorot", "linear"]


class DocumentModule(nn.Module, ABC):
    """A model of documents: ``loss`` to train it by, ``codes`` to use it for.

    All random numbers come from ``generator``, never from PyTorch's global state. ``progress`` is the share of the
    training that is over, set by the training loop, for a warm-up. With ``has_fixed_shapes``, batches of the same size
    use the same operations on the same shapes, so that a step can be captured and replayed.
    """

    generator: torch.Generator
    progress: float | Tensor
    has_fixed_shapes: ClassVar[bool] = True

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self.generator = generator
        self.progress = 1.0

    @abstractmethod
    def loss(self, documents: Batch) -> Tensor:
        """The mean loss of a document, a scalar."""

    @abstractmethod
    def codes(self, documents: Batch) -> Tensor:
        """The documents' vectors (n_docs, n_components); nothing in them is random."""

    @abstractmethod
    def topics(self) -> Tensor:
        """A topic's weights on the words, (n_components, n_words)."""

    @abstractmethod
    def word_vectors(self) -> Tensor:
        """(n_words, width)"""

    def turns(self) -> list[list[nn.Parameter]]:
        """Groups of parameters that are trained in turns, one epoch each; by default all parameters at once."""
        return [list(self.parameters())]

    def normal_like(self, tensor: Tensor) -> Tensor:
        return torch.empty_like(tensor).normal_(generator=self.generator)

    def mask_like(self, tensor: Tensor, keep: float) -> Tensor:
        """1 with the probability ``keep``, otherwise 0."""
        return torch.empty_like(tensor).bernoulli_(keep, generator=self.generator)


def dropped(module: DocumentModule, tensor: Tensor, share: float) -> Tensor:
    """Dropout in training: a ``share`` is set to 0, the rest is scaled up so that the mean stays."""
    if share == 0 or not module.training:
        return tensor
    return tensor * module.mask_like(tensor, 1 - share) / (1 - share)


def glorot(n_in: int, n_out: int, generator: torch.Generator) -> nn.Parameter:
    """Weights (n_in, n_out), Glorot-normal."""
    weights = torch.empty(n_in, n_out, device=generator.device)
    return nn.Parameter(weights.normal_(std=(2 / (n_in + n_out)) ** 0.5, generator=generator))


def linear(n_in: int, n_out: int, generator: torch.Generator) -> nn.Linear:
    """A layer with Glorot-normal weights and a bias of zero."""
    # made on "meta": the start of nn.Linear would use the global random generator
    layer = nn.Linear(n_in, n_out, device="meta").to_empty(device=generator.device)
    with torch.no_grad():
        layer.weight.copy_(glorot(n_out, n_in, generator))
        layer.bias.zero_()
    return layer
