"""The autoencoders that the paper compares KATE with: plain, denoising, contractive, k-sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from scipy.sparse import csr_matrix

from kate.model.encoder import NeuronOutput, Scaling, scale_counts
from kate.model.settings import paper_training, require_whole
from kate.research.rivals.neural.neural_model import NeuralModel, set_output_bias

if TYPE_CHECKING:
    import torch

    from kate.research.rivals.neural.document_module import DocumentModule

__all__ = ["AE", "CAE", "DAE", "KSAE"]


@dataclass(kw_only=True, eq=False, repr=False)
class AE(NeuralModel):
    """The plain tied autoencoder (:class:`Autoencoder`).

        x = scaled log counts,  z = g(Wᵀ x + b),  x̂ = output(W z + c)

    Beside the parameters of :class:`NeuralModel`:

    Parameters
    ----------
    activation : g, "sigmoid", "tanh", "relu" or "linear"
    loss : "softmax" (multinomial) or "cross-entropy" (one sigmoid per word, the paper's)
    reduction : the loss is the "sum" over the words, as the formulas say, or the "mean", as the paper's code has it
    scaling : log counts over their "l2" norm or their "max" in the document (the paper's)
    output_bias : c starts at the word "frequency" (log or log-odds of its mean) or at "zero" (the paper's)
    output : vectors are the "activation" z or the "preactivation" Wᵀ x + b

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3, 2, 0, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]])
    >>> AE(n_components=2, max_epochs=5, random_state=0).fit_transform(X).shape
    (4, 2)
    """

    activation: Literal["sigmoid", "tanh", "relu", "linear"] = "sigmoid"
    loss: Literal["softmax", "cross-entropy"] = "softmax"
    reduction: Literal["sum", "mean"] = "sum"
    scaling: Scaling = "l2"
    output_bias: Literal["frequency", "zero"] = "frequency"
    output: NeuronOutput = "preactivation"

    _PAPER: ClassVar[dict[str, Any]] = {}

    @classmethod
    def paper(cls, n_components: int = 128, **changes: Any) -> Self:
        """As the paper describes it: section 4.2 of Chen & Zaki (2017). ``changes`` override single settings.

        >>> DAE.paper(128).optimizer
        'adadelta'
        """
        settings = (
            paper_training(n_components) | {"loss": "cross-entropy", "output": "activation"} | cls._PAPER
        )
        return cls(n_components, **(settings | changes))

    def _inputs(self, counts: csr_matrix) -> csr_matrix:
        return scale_counts(counts, self.scaling)

    def _begin(self, module: DocumentModule, X: csr_matrix) -> None:
        set_output_bias(module, X, self.output_bias, self.loss)

    def _build(self, n_words: int, generator: torch.Generator) -> DocumentModule:
        from kate.research.rivals.neural.autoencoders_module import Autoencoder

        own = self._chosen("activation", "loss", "reduction", "output")
        return Autoencoder(n_words, self.n_components, generator, **own, **self._additions())

    def _additions(self) -> dict[str, Any]:
        """What the network adds to a plain autoencoder."""
        return {}


@dataclass(kw_only=True, eq=False, repr=False)
class DAE(AE):
    """The denoising autoencoder (Vincent et al., 2010): it reads a corrupted document and reconstructs the original.

    Beside the parameters of :class:`AE`:

    Parameters
    ----------
    noise : "masking" (words are left out), "gaussian" or "salt-and-pepper"
    noise_level : the share of words left out, the deviation of the noise, or the share of words set at random
    """

    noise: Literal["masking", "gaussian", "salt-and-pepper"] = "masking"
    noise_level: float = 0.5

    # the paper names no share; with 1 % its stopping rule still works
    _PAPER: ClassVar[dict[str, Any]] = {"noise_level": 0.01}

    def _additions(self) -> dict[str, Any]:
        from kate.research.rivals.neural.autoencoders_module import Corruption

        return {"corruption": Corruption(self.noise, self.noise_level)}


@dataclass(kw_only=True, eq=False, repr=False)
class CAE(AE):
    """The contractive autoencoder (Rifai et al., 2011): small changes of a document change its code only a little.

    Beside the parameters of :class:`AE`:

    Parameters
    ----------
    penalty : weight of the squared norm of the code's derivatives with respect to the document
    """

    penalty: float = 0.1

    def _additions(self) -> dict[str, Any]:
        return {"penalty": self.penalty}


@dataclass(kw_only=True, eq=False, repr=False)
class KSAE(AE):
    """The k-sparse autoencoder (Makhzani & Frey, 2013): in training only the k most active neurons are kept.

    Beside the parameters of :class:`AE`:

    Parameters
    ----------
    n_winners : k, or a share of ``n_components`` if it is below 1; None is a quarter
    """

    activation: Literal["sigmoid", "tanh", "relu", "linear"] = "linear"
    n_winners: int | float | None = None

    @classmethod
    def paper(cls, n_components: int = 128, **changes: Any) -> Self:
        """As the paper describes it, with as many winners as KATE has there. ``changes`` override single settings.

        >>> KSAE.paper(20).n_winners
        6
        """
        n_winners = {20: 6, 128: 32, 512: 102}.get(n_components, max(1, n_components // 4))
        return super().paper(n_components, **({"n_winners": n_winners} | changes))

    def _settled(self, n_documents: int) -> dict[str, Any]:
        return super()._settled(n_documents) | {"n_winners": self._winners()}

    def _winners(self) -> int:
        if self.n_winners is None:
            return max(1, self.n_components // 4)
        if 0 < self.n_winners < 1:
            return max(1, round(self.n_winners * self.n_components))
        require_whole("n_winners", self.n_winners)
        return int(self.n_winners)

    def _check_settings(self, *, has_validation: bool) -> None:
        super()._check_settings(has_validation=has_validation)
        if self._winners() > self.n_components:
            raise ValueError(
                f"n_winners={self.n_winners} is more than n_components={self.n_components}; "
                "only neurons can win: lower n_winners or raise n_components"
            )

    def _additions(self) -> dict[str, Any]:
        return {"n_winners": self._winners()}
