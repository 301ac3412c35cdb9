"""The GPU engine: the same network, recipe and steps as the CPU engine's, by PyTorch. Needs the extra ``gpu``.

The sparse rows, the parameters and the optimizer's moments live on the device. An epoch sends its plan (which
documents, seeds, rates) at once and reads back the summed loss at its end; in between nothing waits for the host. On
CUDA a step is captured once as a graph and replayed; on PyTorch's CPU device, where the tests run, the same operations
run one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.devices import Precision
from kate.engines.network import Network, Optimizer, Recipe
from kate.engines.torch_step import Parameters, Plan, Rows, Step, Update

__all__ = ["TorchEngine"]

_SPARE = (
    1.25  # room for batches with more entries than those of this epoch, so that a graph serves many epochs
)
_BLOCK_CELLS = 2**24  # documents × words of a block of the validation loss
_WARM_UP = 3  # steps before a capture, in which libraries allocate what they need


class TorchEngine:
    """Steps and losses of one network on sparse rows that are already scaled (float32 CSR).

    ``train`` changes what is on the device: :meth:`fetch` brings ``network`` and the optimizer up to date with it,
    :meth:`send` the other way round.

    device : "cuda", or "cpu" for PyTorch's own
    precision : products in "float32", in "tf32" (CUDA only) or in "bf16"; everything else is float32
    """

    def __init__(
        self,
        network: Network,
        recipe: Recipe,
        device: str = "cuda",
        precision: Precision = "float32",
    ) -> None:
        if recipe.n_sampled:
            raise ValueError("this engine reconstructs all words; n_sampled must be 0")
        self.network = network
        self.recipe = recipe
        self.device = torch.device(device)
        self.precision = precision
        self._parameters = Parameters(network.W.shape[0], network.W.shape[1], self.device)
        self._optimizer: Optimizer | None = None
        self._update: Update | None = None
        self._rows: list[tuple[csr_matrix, Rows]] = []
        self._epoch: _Epoch | None = None
        self.send()

    def train(
        self,
        X: csr_matrix,
        batches: list[NDArray[np.int64]],
        rates: NDArray[np.float64],
        optimizer: Optimizer,
        seeds: NDArray[np.int64],
    ) -> float:
        """A step for each batch of documents, with its learning rate and dropout seed; returns the summed loss."""
        rows = self._rows_of(X)
        plan = self._plan(X, batches, rates, optimizer, seeds)
        if optimizer is not self._optimizer:
            self._take_over(optimizer)
        most = _most_entries(X, batches)
        if self._epoch is None or not self._epoch.can_take(rows, plan, most):
            step = Step(
                self.recipe,
                rows,
                self._parameters,
                plan.docs.shape[1],
                max(1, int(_SPARE * most)),
                self.precision,
            )
            self._epoch = None  # the memory of the old one may be needed for the new one
            self._epoch = _Epoch(step, plan, self._update)
        with self._matmul_precision(), torch.no_grad():
            total = self._epoch.run(plan)
        optimizer.n_steps += len(batches)
        is_finite = bool(torch.isfinite(self._parameters.flat.sum(dtype=torch.float64)))
        return total if is_finite else math.nan

    def gradient(self, X: csr_matrix, docs: NDArray[np.int64], seed: int = 0) -> tuple[float, Network]:
        """The mean loss of the documents ``docs`` and its gradient, as a step computes them; nothing is changed."""
        plan = self._plan(X, [docs], np.zeros(1), None, np.array([seed]))
        n_entries = max(1, _most_entries(X, [docs]))
        step = Step(self.recipe, self._rows_of(X), self._parameters, len(docs), n_entries, self.precision)
        with self._matmul_precision(), torch.no_grad():
            step.run(plan, None)
        return float(step.total) / len(docs), Network(*(array.cpu().numpy() for array in step.gradient))

    def loss(self, X: csr_matrix, block: int | None = None) -> float:
        """The mean loss of a document without competition and dropout, as encoding works."""
        n_docs, n_words = X.shape
        block = min(n_docs, block or max(1, _BLOCK_CELLS // n_words))
        starts = np.arange(0, n_docs, block)
        most = int(np.add.reduceat(np.diff(X.indptr), starts).max())
        recipe = self.recipe.as_encoding()
        step = Step(recipe, self._rows_of(X), self._parameters, block, max(1, most), "float32")
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        with self._matmul_precision(), torch.no_grad():
            for start in starts.tolist():
                docs = torch.arange(start, start + block, device=self.device).clamp(max=n_docs)
                total += step.loss_of(docs)
        return float(total) / n_docs

    def fetch(self) -> None:
        """Bring ``network`` and the optimizer's moments up to date with the device."""
        _copy_to_host(self._parameters, self.network)
        if self._optimizer is not None and self._update is not None:
            _copy_to_host(self._update.first, self._optimizer.first)
            _copy_to_host(self._update.second, self._optimizer.second)

    def send(self) -> None:
        """Go on with ``network`` as it is now."""
        _copy_to_device(self.network, self._parameters)

    def _take_over(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer
        self._update = Update(optimizer.method, optimizer.decay, optimizer.epsilon, self._parameters)
        _copy_to_device(optimizer.first, self._update.first)
        _copy_to_device(optimizer.second, self._update.second)
        self._epoch = None  # it steps with the one before

    def _rows_of(self, X: csr_matrix) -> Rows:
        """The rows on the device; the training and the held-out documents are sent once."""
        for known, rows in self._rows:
            if known is X:
                return rows
        mass = np.asarray(X.sum(axis=1), dtype=np.float32).ravel()
        rows = Rows(
            self._sent(np.append(X.indptr, X.indptr[-1]).astype(np.int64)),
            self._with_a_zero(X.indices, torch.int32),
            self._with_a_zero(X.data, torch.float32),
            self._with_a_zero(mass, torch.float32),
        )
        self._rows = [*self._rows[-1:], (X, rows)]
        return rows

    def _plan(
        self,
        X: csr_matrix,
        batches: list[NDArray[np.int64]],
        rates: NDArray[np.float64],
        optimizer: Optimizer | None,
        seeds: NDArray[np.int64],
    ) -> Plan:
        lengths = np.array([len(docs) for docs in batches])
        docs = np.full((len(batches), lengths.max()), X.shape[0], dtype=np.int64)  # the empty row fills up
        docs[np.arange(lengths.max()) < lengths[:, np.newaxis]] = np.concatenate(batches)
        numbers = np.ones((len(batches), 4))
        numbers[:, 0], numbers[:, 3] = rates, 1 / lengths
        if optimizer is not None and optimizer.method == "adam":
            t = optimizer.n_steps + 1 + np.arange(len(batches))
            numbers[:, 1], numbers[:, 2] = (1 / (1 - decay**t) for decay in optimizer.decay)
        return Plan(
            self._sent(docs),
            self._sent(np.asarray(seeds, dtype=np.int64)),
            self._sent(numbers.astype(np.float32)),
        )

    def _sent(self, array: NDArray[np.generic]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def _with_a_zero(self, array: NDArray[np.generic], dtype: torch.dtype) -> torch.Tensor:
        """An array on the device with a zero behind it; on the way there it is not copied on the host."""
        tensor = torch.zeros(len(array) + 1, dtype=dtype, device=self.device)
        tensor[:-1].copy_(torch.from_numpy(array))
        return tensor

    @contextmanager
    def _matmul_precision(self) -> Iterator[None]:
        """TF32 on or off for our products, whatever it is for the rest of the program."""
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high" if self.precision == "tf32" else "highest")
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(before)


class _Epoch:
    """A step and a plan in memory that stays where it is, captured as a CUDA graph where there is one."""

    def __init__(self, step: Step, plan: Plan, update: Update | None) -> None:
        self.step, self.update = step, update
        self.plan = Plan(plan.docs.clone(), plan.seeds.clone(), plan.numbers.clone())
        self.graph: torch.cuda.CUDAGraph | None = None

    def can_take(self, rows: Rows, plan: Plan, n_entries: int) -> bool:
        """Whether an epoch of this shape fits."""
        return (
            rows is self.step.rows
            and plan.docs.shape == self.plan.docs.shape
            and n_entries <= self.step.slots.shape[0]
        )

    def run(self, plan: Plan) -> float:
        """All steps of a plan; the summed loss is the only thing that is waited for."""
        self.plan.copy_from(plan)
        if self.graph is None and self.step.total.is_cuda:
            self.graph = self._captured()
        self.step.at.zero_()
        self.step.total.zero_()
        for _ in range(len(self.plan.docs)):
            if self.graph is None:
                self.step.run(self.plan, self.update)
            else:
                self.graph.replay()
        return float(self.step.total)

    def _captured(self) -> torch.cuda.CUDAGraph:
        """The step as a graph. To warm up it is run for real, so that what it changes is put back afterwards."""
        changed = [self.step.parameters.flat]
        if self.update is not None:
            changed += [self.update.first.flat, self.update.second.flat]
        before = [tensor.clone() for tensor in changed]
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UP):
                self.step.at.zero_()
                self.step.run(self.plan, self.update)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        self.step.at.zero_()
        with torch.cuda.graph(graph):
            self.step.run(self.plan, self.update)
        for tensor, kept in zip(changed, before, strict=True):
            tensor.copy_(kept)
        return graph


def _most_entries(X: csr_matrix, batches: list[NDArray[np.int64]]) -> int:
    """The entries of the batch that has most of them."""
    starts = np.cumsum([0, *(len(docs) for docs in batches[:-1])])
    return int(np.add.reduceat(np.diff(X.indptr)[np.concatenate(batches)], starts, dtype=np.int64).max())


def _copy_to_device(network: Network, parameters: Parameters) -> None:
    for array, tensor in zip(network, parameters, strict=True):
        tensor.copy_(torch.from_numpy(array))


def _copy_to_host(parameters: Parameters, network: Network) -> None:
    for tensor, array in zip(parameters, network, strict=True):
        array[...] = tensor.cpu().numpy()
