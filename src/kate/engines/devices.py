"""Where to compute, CPU or GPU. PyTorch is imported only where there may be a GPU for it."""

from __future__ import annotations

import ctypes
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from kate.extras import install_command, require

__all__ = ["Device", "Precision", "choose_device", "has_driver", "require_engine"]

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["float32", "tf32", "bf16"]


def choose_device(device: Device) -> Literal["cpu", "cuda"]:
    """The device for a setting; "auto" uses a GPU if there is one and PyTorch is installed, otherwise the CPU.

    >>> choose_device("cpu")
    'cpu'
    """
    if device == "cpu":
        return "cpu"
    if device == "auto" and (find_spec("torch") is None or not has_driver()):
        return "cpu"
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f'device="cuda" needs PyTorch: {install_command("gpu")}; or take device="cpu"'
        ) from error
    if torch.cuda.is_available():
        return "cuda"
    if device == "auto":
        return "cpu"
    raise ValueError('device="cuda", but PyTorch finds no CUDA GPU here; take device="cpu" or "auto"')


def require_engine(device: Device) -> None:
    """Refuse to fit where there is no compiler, before anything is read: kate-text-lite has none.

    Whether there is a GPU is asked later, when the parameters have been checked.
    """
    if device != "cuda" and choose_device(device) == "cpu":
        require("to fit a model", "numba", "")


def has_driver() -> bool:
    """Whether NVIDIA's driver is installed. Asking PyTorch would take seconds, to import it."""
    if Path("/dev/nvidiactl").exists() or Path("/dev/dxg").exists():  # Linux, and Linux inside Windows
        return True
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True
