"""Addresses in compiled code: ``address(array) + n`` is the place n bytes after the beginning of an array.

An address is a pointer for LLVM, not an integer: sums of integers went wrong. numba lets LLVM generate machine code for
each function, and then optimises what that has left behind once more inside the callers. To read at a sum of integers,
code generation takes any one of them for the pointer and the rest for the distance from it. Where the one that it took
is 0 in a caller, LLVM believes that the null pointer is read, which no program may do, and removes the code.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import lower_builtin, models, register_model, type_callable

from kate.engines.cpu.simd_math import INT, LONG, intrinsic, kernel

__all__ = ["address", "address_type", "offset_by", "pointer", "prefetch"]

_BYTE_POINTER = ir.IntType(8).as_pointer()
_CACHE_LINE = 64  # bytes


class _Address(types.Type):
    def __init__(self) -> None:
        super().__init__(name="address")


@register_model(_Address)
class _AddressModel(models.PrimitiveModel):
    def __init__(self, manager, frontend_type) -> None:
        super().__init__(manager, frontend_type, _BYTE_POINTER)


address_type: Any = _Address()


@type_callable(operator.add)
def _type_of_sum(context):
    def typer(where, n_bytes):
        is_sum = isinstance(where, _Address) and isinstance(n_bytes, types.Integer)
        return address_type if is_sum else None

    return typer


@lower_builtin(operator.add, _Address, types.Integer)
def _lower_sum(context, builder, signature, args):
    return offset_by(builder, args[0], context.cast(builder, args[1], signature.args[1], types.int64))


def offset_by(builder, where, n_bytes):
    """For other intrinsics: the address so many bytes further on; a number, or an integer of the compiled code."""
    return builder.gep(where, [ir.Constant(LONG, n_bytes) if isinstance(n_bytes, int) else n_bytes])


def pointer(builder, where, to):
    """For other intrinsics: an address as a pointer to something of the LLVM type ``to``."""
    return builder.bitcast(where, to.as_pointer())


@intrinsic
def address(ctx, array):
    """Where an array begins."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.bitcast(data, _BYTE_POINTER)

    return address_type(array), codegen


@intrinsic
def _prefetch_line(ctx, where):
    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(ir.VoidType(), [_BYTE_POINTER, INT, INT, INT])
        prefetch = get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        # to be read, into the second cache, data
        builder.call(prefetch, [args[0], *(ir.Constant(INT, n) for n in (0, 2, 1))])
        return context.get_dummy_value()

    return types.void(address_type), codegen


@kernel
def prefetch(where, size):
    """Ask for ``size`` bytes that will be read soon, into the second cache, and do not wait; any address will do."""
    for line in range(0, size, _CACHE_LINE):
        _prefetch_line(where + line)
