"""Neural topic models over counts: NVDM, ProdLDA and ETM. They differ in how topics make words."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from kate.research.rivals.neural.batches import Batch
from kate.research.rivals.neural.document_module import dropped, glorot, linear
from kate.research.rivals.neural.gaussian import VariationalModule

__all__ = ["EmbeddedTopicModel", "NeuralVariationalDocumentModel", "ProductOfExperts"]


class _TopicModel(VariationalModule):
    """loss = -Σ counts ln p(word given z) + KL; each model defines p."""

    @abstractmethod
    def log_words(self, z: Tensor) -> Tensor:
        """ln p(word given z), (n_docs, n_words)."""

    def loss(self, documents: Batch) -> Tensor:
        mean, log_variance = self.read(documents)
        log_words = self.log_words(self.draw(mean, log_variance))
        rebuilt = -(documents.dense() * log_words).sum() / len(documents)
        return rebuilt + self.divergence(mean, log_variance)

    def codes(self, documents: Batch) -> Tensor:
        return self.read(documents)[0]


class NeuralVariationalDocumentModel(_TopicModel):
    """NVDM (Miao et al., 2016): p(words given z) = softmax(R z + c), R (n_words, n_components).

    With ``alternate`` encoder and decoder learn in turns, one epoch each, as its authors did.
    """

    def __init__(
        self, n_words: int, n_components: int, generator: torch.Generator, *, alternate: bool, **encoder: Any
    ) -> None:
        super().__init__(n_words, n_components, generator, **encoder)
        self.R = glorot(n_words, n_components, generator)
        self.c = nn.Parameter(torch.zeros(n_words, device=generator.device))
        with torch.no_grad():  # every document begins with the variance of the prior
            self.log_variance.weight.zero_()
        self.alternate = alternate

    def log_words(self, z: Tensor) -> Tensor:
        return functional.log_softmax(functional.linear(z, self.R, self.c), dim=1)

    def topics(self) -> Tensor:
        return self.R.T

    def word_vectors(self) -> Tensor:
        return self.R

    def turns(self) -> list[list[nn.Parameter]]:
        decoder = [self.R, self.c]
        if not self.alternate:
            return super().turns()
        return [decoder, [each for name, each in self.named_parameters() if name not in ("R", "c")]]


class _SharesOfTopics(_TopicModel):
    """θ = softmax(z): a document is a mixture of topics. Its vector is the mean of z, or θ itself."""

    def __init__(
        self,
        n_words: int,
        n_components: int,
        generator: torch.Generator,
        *,
        output: Literal["mean", "shares"],
        **encoder: Any,
    ) -> None:
        super().__init__(n_words, n_components, generator, **encoder)
        self.output = output

    def codes(self, documents: Batch) -> Tensor:
        mean = self.read(documents)[0]
        return mean if self.output == "mean" else mean.softmax(dim=1)


class ProductOfExperts(_SharesOfTopics):
    """ProdLDA (Srivastava & Sutton, 2017): p(words given θ) = softmax(norm(θ B)), B (n_components, n_words) unbounded.

    The prior on z is the Laplace approximation of a symmetric Dirichlet. Batch normalisation of mean, variance and word
    logits keeps topics from collapsing into one.
    """

    def __init__(
        self,
        n_words: int,
        n_components: int,
        generator: torch.Generator,
        *,
        concentration: float,
        topic_dropout: float,
        **encoder: Any,
    ) -> None:
        prior_variance = laplace_variance(n_components, concentration)
        super().__init__(n_words, n_components, generator, prior_variance=prior_variance, **encoder)
        self.B = glorot(n_components, n_words, generator)
        self.topic_dropout = topic_dropout
        self.norm_mean, self.norm_log_variance = (
            nn.BatchNorm1d(n_components, affine=False, device=generator.device) for _ in range(2)
        )
        self.norm_words = nn.BatchNorm1d(n_words, affine=False, device=generator.device)

    def read(self, documents: Batch) -> tuple[Tensor, Tensor]:
        mean, log_variance = super().read(documents)
        return self.norm_mean(mean), self.norm_log_variance(log_variance)

    def log_words(self, z: Tensor) -> Tensor:
        shares = dropped(self, z.softmax(dim=1), self.topic_dropout)
        return functional.log_softmax(self.norm_words(shares @ self.B), dim=1)

    def topics(self) -> Tensor:
        return self.B

    def word_vectors(self) -> Tensor:
        return self.B.T


class EmbeddedTopicModel(_SharesOfTopics):
    """ETM (Dieng et al., 2020): p(words given θ) = θ β with β = softmax(α ρᵀ) over the words.

    ρ (n_words, n_embedding) are word vectors, α (n_components, n_embedding) the topics among them.
    """

    def __init__(
        self, n_words: int, n_components: int, generator: torch.Generator, *, n_embedding: int, **encoder: Any
    ) -> None:
        super().__init__(n_words, n_components, generator, **encoder)
        self.rho = glorot(n_words, n_embedding, generator)
        self.alpha = linear(n_embedding, n_components, generator).weight  # (n_components, n_embedding)

    def topics(self) -> Tensor:
        return (self.alpha @ self.rho.T).softmax(dim=1)

    def log_words(self, z: Tensor) -> Tensor:
        return (z.softmax(dim=1) @ self.topics() + 1e-8).log()

    def word_vectors(self) -> Tensor:
        return self.rho


def laplace_variance(n_components: int, concentration: float) -> float:
    """The variance of each z where softmax(z) is near Dirichlet(concentration): a(1 - 2/K) + a/K with a = 1/α.

    >>> round(laplace_variance(100, 1.0), 4)
    0.99
    """
    return (1 - 2 / n_components) / concentration + 1 / (n_components * concentration)
