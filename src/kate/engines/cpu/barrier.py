"""A few threads that compute one thing together: work is dealt by a counter, and passes end at a barrier.

A training step takes less than a millisecond, and starting threads for each of its passes would cost as much. So every
thread runs the same compiled function from the first batch to the last. What they share is ``state``, an array of
integers in cache lines of their own, changed by atomic instructions alone:

    item = next_item(state)                           0, 1, 2, ... each to one thread
    if not wait_for_all(state, n_threads): return     nobody goes on before all have come; the counter starts over

Between barriers no thread reads what another one writes, so that nothing is locked. Where one of them fails, the others
would wait for ever: ``wait_for_all`` then tells them to end as well.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numpy.typing import NDArray

from kate.engines.cpu.addresses import address, address_type, offset_by, pointer
from kate.engines.cpu.simd_math import LONG, intrinsic, kernel

__all__ = [
    "DONE",
    "HALT",
    "STOP",
    "new_state",
    "next_item",
    "read_state",
    "run_together",
    "wait_for_all",
    "write_state",
]

_LINE = 16  # integers from one to the next: two cache lines, because processors fetch lines in pairs
_COUNTER, _ARRIVED, _PHASE, _BROKEN, STOP, HALT, DONE = (_LINE * i for i in range(7))
_PATIENCE = 2_000  # how often a thread looks before it offers its processor to another one


def new_state() -> NDArray[np.int64]:
    """What the threads of one run share."""
    return np.zeros(7 * _LINE, np.int64)


def _at(builder, where, index):
    return pointer(builder, offset_by(builder, where, builder.mul(index, ir.Constant(LONG, 8))), LONG)


@intrinsic
def _add(ctx, where, index, number):
    """Add to an integer; returns what it was."""

    def codegen(context, builder, signature, args):
        return builder.atomic_rmw("add", _at(builder, *args[:2]), args[2], "seq_cst")

    return types.int64(address_type, types.int64, types.int64), codegen


@intrinsic
def read_state(ctx, where, index):
    """Read an integer of the state."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(_at(builder, *args), "seq_cst", 8)

    return types.int64(address_type, types.int64), codegen


@intrinsic
def write_state(ctx, where, index, number):
    """Write an integer of the state."""

    def codegen(context, builder, signature, args):
        builder.store_atomic(args[2], _at(builder, *args[:2]), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(address_type, types.int64, types.int64), codegen


@intrinsic
def _yield_processor(ctx):
    """Offer the processor to another thread, for which this one may be waiting."""

    def codegen(context, builder, signature, args):
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        function = get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), []), name)
        builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), codegen


@kernel
def next_item(state):
    """The number of the next item of a pass; every number is given to one thread."""
    return _add(address(state), _COUNTER, 1)


@kernel
def wait_for_all(state, n_threads):
    """Wait for all threads; the last to come lets the counter of items start over. False: one of them failed."""
    where = address(state)
    phase = read_state(where, _PHASE)
    if _add(where, _ARRIVED, 1) == n_threads - 1:
        write_state(where, _ARRIVED, 0)
        write_state(where, _COUNTER, 0)
        write_state(where, _PHASE, phase + 1)
        return True
    looks = 0
    while read_state(where, _PHASE) == phase:
        looks += 1
        if looks >= _PATIENCE:
            looks = 0
            if read_state(where, _BROKEN) > 0:
                return False
            _yield_processor()
    return True


def run_together(function: Callable[[int, int], Any], n_threads: int, state: NDArray[np.int64]) -> None:
    """Call ``function(thread, n_threads)`` in so many threads and wait for them.

    Where the system lets no more threads start, those that did start do it all. Ctrl-C stops them after the batch that
    they are at. Where one raises, the others end at their next barrier, and its error is raised here.
    """
    errors: list[BaseException] = []
    threads: list[Thread] = []
    all_are_there = Event()

    def work(thread: int) -> None:
        all_are_there.wait()
        try:
            if not state[_BROKEN]:
                function(thread, len(threads))
        except BaseException as error:
            errors.append(error)
            state[_BROKEN] = 1

    try:
        _start(threads, work, n_threads)
        all_are_there.set()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)  # not longer: Ctrl-C is noticed in between
    except BaseException:
        state[STOP] = 1
        if not all_are_there.is_set():
            state[_BROKEN] = 1
            all_are_there.set()
        for thread in threads:
            thread.join()
        raise
    if not threads:
        function(0, 1)
    if errors:
        raise errors[0]


def _start(threads: list[Thread], work: Callable[[int], None], n_threads: int) -> None:
    """Start the threads, as many as the system allows; each is added to ``threads``."""
    for number in range(n_threads):
        thread = Thread(target=work, args=(number,), name=f"kate-engine-{number}", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            n = max(1, number)
            warnings.warn(
                f"only {n} of {n_threads} threads do the work: no more could be started ({error}); "
                f"raise the limit of threads, or ask for fewer: n_jobs={n}",
                stacklevel=4,
            )
            return
        threads.append(thread)
