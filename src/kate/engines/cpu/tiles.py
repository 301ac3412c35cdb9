"""Tiles of a matrix: rows of TILE floats, four vectors each. Sums of rows, dot products with rows, transposing.

The decoder and the gradient spend most of a step here.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"
from __future__ import annotations

from kate.engines.cpu.addresses import address
from kate.engines.cpu.buffers import ROW
from kate.engines.cpu.simd_math import BYTES, TILE, fma, kernel, times
from kate.engines.cpu.simd_memory import (
    add_eight_sums,
    add_four_sums,
    broadcast_four,
    four_offsets,
    load,
    store,
    transpose,
)
from kate.engines.cpu.target import LANES


@kernel
def add_rows(offsets, value, n, rows, target, initial):
    """The TILE floats at ``target`` = those at ``initial`` + Σ value · row.

    The n rows of the tile (a multiple of 4) begin at ``rows`` + ``offsets``. The sum stays in four vectors meanwhile.
    """
    s0, s1 = load(initial), load(initial + BYTES)
    s2, s3 = load(initial + 2 * BYTES), load(initial + 3 * BYTES)
    for _ in range(n // 4):
        x0, x1, x2, x3 = broadcast_four(value)
        r0, r1, r2, r3 = four_offsets(offsets)
        r0, r1, r2, r3 = rows + r0, rows + r1, rows + r2, rows + r3
        s0, s1 = fma(x0, load(r0), s0), fma(x0, load(r0 + BYTES), s1)
        s2, s3 = fma(x0, load(r0 + 2 * BYTES), s2), fma(x0, load(r0 + 3 * BYTES), s3)
        s0, s1 = fma(x1, load(r1), s0), fma(x1, load(r1 + BYTES), s1)
        s2, s3 = fma(x1, load(r1 + 2 * BYTES), s2), fma(x1, load(r1 + 3 * BYTES), s3)
        s0, s1 = fma(x2, load(r2), s0), fma(x2, load(r2 + BYTES), s1)
        s2, s3 = fma(x2, load(r2 + 2 * BYTES), s2), fma(x2, load(r2 + 3 * BYTES), s3)
        s0, s1 = fma(x3, load(r3), s0), fma(x3, load(r3 + BYTES), s1)
        s2, s3 = fma(x3, load(r3 + 2 * BYTES), s2), fma(x3, load(r3 + 3 * BYTES), s3)
        offsets, value = offsets + 16, value + 16
    store(target, s0)
    store(target + BYTES, s1)
    store(target + 2 * BYTES, s2)
    store(target + 3 * BYTES, s3)


@kernel
def _dot(e0, e1, e2, e3, row):
    """e · row, not yet summed over the lanes."""
    s = fma(e1, load(row + BYTES), times(e0, load(row)))
    return fma(e3, load(row + 3 * BYTES), fma(e2, load(row + 2 * BYTES), s))


@kernel
def dot_rows(offsets, n, rows, e, part):
    """part[i] += e · row i, for the n rows (a multiple of 4) of a tile that begin at ``rows`` + ``offsets``."""
    e0, e1, e2, e3 = load(e), load(e + BYTES), load(e + 2 * BYTES), load(e + 3 * BYTES)
    for _ in range(n // 8):
        r0, r1, r2, r3 = four_offsets(offsets)
        r4, r5, r6, r7 = four_offsets(offsets + 16)
        add_eight_sums(
            part,
            _dot(e0, e1, e2, e3, rows + r0),
            _dot(e0, e1, e2, e3, rows + r1),
            _dot(e0, e1, e2, e3, rows + r2),
            _dot(e0, e1, e2, e3, rows + r3),
            _dot(e0, e1, e2, e3, rows + r4),
            _dot(e0, e1, e2, e3, rows + r5),
            _dot(e0, e1, e2, e3, rows + r6),
            _dot(e0, e1, e2, e3, rows + r7),
        )
        offsets, part = offsets + 32, part + 32
    if n % 8:
        r0, r1, r2, r3 = four_offsets(offsets)
        add_four_sums(
            part,
            _dot(e0, e1, e2, e3, rows + r0),
            _dot(e0, e1, e2, e3, rows + r1),
            _dot(e0, e1, e2, e3, rows + r2),
            _dot(e0, e1, e2, e3, rows + r3),
        )


@kernel
def transpose_tile(W, tile, words, out):
    """A tile of Wᵀ, (m, TILE): a row of it holds what one neuron has for the words of the tile."""
    for strip in range(4):
        rows = address(words.bytes) + 8 * (tile * TILE + strip * LANES)
        for j in range(0, W.shape[1], LANES):
            transpose(rows, address(W) + 4 * j, out + j * ROW + strip * BYTES, ROW)
