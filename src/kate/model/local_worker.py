"""One of several workers: its documents, its random generator, and a copy of the network that it trains for some steps.

A round is a function of the state that it starts from, and of nothing that was left behind by rounds before. So a
worker that is lost can be replaced by a new one with the same documents, and the round done again gives the same bits.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.averaging import as_flat, take_flat
from kate.engines.network import Network
from kate.model.step_plan import StepPlan
from kate.model.training import KATETraining, Machine, learning_rates, scaled_rows
from kate.model.training_state import new_optimizer

__all__ = ["LocalWorker", "Round", "RoundResult", "Schedule", "dealt_rows", "worker_generators"]

Floats = NDArray[np.float32]


class Round(NamedTuple):
    """The steps of an epoch that every worker takes before the copies are averaged."""

    epoch: int
    start: int
    stop: int


class RoundResult(NamedTuple):
    """What a worker has learned in a round: its copy as one flat array."""

    flat: Floats
    loss: float  # summed over the documents
    n_documents: int


class Schedule(NamedTuple):
    """How the steps of one process are shared out: as many steps, of batches of which every worker has a part.

    The noise in a gradient of so many fewer documents is so many times larger, and Adam divides by its root: the
    learning rate makes up for that. (docs/scale.md: what else was tried.)
    """

    settings: dict[str, Any]
    n_batches: int  # of an epoch

    @classmethod
    def of(cls, settings: dict[str, Any], n_documents: int, n_workers: int) -> Schedule:
        """For so many documents of all workers together."""
        rate = settings["learning_rate"] * (math.sqrt(n_workers) if settings["optimizer"] == "adam" else 1.0)
        return cls(settings | {"learning_rate": rate}, -(-n_documents // settings["batch_size"]))

    def rates(self, epoch: int, max_epochs: int) -> NDArray[np.float64]:
        """The learning rates of an epoch's steps; fewer than there are batches where the steps are used up."""
        n_steps = max_epochs * self.n_batches
        n_steps = min(n_steps, self.settings["max_steps"] or n_steps)
        done = epoch * self.n_batches
        return learning_rates(self.settings, done, min(self.n_batches, n_steps - done), n_steps)


class LocalWorker:
    """Trains its copy of a network on its own documents, ``counts`` (n_docs, n_words), some steps at a time."""

    def __init__(
        self,
        schedule: Schedule,
        max_epochs: int,
        counts: csr_matrix,
        weights: Floats | None,
        random: np.random.RandomState,
        machine: Machine,
        n_neurons: int,
    ) -> None:
        self.schedule, self.max_epochs = schedule, max_epochs
        settings = schedule.settings
        network = Network(
            np.zeros((counts.shape[1], n_neurons), np.float32),
            np.zeros(n_neurons, np.float32),
            np.zeros(counts.shape[1], np.float32),
        ).zeros()
        rows = scaled_rows(counts, settings["scaling"], weights)
        self.learner = KATETraining(
            settings,
            network,
            new_optimizer(settings, network),
            rows,
            None,
            random,
            max_epochs,
            machine,
            weights,
        )
        self._first = deepcopy(random)
        self._plan: tuple[int, StepPlan] | None = None

    def train_round(self, flat: Floats, steps: Round) -> RoundResult:
        """The steps of a round, from the state on that ``flat`` holds."""
        self.go_to(flat, steps)
        loss, n_documents = self.take_steps(steps)
        return RoundResult(self.state(), loss, n_documents)

    def go_to(self, flat: Floats, steps: Round) -> None:
        """Be in a state, before the first step of a round."""
        learner, optimizer = self.learner, self.learner.optimizer
        take_flat(flat, learner.network, optimizer)
        optimizer.n_steps = steps.epoch * self.schedule.n_batches + steps.start
        learner.engine.send(optimizer)

    def take_steps(self, steps: Round) -> tuple[float, int]:
        """The steps of a round from the present state on: the summed loss, and how many documents it is of."""
        plan = self._plan_of(steps.epoch).part(steps.start, steps.stop)
        return self.learner.take_steps(plan), plan.n_documents

    def state(self) -> Floats:
        """The present state as one flat array."""
        self.learner.learned()
        return as_flat(self.learner.network, self.learner.optimizer)

    def _plan_of(self, epoch: int) -> StepPlan:
        """The plan of an epoch; those of the epochs before are drawn again if need be."""
        if self._plan is None or self._plan[0] > epoch:
            self.learner.random, self._plan = deepcopy(self._first), None
        done = -1 if self._plan is None else self._plan[0]
        for number in range(done + 1, epoch + 1):
            learner = self.learner
            plan = StepPlan.draw(
                learner.random, learner.n_documents, learner.settings["batch_size"], self.schedule.n_batches
            )
            self._plan = number, plan.with_rates(self.schedule.rates(number, self.max_epochs))
        assert self._plan is not None
        return self._plan[1]


def worker_generators(random: np.random.RandomState, n_workers: int) -> list[np.random.RandomState]:
    """A generator for each worker; the first has that of one process, and alone it does what one process does."""
    seed = int(deepcopy(random).randint(2**31 - 1))
    others = [np.random.RandomState([seed, worker]) for worker in range(1, n_workers)]
    return [deepcopy(random), *others]


def dealt_rows(n_documents: int, n_workers: int, worker: int, first: int = 0) -> NDArray[np.int64]:
    """The documents of a worker: dealt like cards, so that every worker has a fair sample of a sorted corpus.

    first : the number of the first document, where these are some of a corpus

    >>> dealt_rows(5, 2, 1).tolist(), dealt_rows(3, 2, 1, first=5).tolist()
    ([1, 3], [0, 2])
    """
    return np.arange((worker - first) % n_workers, n_documents, n_workers)
