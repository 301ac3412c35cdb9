"""Training by workers of a cluster. The state that they share is cut into as many parts as there are workers.

After a round every worker averages one part of all copies, so that a machine sends and receives about two copies of
the state however many workers there are. A round is a function of the state before it, which is let go only when the
state after it is there: a worker that dies is made anew with the same documents, by Ray or by the team where Ray does
not manage (it cannot always find again what a worker was made from), and the round is done again, with the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from kate.cluster.cluster_counting import CountedCorpus
from kate.cluster.ray_cluster import LostResultError, RayCluster
from kate.engines.averaging import as_flat, mean_of_copies, parts_of
from kate.model.averaged_training import AveragedTraining, require_documents, shares_of
from kate.model.fitting import ShareOut
from kate.model.local_worker import LocalWorker, Round, Schedule, worker_generators
from kate.model.training import KATETraining, Machine

__all__ = ["ClusterWorker", "RayTeam", "share_out_on"]

_TRIES = 4  # of a round

Floats = NDArray[np.float32]


class ClusterWorker:
    """A worker in a process of its own; ``counts`` are references to its documents.

    References stand in lists: so Ray leaves them as they are, and a worker that is made anew fetches them again.
    """

    def __init__(
        self,
        shared: list[Any],
        random: np.random.RandomState,
        machine: Machine,
        n_neurons: int,
        counts: list[Any],
    ) -> None:
        import ray

        schedule, max_epochs, weights = ray.get(shared[0])
        own = csr_matrix(vstack(ray.get(counts), format="csr"))
        self.worker = LocalWorker(schedule, max_epochs, own, weights, random, machine, n_neurons)

    def process(self) -> int:
        """The number of the process."""
        return os.getpid()

    def train_round(self, steps: Round, *parts: Floats) -> list[Any]:
        """From the parts of the state before a round: loss and number of documents, and the parts of this copy."""
        result = self.worker.train_round(np.concatenate(parts), steps)
        return [(result.loss, result.n_documents), *parts_of(result.flat, len(parts))]

    def mean_of(self, shares: Sequence[float], *copies: Floats) -> tuple[bool, Floats]:
        """One part of the state after a round, behind a word that it is there."""
        return True, mean_of_copies(copies, shares)


class RayTeam:
    """Workers on the machines of a cluster, and references to the parts of the state that they share.

    make_worker : the worker of a number, with its documents; called again for one that is dead
    """

    def __init__(
        self, cluster: RayCluster, make_worker: Callable[[int], Any], n_workers: int, flat: Floats
    ) -> None:
        self.cluster, self._make_worker = cluster, make_worker
        self.workers = [make_worker(number) for number in range(n_workers)]
        self._parts = [cluster.put(part) for part in parts_of(flat, n_workers)]

    def train_round(self, steps: Round) -> tuple[float, int]:
        for _ in range(_TRIES - 1):
            try:
                return self._try_round(steps)
            except LostResultError:
                self._replace_dead()
        return self._try_round(steps)

    def _try_round(self, steps: Round) -> tuple[float, int]:
        """A round from the present state on. If it fails, the state is what it was."""
        n_parts = len(self._parts)
        returned = [
            worker.train_round.options(num_returns=1 + n_parts).remote(steps, *self._parts)
            for worker in self.workers
        ]
        facts = self.cluster.get([of_worker[0] for of_worker in returned])
        shares = shares_of([n_documents for _, n_documents in facts])
        means = [
            worker.mean_of.options(num_returns=2).remote(
                shares, *[of_worker[1 + part] for of_worker in returned]
            )
            for part, worker in enumerate(self.workers)
        ]
        self.cluster.get([is_there for is_there, _ in means])
        self._parts = [part for _, part in means]
        return sum(loss for loss, _ in facts), sum(n_documents for _, n_documents in facts)

    def _replace_dead(self) -> None:
        """New workers in the place of those that do not answer and that Ray does not bring back."""
        for number, worker in enumerate(self.workers):
            try:
                self.cluster.get(worker.process.remote())
            except LostResultError:
                self.cluster.ray.kill(worker)
                self.workers[number] = self._make_worker(number)

    def close(self) -> None:
        for worker in self.workers:
            self.cluster.ray.kill(worker)

    def state(self) -> Floats:
        return np.concatenate(self.cluster.get(self._parts))


def share_out_on(cluster: RayCluster, corpus: CountedCorpus, n_workers: int) -> ShareOut:
    """Training by so many workers of a cluster, whose documents stay on its machines."""

    @contextmanager
    def share_out(
        learner: KATETraining, counts: csr_matrix, max_epochs: int, machine: Machine
    ) -> Iterator[AveragedTraining]:
        n_documents = sum(corpus.n_documents)
        schedule = Schedule.of(learner.settings, n_documents, n_workers)
        require_documents(n_documents, n_workers, schedule)
        n_gpus = 1 if machine.device == "cuda" else 0
        kind = cluster.worker(ClusterWorker, cluster.cpus_of_a_worker(n_workers), n_gpus)
        shared = [cluster.put((schedule, max_epochs, learner.weights))]
        # kept to the end: Ray drops what nobody refers to, and a worker that is made again needs it
        dealt = corpus.dealt(n_workers)
        generators = worker_generators(learner.random, n_workers)

        def make_worker(number: int) -> Any:
            return kind.remote(shared, generators[number], machine, learner.network.b.size, dealt[number])

        team = RayTeam(cluster, make_worker, n_workers, as_flat(learner.network, learner.optimizer))
        try:
            yield AveragedTraining(learner, team, schedule, max_epochs)
        finally:
            team.close()

    return share_out
