"""Machine code of the engine and of rivals, kept on disk: only the first training on a machine waits for the compiler.

numba keeps the code in the folder ``NUMBA_CACHE_DIR``, beside the source or in the user's cache folder, whichever can
be written first. Several machines may share the folder: the name of a file says what the code was made from and for.
Where no folder can be written, code is compiled anew in every process, and a warning says so.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Collection
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache

from kate.engines.cpu import target

__all__ = ["compiled_once"]


def compiled_once(function: Callable[..., Any], fastmath: Collection[str] = ()) -> Any:
    """The function, compiled when it is first called and kept on disk for later processes.

    ``fastmath`` are the liberties that LLVM may take with sums and products, by its own names.
    """
    # numba names the files after the function
    function.__qualname__ = f"{function.__name__.lstrip('_')}_{_fingerprint()}"
    compiled = njit(function, nogil=True, error_model="numpy", fastmath=set(fastmath))
    try:
        compiled._cache = _Cache(function)
    except RuntimeError:  # numba found no folder
        _warn("NUMBA_CACHE_DIR, the package's own folder and the user's cache folder cannot be written")
    return compiled


def _fingerprint() -> str:
    """Changes with every file of this folder, of which numba sees one alone, and with the target."""
    digest = sha256(target.fingerprint())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


class _Cache(FunctionCache):
    """numba's cache, for which a folder that fails later on is no reason to fail as well."""

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file, which may raise anything: forget what is there and compile anew
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as error:
            self.disable()
            _warn(str(error))


@cache
def _warn(reason: str) -> None:
    """Say it once per process, whatever the number of functions."""
    warnings.warn(
        f"Compiled code cannot be kept on disk ({reason}), so that every new process compiles for some seconds before "
        "it trains; set the environment variable NUMBA_CACHE_DIR to a folder that can be written",
        stacklevel=2,
    )
