"""DocNADE, the autoregressive topic model that the paper compares KATE with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from kate.research.rivals.neural.neural_model import STOPPED, NeuralModel

if TYPE_CHECKING:
    import torch

    from kate.research.rivals.neural.document_module import DocumentModule

__all__ = ["DocNADE"]


@dataclass(kw_only=True, eq=False, repr=False)
class DocNADE(NeuralModel):
    """The neural autoregressive topic model (Larochelle & Lauly, 2012), :class:`DocNADEModule`.

    It reads counts; the order of the words is drawn at random in every step. Beside the parameters of
    :class:`NeuralModel`:

    Parameters
    ----------
    activation : "tanh" or "sigmoid"
    words : the probability of a word is a "softmax" over all, or a path in a binary "tree"
    targets : what is predicted at a position: the "next" word, or all the "rest" (the same mean, with less noise)
    n_positions : positions drawn per document in a step; None takes every position for "next", one for "rest"

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3, 2, 0, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]])
    >>> DocNADE(n_components=2, max_epochs=5, random_state=0).fit_transform(X).shape
    (4, 2)
    """

    activation: Literal["tanh", "sigmoid"] = "tanh"
    words: Literal["softmax", "tree"] = "softmax"
    targets: Literal["next", "rest"] = "rest"
    n_positions: int | None = 2
    learning_rate: float = 5e-3

    @classmethod
    def paper(cls, n_components: int = 128, **changes: Any) -> Self:
        """As its authors describe it, with the binary tree, and the stopping rule of Chen & Zaki (2017).

        16 positions of a document are drawn in a step instead of all; Adam is used instead of gradient descent.

        >>> DocNADE.paper(128).words
        'tree'
        """
        settings: dict[str, Any] = {
            "activation": "sigmoid",
            "words": "tree",
            "targets": "next",
            "n_positions": 16,
            "learning_rate": 1e-3,
            "batch_size": 50,
            "max_epochs": 100,
            **STOPPED,
        }
        return cls(n_components, **(settings | changes))

    def _build(self, n_words: int, generator: torch.Generator) -> DocumentModule:
        from kate.research.rivals.neural.docnade_module import DocNADEModule

        own = self._chosen("activation", "words", "targets", "n_positions")
        return DocNADEModule(n_words, self.n_components, generator, **own)
