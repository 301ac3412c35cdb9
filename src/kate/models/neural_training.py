"""A neural model as the training loop sees it, and the settings that PyTorch gets for the while of a fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.models.adadelta import Adadelta
from kate.models.training import learning_rates
from kate.nn.documents import Documents
from kate.nn.module import DocumentModule

__all__ = ["NeuralTraining", "choose_device", "encode", "threads"]

_BLOCK = 512  # documents at a time where nothing is learned

Snapshot = dict[str, torch.Tensor]


class NeuralTraining:
    """What :func:`kate.train.train` trains: any module with a ``loss``, its documents and an optimizer.

    ``settings``  optimizer, learning_rate, epsilon, warmup, decay, batch_size and max_epochs
    ``random``    a NumPy generator that deals the documents to batches
    """

    def __init__(
        self,
        module: DocumentModule,
        X: csr_matrix,
        held_out: csr_matrix | None,
        settings: Mapping[str, Any],
        random: Any,
    ) -> None:
        self.module, self.X, self.held_out = module, X, held_out
        self.settings, self.random = settings, random
        self.n_documents = X.shape[0]
        self.device = next(module.parameters()).device
        self.optimizers = [
            _make_optimizer(turn, settings["optimizer"], settings["learning_rate"], settings["epsilon"])
            for turn in module.turns()
        ]

    def train_epoch(self, epoch: int) -> float:
        self.module.train()
        # evenly dealt: a last batch of one document would have no variance to normalise by
        n_batches = -(-self.n_documents // self.settings["batch_size"])
        batches = np.array_split(self.random.permutation(self.n_documents), n_batches)
        max_epochs = self.settings["max_epochs"]
        rates = learning_rates(self.settings, epoch, max_epochs, n_batches)
        optimizer = self.optimizers[epoch % len(self.optimizers)]
        total = torch.zeros(
            (), device=self.device, dtype=torch.float64
        )  # read once an epoch: no waiting in between
        for step, (rows, rate) in enumerate(zip(batches, rates, strict=True)):
            self.module.progress = (epoch + step / n_batches) / max_epochs
            for group in optimizer.param_groups:
                group["lr"] = float(rate)
            total += len(rows) * self._step(rows, optimizer)
        return total.item() / self.n_documents

    def _step(self, rows: NDArray[np.intp], optimizer: torch.optim.Optimizer) -> torch.Tensor:
        self.module.zero_grad(set_to_none=True)
        loss = self.module.loss(Documents.of(self.X, rows, self.device))
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return loss.detach()

    def validation_loss(self) -> float | None:
        if self.held_out is None:
            return None
        self.module.eval()
        total = 0.0
        with torch.inference_mode():
            for documents in _blocks(self.held_out, self.device):
                total += len(documents) * self.module.loss(documents).item()
        return total / self.held_out.shape[0]

    def snapshot(self) -> Snapshot:
        return {name: tensor.detach().clone() for name, tensor in self.module.state_dict().items()}

    def restore(self, snapshot: Snapshot) -> None:
        self.module.load_state_dict(snapshot)


def encode(module: DocumentModule, X: csr_matrix) -> NDArray[np.float32]:
    """The codes (n_docs, n_topics) of all documents."""
    module.eval()
    device = next(module.parameters()).device
    with torch.inference_mode():
        blocks = [module.codes(documents).cpu().numpy() for documents in _blocks(X, device)]
    return np.concatenate(blocks).astype(np.float32, copy=False)


def choose_device(device: str) -> torch.device:
    """ "auto" is the GPU where there is one."""
    has_gpu = torch.cuda.is_available()
    if device == "cuda" and not has_gpu:
        raise ValueError('device="cuda", but PyTorch finds no CUDA GPU here; take device="cpu" or "auto"')
    return torch.device("cuda" if has_gpu and device != "cpu" else "cpu")


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """So many threads of PyTorch for a while; None leaves them as they are."""
    before = torch.get_num_threads()
    if n_jobs is not None:
        torch.set_num_threads(n_jobs)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _blocks(X: csr_matrix, device: torch.device) -> Iterator[Documents]:
    for start in range(0, X.shape[0], _BLOCK):
        yield Documents.of(X, slice(start, start + _BLOCK), device)


def _make_optimizer(
    parameters: list[torch.nn.Parameter], name: str, learning_rate: float, epsilon: float
) -> torch.optim.Optimizer:
    if name == "adadelta":  # as Keras has it, where the paper was computed
        maker = Adadelta if parameters[0].device.type == "cpu" else torch.optim.Adadelta
        return maker(parameters, lr=learning_rate, rho=0.95, eps=epsilon)
    if name == "sgd":
        return torch.optim.SGD(parameters, lr=learning_rate, momentum=0.9)
    return torch.optim.Adam(parameters, lr=learning_rate, eps=epsilon, fused=True)
