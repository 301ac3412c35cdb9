"""The GPU engine: the same network, recipe and steps as in the CPU engine, by PyTorch. Needs the extra ``gpu``.

The sparse rows, the parameters and the optimizer's moments are on the device. An epoch first sends its whole plan
(documents, seeds, learning rates) and at its end reads back the summed loss; in between nothing waits for the host. On
CUDA a step is a few products and fused kernels, captured once as a graph and replayed. On PyTorch's CPU device, and
where there is no Triton, it is made of PyTorch's own operations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.devices import Precision
from kate.engines.gpu.device_batches import BatchPlan, DeviceRows, Layout
from kate.engines.gpu.torch_step import DeviceParameters, DeviceUpdate, PlainStep, Step
from kate.engines.network import Network, Optimizer, Recipe
from kate.engines.row_checks import check_documents, check_rows

__all__ = ["TorchEngine"]

# Memory for larger batches than those of this epoch, so that a captured graph can be used for many epochs.
_SPARE = 1.25
_BLOCK_CELLS = 2**24  # documents × words in one block of the validation loss
_STEPS_AT_ONCE = 256  # laid out together
_WARM_UP = 3  # steps before a capture, in which libraries allocate what they need


class TorchEngine:
    """Steps and losses of one network on sparse rows that are already scaled (float32 CSR).

    ``train`` changes the copy on the device. :meth:`fetch` copies it into ``network`` and the optimizer; :meth:`send`
    copies ``network`` to the device.

    device : "cuda", or "cpu" for PyTorch's own CPU device
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
        self._parameters = DeviceParameters(network.W.shape[0], network.W.shape[1], self.device)
        self._optimizer: Optimizer | None = None
        self._update: DeviceUpdate | None = None
        self._rows: list[tuple[csr_matrix, NDArray[np.float32] | None, DeviceRows]] = []
        self._epoch: _Epoch | None = None
        self.send()

    def train(
        self,
        X: csr_matrix,
        batches: list[NDArray[np.int64]],
        rates: NDArray[np.float64],
        optimizer: Optimizer,
        seeds: NDArray[np.int64],
        inputs: NDArray[np.float32] | None = None,
    ) -> float:
        """One step per batch of documents, with its learning rate and dropout seed; returns the summed loss."""
        plan = self._plan(X, batches, rates, optimizer, seeds, inputs)
        if optimizer is not self._optimizer:
            self._take_over(optimizer)
        n_slots, rows = _most_entries(X, batches), self._rows_of(X, inputs)
        if self._epoch is None or not self._epoch.can_take(rows, plan, n_slots):
            self._epoch = None  # frees its memory, which the new one may need
            n_steps = min(len(plan), _STEPS_AT_ONCE)
            step = self._step(self.recipe, X, inputs, plan, max(1, int(_SPARE * n_slots)), n_steps)
            self._epoch = _Epoch(step, self._update)
        self._epoch.step.layout.rows = rows
        with self._matmul_precision(), torch.no_grad():
            self._epoch.run(plan)
        optimizer.n_steps += len(batches)
        # read together: the only time in an epoch that the host waits
        total, check = torch.stack(
            [self._epoch.step.losses.sum(), self._parameters.flat.sum().double()]
        ).tolist()
        return float(total) if math.isfinite(check) else math.nan

    def gradient(
        self,
        X: csr_matrix,
        docs: NDArray[np.int64],
        seed: int = 0,
        inputs: NDArray[np.float32] | None = None,
    ) -> tuple[float, Network]:
        """The mean loss of the documents ``docs`` and its gradient, as a step computes them; nothing is changed."""
        plan = self._plan(X, [docs], np.zeros(1), None, np.array([seed]), inputs)
        step = self._step(self.recipe, X, inputs, plan, max(1, _most_entries(X, [docs])), 1)
        with self._matmul_precision(), torch.no_grad():
            step.layout.fill(plan)
            step.run(None)
        gradient = Network(*(array.cpu().numpy() for array in step.gradient))
        return float(step.losses.sum()) / len(docs), gradient

    def loss(
        self, X: csr_matrix, inputs: NDArray[np.float32] | None = None, block: int | None = None
    ) -> float:
        """The mean loss of a document without competition and dropout, as encoding works."""
        block = min(X.shape[0], block or max(1, _BLOCK_CELLS // X.shape[1]))
        blocks = [np.arange(i, min(i + block, X.shape[0])) for i in range(0, X.shape[0], block)]
        n = len(blocks)
        plan = self._plan(X, blocks, np.zeros(n), None, np.zeros(n, np.int64), inputs)
        step = self._step(self.recipe.as_encoding(), X, inputs, plan, max(1, _most_entries(X, blocks)), 1)
        with self._matmul_precision(), torch.no_grad():
            for start in range(n):
                step.layout.fill(plan.part(start, start + 1))
                step.at.zero_()
                step.add_losses()
        return float(step.losses.sum()) / X.shape[0]

    def fetch(self) -> None:
        """Copy the network and the optimizer's moments from the device."""
        _copy_to_host(self._parameters, self.network)
        if self._optimizer is not None and self._update is not None:
            _copy_to_host(self._update.first, self._optimizer.first)
            _copy_to_host(self._update.second, self._optimizer.second)

    def send(self, optimizer: Optimizer | None = None) -> None:
        """Copy ``network`` to the device, and the moments of an optimizer that was changed here."""
        _copy_to_device(self.network, self._parameters)
        if optimizer is not None and optimizer is self._optimizer and self._update is not None:
            _copy_to_device(optimizer.first, self._update.first)
            _copy_to_device(optimizer.second, self._update.second)

    def states(self) -> list[torch.Tensor]:
        """What a step changes, as it is on the device: the parameters, and the moments once there was a step."""
        update = self._update
        return [self._parameters.flat, *([] if update is None else [update.first.flat, update.second.flat])]

    def _take_over(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer
        self._update = DeviceUpdate(optimizer.method, optimizer.decay, optimizer.epsilon, self._parameters)
        _copy_to_device(optimizer.first, self._update.first)
        _copy_to_device(optimizer.second, self._update.second)
        self._epoch = None  # its step was captured with the previous optimizer

    def _step(
        self,
        recipe: Recipe,
        X: csr_matrix,
        inputs: NDArray[np.float32] | None,
        plan: BatchPlan,
        n_slots: int,
        n_steps: int,
    ) -> Step:
        rows, batch_size = self._rows_of(X, inputs), plan.docs.shape[1]
        layout = Layout(rows, X.shape[1], batch_size, n_slots, n_steps, recipe.dropout)
        return _kind_of_step(self.device)(recipe, self._parameters, layout, self.precision)

    def _rows_of(self, X: csr_matrix, inputs: NDArray[np.float32] | None) -> DeviceRows:
        """The rows on the device; the training and the held-out documents are checked and sent once."""
        for known, known_inputs, rows in self._rows:
            if known is X and known_inputs is inputs:
                return rows
        check_rows(X, self.network.W.shape[0])
        mass = np.asarray(X.sum(axis=1), dtype=np.float32).ravel()
        values = self._with_a_zero(X.data, torch.float32)
        rows = DeviceRows(
            self._sent(np.append(X.indptr, X.indptr[-1]).astype(np.int64)),
            self._with_a_zero(X.indices, torch.int32),
            values,
            self._with_a_zero(mass, torch.float32),
            values if inputs is None else self._with_a_zero(inputs, torch.float32),
        )
        self._rows = [*self._rows[-1:], (X, inputs, rows)]
        return rows

    def _plan(
        self,
        X: csr_matrix,
        batches: list[NDArray[np.int64]],
        rates: NDArray[np.float64],
        optimizer: Optimizer | None,
        seeds: NDArray[np.int64],
        inputs: NDArray[np.float32] | None,
    ) -> BatchPlan:
        self._rows_of(X, inputs)  # checks them
        check_documents(batches, X.shape[0])
        lengths = np.array([len(docs) for docs in batches])
        docs = np.full((len(batches), lengths.max()), X.shape[0], dtype=np.int64)  # padded with the empty row
        docs[np.arange(lengths.max()) < lengths[:, np.newaxis]] = np.concatenate(batches)
        numbers = np.ones((len(batches), 3), dtype=np.float32)
        numbers[:, 0] = rates
        if optimizer is not None and optimizer.method == "adam":
            t = optimizer.n_steps + 1 + np.arange(len(batches))
            numbers[:, 1], numbers[:, 2] = (1 / (1 - decay**t) for decay in optimizer.decay)
        shares = (1 / lengths).astype(np.float32)
        arrays = (docs, np.asarray(seeds, dtype=np.int64), shares, numbers)
        return BatchPlan(*(self._sent(array) for array in arrays))

    def _sent(self, array: NDArray[np.generic]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def _with_a_zero(self, array: NDArray[np.generic], dtype: torch.dtype) -> torch.Tensor:
        """An array on the device, followed by a zero; not copied on the host first."""
        tensor = torch.zeros(len(array) + 1, dtype=dtype, device=self.device)
        tensor[:-1].copy_(torch.from_numpy(array))
        return tensor

    @contextmanager
    def _matmul_precision(self) -> Iterator[None]:
        """Switch TF32 on or off for our products, and back for the rest of the program."""
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high" if self.precision == "tf32" else "highest")
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(before)


class _Epoch:
    """A step in memory that is allocated once, captured as a CUDA graph where the device has graphs."""

    def __init__(self, step: Step, update: DeviceUpdate | None) -> None:
        self.step, self.update = step, update
        self.graph: torch.cuda.CUDAGraph | None = None

    def can_take(self, rows: DeviceRows, plan: BatchPlan, n_slots: int) -> bool:
        """Whether a plan fits into the memory of this step, on these rows or others: a graph reads the layout alone."""
        layout = self.step.layout
        return (
            layout.is_for(rows)
            and plan.docs.shape[1] == layout.batch_size
            and n_slots <= len(layout.slots)
            and len(layout) >= min(len(plan), _STEPS_AT_ONCE)
        )

    def run(self, plan: BatchPlan) -> None:
        """Start all steps of a plan, without waiting for them."""
        self.step.losses.zero_()
        n = len(self.step.layout)
        for start in range(0, len(plan), n):
            part = plan.part(start, start + n)
            self.step.layout.fill(part)
            if self.graph is None and _has_graphs(self.step.at.device):
                self.graph = self._captured()
            self.step.at.zero_()
            for _ in range(len(part)):
                if self.graph is None:
                    self.step.run(self.update)
                else:
                    self.graph.replay()

    def _captured(self) -> torch.cuda.CUDAGraph:
        """The step as a graph. It is run a few times first, to warm up; what that changes is put back afterwards."""
        changed = [self.step.losses, self.step.parameters.flat]
        if self.update is not None:
            changed += [self.update.first.flat, self.update.second.flat]
        before = [tensor.clone() for tensor in changed]
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UP):
                self.step.at.zero_()
                self.step.run(self.update)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step.run(self.update)
        for tensor, kept in zip(changed, before, strict=True):
            tensor.copy_(kept)
        return graph


def _kind_of_step(device: torch.device) -> type[Step]:
    """The fused step on CUDA, if Triton is installed and can compile; otherwise the one of PyTorch's own operations."""
    if device.type == "cuda" and find_spec("triton") is not None:
        from kate.engines.gpu.triton_step import FusedStep, can_compile

        if can_compile(device):
            return FusedStep
    return PlainStep


def _has_graphs(device: torch.device) -> bool:
    return device.type == "cuda"


def _most_entries(X: csr_matrix, batches: list[NDArray[np.int64]]) -> int:
    """The number of entries in the largest batch."""
    starts = np.cumsum([0, *(len(docs) for docs in batches[:-1])])
    return int(np.add.reduceat(np.diff(X.indptr)[np.concatenate(batches)], starts, dtype=np.int64).max())


def _copy_to_device(network: Network, parameters: DeviceParameters) -> None:
    for array, tensor in zip(network, parameters, strict=True):
        tensor.copy_(torch.from_numpy(array))


def _copy_to_host(parameters: DeviceParameters, network: Network) -> None:
    for tensor, array in zip(parameters, network, strict=True):
        array[...] = tensor.cpu().numpy()
