"""How many threads: asked without loading the compiler."""

from __future__ import annotations

import os

__all__ = ["thread_count"]


def thread_count(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``, as scikit-learn counts them: None is all (or OMP_NUM_THREADS), -1 all, -2 all but one."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(available, int(limit)) if limit.isdigit() and int(limit) > 0 else available
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; give a number of threads, -1 for all, or None")
    return n_jobs if n_jobs > 0 else max(1, available + 1 + n_jobs)
