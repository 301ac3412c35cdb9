"""Many arrays handed to compiled code by one address.

numba passes a named tuple of arrays as all the numbers of all its arrays: a workspace would be more than 200 arguments,
which every call of every kernel packs and unpacks, and LLVM would spend most of its time on that. A :class:`Pack` is a
table of integers: where each array begins and its shape. A kernel gets the address of the table and reads from it what
it needs; the attributes have the names that they have in the tuple.

The table does not change while compiled code runs. Loads from it say so, and LLVM takes them out of loops.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,override"
from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, models, register_model, unbox
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

from kate.engines.cpu.simd_math import LONG

__all__ = ["Pack"]

_BYTE_POINTER = ir.IntType(8).as_pointer()


class _PackType(types.Type):
    """Knows the numba type of every attribute, and at which number of the table it begins."""

    def __init__(self, name: str, fields: tuple[str, ...], members: tuple[Any, ...]) -> None:
        self.fields, self.members = fields, members
        self.tuple_name = name
        sizes = [1 + member.ndim if isinstance(member, types.Array) else 1 for member in members]
        self.places = [sum(sizes[:i]) for i in range(len(sizes))]
        super().__init__(name=f"{name}[{','.join(map(str, members))}]")

    @property
    def mangling_args(self):
        # the whole name would be in the name of every compiled function
        return self.tuple_name, ()

    @property
    def key(self):
        return self.tuple_name, self.fields, self.members


@register_model(_PackType)
class _PackModel(models.PrimitiveModel):
    def __init__(self, manager, frontend_type) -> None:
        super().__init__(manager, frontend_type, _BYTE_POINTER)


class Pack:
    """The arrays (and integers) of a named tuple as compiled code takes them; keeps them alive."""

    def __init__(self, arrays: Any) -> None:
        self.arrays = arrays
        numbers: list[int] = []
        members: list[Any] = []
        for member in arrays:
            if isinstance(member, np.ndarray):
                if not member.flags.c_contiguous:
                    raise ValueError("compiled code reads contiguous arrays only")
                numbers += [member.ctypes.data, *member.shape]
                members.append(types.Array(from_dtype(member.dtype), member.ndim, "C"))
            else:
                numbers.append(int(member))
                members.append(types.int64)
        self.table = np.array(numbers, dtype=np.int64)
        self.address = self.table.ctypes.data
        # numba asks for it
        self._numba_type_ = _PackType(type(arrays).__name__, arrays._fields, tuple(members))


@unbox(_PackType)
def _unbox_pack(typ, pack, c):
    number = c.pyapi.object_getattr_string(pack, "address")
    value = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return NativeValue(value, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _PackAttributes(AttributeTemplate):
    key = _PackType

    def generic_resolve(self, typ, attribute):
        return typ.members[typ.fields.index(attribute)] if attribute in typ.fields else None


@lower_getattr_generic(_PackType)
def _lower_attribute(context, builder, typ, table, attribute):
    index = typ.fields.index(attribute)
    member, place = typ.members[index], typ.places[index]
    if not isinstance(member, types.Array):
        return _load(builder, table, place, LONG)
    array = make_array(member)(context, builder)
    element = context.get_data_type(member.dtype)
    shape = [_load(builder, table, place + 1 + axis, LONG) for axis in range(member.ndim)]
    size = context.get_abi_sizeof(element)
    strides = [ir.Constant(LONG, size)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    populate_array(
        array,
        data=_load(builder, table, place, element.as_pointer()),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=ir.Constant(LONG, size),
        meminfo=None,
    )
    return array._getvalue()


def _load(builder, table, place, kind):
    where = builder.bitcast(builder.gep(table, [ir.Constant(LONG, 8 * place)]), kind.as_pointer())
    value = builder.load(where, align=8)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value
