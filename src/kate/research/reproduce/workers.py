"""Worker processes: each makes one run after another and sends its line back.

A worker is a fresh process (nothing is forked), keeps its corpus and its compiled code between runs, and ends with its
parent, however that ends. If a worker crashes or runs out of memory, only the run that it was at fails.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from kate.research.evaluation.results import Record

__all__ = ["Job", "Worker"]

_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
)
_MOST_TOPICS_IN_WORDS = 64


@dataclass(frozen=True)
class Job:
    """A run in plain values, to be sent to another process."""

    key: str
    title: str
    dataset: str
    own_corpus: Mapping[str, Any] | None
    sizes: Mapping[str, int] | None
    model: str
    n_components: int
    settings: Mapping[str, Any]
    seed: int
    tasks: tuple[str, ...]
    groups: tuple[str, ...]
    main_groups: Mapping[str, tuple[str, ...]]
    alone: bool
    memory: int
    outputs: tuple[str, ...] = field(default=())


class Worker:
    """A process that makes runs; its libraries may use ``threads`` threads."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.job: Job | None = None
        self.stage = ""
        self.started = 0.0
        context = multiprocessing.get_context("spawn")
        self.connection, far = context.Pipe()
        self._process = context.Process(target=_work, args=(far, threads), daemon=True)
        with _environment({name: str(threads) for name in _THREADS}):
            self._process.start()
        far.close()

    def give(self, job: Job) -> None:
        self.job, self.stage, self.started = job, "start", time.monotonic()
        with suppress(OSError):  # the worker has died meanwhile: hear() will notice
            self.connection.send(job)

    def hear(self) -> Record | None:
        """A message of the worker: the line of its run when that is over, None while it goes on.

        If the worker has died, its run has failed.
        """
        assert self.job is not None
        try:
            kind, content = self.connection.recv()
        except (EOFError, OSError):
            return self._died()
        if kind == "stage":
            self.stage = content
            return None
        self.job = None
        record: Record = content
        return record

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def stop(self) -> None:
        """End the process: an idle one ends by itself when the connection is closed, a busy one is terminated."""
        is_busy = self.job is not None
        self.connection.close()
        if not is_busy:
            self._process.join(5)
        self._process.terminate()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _died(self) -> Record:
        self._process.join(5)
        job, self.job = self.job, None
        assert job is not None
        code = self._process.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        hint = "; signal 9 is what the system sends when memory runs out" if code == -9 else ""
        return failed_record(job, self.stage, "WorkerDied", f"the process of this run ended by {how}{hint}")


def failed_record(job: Job, stage: str, kind: str, message: str) -> Record:
    """The line of a run that ended before it could write one."""
    from kate.research.evaluation.results import LINE_FORMAT

    return {
        "format": LINE_FORMAT,
        "key": job.key,
        "status": "failed",
        "dataset": {"name": job.dataset, "settings": {}},
        "model": {
            "name": job.model,
            "n_components": job.n_components,
            "parameters": dict(job.settings),
            "revision": None,
            "device": None,
        },
        "seed": job.seed,
        "scores": {},
        "details": {},
        "skipped": {},
        "errors": {stage: {"type": kind, "message": message}},
        "seconds": {},
        "warnings": [],
        "versions": {},
    }


def _work(connection: Connection, threads: int) -> None:
    """What a worker process does. Ctrl-C is handled by the parent."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    from kate.research.evaluation.grid import PlannedRun, SharedWork, make_record
    from kate.research.evaluation.run import TASKS
    from kate.research.reproduce.figure_data import figure_scorers
    from kate.research.reproduce.grid_corpora import source_of

    shared = SharedWork()
    sources: dict[str, Any] = {}
    with suppress(EOFError, OSError):  # the parent has closed the connection: nothing more to do
        while True:
            job: Job = connection.recv()
            try:
                if job.dataset not in sources:
                    sources[job.dataset] = source_of(job.dataset, job.own_corpus, job.sizes)
                run = PlannedRun(sources[job.dataset], job.model, job.n_components, job.seed, job.settings)
                extra = figure_scorers([t for t in job.tasks if t not in TASKS], job.groups, job.main_groups)
                tasks = [task for task in job.tasks if task in TASKS]
                record = make_record(run, tasks, shared, lambda name: connection.send(("stage", name)), extra)
            except Exception as error:
                record = failed_record(job, "start", type(error).__name__, str(error))
            record["threads"], record["alone"] = threads, job.alone
            connection.send(("record", _slimmed(record)))
            _give_back_gpu_memory()


def _give_back_gpu_memory() -> None:
    """Free the GPU memory that PyTorch keeps for later, so that other workers have enough."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def _slimmed(record: Record) -> Record:
    """The line without the words of hundreds of topics: no output shows them, and they would be most of it."""
    if record["model"]["n_components"] > _MOST_TOPICS_IN_WORDS:
        for told in record["details"].get("neurons", {}).values():
            told.pop("words", None)
    return record


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Environment variables for processes that are started meanwhile: libraries read them when they are loaded."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
