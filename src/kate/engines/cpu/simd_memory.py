"""Vectors in memory: load and store, sums over the lanes of a vector, transposing squares of floats."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from llvmlite import ir
from numba import types

from kate.engines.cpu.addresses import address_type, offset_by, pointer
from kate.engines.cpu.simd_math import (
    FLOAT,
    FLOATS,
    INT,
    INTS,
    LONG,
    call_llvm,
    constant,
    intrinsic,
    lanes,
)
from kate.engines.cpu.target import IS_X86, LANES

__all__ = [
    "add_eight_sums",
    "add_four_sums",
    "any_above",
    "broadcast",
    "broadcast_four",
    "count_at_least",
    "float_of_bits",
    "four_offsets",
    "load",
    "load_float",
    "store",
    "total",
    "transpose",
    "zeros",
]


@intrinsic
def load(ctx, where):
    def codegen(context, builder, signature, args):
        return builder.load(pointer(builder, args[0], FLOATS), align=4)

    return lanes(address_type), codegen


@intrinsic
def store(ctx, where, vector):
    def codegen(context, builder, signature, args):
        builder.store(args[1], pointer(builder, args[0], FLOATS), align=4)
        return context.get_dummy_value()

    return types.void(address_type, lanes), codegen


@intrinsic
def broadcast(ctx, number):
    def codegen(context, builder, signature, args):
        return _splat(builder, args[0])

    return lanes(types.float32), codegen


def _splat(builder, scalar):
    one = builder.insert_element(ir.Constant(FLOATS, ir.Undefined), scalar, ir.Constant(INT, 0))
    return builder.shuffle_vector(one, one, ir.Constant(INTS, [0] * LANES))


@intrinsic
def load_float(ctx, where):
    """The float at an address."""

    def codegen(context, builder, signature, args):
        return builder.load(pointer(builder, args[0], FLOAT), align=4)

    return types.float32(address_type), codegen


def _loaded_whole(builder, where, kind, register):
    """A value loaded by one instruction; LLVM would load each of its parts by an instruction of its own.

    A kernel that loads a vector in every cycle has no time for more loads, but for taking a value apart. An empty piece
    of assembly hides from LLVM where the value comes from.
    """
    value = builder.load(pointer(builder, where, kind), align=4)
    if not IS_X86:
        return value
    return builder.asm(ir.FunctionType(kind, [kind]), "", f"={register},0", [value], False)


@intrinsic
def broadcast_four(ctx, where):
    """The four floats at an address, each in every lane of a vector of its own."""

    def codegen(context, builder, signature, args):
        four = _loaded_whole(builder, args[0], ir.VectorType(FLOAT, 4), "v")
        vectors = [builder.shuffle_vector(four, four, ir.Constant(INTS, [lane] * LANES)) for lane in range(4)]
        return context.make_tuple(builder, signature.return_type, vectors)

    return types.UniTuple(lanes, 4)(address_type), codegen


@intrinsic
def four_offsets(ctx, where):
    """The four 32-bit integers at an address, not negative."""

    def codegen(context, builder, signature, args):
        numbers = []
        for at in (0, 8):
            both = _loaded_whole(builder, offset_by(builder, args[0], at), LONG, "r")
            numbers += [
                builder.zext(builder.trunc(both, INT), LONG),
                builder.lshr(both, ir.Constant(LONG, 32)),
            ]
        return context.make_tuple(builder, signature.return_type, numbers)

    return types.UniTuple(types.int64, 4)(address_type), codegen


@intrinsic
def float_of_bits(ctx, bits):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], FLOAT)

    return types.float32(types.int32), codegen


@intrinsic
def zeros(ctx):
    def codegen(context, builder, signature, args):
        return constant(0.0)

    return lanes(), codegen


@intrinsic
def any_above(ctx, x, y):
    """Whether x > y in any lane."""

    def codegen(context, builder, signature, args):
        bits = _mask_bits(builder, builder.fcmp_ordered(">", *args))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(lanes, lanes), codegen


@intrinsic
def count_at_least(ctx, x, y):
    """In how many lanes x >= y."""

    def codegen(context, builder, signature, args):
        bits = _mask_bits(builder, builder.fcmp_ordered(">=", *args))
        count = call_llvm(builder, f"llvm.ctpop.i{LANES}", bits.type, bits)
        return builder.zext(count, LONG)

    return types.int64(lanes, lanes), codegen


def _mask_bits(builder, mask):
    return builder.bitcast(mask, ir.IntType(LANES))


@intrinsic
def total(ctx, x):
    """The sum of the lanes."""

    def codegen(context, builder, signature, args):
        value = args[0]
        return builder.extract_element(_fold(builder, value, 1), ir.Constant(INT, 0))

    return types.float32(lanes), codegen


def _fold(builder, value, down_to):
    """Add one half of the lanes to the other until ``down_to`` lanes are left, at the front of the vector."""
    width = LANES // 2
    while width >= down_to:
        other = builder.shuffle_vector(
            value, value, ir.Constant(INTS, [(i + width) % LANES for i in range(LANES)])
        )
        value = builder.fadd(value, other)
        width //= 2
    return value


def _add_sums(context, builder, signature, args):
    """Add the sums of the vectors' lanes to as many floats at an address: pairs of vectors become one, and again."""
    where, *vectors = args
    n, width = len(vectors), 1
    while len(vectors) > 1:
        # lanes whose number has the bit ``width`` come from the second vector of a pair, the others from the first
        first = [i + (LANES if i & width else 0) for i in range(LANES)]
        second = [(i ^ width) + (LANES if i & width else 0) for i in range(LANES)]
        vectors = [
            builder.fadd(*(builder.shuffle_vector(a, b, ir.Constant(INTS, take)) for take in (first, second)))
            for a, b in zip(vectors[::2], vectors[1::2], strict=True)
        ]
        width *= 2
    sums = _fold(builder, vectors[0], n)
    if n < LANES:
        sums = builder.shuffle_vector(sums, sums, ir.Constant(ir.VectorType(INT, n), list(range(n))))
    place = pointer(builder, where, ir.VectorType(FLOAT, n))
    builder.store(builder.fadd(builder.load(place, align=4), sums), place, align=4)
    return context.get_dummy_value()


@intrinsic
def add_four_sums(ctx, where, s0, s1, s2, s3):
    return types.void(address_type, *[lanes] * 4), _add_sums


@intrinsic
def add_eight_sums(ctx, where, s0, s1, s2, s3, s4, s5, s6, s7):
    return types.void(address_type, *[lanes] * 8), _add_sums


@intrinsic
def transpose(ctx, rows, source, target, pitch):
    """Transpose a square of LANES x LANES floats.

    Row i is read at ``source`` + the i-th integer (int64, in bytes) at ``rows``; column i is written at
    ``target`` + i · ``pitch`` bytes.
    """

    def codegen(context, builder, signature, args):
        rows, source, target, pitch = args
        vectors = []
        for i in range(LANES):
            offset = builder.load(pointer(builder, offset_by(builder, rows, 8 * i), LONG))
            vectors.append(
                builder.load(pointer(builder, offset_by(builder, source, offset), FLOATS), align=4)
            )
        width = 1
        while width < LANES:  # exchange the two off-diagonal quarters of squares, of 2, 4, 8 ... rows
            keep = [i if not i & width else i - width + LANES for i in range(LANES)]
            move = [i + width if not i & width else i + LANES for i in range(LANES)]
            for i in range(LANES):
                if not i & width:
                    a, b = vectors[i], vectors[i + width]
                    vectors[i] = builder.shuffle_vector(a, b, ir.Constant(INTS, keep))
                    vectors[i + width] = builder.shuffle_vector(a, b, ir.Constant(INTS, move))
            width *= 2
        for i in range(LANES):
            builder.store(vectors[i], pointer(builder, target, FLOATS), align=4)
            target = offset_by(builder, target, pitch)
        return context.get_dummy_value()

    return types.void(address_type, address_type, address_type, types.int64), codegen
