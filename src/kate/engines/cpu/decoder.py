"""The decoder of a CPU step, a tile of words at a time: logits, loss, and what it gives back to the hidden layer.

For a tile of words and every document,

    o = W a + c                      the winners' rows of the turned tile, added up in registers
    e = sigmoid(o)                   cross-entropy, or
    e = exp(o - level)               softmax, whose normaliser is known when all tiles are done
    Σ e W                            dots of e with the winners' rows: dL/da but for a factor and the target's part

Residuals are factor · e - x: since x is sparse, its part is added elsewhere, word by word (x W in hidden.py, x A in
gradient.py), and e itself is what is kept. The turned tile is used in blocks of rows that fit the L1 cache.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"
from __future__ import annotations

import math

import numpy as np

from kate.engines.cpu.addresses import address
from kate.engines.cpu.buffers import GRADIENT, ROW
from kate.engines.cpu.simd_math import (
    BYTES,
    LANES,
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
    add_eight_sums,
    add_four_sums,
    any_above,
    broadcast,
    four_offsets,
    load,
    spread,
    spread_four,
    store,
    total,
    turn,
    zeros,
)

_ONE = np.float32(1.0)
_FACTORS = 64  # of at most 2 each: their product is a float
_NEVER = np.float32(-1e30)  # the bias of words that fill up the last tile: no probability
_HEADROOM = np.float32(
    50.0
)  # logits so much above the level raise it: e^50 times any number of words is finite


@vector_function
def _shrink(o):
    """e^-|o|"""
    return exp_below.formula(-o.absolute())


@vector_function
def _sigmoid(o, shrunk):
    """From o and e^-|o|."""
    s = reciprocal.formula(1 + shrunk)
    return s.where(o.is_at_least(0), shrunk * s)


@vector_function
def _exponential(o, level):
    return exp.formula(o - level)


@vector_function
def _grow(product, shrunk):
    return product.times(shrunk, product)


@kernel
def add_rows(who, value, n, rows, target, initial):
    """The TILE floats at ``target`` = those at ``initial`` + Σ value · row; n, a multiple of 4, rows of a tile."""
    s0, s1, s2, s3 = (
        load(initial),
        load(initial + BYTES),
        load(initial + 2 * BYTES),
        load(initial + 3 * BYTES),
    )
    for _ in range(n // 4):
        x0, x1, x2, x3 = spread_four(value)
        r0, r1, r2, r3 = four_offsets(who)
        r0, r1, r2, r3 = rows + r0, rows + r1, rows + r2, rows + r3
        s0, s1 = fma(x0, load(r0), s0), fma(x0, load(r0 + BYTES), s1)
        s2, s3 = fma(x0, load(r0 + 2 * BYTES), s2), fma(x0, load(r0 + 3 * BYTES), s3)
        s0, s1 = fma(x1, load(r1), s0), fma(x1, load(r1 + BYTES), s1)
        s2, s3 = fma(x1, load(r1 + 2 * BYTES), s2), fma(x1, load(r1 + 3 * BYTES), s3)
        s0, s1 = fma(x2, load(r2), s0), fma(x2, load(r2 + BYTES), s1)
        s2, s3 = fma(x2, load(r2 + 2 * BYTES), s2), fma(x2, load(r2 + 3 * BYTES), s3)
        s0, s1 = fma(x3, load(r3), s0), fma(x3, load(r3 + BYTES), s1)
        s2, s3 = fma(x3, load(r3 + 2 * BYTES), s2), fma(x3, load(r3 + 3 * BYTES), s3)
        who, value = who + 16, value + 16
    store(target, s0)
    store(target + BYTES, s1)
    store(target + 2 * BYTES, s2)
    store(target + 3 * BYTES, s3)


@kernel
def _dot(e0, e1, e2, e3, row):
    s = fma(e1, load(row + BYTES), times(e0, load(row)))
    return fma(e3, load(row + 3 * BYTES), fma(e2, load(row + 2 * BYTES), s))


@kernel
def _dot_rows(who, n, rows, e, part):
    """part[i] += e · row i, eight rows of a tile at a time; n, a multiple of 4."""
    e0, e1, e2, e3 = load(e), load(e + BYTES), load(e + 2 * BYTES), load(e + 3 * BYTES)
    for _ in range(n // 8):
        r0, r1, r2, r3 = four_offsets(who)
        r4, r5, r6, r7 = four_offsets(who + 16)
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
        who, part = who + 32, part + 32
    if n % 8:
        r0, r1, r2, r3 = four_offsets(who)
        add_four_sums(
            part,
            _dot(e0, e1, e2, e3, rows + r0),
            _dot(e0, e1, e2, e3, rows + r1),
            _dot(e0, e1, e2, e3, rows + r2),
            _dot(e0, e1, e2, e3, rows + r3),
        )


@kernel
def _turn_tile(W, tile, words, turned):
    """A tile of Wᵀ: (m, TILE)."""
    for strip in range(4):
        rows = address(words.bytes) + 8 * (tile * TILE + strip * LANES)
        for j in range(0, W.shape[1], LANES):
            turn(rows, address(W) + 4 * j, turned + j * ROW + strip * BYTES, ROW)


@kernel
def _tile_bias(c, tile, words, is_softmax, bias):
    for i in range(TILE):
        local = tile * TILE + i
        bias[i] = (
            c[words.words[local]] + words.log_weight[local] * is_softmax if local < words.n[0] else _NEVER
        )


@kernel
def _sigmoids(e, weights, sums, rule):
    """One document's logits become sigmoids in place (times the weights of their words, with a sample).

    Its softplus(o) = max(o, 0) + log(1 + e^-|o|) goes to ``sums``: Π(1 + e^-|o|) and Σ max(o, 0).
    """
    for v in range(0, ROW, BYTES):
        o = load(e + v)
        shrunk = _shrink(o)
        sigmoid = _sigmoid(o, shrunk)
        store(e + v, sigmoid if rule.n_draws is None else times(load(weights + v), sigmoid))
        store(sums + v, _grow(load(sums + v), shrunk))
        store(sums + ROW + v, plus(load(sums + ROW + v), maximum(o, zeros())))


@kernel
def _clear(sums):
    for v in range(0, ROW, BYTES):
        store(sums + v, broadcast(_ONE))
        store(sums + ROW + v, zeros())


@kernel
def _take_loss(weights, sums):
    """Σ softplus(o), the cross-entropy but for the target's part, of the documents since the sums were cleared."""
    loss = zeros()
    for v in range(0, ROW, BYTES):
        loss = fma(load(weights + v), plus(load(sums + ROW + v), log(load(sums + v))), loss)
    _clear(sums)
    return total(loss)


@kernel
def _raise_level(group, d, e, K, space):
    """Make room for a logit far above the level: what the group has summed so far becomes relative to the new one."""
    top = space.last_level[group, d]
    for i in range(TILE):
        top = max(top, np.float32(total(times(spread(e + 4 * i), broadcast(np.float32(1.0 / LANES))))))
    by = np.float32(math.exp(space.last_level[group, d] - top))
    for i in range(K):
        space.part[group, d, i] *= by
    for lane in range(LANES):
        space.sums[group, d, lane] *= by
    space.last_level[group, d] = top


@inlined
def _exponentials(group, tile, d, e, space):
    """One document's logits become exponentials relative to the level in place, and their sums are kept."""
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
def _fours(start, stop, n_who):
    """How many rows of a block to use, in fours: silence that fills up an eight is left out."""
    return max(0, min(stop, (n_who + 3) // 4 * 4) - start)


@inlined
def _add_document(d, block, turned, E, initial, space):
    """The logits of one document, or what a block of neurons adds to them."""
    start = space.split[d, block]
    place, n = 4 * (d * space.who.shape[1] + start), _fours(start, space.split[d, block + 1], space.n_who[d])
    add_rows(address(space.who) + place, address(space.value) + place, n, turned, E + d * ROW, initial)


@inlined
def _activate(group, tile, d, n_docs, E, words, rule, sums, space):
    """e of one document from its logits, in place; returns the loss that is known by now."""
    if rule.softmax:
        _exponentials(group, tile, d, E + d * ROW, space)
        return 0.0
    weights = address(words.weight) + tile * ROW
    _sigmoids(E + d * ROW, weights, sums, rule)
    if d % _FACTORS == _FACTORS - 1 or d == n_docs - 1:
        return np.float64(_take_loss(weights, sums))
    return 0.0


@inlined
def _dot_document(group, d, block, turned, E, space):
    """The part of dL/da of one document's neurons in a block."""
    (B, K), start = space.who.shape, space.split[d, block]
    who, part = (
        address(space.who) + 4 * (d * K + start),
        address(space.part) + 4 * ((group * B + d) * K + start),
    )
    n = _fours(start, space.split[d, block + 1], space.n_who[d])
    _dot_rows(who, n, turned, E + d * ROW, part)


@kernel
def _decode_tile(thread, group, tile, n_docs, parameters, rule, words, space):
    """e of one tile, and its part of dL/da; returns the sigmoids' loss."""
    m = parameters.W.shape[1]
    slot = tile if rule.purpose >= GRADIENT else thread
    E = address(space.E) + slot * space.E.shape[1] * ROW
    turned = address(space.turned) + thread * m * ROW
    bias = address(space.bias[thread])
    _turn_tile(parameters.W, tile, words, turned)
    _tile_bias(parameters.c, tile, words, np.float32(rule.softmax), space.bias[thread, 0])
    sums, loss = bias + ROW, 0.0
    _clear(sums)
    n_blocks = space.split.shape[1] - 1
    for block in range(n_blocks):
        for d in range(n_docs):
            _add_document(d, block, turned, E, bias if block == 0 else E + d * ROW, space)
            if block == n_blocks - 1:  # at once: the rows of the next document are loaded meanwhile
                loss += _activate(group, tile, d, n_docs, E, words, rule, sums, space)
    if rule.purpose >= GRADIENT:
        for block in range(n_blocks):
            for d in range(n_docs):
                _dot_document(group, d, block, turned, E, space)
    return loss


@kernel
def decode_group(thread, group, n_docs, parameters, rule, words, space):
    """All tiles of one group."""
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
