"""How many threads to use: the one place that knows, asked without loading the compiler or Polars."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kate.errors import KateError

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

__all__ = ["ForkedProcessError", "available_cpus", "one_blas_thread", "require_own_threads", "thread_count"]

_process_with_threads: int | None = None


class ForkedProcessError(KateError, RuntimeError):
    """Kate was used, then the process was forked, and the child uses Kate.

    Start processes by spawn instead, or let the child be the first to use Kate:

    >>> import multiprocessing
    >>> context = multiprocessing.get_context("spawn")
    >>> context.get_start_method()
    'spawn'
    """


def require_own_threads() -> None:
    """Refuse to count texts in a process that was forked from one that did: it would wait for ever.

    The threads of Polars belong to the process that started them. A child has their locks, but not the threads.
    """
    global _process_with_threads  # noqa: PLW0603 - one for the whole process, as the threads are
    if _process_with_threads is None:
        _process_with_threads = os.getpid()
    elif _process_with_threads != os.getpid():
        raise ForkedProcessError(
            "this process was forked from one that had already used Kate, whose threads it does not have, so it would "
            'wait for ever; start processes with multiprocessing.get_context("spawn"), or load the model in each '
            "process (gunicorn: without --preload)"
        )


def thread_count(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``, as scikit-learn counts them: None is all (or OMP_NUM_THREADS), -1 all, -2 all but one.

    >>> thread_count(3)
    3
    """
    if n_jobs is None:
        return min(available_cpus(), _openmp_limit() or available_cpus())
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; give a number of threads, -1 for all, or None")
    return n_jobs if n_jobs > 0 else max(1, available_cpus() + 1 + n_jobs)


def available_cpus() -> int:
    """Processors that this process may use: what its affinity allows, and the CPU limit of its container."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13; the variable PYTHON_CPU_COUNT sets it
        allowed = os.process_cpu_count() or 1
    elif hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    return max(1, math.ceil(min(allowed, _container_limit())))


def one_blas_thread() -> AbstractContextManager[Any]:
    """BLAS on one thread for a while: our own threads share its work."""
    limited: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limited


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of this process, looked for once: that takes longer than a small search."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _openmp_limit() -> int | None:
    """OMP_NUM_THREADS, of which "4,2" means 4 on the outermost level; None where it says nothing."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdigit() and int(first) > 0 else None


@cache
def _container_limit() -> float:
    """The CPU limit of this process's cgroups; read once, it does not change under a running program."""
    return cgroup_limit(Path("/sys/fs/cgroup"), Path("/proc/self/cgroup"))


def cgroup_limit(root: Path, membership: Path) -> float:
    """How many processors the cgroups in ``membership`` (a file as /proc/self/cgroup) may keep busy; inf for no limit.

    A limit holds for all groups below. Inside a container a path may be the host's, of which only the end, or
    nothing, is there: so all parents that exist are looked at.
    """
    try:
        lines = membership.read_text().splitlines()
    except OSError:  # no Linux, or no cgroups
        return math.inf
    limits = [math.inf]
    for line in lines:
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if not controllers:
            mounts, read = ("", "unified"), _limit_v2
        elif "cpu" in controllers.split(","):
            mounts, read = ("cpu", controllers), _limit_v1
        else:
            continue
        for mount in mounts:
            limits += [read(folder) for folder in _with_parents(root / mount, path)]
    return min(limits)


def _with_parents(mount: Path, path: str) -> Iterator[Path]:
    """The folder of a group and those of the groups around it, up to the mount."""
    folder = mount / path.strip("/")
    yield folder
    while folder != mount:
        folder = folder.parent
        yield folder


def _limit_v2(folder: Path) -> float:
    """cpu.max holds "150000 100000": microseconds of all processors in each period; or "max 100000"."""
    try:
        quota, period = (folder / "cpu.max").read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError):  # no such file, or "max"
        return math.inf


def _limit_v1(folder: Path) -> float:
    try:
        quota, period = (int((folder / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
    except (OSError, ValueError):
        return math.inf
    return quota / period if quota > 0 and period > 0 else math.inf
