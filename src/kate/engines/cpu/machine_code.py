"""Machine code of the engine and of rivals, kept on disk: only the first training on a machine waits for the compiler.

numba keeps the code in the folder ``NUMBA_CACHE_DIR``, beside the source or in the user's cache folder, whichever can
be written first. Several machines may share the folder: the name of a file says what the code was made from and for.
Where no folder can be written, code is compiled anew in every process, and a warning says so.

numba lets LLVM optimise every function and generate machine code for it, and then optimises once more all that its
callers take in. Kernels are only ever parts of one function, so this is left to the function that has them all: it
takes half of the time, and the code is the same (:class:`_Library`).
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Collection, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from kate.engines.cpu import target
from kate.engines.cpu.simd_math import KERNELS

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
    compile_as_numba = compiled.compile

    def compile_whole(signature):
        with _kernels_as_parts():
            return compile_as_numba(signature)

    compiled.compile = compile_whole
    return compiled


def _fingerprint() -> str:
    """Changes with every file of this folder, of which numba sees one alone, and with the target."""
    digest = sha256(target.fingerprint())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


class _Library(JITCodeLibrary):
    """What numba makes of a function; a kernel is neither optimised nor made machine code of, but kept to be linked."""

    def _optimize_functions(self, ll_module):
        if self.name in KERNELS:
            ll_module.data_layout = self._codegen._data_layout
        else:
            super()._optimize_functions(ll_module)

    def _optimize_final_module(self):
        if self.name not in KERNELS:
            super()._optimize_final_module()

    def _finalize_final_module(self):
        if self.name in KERNELS:
            self._finalize_dynamic_globals()
            self._finalized = True
        else:
            super()._finalize_final_module()


@contextlib.contextmanager
def _kernels_as_parts() -> Iterator[None]:
    """Compile with :class:`_Library`; numba's lock keeps other threads from compiling meanwhile."""
    codegen = cpu_target.target_context.codegen()
    with global_compiler_lock:
        # one of these functions may call another one, and is then compiled while that is
        before = codegen._library_class, codegen.set_env

        def set_environment(name, environment):
            if codegen._engine.is_symbol_defined(name):  # not of a kernel, which has no machine code
                before[1](name, environment)

        codegen._library_class, codegen.set_env = _Library, set_environment
        try:
            yield
        finally:
            codegen._library_class, codegen.set_env = before


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
