"""What a long training writes down on its way, and goes on from: to the very bits that it would have come to."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.network import Network
from kate.model.loop import LoopState
from kate.model.streamed_training import EpochPlace, StreamedTraining
from kate.model.training import Machine
from kate.model.training_state import TrainingState, misfit
from kate.storage.folders import FolderError
from kate.streaming.count_shards import CountShards
from kate.streaming.work_folder import WorkFolder, WorkStopped

__all__ = ["Checkpoint", "Checkpoints"]

_EVERY = 300.0  # seconds; after every epoch in any case
_BEST = "best."


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A training that goes on: everything but its documents."""

    network: Network
    state: TrainingState
    loop: LoopState
    place: EpochPlace

    @classmethod
    def read(cls, work: WorkFolder, settings: Mapping[str, Any], n_words: int) -> Checkpoint | None:
        """The last one of a folder; None where training has not begun."""
        if work.phase != "training":
            return None
        facts = work.facts["checkpoint"]
        arrays = safetensors.numpy.load(work.read(str(facts["file"])))
        of_best = {
            name.removeprefix(_BEST): array for name, array in arrays.items() if name.startswith(_BEST)
        }
        others = {name: array for name, array in arrays.items() if not name.startswith(_BEST)}
        wrong = misfit(others, n_words, settings["n_neurons"], settings["n_components"])
        state = TrainingState.from_arrays(others, settings)
        if wrong is not None or state is None:
            raise FolderError(
                f"{work.path}: the checkpoint is not of this fit ({wrong or 'it has no generator'}); delete the folder "
                "and begin again"
            )
        loss = facts["best_loss"]
        loop = LoopState(
            list(facts["history"]),
            Network(*(of_best[name] for name in Network._fields)).copy() if of_best else None,
            math.inf if loss is None else loss,
            facts["n_stale"],
        )
        network = Network(*(others[name] for name in Network._fields)).copy()
        return cls(network, state.copy(), loop, EpochPlace(**facts["place"]))

    def learner(
        self,
        settings: dict[str, Any],
        shards: CountShards,
        held_out: csr_matrix | None,
        machine: Machine,
        weights: NDArray[np.float32] | None,
        window_entries: int,
    ) -> StreamedTraining:
        """The training as it was."""
        state = self.state
        assert state.optimizer is not None  # it is always written
        learner = StreamedTraining(
            settings,
            self.network,
            state.optimizer,
            shards,
            held_out,
            state.generator,
            settings["max_epochs"],
            machine,
            weights,
            state.start,
            window_entries,
        )
        learner.place = self.place
        return learner


class Checkpoints:
    """Writes where a training is: after each epoch, every five minutes, and when it is asked to stop.

    stop : whether somebody asks for it; the next checkpoint is then the last, and :class:`WorkStopped` is raised
    """

    def __init__(
        self,
        work: WorkFolder,
        learner: StreamedTraining,
        loop: LoopState,
        stop: Callable[[], bool] = lambda: False,
        every: float = _EVERY,
    ) -> None:
        self.work, self.learner, self.loop = work, learner, loop
        self._stop, self._every = stop, every
        self._last = time.monotonic()

    def write(self) -> None:
        """A checkpoint, which takes the place of the last one."""
        learner, loop = self.learner, self.loop
        network = learner.learned()
        state = TrainingState(learner.random, learner.optimizer, learner.start_weights)
        arrays: dict[str, NDArray[Any]] = {**network._asdict(), **state.to_arrays()}
        if loop.best is not None:
            arrays |= {f"{_BEST}{name}": array for name, array in loop.best._asdict().items()}
        before = str(self.work.facts.get("checkpoint", {}).get("file", ""))
        name = "checkpoint-1.safetensors" if before.startswith("checkpoint-0") else "checkpoint-0.safetensors"
        facts = {
            "file": name,
            "history": loop.history,
            "best_loss": loop.best_loss,
            "n_stale": loop.n_stale,
            "place": asdict(learner.place),
        }
        contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        files = {name: safetensors.numpy.save(contiguous)}
        self.work.keep(files, "training", {"checkpoint": facts}, instead_of=[before] if before else [])
        self._last = time.monotonic()

    def between_steps(self) -> None:
        """Write one if it is time for it."""
        if self._stop():
            self.write()
            raise stopped(self.work)
        if time.monotonic() - self._last > self._every:
            self.write()


def stopped(work: WorkFolder) -> WorkStopped:
    """What is raised when a fit stops because it was asked to."""
    return WorkStopped(f"the fit was stopped; what is done is in {work.path}, and --resume goes on with it")
