"""The decoder of a CPU step, one tile of words at a time: logits, loss, and the gradient for the hidden layer.

For a tile of words and every document:

    o = W a + c                      the rows of the active neurons in the transposed tile, added up in registers
    e = sigmoid(o)                   for the cross-entropy
    e = exp(o - level)               for the softmax; its normaliser is known when all tiles are done
    Σ e W                            dot products of e with the same rows: dL/da without the factor and the target

The residual is factor · e - x. Because x is sparse, its part is added word by word elsewhere (x W in hidden.py, x A in
gradient.py), and e is what is kept. The transposed tile is used in blocks of rows that fit the nearest cache.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"
from __future__ import annotations

import math

import numpy as np

from kate.engines.cpu.addresses import address
from kate.engines.cpu.buffers import GRADIENT, ROW
from kate.engines.cpu.simd_math import (
    BYTES,
    TILE,
    exp,
    exp_below,
    fma,
    inlined,
    kernel,
    log,
    maximum,
    plus,
    reciprocal,
    times,
    vector_function,
)
from kate.engines.cpu.simd_memory import (
    any_above,
    broadcast,
    load,
    load_float,
    store,
    total,
    zeros,
)
from kate.engines.cpu.target import LANES
from kate.engines.cpu.tiles import add_rows, dot_rows, transpose_tile

_ONE = np.float32(1.0)
# The loss is the logarithm of a product, taken once for so many documents: factors are at most 2, 2^64 is a float.
_FACTORS = 64
# The bias of the words that only fill the last tile: they have no probability.
_NO_PROBABILITY = np.float32(-1e30)
# Logits so far above the level raise it: e^50 times any number of words is finite.
_HEADROOM = np.float32(50.0)


@vector_function
def _exp_minus_abs(o):
    """e^-|o|"""
    return exp_below.formula(-o.absolute())


@vector_function
def _sigmoid(o, exp_minus_abs):
    """sigmoid(o) from o and e^-|o|."""
    s = reciprocal.formula(1 + exp_minus_abs)
    return s.where(o.is_at_least(0), exp_minus_abs * s)


@vector_function
def _exponential(o, level):
    return exp.formula(o - level)


@vector_function
def _times_one_plus(product, x):
    """product · (1 + x)"""
    return product.times(x, product)


@kernel
def _tile_bias(c, tile, words, is_softmax, bias):
    """c of the words of a tile; with a sample, the softmax adds the logarithms of their weights."""
    for i in range(TILE):
        local = tile * TILE + i
        bias[i] = (
            c[words.words[local]] + words.log_weight[local] * is_softmax
            if local < words.n[0]
            else _NO_PROBABILITY
        )


@kernel
def _sigmoids(e, weights, sums, rule):
    """Replace the logits of one document by sigmoids (with a sample, times the weights of their words).

    The loss softplus(o) = max(o, 0) + log(1 + e^-|o|) goes to ``sums``, as Π(1 + e^-|o|) and Σ max(o, 0).
    """
    for v in range(0, ROW, BYTES):
        o = load(e + v)
        exp_minus_abs = _exp_minus_abs(o)
        sigmoid = _sigmoid(o, exp_minus_abs)
        store(e + v, sigmoid if rule.n_draws is None else times(load(weights + v), sigmoid))
        store(sums + v, _times_one_plus(load(sums + v), exp_minus_abs))
        store(sums + ROW + v, plus(load(sums + ROW + v), maximum(o, zeros())))


@kernel
def _clear(sums):
    """Start the products at 1 and the sums at 0."""
    for v in range(0, ROW, BYTES):
        store(sums + v, broadcast(_ONE))
        store(sums + ROW + v, zeros())


@kernel
def _collect_loss(weights, sums):
    """Σ softplus(o) of the documents since the sums were cleared: the cross-entropy without the target's part."""
    loss = zeros()
    for v in range(0, ROW, BYTES):
        loss = fma(load(weights + v), plus(load(sums + ROW + v), log(load(sums + v))), loss)
    _clear(sums)
    return total(loss)


@kernel
def _raise_level(group, d, e, K, space):
    """Raise the level to the highest logit; what the group has summed so far becomes relative to the new level."""
    top = space.last_level[group, d]
    for i in range(TILE):
        top = max(top, load_float(e + 4 * i))
    by = np.float32(math.exp(space.last_level[group, d] - top))
    for i in range(K):
        space.part[group, d, i] *= by
    for lane in range(LANES):
        space.sums[group, d, lane] *= by
    space.last_level[group, d] = top


@inlined
def _exponentials(group, tile, d, e, space):
    """Replace the logits of one document by exponentials relative to the level, and add them to its sums."""
    o0, o1, o2, o3 = load(e), load(e + BYTES), load(e + 2 * BYTES), load(e + 3 * BYTES)
    highest = maximum(maximum(o0, o1), maximum(o2, o3))
    if any_above(highest, broadcast(space.last_level[group, d] + _HEADROOM)):
        _raise_level(group, d, e, space.part.shape[2], space)
    level = broadcast(space.last_level[group, d])
    space.levels[tile, d] = space.last_level[group, d]
    o0, o1, o2, o3 = (
        _exponential(o0, level), _exponential(o1, level), _exponential(o2, level), _exponential(o3, level),
    )  # fmt: skip
    store(e, o0)
    store(e + BYTES, o1)
    store(e + 2 * BYTES, o2)
    store(e + 3 * BYTES, o3)
    sums = address(space.sums) + BYTES * (group * space.sums.shape[1] + d)
    store(sums, plus(load(sums), plus(plus(o0, o1), plus(o2, o3))))


@kernel
def _rows_to_use(start, stop, n_active):
    """How many rows of a block to use, rounded up to 4; zero padding is skipped."""
    return max(0, min(stop, (n_active + 3) // 4 * 4) - start)


@inlined
def _add_document(d, block, transposed, E, initial, space):
    """Add a block of neurons to the logits of one document."""
    start = space.block_start[d, block]
    n = _rows_to_use(start, space.block_start[d, block + 1], space.n_active[d])
    place = 4 * (d * space.active.shape[1] + start)
    offsets, values = address(space.active) + place, address(space.active_value) + place
    add_rows(offsets, values, n, transposed, E + d * ROW, initial)


@inlined
def _activate(group, tile, d, n_docs, E, words, rule, sums, space):
    """Replace the logits of one document by e; returns the loss, as far as it is known now."""
    if rule.softmax:
        _exponentials(group, tile, d, E + d * ROW, space)
        return 0.0
    weights = address(words.weight) + tile * ROW
    _sigmoids(E + d * ROW, weights, sums, rule)
    if d % _FACTORS == _FACTORS - 1 or d == n_docs - 1:
        return np.float64(_collect_loss(weights, sums))
    return 0.0


@inlined
def _dot_document(group, d, block, transposed, E, space):
    """The part of dL/da of one document, for a block of its neurons."""
    (B, K), start = space.active.shape, space.block_start[d, block]
    n = _rows_to_use(start, space.block_start[d, block + 1], space.n_active[d])
    offsets = address(space.active) + 4 * (d * K + start)
    part = address(space.part) + 4 * ((group * B + d) * K + start)
    dot_rows(offsets, n, transposed, E + d * ROW, part)


@kernel
def _decode_tile(thread, group, tile, n_docs, parameters, rule, words, space):
    """e of one tile and its part of dL/da; returns the loss, which is 0 for the softmax."""
    m = parameters.W.shape[1]
    slot = tile if rule.purpose >= GRADIENT else thread
    E = address(space.E) + slot * space.E.shape[1] * ROW
    transposed = address(space.transposed) + thread * m * ROW
    bias = address(space.bias[thread])
    transpose_tile(parameters.W, tile, words, transposed)
    _tile_bias(parameters.c, tile, words, np.float32(rule.softmax), space.bias[thread, 0])
    sums, loss = bias + ROW, 0.0
    _clear(sums)
    n_blocks = space.block_start.shape[1] - 1
    for block in range(n_blocks):
        for d in range(n_docs):
            _add_document(d, block, transposed, E, bias if block == 0 else E + d * ROW, space)
            if block == n_blocks - 1:  # now, while the rows of the next document are loaded
                loss += _activate(group, tile, d, n_docs, E, words, rule, sums, space)
    if rule.purpose >= GRADIENT:
        for block in range(n_blocks):
            for d in range(n_docs):
                _dot_document(group, d, block, transposed, E, space)
    return loss


@kernel
def decode_group(thread, group, n_docs, parameters, rule, words, space):
    """Decode all tiles of one group."""
    K, n_tiles = space.part.shape[2], (words.n[0] + TILE - 1) // TILE
    loss = 0.0
    for d in range(n_docs):
        part = address(space.part) + 4 * K * (group * space.part.shape[1] + d)
        for v in range(0, 4 * K, BYTES):
            store(part + v, zeros())
        store(address(space.sums) + BYTES * (group * space.sums.shape[1] + d), zeros())
        space.last_level[group, d] = space.level[d]
    for tile in range(group, n_tiles, space.part.shape[0]):
        loss += _decode_tile(thread, group, tile, n_docs, parameters, rule, words, space)
    space.losses[group] = loss
