"""A few threads that compute one thing together: work is dealt by a counter, and passes end at a barrier.

A training step takes less than a millisecond, and starting threads for each of its passes would cost as much. So every
thread runs the same compiled function from the first batch to the last. What they share is ``state``, an array of
integers a cache line apart, changed by atomic instructions alone:

    item = next_item(state)                 0, 1, 2, ... each to one thread
    meet(state, n_threads)                  nobody goes on before all have come; the counter starts over

Between barriers no thread reads what another one writes, so that nothing is locked.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numpy.typing import NDArray

from kate.engines.cpu.simd_math import intrinsic, kernel
from kate.engines.cpu.simd_memory import address

__all__ = ["DONE", "HALT", "STOP", "meet", "new_state", "next_item", "run_together", "tell", "told"]

_LINE = 16  # integers between two of ours: two cache lines, as neighbouring lines are fetched in pairs
_COUNTER, _ARRIVED, _PHASE, STOP, HALT, DONE = (_LINE * i for i in range(6))
_PATIENCE = 2_000  # looks at the barrier before the processor is offered to somebody else
_LONG = ir.IntType(64)


def new_state() -> NDArray[np.int64]:
    return np.zeros(6 * _LINE, np.int64)


def _at(builder, where, index):
    return builder.inttoptr(builder.add(where, builder.mul(index, ir.Constant(_LONG, 8))), _LONG.as_pointer())


@intrinsic
def _add(ctx, where, index, number):
    """Add to an integer; returns what it was."""

    def codegen(context, builder, signature, args):
        return builder.atomic_rmw("add", _at(builder, *args[:2]), args[2], "seq_cst")

    return types.int64(types.int64, types.int64, types.int64), codegen


@intrinsic
def told(ctx, where, index):
    def codegen(context, builder, signature, args):
        return builder.load_atomic(_at(builder, *args), "seq_cst", 8)

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def tell(ctx, where, index, number):
    def codegen(context, builder, signature, args):
        builder.store_atomic(args[2], _at(builder, *args[:2]), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def _give_way(ctx):
    """Offer the processor to another thread: more threads than processors must not wait for each other in vain."""

    def codegen(context, builder, signature, args):
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        function = get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), []), name)
        builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), codegen


@kernel
def next_item(state):
    return _add(address(state), _COUNTER, 1)


@kernel
def meet(state, n_threads):
    """Wait for all threads. The last to come lets the counter of items start over."""
    where = address(state)
    phase = told(where, _PHASE)
    if _add(where, _ARRIVED, 1) == n_threads - 1:
        tell(where, _ARRIVED, 0)
        tell(where, _COUNTER, 0)
        tell(where, _PHASE, phase + 1)
        return
    looks = 0
    while told(where, _PHASE) == phase:
        looks += 1
        if looks >= _PATIENCE:
            looks = 0
            _give_way()


def run_together(function: Callable[[int], Any], n_threads: int, state: NDArray[np.int64]) -> None:
    """Call ``function(thread)`` in so many threads and wait; Ctrl-C stops them at the next batch."""
    errors: list[BaseException] = []

    def guarded(thread: int) -> None:
        try:
            function(thread)
        except BaseException as error:  # raised again below, in the thread that asked
            errors.append(error)
            state[STOP] = 1

    threads = [Thread(target=guarded, args=(thread,), daemon=True) for thread in range(n_threads)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)  # not longer: Ctrl-C is noticed in between
    except BaseException:
        state[STOP] = 1
        for thread in threads:
            thread.join()
        raise
    if errors:
        raise errors[0]
