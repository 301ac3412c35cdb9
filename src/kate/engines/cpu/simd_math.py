"""Vectors for compiled code: ``LANES`` floats that are computed together, and functions of them.

numba has scalars and arrays, and leaves it to LLVM to find loops that can use vectors. LLVM does not find those of this
engine, which must keep their sums in registers. So these name their vectors: a value of type ``lanes`` is one vector.

Functions of vectors are written as formulas over :class:`Formula`, and become intrinsics of numba:

    @vector_function
    def sigmoid(x):
        return 1 / (1 + exp(-x))
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numba.extending
from llvmlite import ir
from numba import njit, types
from numba.core.cgutils import get_or_insert_function
from numba.extending import models, register_model

from kate.engines.cpu.target import HAS_AVX512, HAS_FMA, LANES

__all__ = [
    "BYTES", "KERNELS", "TILE", "exp", "exp_below", "fma", "inlined", "intrinsic", "kernel", "lanes", "log", "maximum",
    "plus", "reciprocal", "reciprocal_root", "times", "vector_function",
]  # fmt: skip

TILE = 4 * LANES  # words that are decoded together: four vectors of sums for each document
BYTES = 4 * LANES  # of a vector

# numba's own annotations are those of Python functions, which mypy takes too literally for kernels and intrinsics
intrinsic: Any = numba.extending.intrinsic
_njit: Any = njit

# The names of all kernels, which machine_code.py does not let LLVM optimise one by one.
KERNELS: set[str] = set()


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """Compiled code calls it alone: it needs no wrappers for Python, no reference counts and raises no errors."""
    KERNELS.add(function.__qualname__)
    return _njit(
        function,
        nogil=True,
        error_model="numpy",
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        _nrt=False,
        **options,
    )


# For kernels that are called in one place: numba compiles a kernel again in each of its callers, and this saves one.
inlined: Any = partial(kernel, inline="always")

FLOAT, INT, LONG = ir.FloatType(), ir.IntType(32), ir.IntType(64)
FLOATS, INTS = ir.VectorType(FLOAT, LANES), ir.VectorType(INT, LANES)
SHIFT = 1.5 * 2**23  # added to a small float, it leaves a whole number in the lowest bits

# estimates of 1 / x and 1 / sqrt(x): instructions of AVX-512, for vectors of 16 floats
_HAS_ESTIMATES = HAS_AVX512 and LANES == 16


class _Lanes(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"lanes{LANES}")


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, frontend_type) -> None:
        super().__init__(manager, frontend_type, FLOATS)


lanes: Any = _Lanes()


class Formula:
    """A vector (or a mask) in a formula: Python's operators write LLVM's instructions."""

    def __init__(self, builder: ir.IRBuilder, value: Any) -> None:
        self.builder, self.value = builder, value

    def __neg__(self) -> Formula:
        return self.of_number(-0.0) - self

    def __add__(self, other: Any) -> Formula:
        return self._new(self.builder.fadd(self.value, self._value_of(other)))

    def __sub__(self, other: Any) -> Formula:
        return self._new(self.builder.fsub(self.value, self._value_of(other)))

    def __mul__(self, other: Any) -> Formula:
        return self._new(self.builder.fmul(self.value, self._value_of(other)))

    def __truediv__(self, other: Any) -> Formula:
        return self._new(self.builder.fdiv(self.value, self._value_of(other)))

    def __radd__(self, other: float) -> Formula:
        return self.of_number(other) + self

    def __rsub__(self, other: float) -> Formula:
        return self.of_number(other) - self

    def __rmul__(self, other: float) -> Formula:
        return self.of_number(other) * self

    def __rtruediv__(self, other: float) -> Formula:
        return self.of_number(other) / self

    def times(self, factor: Any, plus: Any) -> Formula:
        """self · factor + plus, rounded once where the processor can (HAS_FMA)."""
        if not HAS_FMA:
            product = self.builder.fmul(self.value, self._value_of(factor))
            return self._new(self.builder.fadd(product, self._value_of(plus)))
        return self._call("fma", self.value, self._value_of(factor), self._value_of(plus))

    def at_least(self, bound: Any) -> Formula:
        return self.where(self.is_above(bound), self._new(self._value_of(bound)))

    def at_most(self, bound: Any) -> Formula:
        return self._new(self._value_of(bound)).where(self.is_above(bound), self)

    def absolute(self) -> Formula:
        return self._call("fabs", self.value)

    def is_above(self, other: Any) -> Formula:
        return self._new(self.builder.fcmp_ordered(">", self.value, self._value_of(other)))

    def is_at_least(self, other: Any) -> Formula:
        return self._new(self.builder.fcmp_ordered(">=", self.value, self._value_of(other)))

    def where(self, mask: Formula, otherwise: Any) -> Formula:
        """self where the mask holds."""
        return self._new(self.builder.select(mask.value, self.value, self._value_of(otherwise)))

    def scaled(self, shifted: Formula) -> Formula:
        """self · 2^n where ``shifted`` is n + SHIFT: n is added to the bits of the exponent."""
        builder = self.builder
        n = builder.shl(builder.bitcast(shifted.value, INTS), _integers(23))  # shifts the bits of SHIFT out
        return self.of_bits(builder.add(builder.bitcast(self.value, INTS), n))

    def halved(self) -> Formula:
        """self / 2 of normal numbers: subtracts 1 from the exponent with integers, while the multipliers are busy."""
        builder = self.builder
        return self.of_bits(builder.sub(builder.bitcast(self.value, INTS), _integers(1 << 23)))

    def split(self) -> tuple[Formula, Formula]:
        """n and f with self = 2^n f and f from 1/sqrt 2 to sqrt 2."""
        builder, bits = self.builder, self.builder.bitcast(self.value, INTS)
        exponent = builder.sub(builder.lshr(bits, _integers(23)), _integers(127))
        fraction = builder.or_(builder.and_(bits, _integers(0x7FFFFF)), _integers(0x3F800000))
        n, f = self._new(builder.sitofp(exponent, FLOATS)), self.of_bits(fraction)
        is_large = f.is_above(2**0.5)
        return (n + 1).where(is_large, n), (f * 0.5).where(is_large, f)

    def of_bits(self, bits: Any) -> Formula:
        return self._new(self.builder.bitcast(bits, FLOATS))

    def of_number(self, number: float) -> Formula:
        return self._new(constant(number))

    def _value_of(self, other: Any) -> Any:
        return other.value if isinstance(other, Formula) else constant(other)

    def _new(self, value: Any) -> Formula:
        return Formula(self.builder, value)

    def _call(self, name: str, *values: Any) -> Formula:
        return self._new(call_llvm(self.builder, f"llvm.{name}.v{LANES}f32", FLOATS, *values))


def constant(number: float) -> Any:
    return ir.Constant(FLOATS, [float(number)] * LANES)


def _integers(number: int) -> Any:
    return ir.Constant(INTS, [number] * LANES)


def call_llvm(builder, name, result, *values):
    kind = ir.FunctionType(result, [value.type for value in values])
    return builder.call(get_or_insert_function(builder.module, kind, name), values)


def vector_function(formula: Callable[..., Formula]) -> Any:
    """Make an intrinsic of numba from a function of Formulas; ``.formula`` is that function, to use in other ones."""
    n_arguments = formula.__code__.co_argcount

    def codegen(context, builder, signature, args):
        return formula(*(Formula(builder, value) for value in args)).value

    made = {1: lambda ctx, x: (lanes(lanes), codegen), 2: lambda ctx, x, y: (lanes(lanes, lanes), codegen),
            3: lambda ctx, x, y, z: (lanes(lanes, lanes, lanes), codegen)}[n_arguments]  # fmt: skip
    made.__name__, made.__doc__ = formula.__name__, formula.__doc__
    function = intrinsic(made)
    function.formula = formula
    return function


@vector_function
def fma(x, y, z):
    """x y + z"""
    return x.times(y, z)


@vector_function
def times(x, y):
    return x * y


@vector_function
def plus(x, y):
    return x + y


@vector_function
def maximum(x, y):
    return x.at_least(y)


@vector_function
def exp_below(x):
    """exp of numbers up to 88; of those below -87 it is exp(-87).

    x = n ln 2 + r with |r| <= ln 2 / 2: exp(r) by the polynomial of least relative error, 1e-7, that is 1 + r near 0.
    The product n ln 2 must not be rounded. Where products are rounded, ln 2 is the sum of two floats, of which the
    first has so few bits that its product with n is exact.
    """
    x = x.at_least(-87.0)
    shifted = x.times(1.44269504, SHIFT)
    n = shifted - SHIFT
    r = n.times(-0.69314718, x) if HAS_FMA else (x - n * 0.693359375) + n * 2.12194440e-4
    p = r.times(0.00831251, 0.041890156)
    for coefficient in (0.16667114, 0.4999923, 1.0, 1.0):
        p = p.times(r, coefficient)
    return p.scaled(shifted)


@vector_function
def exp(x):
    """exp to about 3 ulp, between -87 and 88."""
    return exp_below.formula(x.at_most(88.0))


@vector_function
def log(x):
    """log of normal numbers to about 2 ulp: x = 2^n f with f from sqrt 1/2 to sqrt 2, log f by the series of artanh."""
    n, f = x.split()
    t = (f - 1) / (f + 1)
    square = t * t
    p = square * (2 / 9) + 2 / 7
    for coefficient in (2 / 5, 2 / 3, 2.0):
        p = p.times(square, coefficient)
    return n.times(0.69314718, p * t)


@vector_function
def reciprocal_root(x):
    """1 / sqrt(x) for x > 0: where the processor estimates it to 14 bits, a step of Newton's method makes it exact."""
    if not _HAS_ESTIMATES:
        return 1 / x._call("sqrt", x.value)
    mask = ir.Constant(ir.IntType(16), -1)
    estimate = x._new(
        call_llvm(x.builder, "llvm.x86.avx512.rsqrt14.ps.512", FLOATS, x.value, constant(0.0), mask)
    )
    return estimate * (x * estimate).times(-estimate.halved(), 1.5)


@vector_function
def reciprocal(x):
    """1 / x, in the same way."""
    if not _HAS_ESTIMATES:
        return 1 / x
    mask = ir.Constant(ir.IntType(16), -1)
    estimate = x._new(
        call_llvm(x.builder, "llvm.x86.avx512.rcp14.ps.512", FLOATS, x.value, constant(0.0), mask)
    )
    return estimate * x.times(estimate * -1.0, 2.0)
