"""What variational models share: a network that encodes a document as a Gaussian, and the KL divergence."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from kate.research.rivals.neural.batches import Batch
from kate.research.rivals.neural.document_module import DocumentModule, dropped, glorot, linear
from kate.research.rivals.neural.losses import kl_divergence

__all__ = ["Reading", "Squash", "VariationalModule"]

Reading = Literal["counts", "log", "shares"]
Squash = Literal["tanh", "relu", "softplus"]

_MOST_LOG_VARIANCE = 10.0  # so that exp does not overflow after a bad step


class VariationalModule(DocumentModule):
    """Encodes a document as N(mean, variance) over topics, by hidden layers; the first multiplies sparse counts.

        e = f(… f(Uᵀ read(x) + u) …)            U (n_words, n_hidden), ``n_layers`` of them
        mean = M e,  ln variance = S e          (n_components,)
        z = mean + √variance · noise            in training; the mean itself afterwards
        loss = -ln p(x given z) + kl_weight · KL(N(mean, variance) from N(0, prior_variance))

    ``reading``    the network sees "counts", their "log" (1 + count), or the "shares" of the words in the document
    ``kl_warmup``  share of the training in which the weight of KL rises from 0: without it the decoder may learn to
                   ignore z
    """

    def __init__(
        self,
        n_words: int,
        n_components: int,
        generator: torch.Generator,
        *,
        n_hidden: int,
        n_layers: int,
        squash: Squash,
        reading: Reading,
        dropout: float,
        kl_weight: float,
        kl_warmup: float,
        prior_variance: float = 1.0,
    ) -> None:
        super().__init__(generator)
        self.U = glorot(n_words, n_hidden, generator)
        self.u = nn.Parameter(torch.zeros(n_hidden, device=generator.device))
        self.layers = nn.ModuleList(linear(n_hidden, n_hidden, generator) for _ in range(n_layers - 1))
        self.mean = linear(n_hidden, n_components, generator)
        self.log_variance = linear(n_hidden, n_components, generator)
        self.squash: Squash = squash
        self.reading: Reading = reading
        self.dropout, self.kl_weight, self.kl_warmup = dropout, kl_weight, kl_warmup
        self.prior_variance = prior_variance

    def read(self, documents: Batch) -> tuple[Tensor, Tensor]:
        """Mean and log variance, each (n_docs, n_components)."""
        hidden = squashed(read_as(documents, self.reading).times(self.U) + self.u, self.squash)
        for layer in self.layers:
            hidden = squashed(layer(hidden), self.squash)
        hidden = dropped(self, hidden, self.dropout)
        return self.mean(hidden), self.log_variance(hidden).clamp(max=_MOST_LOG_VARIANCE)

    def draw(self, mean: Tensor, log_variance: Tensor) -> Tensor:
        """A sample z in training, so that gradients reach mean and variance; the mean otherwise."""
        if not self.training:
            return mean
        return mean + (0.5 * log_variance).exp() * self.normal_like(mean)

    def divergence(self, mean: Tensor, log_variance: Tensor) -> Tensor:
        """The weighted KL, averaged over the documents; without the warm-up outside of training."""
        divergence = self.kl_weight * kl_divergence(mean, log_variance, self.prior_variance).mean()
        if self.training and self.kl_warmup > 0:
            return divergence * (torch.as_tensor(self.progress) / self.kl_warmup).clamp(max=1)
        return divergence


def read_as(documents: Batch, reading: Reading) -> Batch:
    """What the network sees of the counts."""
    if reading == "counts":
        return documents
    if reading == "log":
        return documents.with_values(documents.values.log1p())
    # an empty document must not divide by 0
    totals = documents.totals.clamp(min=torch.finfo(torch.float32).tiny)
    return documents.with_values(documents.values / documents.spread(totals))


def squashed(potential: Tensor, squash: Squash) -> Tensor:
    if squash == "tanh":
        return potential.tanh()
    return potential.relu() if squash == "relu" else nn.functional.softplus(potential)
