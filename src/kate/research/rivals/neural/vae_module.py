"""The variational autoencoder with tied outer weights."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from kate.research.rivals.neural.batches import Batch
from kate.research.rivals.neural.document_module import linear
from kate.research.rivals.neural.gaussian import VariationalModule
from kate.research.rivals.neural.losses import binary_cross_entropy, multinomial_loss

__all__ = ["VariationalAutoencoder"]


class VariationalAutoencoder(VariationalModule):
    """A tanh layer on either side of a Gaussian code, with the same weights to the words.

        e = tanh(Uᵀ x + u)                      U (n_words, n_hidden)
        z ~ N(M e, exp(S e))                    (n_components,)
        x̂ = output(U tanh(V z + v) + c)         sigmoid ("cross-entropy") or softmax
        loss = -Σ x ln x̂ …  +  kl_weight · KL

    The code of a document is the mean M e.
    """

    def __init__(
        self,
        n_words: int,
        n_components: int,
        generator: torch.Generator,
        *,
        n_hidden: int,
        loss: Literal["cross-entropy", "softmax"],
        **encoder: Any,
    ) -> None:
        # the counts are scaled before they come here
        encoder |= {"n_layers": 1, "squash": "tanh", "reading": "counts"}
        super().__init__(n_words, n_components, generator, n_hidden=n_hidden, **encoder)
        self.V = linear(n_components, n_hidden, generator)
        self.c = nn.Parameter(torch.zeros(n_words, device=generator.device))
        self.reconstruction = binary_cross_entropy if loss == "cross-entropy" else multinomial_loss

    def loss(self, documents: Batch) -> Tensor:
        mean, log_variance = self.read(documents)
        hidden = self.V(self.draw(mean, log_variance)).tanh()  # (n_docs, n_hidden)
        rebuilt = self.reconstruction(functional.linear(hidden, self.U, self.c), documents)
        return rebuilt + self.divergence(mean, log_variance)

    def codes(self, documents: Batch) -> Tensor:
        return self.read(documents)[0]

    def topics(self) -> Tensor:
        """How much each topic changes the words, for small changes: the decoder without its tanh."""
        return (self.U @ self.V.weight).T

    def word_vectors(self) -> Tensor:
        """How much each word changes the code, for small changes: the encoder without its tanh."""
        return self.U @ self.mean.weight.T
