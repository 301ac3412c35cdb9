"""The variational autoencoder that the paper compares KATE with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from scipy.sparse import csr_matrix

from kate.model.encoder import Scaling, scale_counts
from kate.model.settings import paper_training
from kate.research.rivals.neural.neural_model import NeuralModel, set_output_bias

if TYPE_CHECKING:
    import torch

    from kate.research.rivals.neural.document_module import DocumentModule

__all__ = ["VAE"]


@dataclass(kw_only=True, eq=False, repr=False)
class VAE(NeuralModel):
    """The variational autoencoder (Kingma & Welling, 2014), :class:`VariationalAutoencoder`.

    A document's vector is the mean of its Gaussian code. Beside the parameters of
    :class:`NeuralModel`:

    Parameters
    ----------
    n_hidden : neurons of the tanh layer between words and code
    loss : "softmax" (multinomial) or "cross-entropy" (one sigmoid per word, the paper's), summed over the words
    scaling : log counts over their "l2" norm or their "max" in the document (the paper's)
    output_bias : c starts at the word "frequency" (log or log-odds of its mean) or at "zero" (the paper's)
    dropout : share of the hidden neurons that are dropped in a step
    kl_weight : weight of the divergence from the prior
    kl_warmup : share of the training in which that weight rises from zero

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3, 2, 0, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]])
    >>> VAE(n_components=2, max_epochs=5, random_state=0).fit_transform(X).shape
    (4, 2)
    """

    n_hidden: int = 256
    loss: Literal["softmax", "cross-entropy"] = "softmax"
    scaling: Scaling = "l2"
    output_bias: Literal["frequency", "zero"] = "frequency"
    dropout: float = 0.0
    kl_weight: float = 0.1
    kl_warmup: float = 0.3

    @classmethod
    def paper(cls, n_components: int = 128, **changes: Any) -> Self:
        """As the paper describes it: section 4.2 of Chen & Zaki (2017).

        It does not say how wide the tanh layer is: the width was chosen on validation documents (docs/rivals.md).

        >>> VAE.paper(128).kl_weight
        1.0
        """
        settings: dict[str, Any] = {
            "n_hidden": 2048,
            "loss": "cross-entropy",
            "kl_weight": 1.0,
            "kl_warmup": 0.0,
        }
        return cls(n_components, **(paper_training(n_components) | settings | changes))

    def _inputs(self, counts: csr_matrix) -> csr_matrix:
        return scale_counts(counts, self.scaling)

    def _begin(self, module: DocumentModule, X: csr_matrix) -> None:
        set_output_bias(module, X, self.output_bias, self.loss)

    def _build(self, n_words: int, generator: torch.Generator) -> DocumentModule:
        from kate.research.rivals.neural.vae_module import VariationalAutoencoder

        own = self._chosen("n_hidden", "loss", "dropout", "kl_weight", "kl_warmup")
        return VariationalAutoencoder(n_words, self.n_components, generator, **own)
