"""The deep belief net: a replicated softmax over the words and a binary layer on top, learned one after the other."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from kate.research.rivals.neural.batches import Batch
from kate.research.rivals.neural.document_module import DocumentModule, glorot
from kate.research.rivals.neural.losses import multinomial_loss

__all__ = ["DeepBeliefNet", "Stage"]

Stage = Literal["words", "topics", "fine-tuning"]


class DeepBeliefNet(DocumentModule):
    """Two restricted Boltzmann machines, the second on the hidden units of the first.

        words   x: D draws from softmax(W h + b)         W (n_words, n_hidden), D the length of the document
        hidden  p(h given x) = σ(Wᵀ x + D a)             replicated softmax (Hinton & Salakhutdinov, 2009)
        topics  p(z given h) = σ(Uᵀ h + d)               U (n_hidden, n_components);  p(h given z) = σ(U z + e)

    ``stage`` says what is trained. "words" and "topics" are trained by contrastive divergence: the loss is the
    difference of the free energies of the data and of its reconstruction by one step of sampling, so that its gradient
    is the CD-1 update. Its value means little, so outside of training the loss is the reconstruction error.
    "fine-tuning" unrolls both layers into an autoencoder with tied weights.

    The code of a document is p(z given p(h given x)), or its potential where ``output`` is "preactivation".
    """

    def __init__(
        self,
        n_words: int,
        n_components: int,
        generator: torch.Generator,
        *,
        n_hidden: int,
        output: Literal["activation", "preactivation"],
    ) -> None:
        super().__init__(generator)

        def zeros(size: int) -> nn.Parameter:
            return nn.Parameter(torch.zeros(size, device=generator.device))

        self.W, self.a, self.b = glorot(n_words, n_hidden, generator), zeros(n_hidden), zeros(n_words)
        self.U, self.d, self.e = (
            glorot(n_hidden, n_components, generator),
            zeros(n_components),
            zeros(n_hidden),
        )
        self.output = output
        self.stage: Stage = "words"

    def loss(self, documents: Batch) -> Tensor:
        if self.stage == "fine-tuning":
            back = (self._topics(self._hidden(documents)) @ self.U.T + self.e).sigmoid()
            return multinomial_loss(functional.linear(back, self.W, self.b), documents)
        if self.stage == "words":
            return self._contrast_words(documents) if self.training else self._rebuild_words(documents)
        with torch.no_grad():
            hidden = self._hidden(documents)
        return self._contrast_topics(hidden) if self.training else self._rebuild_hidden(hidden)

    def codes(self, documents: Batch) -> Tensor:
        potential = self._hidden(documents) @ self.U + self.d
        return potential if self.output == "preactivation" else potential.sigmoid()

    def topics(self) -> Tensor:
        """How much each topic changes the words, for small changes."""
        return (self.W @ self.U).T

    def word_vectors(self) -> Tensor:
        return self.W @ self.U

    def turns(self) -> list[list[nn.Parameter]]:
        of_stage = {"words": [self.W, self.a, self.b], "topics": [self.U, self.d, self.e]}
        return [of_stage.get(self.stage, list(self.parameters()))]

    def words_energy(self, x_times_w: Tensor, x_times_b: Tensor, lengths: Tensor) -> Tensor:
        """The free energy of words, -x·b - Σ ln(1 + exp(Wᵀ x + D a)): (n_docs,)."""
        return -x_times_b - functional.softplus(x_times_w + lengths * self.a).sum(dim=1)

    def topics_energy(self, hidden: Tensor) -> Tensor:
        """The free energy of hidden units, -h·e - Σ ln(1 + exp(Uᵀ h + d)): (n_docs,)."""
        return -hidden @ self.e - functional.softplus(hidden @ self.U + self.d).sum(dim=1)

    def _contrast_words(self, documents: Batch) -> Tensor:
        lengths = documents.totals[:, None]
        potential = documents.times(self.W)
        # the mean of the words instead of a sample: less noise, and no loop over documents
        with torch.no_grad():
            drawn = self._toss((potential + lengths * self.a).sigmoid())
            dreamt = lengths * functional.linear(drawn, self.W, self.b).softmax(dim=1)  # (n_docs, n_words)
        real = self.words_energy(potential, documents.times(self.b[:, None])[:, 0], lengths)
        return (real - self.words_energy(dreamt @ self.W, dreamt @ self.b, lengths)).mean()

    def _contrast_topics(self, hidden: Tensor) -> Tensor:
        with torch.no_grad():
            drawn = self._toss(self._topics(hidden))
            dreamt = (drawn @ self.U.T + self.e).sigmoid()
        return (self.topics_energy(hidden) - self.topics_energy(dreamt)).mean()

    def _rebuild_words(self, documents: Batch) -> Tensor:
        return multinomial_loss(functional.linear(self._hidden(documents), self.W, self.b), documents)

    def _rebuild_hidden(self, hidden: Tensor) -> Tensor:
        logits = self._topics(hidden) @ self.U.T + self.e
        return functional.binary_cross_entropy_with_logits(logits, hidden, reduction="sum") / len(hidden)

    def _hidden(self, documents: Batch) -> Tensor:
        return (documents.times(self.W) + documents.totals[:, None] * self.a).sigmoid()

    def _topics(self, hidden: Tensor) -> Tensor:
        return (hidden @ self.U + self.d).sigmoid()

    def _toss(self, probabilities: Tensor) -> Tensor:
        return torch.bernoulli(probabilities, generator=self.generator)
