"""Training on several GPUs of this machine: a process for each, whose copies are averaged on the devices.

The processes meet by torch.distributed. After a round each gets the copies of all and takes their mean itself, in the
order of the devices: so all have the same bits, whatever way the copies took. The documents are sent to the processes
once; during the training they get the numbers of steps alone.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.averaging import as_flat
from kate.engines.network import Engine, Network, Recipe
from kate.errors import quoted
from kate.model.averaged_training import AveragedTraining, require_documents, shares_of
from kate.model.local_worker import LocalWorker, Round, Schedule, dealt_rows, worker_generators
from kate.model.training import KATETraining, Machine

__all__ = ["DeviceTeam", "over_devices", "require_devices"]

Floats = NDArray[np.float32]
Backend = Literal["nccl", "gloo"]


class DeviceJob(NamedTuple):
    """What the process of one device is given."""

    worker: int
    n_workers: int
    meeting: str  # a file by which the processes find each other
    backend: Backend
    device: str
    schedule: Schedule
    max_epochs: int
    counts: csr_matrix
    weights: Floats | None
    random: np.random.RandomState
    machine: Machine
    flat: Floats


@dataclass(frozen=True)
class OneDevice(Machine):
    """A machine that trains on the device with a name."""

    name: str = "cuda"

    def engine(self, network: Network, recipe: Recipe) -> Engine:
        from kate.engines.gpu.torch_engine import TorchEngine

        return TorchEngine(network, recipe, self.name, self.precision)

    def uses_gpu(self) -> bool:
        return True


class DeviceTeam:
    """The processes of all devices, as this process sees them."""

    def __init__(self, jobs: Sequence[DeviceJob]) -> None:
        # not forked: CUDA does not work in a fork of a process that has used it
        context = multiprocessing.get_context("spawn")
        self._ends: list[Connection] = []
        self._processes = []
        for job in jobs:
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, job), daemon=True)
            process.start()
            theirs.close()
            self._ends.append(ours)
            self._processes.append(process)

    def train_round(self, steps: Round) -> tuple[float, int]:
        self._ask(steps, self._ends)
        answers = [self._answer(worker) for worker in range(len(self._ends))]
        return sum(loss for loss, _ in answers), sum(n_documents for _, n_documents in answers)

    def state(self) -> Floats:
        self._ask("state", self._ends[:1])
        flat: Floats = self._answer(0)
        return flat

    def close(self) -> None:
        """End the processes, whatever they are at."""
        for process, end in zip(self._processes, self._ends, strict=True):
            end.close()
            process.join(timeout=2)
            if process.is_alive():
                process.terminate()
                process.join()

    def _ask(self, what: object, ends: Sequence[Connection]) -> None:
        for worker, end in enumerate(ends):
            try:
                end.send(what)
            except OSError:
                self._answer(worker)  # it may have said why it ended

    def _answer(self, worker: int) -> Any:
        """What a process sends; if one of them has ended, the others would wait for it for ever."""
        while not self._ends[worker].poll(0.5):
            for other, process in enumerate(self._processes):
                if not process.is_alive() and not self._ends[other].poll():
                    raise self._ended(other)
        try:
            answer = self._ends[worker].recv()
        except EOFError:
            raise self._ended(worker) from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _ended(self, worker: int) -> RuntimeError:
        self._processes[worker].join(timeout=2)
        code = self._processes[worker].exitcode
        return RuntimeError(f"the process of device {worker} has ended (exit code {code}); fit again")


def over_devices(n_devices: int, backend: Backend = "nccl", names: Sequence[str] | None = None) -> Any:
    """Training on so many devices; ``names`` are those of GPUs in their order unless they are given."""
    devices = [f"cuda:{number}" for number in range(n_devices)] if names is None else list(names)

    @contextmanager
    def share_out(
        learner: KATETraining, counts: csr_matrix, max_epochs: int, machine: Machine
    ) -> Iterator[AveragedTraining]:
        schedule = Schedule.of(learner.settings, counts.shape[0], n_devices)
        require_documents(counts.shape[0], n_devices, schedule)
        flat = as_flat(learner.network, learner.optimizer)
        with tempfile.TemporaryDirectory(prefix="kate-devices-") as folder:
            jobs = [
                DeviceJob(
                    worker,
                    n_devices,
                    str(Path(folder, "meeting")),
                    backend,
                    devices[worker],
                    schedule,
                    max_epochs,
                    counts[dealt_rows(counts.shape[0], n_devices, worker)],
                    learner.weights,
                    random,
                    OneDevice(machine.n_jobs, machine.device, machine.precision, devices[worker]),
                    flat,
                )
                for worker, random in enumerate(worker_generators(learner.random, n_devices))
            ]
            team = DeviceTeam(jobs)
            try:
                yield AveragedTraining(learner, team, schedule, max_epochs)
            finally:
                team.close()

    return share_out


def require_devices(n_devices: int, machine: Machine) -> None:
    """Refuse more devices than there are."""
    if n_devices == 1:
        return
    if not machine.uses_gpu():
        raise ValueError(
            f"n_devices={n_devices} trains on so many GPUs, and device={quoted(machine.device)} uses none here; leave "
            "n_devices at 1 (the CPU's cores are all used anyway)"
        )
    import torch

    if n_devices > torch.cuda.device_count():
        raise ValueError(
            f"n_devices={n_devices}, but PyTorch sees {torch.cuda.device_count()} GPUs here; take at most so many"
        )


def _work(pipe: Connection, job: DeviceJob) -> None:
    """The process of one device."""
    import torch
    import torch.distributed

    try:
        if job.device.startswith("cuda"):
            torch.cuda.set_device(job.device)
        torch.distributed.init_process_group(
            job.backend, init_method=f"file://{job.meeting}", rank=job.worker, world_size=job.n_workers
        )
        n_neurons = (len(job.flat) // 3 - job.counts.shape[1]) // (job.counts.shape[1] + 1)
        worker = LocalWorker(
            job.schedule, job.max_epochs, job.counts, job.weights, job.random, job.machine, n_neurons
        )
        worker.go_to(job.flat, Round(0, 0, 0))
        _answer_all(pipe, worker)
    except EOFError:
        return  # nobody asks any more
    except Exception as error:
        pipe.send(error)
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def _answer_all(pipe: Connection, worker: LocalWorker) -> None:
    import torch
    import torch.distributed

    engine: Any = worker.learner.engine
    while True:
        asked = pipe.recv()
        if asked == "state":
            pipe.send(worker.state())
            continue
        loss, n_documents = worker.take_steps(asked)
        numbers = torch.tensor([float(n_documents)], dtype=torch.float64, device=engine.device)
        shares = shares_of([int(one.item()) for one in _gathered(numbers)])
        with torch.no_grad():
            for state in engine.states():
                state.copy_(_mean(_gathered(state), shares))
        pipe.send((loss, n_documents))


def _gathered(tensor: Any) -> list[Any]:
    """The tensors of all processes, in their order."""
    import torch
    import torch.distributed

    found = [torch.empty_like(tensor) for _ in range(torch.distributed.get_world_size())]
    torch.distributed.all_gather(found, tensor.contiguous())
    return found


def _mean(copies: Sequence[Any], shares: Sequence[float]) -> Any:
    """As :func:`kate.engines.averaging.mean_of_copies`: in double precision, the first copy first."""
    total = copies[0].double() * shares[0]
    for copy, share in zip(copies[1:], shares[1:], strict=True):
        total += copy.double() * share
    return total.float()
