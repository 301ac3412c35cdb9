"""What kate doctor looks at. Nothing here trains or downloads; PyTorch is asked only where a driver is installed."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import kate
from kate.extras import EXTRAS, install_command
from kate.threads import available_cpus, cgroup_limit, thread_count

__all__ = ["examine"]

# What every command needs, and what only some do.
_NEEDED = (
    "numpy",
    "scipy",
    "polars",
    "zstandard",
    "PyStemmer",
    "stop-words",
    "stopwordsiso",
    "safetensors",
    "threadpoolctl",
    "typer",
    "rich",
)
_OPTIONAL = ("numba", "llvmlite", "scikit-learn", "matplotlib", "torch", "usearch", "lancedb", "starlette")


def examine() -> dict[str, Any]:
    """Everything that was found, as JSON can hold it; ``problems`` are what keeps commands from working."""
    packages = {name: _version(name) for name in (*_NEEDED, *_OPTIONAL)}
    cache, is_writable = _cache_folder()
    problems = [
        f"the package {name} is missing: {install_command('')}" for name in _NEEDED if not packages[name]
    ]
    if not is_writable:
        problems.append(
            f"compiled code cannot be kept in {cache}, so that every process compiles anew; set NUMBA_CACHE_DIR to a "
            "folder that can be written"
        )
    return {
        "machine": {
            "kate": f"{kate.__version__} ({_distribution()})",
            "python": f"{platform.python_version()} ({sys.executable})",
            "system": f"{platform.system()} {platform.machine()}",
            "cores": _cores(),
            "vector width": _vector_width(),
            "GPU": _gpu(),
        },
        "folders": {
            "compiled code": f"{cache}, {'can be written' if is_writable else 'cannot be written'}",
            "data sets": _data_folder(),
        },
        "packages": packages,
        "extras": _extras(),
        "datasets": _datasets(),
        "problems": problems,
    }


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _distribution() -> str:
    found = [name for name in ("kate-text", "kate-text-lite") if _version(name)]
    return " and ".join(found) or "not installed, run from its source"


def _cores() -> str:
    limit = cgroup_limit(Path("/sys/fs/cgroup"), Path("/proc/self/cgroup"))
    parts = [f"{os.cpu_count()} in the machine", f"{available_cpus()} for this process"]
    if limit < (os.cpu_count() or 1):
        parts.append(f"limited by its container to {limit:g}")
    if (threads := thread_count(None)) != available_cpus():
        parts.append(f"{threads} threads by OMP_NUM_THREADS")
    return ", ".join(parts)


def _vector_width() -> str:
    if find_spec("numba") is None:
        return "unknown without numba"
    from kate.engines.cpu.target import HAS_AVX512, HAS_FMA, LANES

    wide = ", AVX-512" if HAS_AVX512 else ""
    return f"{LANES} floats at a time{wide}{'' if HAS_FMA else ', no fused multiply-add: training is slow'}"


def _cache_folder() -> tuple[Path, bool]:
    """Where numba keeps compiled code, and whether it can be written there; as numba chooses it."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    beside = Path(kate.__file__).parent
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba"
    candidates = [Path(given)] if given else [beside, home]
    for folder in candidates:
        if _can_write(folder):
            return folder, True
    return candidates[-1], False


def _can_write(folder: Path) -> bool:
    """Whether files can be made in a folder, or the folder itself."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _gpu() -> str:
    from kate.engines.devices import has_driver

    if not has_driver():
        return "no NVIDIA driver"
    if find_spec("torch") is None:
        return f"a driver, but no PyTorch: {install_command('gpu')}"
    import torch

    if not torch.cuda.is_available():
        return f"a driver, but PyTorch {torch.__version__} finds no GPU"
    return f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}"


def _extras() -> list[dict[str, Any]]:
    return [
        {
            "extra": name,
            "installed": all(find_spec(module) is not None for module in modules),
            "purpose": purpose,
            "install": install_command(name),
        }
        for name, (purpose, modules) in EXTRAS.items()
    ]


def _data_folder() -> str:
    from kate.research.datasets.cache_dirs import cache_folder

    kept = cache_folder() / "data"
    given = os.environ.get("KATE_DATA")
    if not given:
        return f"{kept} (KATE_DATA names another)"
    missing = "" if Path(given).is_dir() else ", which does not exist"
    return f"{given} (KATE_DATA{missing}), {kept}"


def _datasets() -> list[dict[str, Any]]:
    from kate.research.datasets import list_datasets

    return [
        {"name": row.name, "here": row.is_here, "how": "" if row.is_here else row.how_to_get_it}
        for row in list_datasets()
    ]
