"""Neural topic models over raw counts: NVDM, which is in the paper, ProdLDA and ETM, which are widely used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from scipy.sparse import csr_matrix

from kate.research.rivals.neural.neural_model import STEADY, STOPPED, NeuralModel, set_output_bias

if TYPE_CHECKING:
    import torch

    from kate.research.rivals.neural.document_module import DocumentModule

__all__ = ["ETM", "NVDM", "ProdLDA"]


@dataclass(kw_only=True, eq=False, repr=False)
class _VariationalTopics(NeuralModel):
    """The encoder that the three share."""

    n_hidden: int = 256
    n_layers: int = 1
    squash: Literal["tanh", "relu", "softplus"] = "tanh"
    reading: Literal["counts", "log", "shares"] = "log"
    dropout: float = 0.0
    kl_weight: float = 1.0
    kl_warmup: float = 0.5

    def _encoder_settings(self) -> dict[str, Any]:
        return self._chosen("n_hidden", "n_layers", "squash", "reading", "dropout", "kl_weight", "kl_warmup")


@dataclass(kw_only=True, eq=False, repr=False)
class NVDM(_VariationalTopics):
    """The neural variational document model (Miao et al., 2016): a Gaussian code and a softmax over the words.

    A document's vector is the mean of its Gaussian, not a draw from it. Beside the parameters of
    :class:`NeuralModel`:

    Parameters
    ----------
    n_hidden, n_layers, squash : width, number and function ("tanh", "relu", "softplus") of the encoder's layers
    reading : the encoder sees "counts", their "log" (1 + count), or "shares" of the document
    dropout : share of the hidden neurons that are dropped in a step
    kl_weight : weight of the divergence from the prior
    kl_warmup : share of the training in which that weight rises from zero
    alternate : encoder and decoder learn in turns, one epoch each
    output_bias : the decoder's bias starts at the word "frequency" or at "zero"

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3, 2, 0, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]])
    >>> NVDM(n_components=2, max_epochs=5, random_state=0).fit_transform(X).shape
    (4, 2)
    """

    alternate: bool = False
    output_bias: Literal["frequency", "zero"] = "frequency"

    @classmethod
    def paper(cls, n_components: int = 128, **changes: Any) -> Self:
        """As its authors describe and released it, with the stopping rule of Chen & Zaki (2017).

        >>> NVDM.paper(128).alternate
        True
        """
        settings: dict[str, Any] = {
            "n_hidden": 500,
            "reading": "counts",
            "kl_warmup": 0.0,
            "alternate": True,
            "output_bias": "zero",
            "learning_rate": 5e-5,
            "batch_size": 64,
            "max_epochs": 100,
            **STOPPED,
        }
        return cls(n_components, **(settings | changes))

    def _begin(self, module: DocumentModule, X: csr_matrix) -> None:
        set_output_bias(module, X, self.output_bias, "softmax")

    def _build(self, n_words: int, generator: torch.Generator) -> DocumentModule:
        from kate.research.rivals.neural.neural_topics_module import NeuralVariationalDocumentModel

        return NeuralVariationalDocumentModel(
            n_words, self.n_components, generator, alternate=self.alternate, **self._encoder_settings()
        )


@dataclass(kw_only=True, eq=False, repr=False)
class ProdLDA(_VariationalTopics):
    """ProdLDA (Srivastava & Sutton, 2017): topics multiply rather than mix.

    Beside the parameters of :class:`NeuralModel` and those of the encoder of :class:`NVDM`:

    Parameters
    ----------
    concentration : of the Dirichlet prior on the shares of topics
    topic_dropout : share of a document's topics that are dropped in a step
    output : vectors are the "mean" of the Gaussian, or the "shares" of the topics, its softmax
    """

    components_are_topics: ClassVar[bool] = True

    n_layers: int = 2
    dropout: float = 0.2
    learning_rate: float = 5e-3
    kl_warmup: float = 0.0
    concentration: float = 1.0
    topic_dropout: float = 0.2
    output: Literal["mean", "shares"] = "mean"

    @classmethod
    def paper(cls, n_components: int = 128, **changes: Any) -> Self:
        """As its authors describe it: section 3 of Srivastava & Sutton (2017).

        >>> ProdLDA.paper(50).batch_size
        200
        """
        settings: dict[str, Any] = {
            "n_hidden": 100,
            "squash": "softplus",
            "reading": "counts",
            "learning_rate": 2e-3,
            "batch_size": 200,
            "max_epochs": 80,
            "output": "shares",
            **STEADY,
        }
        return cls(n_components, **(settings | changes))

    def _build(self, n_words: int, generator: torch.Generator) -> DocumentModule:
        from kate.research.rivals.neural.neural_topics_module import ProductOfExperts

        own = self._chosen("concentration", "topic_dropout", "output")
        return ProductOfExperts(n_words, self.n_components, generator, **own, **self._encoder_settings())


@dataclass(kw_only=True, eq=False, repr=False)
class ETM(_VariationalTopics):
    """The embedded topic model (Dieng et al., 2020): topics are points among the word vectors.

    Beside the parameters of :class:`NeuralModel` and those of the encoder of :class:`NVDM`:

    Parameters
    ----------
    n_embedding : the length of a word vector
    output : vectors are the "mean" of the Gaussian, or the "shares" of the topics, its softmax
    """

    components_are_topics: ClassVar[bool] = True

    n_embedding: int = 100
    learning_rate: float = 5e-3
    kl_weight: float = 0.2
    output: Literal["mean", "shares"] = "mean"

    @classmethod
    def paper(cls, n_components: int = 128, **changes: Any) -> Self:
        """As its authors describe and released it, with fewer epochs.

        >>> ETM.paper(50).n_embedding
        300
        """
        settings: dict[str, Any] = {
            "n_embedding": 300,
            "n_hidden": 800,
            "n_layers": 2,
            "squash": "relu",
            "reading": "shares",
            "kl_weight": 1.0,
            "kl_warmup": 0.0,
            "learning_rate": 5e-3,
            "batch_size": 1000,
            "max_epochs": 150,
            "output": "shares",
            **STEADY,
        }
        return cls(n_components, **(settings | changes))

    def _build(self, n_words: int, generator: torch.Generator) -> DocumentModule:
        from kate.research.rivals.neural.neural_topics_module import EmbeddedTopicModel

        own = self._chosen("n_embedding", "output")
        return EmbeddedTopicModel(n_words, self.n_components, generator, **own, **self._encoder_settings())
