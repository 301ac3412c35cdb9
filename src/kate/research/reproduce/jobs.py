"""Makes the runs of a plan, as many at a time as cores and memory allow; each is written to disk once it is over."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

from kate.research.evaluation.grid import has_tasks
from kate.research.evaluation.results import Record, append_result, preferred, read_results
from kate.research.reproduce import grid_corpora, resources
from kate.research.reproduce.plan import RunPlan
from kate.research.reproduce.spec import TopicsOutput
from kate.research.reproduce.workers import Job, Worker
from kate.storage.files import only_writer
from kate.threads import available_cpus

__all__ = ["Standing", "Watcher", "missing_jobs", "run_jobs"]

_TICK = 0.5  # seconds between looks at the clock
_SHARE_OF_MEMORY = 0.85


@dataclass(frozen=True)
class Standing:
    """The state of the runs: what is over, running and left, and the seconds that the rest may take."""

    n_before: int  # done in an earlier call
    over: Sequence[Record]
    running: Sequence[tuple[Job, str, float]]  # job, stage, seconds
    left: Sequence[Job]
    seconds_left: float | None


Watcher = Callable[[Standing], None]


def missing_jobs(
    plan: RunPlan, results: Mapping[str, Record], models: Collection[str] | None = None
) -> list[Job]:
    """The runs that are not done yet, or lack a task that is asked for; of some rows of the tables, or of all."""
    grid = plan.grid
    groups = tuple(
        group
        for output in grid.outputs.values()
        if isinstance(output, TopicsOutput)
        for group in output.groups
    )
    sizes = grid.quick.documents if grid.quick else None
    jobs, found = [], plan.found_in(results)
    for key, run in plan.runs().items():
        demand = plan.demands[key]
        is_wanted = models is None or not demand.models.isdisjoint(models)
        # where seconds are shown, those of another device do not count
        record = (results if demand.alone else found).get(key)
        if not is_wanted or has_tasks(record, demand.tasks):
            continue
        jobs.append(
            Job(
                key=key,
                title=str(run),
                dataset=run.source.name,
                own_corpus=grid.corpora.get(run.source.name),
                sizes=sizes,
                model=run.model,
                n_components=run.n_components,
                settings=run.settings,
                seed=run.seed,
                tasks=tuple(sorted(demand.tasks)),
                groups=tuple(dict.fromkeys(groups)),
                main_groups=grid.main_groups,
                alone=demand.alone,
                memory=resources.memory_of_run(
                    grid_corpora.n_documents(run.source.name, sizes), run.n_components
                ),
                outputs=tuple(sorted(demand.outputs)),
            )
        )
    return jobs


def run_jobs(
    plan: RunPlan,
    path: str | os.PathLike[str],
    *,
    models: Collection[str] | None = None,
    n_workers: int | None = None,
    watch: Watcher | None = None,
) -> dict[str, Record]:
    """Make the missing runs, of some rows or of all; returns all lines of the file of results by their keys.

    First the runs that may go side by side, then, one at a time and with all cores, those whose seconds are shown.
    """
    results = Path(path)
    results.parent.mkdir(parents=True, exist_ok=True)
    with only_writer(results):
        known = {record["key"]: record for record in read_results(results)}
        jobs = missing_jobs(plan, known, models)
        n_done = len(plan.runs()) - len(missing_jobs(plan, known))
        queue = _JobQueue(results, known, jobs, n_done, watch)
        side_by_side = [job for job in jobs if not job.alone]
        n_cores = available_cpus()
        queue.work(side_by_side, max(1, min(n_workers or n_cores, len(side_by_side))), n_cores)
        queue.work([job for job in jobs if job.alone], 1, n_cores)
    return known


class _JobQueue:
    """Hands jobs to workers and writes their lines to the file."""

    def __init__(
        self, path: Path, known: dict[str, Record], jobs: Sequence[Job], n_before: int, watch: Watcher | None
    ) -> None:
        self._path, self._known, self._watch, self._n_before = path, known, watch, n_before
        self._left = {job.key: job for job in jobs}
        self._over: list[Record] = []
        self._seconds: dict[tuple[str, str, int], list[float]] = {}  # what runs took, by what they were
        for record in known.values():
            self._remember(record)

    def work(self, jobs: Sequence[Job], n_workers: int, n_cores: int) -> None:
        if not jobs:
            return
        threads = max(1, n_cores // n_workers)
        waiting, workers = list(jobs), [Worker(threads) for _ in range(n_workers)]
        try:
            while waiting or any(worker.job for worker in workers):
                for place, worker in enumerate(workers):
                    if worker.job is None and not worker.is_alive():
                        workers[place] = Worker(threads)
                self._hand_out(waiting, workers)
                self._listen(workers)
        finally:
            for worker in workers:
                worker.stop()

    def _hand_out(self, waiting: list[Job], workers: Sequence[Worker]) -> None:
        """Give a job to every idle worker while there is memory; one job runs in any case."""
        busy = [worker.job for worker in workers if worker.job]
        taken = sum(job.memory for job in busy)
        # what runs now has taken part of its memory already; it is counted as a whole, to be on the safe side
        limit = max(resources.available_memory() * _SHARE_OF_MEMORY, taken)
        for worker in workers:
            if worker.job is not None or not waiting:
                continue
            fitting = next((job for job in waiting if taken + job.memory <= limit), None)
            if fitting is None and taken == 0:
                fitting = waiting[0]
            if fitting is None:
                return
            waiting.remove(fitting)
            taken += fitting.memory
            worker.give(fitting)

    def _listen(self, workers: Sequence[Worker]) -> None:
        busy = {worker.connection: worker for worker in workers if worker.job}
        for connection in wait(list(busy), timeout=_TICK):
            worker = busy[connection]  # type: ignore[index]  # only connections were given
            record = worker.hear()
            if record is not None:
                self._keep(record)
        if self._watch is not None:
            self._watch(self._standing(workers))

    def _keep(self, record: Record) -> None:
        append_result(self._path, record)
        key = record["key"]
        self._known[key] = preferred(self._known.get(key), record)
        self._left.pop(key, None)
        self._over.append(record)
        self._remember(record)

    def _remember(self, record: Record) -> None:
        seconds = sum(record.get("seconds", {}).values())
        if seconds:
            of = (record["dataset"]["name"], record["model"]["name"], record["model"]["n_components"])
            self._seconds.setdefault(of, []).append(seconds)

    def _standing(self, workers: Sequence[Worker]) -> Standing:
        now = time.monotonic()
        running = [(worker.job, worker.stage, now - worker.started) for worker in workers if worker.job]
        at_work = {job.key for job, _, _ in running}
        left = [job for job in self._left.values() if job.key not in at_work]
        return Standing(
            self._n_before, self._over, running, left, self._time_left(running, left, len(workers))
        )

    def _time_left(
        self, running: Sequence[tuple[Job, str, float]], left: Sequence[Job], n_workers: int
    ) -> float | None:
        """Seconds left, estimated from similar runs and shared by the workers; None while nothing is known."""
        if not self._seconds:
            return None
        rest = sum(max(0.0, self._expected(job) - seconds) for job, _, seconds in running)
        side_by_side = rest + sum(self._expected(job) for job in left if not job.alone)
        alone = sum(self._expected(job) for job in left if job.alone)
        return side_by_side / n_workers + alone

    def _expected(self, job: Job) -> float:
        """The mean of the same model on the same data in the same size, else of the model, else of all."""
        of = (job.dataset, job.model, job.n_components)
        same = self._seconds.get(of)
        if same is None:
            same = [mean for other, values in self._seconds.items() if other[1] == of[1] for mean in values]
        return statistics.fmean(same or [one for values in self._seconds.values() for one in values])
