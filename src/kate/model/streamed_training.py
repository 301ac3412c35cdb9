"""KATE as the training loop sees it, on documents that stay on disk: an epoch is a row of windows, read ahead."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.network import Network, Optimizer
from kate.model.settings import sampled_words
from kate.model.training import KATETraining, Machine, ScaledRows, initial_network, scaled_rows
from kate.model.training_state import new_optimizer
from kate.streaming.count_shards import CountShards, Window, read_ahead

__all__ = ["EpochPlace", "StreamedTraining"]

Floats = NDArray[np.float32]

# Steps that the engine takes in one call; a checkpoint can be written between two calls. More on a GPU, where steps are
# quick and should not wait for the host.
_STEPS_AT_ONCE, _STEPS_AT_ONCE_ON_GPU = 32, 256


@dataclass
class EpochPlace:
    """Where an epoch is: with the network, the optimizer and the generator all that its rest depends on."""

    seed: int = -1  # of the epoch; -1 before its first step
    n_steps: int = 0
    n_documents: int = 0
    loss: float = 0.0  # summed


class ScaledWindow(NamedTuple):
    """A window as the engine takes it."""

    window: Window
    rows: ScaledRows


class StreamedTraining(KATETraining):
    """Trains on shards: every document once in an epoch, in an order drawn anew.

    What an epoch does follows from its seed: after a checkpoint it goes on with the very next step.

    window_entries : numbers of the documents that are in memory at a time
    between_steps : called again and again where a checkpoint could be written
    """

    def __init__(
        self,
        settings: dict[str, Any],
        network: Network,
        optimizer: Optimizer,
        shards: CountShards,
        held_out: csr_matrix | None,
        random: Any,
        max_epochs: int | None,
        machine: Machine,
        weights: Floats | None = None,
        start: Floats | None = None,
        window_entries: int = 2**22,
    ) -> None:
        nothing = ScaledRows(csr_matrix(np.zeros((0, shards.n_words), np.float32)), None)
        super().__init__(
            settings, network, optimizer, nothing, held_out, random, max_epochs, machine, weights, start
        )
        self.shards, self.n_documents = shards, shards.n_documents
        documents = max(1, int(window_entries / shards.mean_words))
        # whole rounds of steps, so that a window ends where a checkpoint can be written
        self.steps_at_once = _STEPS_AT_ONCE_ON_GPU if machine.uses_gpu() else _STEPS_AT_ONCE
        fit = max(1, documents // settings["batch_size"])
        self.steps_of_window = fit if fit <= self.steps_at_once else fit - fit % self.steps_at_once
        self.place = EpochPlace()
        self.between_steps: Callable[[], None] = lambda: None

    @classmethod
    def begin(
        cls,
        settings: dict[str, Any],
        shards: CountShards,
        sample: csr_matrix,
        held_out: csr_matrix | None,
        random: Any,
        machine: Machine,
        weights: Floats | None,
        window_entries: int,
    ) -> Self:
        """A new network, which starts from a sample of the documents."""
        if settings["reconstruction_sampling"] != "auto":
            machine.refuse_sampling(sampled_words(settings, shards.n_words))
        rows = scaled_rows(sample, settings["scaling"], weights)
        network, start = initial_network(rows, settings, random, machine)
        optimizer = new_optimizer(settings, network)
        max_epochs = settings["max_epochs"]
        found = (settings, network, optimizer, shards, held_out, random, max_epochs, machine, weights, start)
        return cls(*found, window_entries)

    def train_epoch(self, epoch: int) -> float:
        place, size = self.place, self.settings["batch_size"]
        if place.seed < 0:
            place.seed = int(self.random.randint(0, 2**31 - 1))
        rates = self._learning_rates(epoch, self.shards.n_steps(size))
        while place.n_steps < len(rates):
            for loss, n_steps, n_documents in self._steps(rates):
                place.loss += loss
                place.n_steps += n_steps
                place.n_documents += n_documents
                if not math.isfinite(place.loss) or not self._is_finite():
                    return math.nan
                self.between_steps()
        mean = place.loss / max(1, place.n_documents)
        self.place = EpochPlace()
        return mean

    def _steps(self, rates: NDArray[np.float64]) -> Iterator[tuple[float, int, int]]:
        """Take the steps that are left of an epoch, some at once: their loss, how many they are, their documents."""
        place, n_of_window = self.place, self.steps_of_window
        first = place.n_steps // n_of_window
        windows = self.shards.windows(place.seed, self.settings["batch_size"], n_of_window, first=first)
        needed = -(-len(rates) // n_of_window) - first
        for window, rows in read_ahead(
            self._scaled(window) for _, window in zip(range(needed), windows, strict=False)
        ):
            begin = window.number * n_of_window
            done = max(0, place.n_steps - begin)
            for start in range(done, min(len(window.batches), len(rates) - begin), self.steps_at_once):
                stop = min(start + self.steps_at_once, len(window.batches), len(rates) - begin)
                batches = window.batches[start:stop]
                loss = self.engine.train(
                    rows.X,
                    batches,
                    rates[begin + start : begin + stop],
                    self.optimizer,
                    window.seeds[start:stop],
                    rows.inputs,
                )
                yield loss, stop - start, sum(map(len, batches))

    def _scaled(self, window: Window) -> ScaledWindow:
        return ScaledWindow(window, scaled_rows(window.counts, self.settings["scaling"], self.weights))

    def _is_finite(self) -> bool:
        # the loss can miss it: exp clips its argument in the kernels
        return all(bool(np.isfinite(array.sum(dtype=np.float64))) for array in self.network)
