"""The competition of a CPU step, one document at a time: which neurons win, and what they take from the losers.

The rules are those of :func:`kate.competition.compete`: half of the winners have the largest positive activations, the
other half the largest negative ones. Each winner takes alpha times the energy (the summed size) of the losers on its
side.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"
from __future__ import annotations

import numpy as np

from kate.engines.cpu.addresses import address
from kate.engines.cpu.buffers import BLOCK, ROW
from kate.engines.cpu.simd_math import BYTES, fma, kernel, maximum, times, vector_function
from kate.engines.cpu.simd_memory import broadcast, count_at_least, float_of_bits, load, store, total, zeros

_ONE, _ZERO = np.float32(1.0), np.float32(0.0)
_SMALLEST = np.float32(1e-45)  # the smallest float above zero
_INFINITE = np.int32(0x7F800000)  # the bits of infinity: above those of every finite float


@vector_function
def _won(size, threshold, value):
    """The value where the size reaches the threshold, else 0."""
    return value.where(size.is_at_least(threshold), 0.0)


@vector_function
def _lost(size, threshold):
    """The size where it is below the threshold, else 0."""
    return (size * 0.0).where(size.is_at_least(threshold), size)


@kernel
def _count(sizes, size, threshold):
    """How many of the floats at ``sizes``, ``size`` bytes of them, are at least the threshold."""
    threshold = broadcast(threshold)
    n = 0
    for v in range(0, size, BYTES):
        n += count_at_least(load(sizes + v), threshold)
    return n


@kernel
def _smallest_winner(sizes, size, share):
    """The size that the ``share`` largest reach, and with ties a few more, by bisection over its bits.

    The bits of a larger positive float are a larger integer. Unlike sorting, counting is a loop over vectors without a
    branch.
    """
    # more than ``share`` sizes are at least low, fewer are at least high
    low, high = np.int32(1), _INFINITE
    while high - low > 1:
        middle = np.int32(low + (high - low) // 2)
        n = _count(sizes, size, float_of_bits(middle))
        if n == share:
            return float_of_bits(middle)
        if n > share:
            low = middle
        else:
            high = middle
    return float_of_bits(low)


@kernel
def _settle_ties(sizes, threshold, share):
    """Where more than ``share`` reach the threshold, the last of those equal to it lose; returns their energy."""
    spare, energy = share, _ZERO
    for j in range(sizes.size):
        spare -= sizes[j] > threshold
    for j in range(sizes.size):
        if sizes[j] == threshold:
            spare -= 1
            if spare < 0:
                energy += sizes[j]
                sizes[j] = _ZERO
    return energy


@kernel
def _compete_on_side(z, a, size, sign, share, alpha, sizes):
    """One side (sign +1 or -1) of the competition for one document, added to ``a``."""
    where, by = address(sizes), broadcast(sign)
    for v in range(0, size, BYTES):
        store(where + v, maximum(times(load(z + v), by), zeros()))
    threshold, energy = _SMALLEST, _ZERO  # with few enough neurons on this side, all of them win
    if _count(where, size, _SMALLEST) > share:
        threshold = _smallest_winner(where, size, share) if share > 0 else float_of_bits(_INFINITE)
        if _count(where, size, threshold) > share:
            energy = _settle_ties(sizes[: size // 4], threshold, share)
        lost = zeros()
        for v in range(0, size, BYTES):
            lost = fma(_lost(load(where + v), broadcast(threshold)), broadcast(_ONE), lost)
        energy += total(lost)
    gain = broadcast(alpha * energy)
    for v in range(0, size, BYTES):
        s = load(where + v)
        store(a + v, fma(_won(s, broadcast(threshold), fma(gain, broadcast(_ONE), s)), by, load(a + v)))


@kernel
def _list_winners(d, rule, space):
    """List the active neurons in their order, with zeros up to a multiple of 8, and where each block of them begins."""
    A, active, value = space.A[d], space.active[d], space.active_value[d]
    n, block = 0, 1
    space.block_start[d, 0] = 0
    for j in range(rule.m):
        if j == block * BLOCK:
            space.block_start[d, block] = n + -n % 8  # eight are decoded at a time
            block += 1
        if n < active.size:
            # losers are written, too, and overwritten by the next neuron: a branch here could not be predicted
            active[n], value[n] = j * ROW, A[j]
            n += A[j] != _ZERO or rule.n_winners == 0
    space.n_active[d] = n
    while n % 8:
        active[n], value[n] = 0, _ZERO
        n += 1
    for later in range(block, space.block_start.shape[1]):
        space.block_start[d, later] = n
    for earlier in range(1, block):
        space.block_start[d, earlier] = min(space.block_start[d, earlier], n)


@kernel
def compete(thread, d, rule, space):
    """a of one document from its z, and the list of its active neurons."""
    size = 4 * space.Z.shape[1]
    z, a = address(space.Z) + d * size, address(space.A) + d * size
    if rule.n_winners == 0:
        for v in range(0, size, BYTES):
            store(a + v, load(z + v))
    else:
        for v in range(0, size, BYTES):
            store(a + v, zeros())
        sizes = space.sizes[thread]
        _compete_on_side(z, a, size, _ONE, (rule.n_winners + 1) // 2, rule.alpha, sizes)
        _compete_on_side(z, a, size, -_ONE, rule.n_winners // 2, rule.alpha, sizes)
    _list_winners(d, rule, space)
