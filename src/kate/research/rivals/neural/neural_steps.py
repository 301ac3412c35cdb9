"""The steps of an epoch of a neural model: one by one, or captured on a GPU and replayed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.research.rivals.neural.batches import Batch, DenseBatch, SparseBatch
from kate.research.rivals.neural.document_module import DocumentModule

__all__ = ["EpochPlan", "FixedSteps", "SparseSteps", "Steps", "steps_for"]

_WARM_UP = 3  # steps before a capture, so that libraries have allocated what they need
_SHARE_OF_MEMORY = 0.5  # of what is free on the GPU, for the documents as a matrix


class EpochPlan(NamedTuple):
    """The steps of an epoch: which documents, at what learning rate, and how much of the training is over."""

    batches: list[NDArray[np.intp]]
    rates: NDArray[np.float64]
    progress: NDArray[np.float64]
    turn: int  # which of the module's turns is trained


class Steps(ABC):
    """A module, the documents that it learns from, and an optimizer for each of its turns."""

    def __init__(self, module: DocumentModule, X: csr_matrix) -> None:
        self.module, self.X = module, X
        self.device = next(module.parameters()).device

    @abstractmethod
    def run(self, plan: EpochPlan) -> float:
        """Take all steps of a plan; the summed loss of its documents."""

    @abstractmethod
    def blocks(self, X: csr_matrix, size: int) -> Iterator[Batch]:
        """Documents in blocks, in the form that the steps use."""


class SparseSteps(Steps):
    """Steps over sparse batches, one by one."""

    def __init__(
        self, module: DocumentModule, X: csr_matrix, optimizer: str, learning_rate: float, epsilon: float
    ) -> None:
        super().__init__(module, X)
        self.optimizers = [
            _make_optimizer(turn, optimizer, learning_rate, epsilon) for turn in module.turns()
        ]

    def run(self, plan: EpochPlan) -> float:
        optimizer = self.optimizers[plan.turn]
        # read once per epoch, so that nothing waits for the GPU in between
        total = torch.zeros((), device=self.device, dtype=torch.float64)
        for rows, rate, progress in zip(plan.batches, plan.rates, plan.progress, strict=True):
            self.module.progress = float(progress)
            for group in optimizer.param_groups:
                group["lr"] = float(rate)
            loss = _learn(self.module, SparseBatch.of(self.X, rows, self.device), optimizer)
            total += len(rows) * loss
        return total.item()

    def blocks(self, X: csr_matrix, size: int) -> Iterator[Batch]:
        return SparseBatch.blocks(X, size, self.device)


class FixedSteps(Steps):
    """Steps of fixed shapes over dense batches, all on the device: on a GPU a step is the replay of a CUDA graph.

    The documents are there as a dense matrix. What differs from step to step (documents, learning rate, progress) is
    sent once per epoch, and a counter on the device says which step it is. The first steps of each kind (a turn and a
    batch size) are run normally, which also prepares what a capture needs.
    """

    def __init__(
        self, module: DocumentModule, X: csr_matrix, optimizer: str, learning_rate: float, epsilon: float
    ) -> None:
        super().__init__(module, X)
        self.documents = _as_matrix(X, self.device)
        self._rate, self._progress = (torch.zeros((), device=self.device) for _ in range(2))
        self._rate.fill_(learning_rate)
        self.optimizers = [_make_optimizer(turn, optimizer, self._rate, epsilon) for turn in module.turns()]
        self._at = torch.zeros(1, dtype=torch.int64, device=self.device)  # the step of the epoch
        self._total = torch.zeros((), device=self.device, dtype=torch.float64)
        self._sent: tuple[torch.Tensor, ...] = ()
        self._taken: Counter[tuple[int, int]] = Counter()
        self._graphs: dict[tuple[int, int], torch.cuda.CUDAGraph] = {}
        # one stream for all epochs: cuBLAS keeps memory for every stream that it is used on
        self._stream = torch.cuda.Stream() if self.device.type == "cuda" else None  # type: ignore[no-untyped-call]

    def run(self, plan: EpochPlan) -> float:
        self._send(plan)
        self.module.progress = self._progress
        with self._own_stream():
            for rows in plan.batches:
                self._take(plan.turn, len(rows))
        self.module.progress = 1.0
        return self._total.item()

    def blocks(self, X: csr_matrix, size: int) -> Iterator[Batch]:
        for start in range(0, X.shape[0], size):
            yield DenseBatch(_as_matrix(X[start : start + size], self.device))

    def _send(self, plan: EpochPlan) -> None:
        """Copy the plan of an epoch to where the graphs read it."""
        sizes = [len(rows) for rows in plan.batches]
        starts = np.cumsum([0, *sizes[:-1]])
        rates, progress = (numbers.astype(np.float32) for numbers in (plan.rates, plan.progress))
        arrays = [torch.from_numpy(each) for each in (np.concatenate(plan.batches), starts, rates, progress)]
        if not self._sent:
            self._sent = tuple(array.to(self.device, copy=True) for array in arrays)
        for sent, array in zip(self._sent, arrays, strict=True):
            sent.copy_(array)
        self._at.zero_()
        self._total.zero_()

    def _take(self, turn: int, size: int) -> None:
        kind = (turn, size)
        if kind in self._graphs:
            self._graphs[kind].replay()
            return
        self._step(turn, size)
        self._taken[kind] += 1
        if self.device.type == "cuda" and self._taken[kind] == _WARM_UP:
            self._graphs[kind] = self._captured(turn, size)

    def _step(self, turn: int, size: int) -> None:
        """Everything that a step does; no shape and no number in it comes from the host."""
        order, starts, rates, progress = self._sent
        self._rate.copy_(rates[self._at].squeeze(0))
        self._progress.copy_(progress[self._at].squeeze(0))
        rows = order[starts[self._at] + torch.arange(size, device=self.device)]
        loss = _learn(self.module, DenseBatch(self.documents[rows]), self.optimizers[turn])
        self._total.add_(loss, alpha=size)
        self._at.add_(1)

    def _captured(self, turn: int, size: int) -> torch.cuda.CUDAGraph:
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self.module.generator)  # so that every replay draws new random numbers
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):  # nothing is run now, only recorded
            self._step(turn, size)
        return graph

    @contextmanager
    def _own_stream(self) -> Iterator[None]:
        """A stream of its own: the default stream cannot be captured."""
        if self._stream is None:
            yield
            return
        self._stream.wait_stream(torch.cuda.current_stream())
        try:
            with torch.cuda.stream(self._stream):
                yield
        finally:  # also after Ctrl-C: results are read on the default stream
            torch.cuda.current_stream().wait_stream(self._stream)


def steps_for(
    module: DocumentModule, X: csr_matrix, optimizer: str, learning_rate: float, epsilon: float
) -> Steps:
    """Captured steps on a GPU that has memory for the documents as a dense matrix; sparse steps otherwise."""
    device = next(module.parameters()).device
    is_fixed = device.type == "cuda" and module.has_fixed_shapes and _fits(X, device)
    return (FixedSteps if is_fixed else SparseSteps)(module, X, optimizer, learning_rate, epsilon)


def _learn(module: DocumentModule, documents: Batch, optimizer: torch.optim.Optimizer) -> torch.Tensor:
    """One step; returns the loss before it."""
    module.zero_grad(set_to_none=True)
    loss = module.loss(documents)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.detach()


def _fits(X: csr_matrix, device: torch.device) -> bool:
    free, _ = torch.cuda.mem_get_info(device)
    return bool(4 * X.shape[0] * X.shape[1] < _SHARE_OF_MEMORY * free)


def _as_matrix(X: csr_matrix, device: torch.device) -> torch.Tensor:
    """A sparse matrix as a dense one, made on the device."""
    return SparseBatch.of(X, slice(None), device).dense()


def _make_optimizer(
    parameters: list[torch.nn.Parameter], name: str, rate: Any, epsilon: float
) -> torch.optim.Optimizer:
    """With a learning rate that is a tensor on a GPU, there is no counter on the host either: it can be captured."""
    is_tensor = isinstance(rate, torch.Tensor)
    capturable = is_tensor and rate.device.type == "cuda"
    if name == "adadelta":  # as in Keras, which the paper used
        return torch.optim.Adadelta(parameters, lr=rate, rho=0.95, eps=epsilon, capturable=capturable)
    if name == "sgd":
        return torch.optim.SGD(parameters, lr=rate, momentum=0.9, fused=is_tensor or None)
    return torch.optim.Adam(parameters, lr=rate, eps=epsilon, capturable=capturable, fused=True)
