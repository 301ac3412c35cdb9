"""A neural model as the training loop sees it, and the threads of PyTorch during a fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.model.training import learning_rates
from kate.research.rivals.neural.batches import SparseBatch
from kate.research.rivals.neural.document_module import DocumentModule
from kate.research.rivals.neural.neural_steps import EpochPlan, steps_for
from kate.threads import thread_count

__all__ = ["NeuralTraining", "encode_documents", "threads"]

_BLOCK = 512  # documents at a time, outside of training

Snapshot = dict[str, torch.Tensor]


class NeuralTraining:
    """What :func:`kate.model.loop.train` trains: any module with a ``loss``, its documents and an optimizer.

    ``settings``  optimizer, learning_rate, epsilon, warmup, decay, batch_size and max_epochs
    ``random``    a NumPy generator that assigns the documents to batches
    """

    def __init__(
        self,
        module: DocumentModule,
        X: csr_matrix,
        held_out: csr_matrix | None,
        settings: Mapping[str, Any],
        random: Any,
    ) -> None:
        self.module = module
        self.settings, self.random = settings, random
        self.n_documents = X.shape[0]
        self.n_turns = len(module.turns())
        self.steps = steps_for(
            module, X, settings["optimizer"], settings["learning_rate"], settings["epsilon"]
        )
        self.held_out = [] if held_out is None else list(self.steps.blocks(held_out, _BLOCK))

    def train_epoch(self, epoch: int) -> float:
        self.module.train()
        # batches of equal size: a last batch of one document would have no variance to normalise by
        n_batches = -(-self.n_documents // self.settings["batch_size"])
        batches = np.array_split(self.random.permutation(self.n_documents), n_batches)
        max_epochs = self.settings["max_epochs"]
        rates = learning_rates(self.settings, epoch * n_batches, n_batches, max_epochs * n_batches)
        progress = (epoch + np.arange(n_batches) / n_batches) / max_epochs
        total = self.steps.run(EpochPlan(batches, rates, progress, epoch % self.n_turns))
        return total / self.n_documents

    def validation_loss(self) -> float | None:
        if not self.held_out:
            return None
        self.module.eval()
        with torch.inference_mode():
            losses = torch.stack(
                [len(documents) * self.module.loss(documents) for documents in self.held_out]
            )
            return float(losses.sum(dtype=torch.float64)) / sum(map(len, self.held_out))

    def snapshot(self) -> Snapshot:
        return {name: tensor.detach().clone() for name, tensor in self.module.state_dict().items()}

    def restore(self, snapshot: Snapshot) -> None:
        self.module.load_state_dict(snapshot)


def encode_documents(module: DocumentModule, X: csr_matrix) -> NDArray[np.float32]:
    """The codes (n_docs, n_components) of all documents."""
    module.eval()
    device = next(module.parameters()).device
    with torch.inference_mode():
        blocks = [
            module.codes(documents).cpu().numpy() for documents in SparseBatch.blocks(X, _BLOCK, device)
        ]
    return np.concatenate(blocks).astype(np.float32, copy=False)


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """PyTorch with so many threads for a while; None leaves them as they are."""
    before = torch.get_num_threads()
    if n_jobs is not None:
        torch.set_num_threads(thread_count(n_jobs))
    try:
        yield
    finally:
        torch.set_num_threads(before)
