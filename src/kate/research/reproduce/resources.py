"""What this machine has: its processor, and the memory that a process may use."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

from kate.streaming.memory_limit import machine_memory
from kate.threads import available_cpus

__all__ = ["available_memory", "machine", "memory_of_run"]

GIB = 2**30


def available_memory() -> int:
    """Bytes that are free, within the limit of the container."""
    found = [machine_memory()]
    for line in _lines(Path("/proc/meminfo")):
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            found.append(int(value.split()[0]) * 1024)
    return min(found)


def memory_of_run(n_documents: int, n_components: int) -> int:
    """Bytes that a run may need: the libraries, the counts, and the vectors with the copies that probes make.

    >>> memory_of_run(18_846, 128) < 2 * 2**30 < memory_of_run(804_414, 512)
    True
    """
    counts = n_documents * 200 * 12  # a long document has 200 words, a count and a column each
    return GIB + counts + 4 * n_documents * n_components * 4


def machine() -> dict[str, Any]:
    """What the times of runs depend on, to be shown beside them."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in _lines(Path("/proc/cpuinfo"))
            if line.startswith("model name")
        ),
        platform.processor() or platform.machine(),
    )
    return {"processor": model, "cores": available_cpus()}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except OSError:
        return []
