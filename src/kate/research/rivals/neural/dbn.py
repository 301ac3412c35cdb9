"""The deep belief net that the paper compares KATE with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from scipy.sparse import csr_matrix

from kate.model.encoder import NeuronOutput
from kate.model.loop import HistoryRow
from kate.research.rivals.neural.neural_model import STOPPED, NeuralModel

if TYPE_CHECKING:
    import torch

    from kate.research.rivals.neural.dbn_module import DeepBeliefNet, Stage
    from kate.research.rivals.neural.document_module import DocumentModule

__all__ = ["DBN"]


@dataclass(kw_only=True, eq=False, repr=False)
class DBN(NeuralModel):
    """A deep belief net of two layers (Maaløe et al., 2015), :class:`DeepBeliefNet`.

    Each layer is learned by contrastive divergence, with ``max_epochs`` and the stopping rule for each; fine-tuning may
    follow. ``history_`` has a "stage" in every row: 1 and 2 for the layers, 3 for fine-tuning. Beside the parameters of
    :class:`NeuralModel`:

    Parameters
    ----------
    n_hidden : hidden units of the first layer
    reading : counts as they are, or their "log" (1 + count)
    finetune_epochs : passes over the documents to fine-tune both layers as one autoencoder; 0 for none
    output : vectors are the "activation" of the second layer, or its "preactivation"

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3, 2, 0, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]])
    >>> DBN(n_components=2, max_epochs=5, random_state=0).fit_transform(X).shape
    (4, 2)
    """

    n_hidden: int = 500
    reading: Literal["counts", "log"] = "log"
    finetune_epochs: int = 10
    output: NeuronOutput = "preactivation"

    @classmethod
    def paper(cls, n_components: int = 128, **changes: Any) -> Self:
        """Two layers on raw counts, pre-trained and fine-tuned; the paper and its source say little more.

        Adam is used: plain gradient descent with the rates of the source learns nothing on these counts.

        >>> DBN.paper(128).n_hidden
        500
        """
        settings: dict[str, Any] = {
            "reading": "counts",
            "finetune_epochs": 50,
            "output": "activation",
            "batch_size": 100,
            "max_epochs": 50,
            **STOPPED,
        }
        return cls(n_components, **(settings | changes))

    def _inputs(self, counts: csr_matrix) -> csr_matrix:
        return counts.log1p() if self.reading == "log" else counts

    def _build(self, n_words: int, generator: torch.Generator) -> DocumentModule:
        from kate.research.rivals.neural.dbn_module import DeepBeliefNet

        return DeepBeliefNet(n_words, self.n_components, generator, **self._chosen("n_hidden", "output"))

    def _train(
        self, module: DocumentModule, X: csr_matrix, held_out: csr_matrix | None, random: Any
    ) -> list[HistoryRow]:
        """The layers one after the other, each by the one training loop."""
        net = cast("DeepBeliefNet", module)
        epochs = self.settings_["max_epochs"]
        stages: list[tuple[Stage, int]] = [("words", epochs), ("topics", epochs)]
        if self.finetune_epochs:
            stages.append(("fine-tuning", self.finetune_epochs))
        history: list[HistoryRow] = []
        for number, (stage, max_epochs) in enumerate(stages, start=1):
            net.stage = stage
            rows = self._learn(net, X, held_out, random, max_epochs)
            history += [row | {"epoch": len(history) + 1 + i, "stage": number} for i, row in enumerate(rows)]
        return history
