"""Training by several workers: each takes some steps on its own documents, then their copies are averaged.

What is averaged are the parameters and both moments of the optimizer, so that after a round all workers are in one and
the same state (docs/scale.md: how that, and the number of steps, was chosen). The workers may be in this process, on
the GPUs of this machine or on other machines: a :class:`Team` is all that the training knows of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.averaging import as_flat, mean_of_copies, take_flat
from kate.engines.network import Network
from kate.model.local_worker import (
    LocalWorker,
    Round,
    RoundResult,
    Schedule,
    dealt_rows,
    worker_generators,
)
from kate.model.training import KATETraining, Machine

__all__ = ["STEPS_OF_A_ROUND", "AveragedTraining", "InProcessTeam", "Team", "require_documents", "shares_of"]

Floats = NDArray[np.float32]

STEPS_OF_A_ROUND = 16
"""Steps that a worker takes before copies are averaged."""


class Team(Protocol):
    """Workers in a common state, each with documents of its own."""

    def train_round(self, steps: Round) -> tuple[float, int]:
        """Every worker takes the steps of a round, and the copies are averaged: the summed loss, the documents."""

    def state(self) -> Floats:
        """The common state as one flat array."""


class AveragedTraining:
    """What the training loop sees of a team: a learner as any other."""

    def __init__(self, learner: KATETraining, team: Team, schedule: Schedule, max_epochs: int) -> None:
        self.learner, self.team = learner, team
        self.schedule, self.max_epochs = schedule, max_epochs
        self.n_documents = learner.n_documents
        self._is_here = True

    def train_epoch(self, epoch: int) -> float:
        n_steps = len(self.schedule.rates(epoch, self.max_epochs))
        loss, n_documents = 0.0, 0
        for start in range(0, n_steps, STEPS_OF_A_ROUND):
            steps = Round(epoch, start, min(start + STEPS_OF_A_ROUND, n_steps))
            of_round, documents = self.team.train_round(steps)
            if not math.isfinite(of_round):
                return math.nan
            loss, n_documents = loss + of_round, n_documents + documents
        self._is_here = False
        return loss / max(1, n_documents)

    def validation_loss(self) -> float | None:
        if self.learner.held_out is None:
            return None
        self._bring()
        return self.learner.validation_loss()

    def snapshot(self) -> Network:
        self._bring()
        return self.learner.snapshot()

    def restore(self, snapshot: Network) -> None:
        self.learner.restore(snapshot)
        self._is_here = True

    def learned(self) -> Network:
        """The network as all workers have it."""
        self._bring()
        return self.learner.learned()

    def _bring(self) -> None:
        """The common state into the learner of this process."""
        if not self._is_here:
            take_flat(self.team.state(), self.learner.network, self.learner.optimizer)
            self.learner.engine.send()
            self._is_here = True


class InProcessTeam:
    """Workers that take their turns in this process: what every other team is tested against."""

    def __init__(self, workers: Sequence[LocalWorker], flat: Floats) -> None:
        self.workers, self.flat = workers, flat

    @classmethod
    def of(
        cls,
        learner: KATETraining,
        counts: csr_matrix,
        schedule: Schedule,
        max_epochs: int,
        n_workers: int,
        machine: Machine,
    ) -> InProcessTeam:
        """Workers that go on from where the learner is, and share its documents."""
        require_documents(counts.shape[0], n_workers, schedule)
        generators = worker_generators(learner.random, n_workers)
        workers = [
            LocalWorker(
                schedule,
                max_epochs,
                counts[dealt_rows(counts.shape[0], n_workers, worker)],
                learner.weights,
                random,
                machine,
                learner.network.b.size,
            )
            for worker, random in enumerate(generators)
        ]
        return cls(workers, as_flat(learner.network, learner.optimizer))

    def train_round(self, steps: Round) -> tuple[float, int]:
        results = [worker.train_round(self.flat, steps) for worker in self.workers]
        self.flat = self.together(results)
        return sum(result.loss for result in results), sum(result.n_documents for result in results)

    def together(self, results: Sequence[RoundResult]) -> Floats:
        """The copies of a round, averaged."""
        n_documents = [result.n_documents for result in results]
        return mean_of_copies([result.flat for result in results], shares_of(n_documents))

    def state(self) -> Floats:
        return self.flat


def shares_of(n_documents: Sequence[int]) -> list[float]:
    """How much the copy of each worker counts: as much as the documents that it has learned from.

    >>> shares_of([3, 1]), shares_of([7])
    ([0.75, 0.25], [1.0])
    """
    total = sum(n_documents)
    return [n / total for n in n_documents]


def require_documents(n_documents: int, n_workers: int, schedule: Schedule) -> None:
    """Refuse more workers than there are documents for: each must have one for every step of an epoch."""
    if n_documents // n_workers < max(1, schedule.n_batches):
        raise ValueError(
            f"{n_workers} workers share {n_documents:,} documents, which is less than one for every step; take fewer "
            "workers"
        )
