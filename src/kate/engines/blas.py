"""Single-precision matrix products for compiled code, straight from SciPy's BLAS.

numba's own ``np.dot`` takes Python's global lock for every call, so that threads wait for each other; this one takes
the address of ``sgemm`` as an argument, needs no lock, and leaves compiled functions cacheable on disk.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg"
from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import get_cython_function_address, intrinsic

__all__ = ["SGEMM", "multiply", "multiply_by_transposed", "multiply_transposed"]

SGEMM = get_cython_function_address("scipy.linalg.cython_blas", "sgemm")
_INT, _FLOAT, _CHAR, _ADDRESS = ir.IntType(32), ir.FloatType(), ir.IntType(8), ir.IntType(64)
_NO, _YES = np.int8(ord("N")), np.int8(ord("T"))


@intrinsic
def _sgemm(typingctx, address, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
    """The Fortran call: every scalar goes by reference, matrices are column-major."""
    signature = types.void(
        types.int64, types.int8, types.int8, types.int32, types.int32, types.int32, types.float32,
        types.int64, types.int32, types.int64, types.int32, types.float32, types.int64, types.int32,
    )  # fmt: skip
    kinds = [_CHAR, _CHAR, _INT, _INT, _INT, _FLOAT, _ADDRESS, _INT, _ADDRESS, _INT, _FLOAT, _ADDRESS, _INT]

    def codegen(context, builder, signature, args):
        pointers = []
        for value, kind in zip(args[1:], kinds, strict=True):
            if kind is _ADDRESS:
                pointers.append(builder.inttoptr(value, _CHAR.as_pointer()))
            else:
                with builder.goto_entry_block():
                    slot = builder.alloca(kind)
                builder.store(value, slot)
                pointers.append(builder.bitcast(slot, _CHAR.as_pointer()))
        call = ir.FunctionType(ir.VoidType(), [_CHAR.as_pointer()] * len(pointers))
        builder.call(builder.inttoptr(args[0], call.as_pointer()), pointers)
        return context.get_dummy_value()

    return signature, codegen


@njit(cache=True)
def _call(address, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
    _sgemm(
        address, trans_a, trans_b, np.int32(m), np.int32(n), np.int32(k), np.float32(alpha),
        a.ctypes.data, np.int32(lda), b.ctypes.data, np.int32(ldb), np.float32(beta), c.ctypes.data, np.int32(ldc),
    )  # fmt: skip


# A row-major matrix is its transpose to Fortran, so C = A B is asked for as Cᵀ = Bᵀ Aᵀ. All arrays are C-contiguous.


@njit(cache=True)
def multiply(sgemm, a, b, out, alpha, beta):
    """out = alpha a b + beta out, for a (r, s) and b (s, t)."""
    (r, s), t = a.shape, b.shape[1]
    _call(sgemm, _NO, _NO, t, r, s, alpha, b, t, a, s, beta, out, t)


@njit(cache=True)
def multiply_by_transposed(sgemm, a, b, out, alpha, beta):
    """out = alpha a bᵀ + beta out, for a (r, s) and b (t, s)."""
    (r, s), t = a.shape, b.shape[0]
    _call(sgemm, _YES, _NO, t, r, s, alpha, b, s, a, s, beta, out, t)


@njit(cache=True)
def multiply_transposed(sgemm, a, b, out, alpha, beta):
    """out = alpha aᵀ b + beta out, for a (s, r) and b (s, t)."""
    (s, r), t = a.shape, b.shape[1]
    _call(sgemm, _NO, _YES, t, r, s, alpha, b, t, a, r, beta, out, t)
