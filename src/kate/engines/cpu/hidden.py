"""The hidden layer of a CPU step, forward and backward, one document at a time. Forward:

    z = g(Wᵀ x' + b)         x' = x after dropout, g = tanh or sigmoid
    a = compete(z)           see winners.py
    y = Wᵀ x                 so that Σ x o = a · y + x · c, the target's part of both losses, needs no logits o

Backward, from the decoder's parts of dL/da, which it computes for the active neurons alone:

    winner:  d = g'(z) · dL/da
    loser:   d = g'(z) · alpha · Σ dL/da over the winners on its side
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"
from __future__ import annotations

import math

import numpy as np

from kate.engines.cpu.addresses import address, prefetch
from kate.engines.cpu.buffers import ADDED, FACTOR, GRADIENT, LEVEL, ROW
from kate.engines.cpu.sampling import hash_of, word_of
from kate.engines.cpu.simd_math import (
    BYTES,
    exp,
    fma,
    kernel,
    plus,
    reciprocal,
    times,
    vector_function,
)
from kate.engines.cpu.simd_memory import broadcast, load, store, total, zeros
from kate.engines.cpu.winners import compete

_ONE, _ZERO = np.float32(1.0), np.float32(0.0)


@vector_function
def tanh(x):
    return 1 - 2 * reciprocal.formula(exp.formula(2 * x) + 1)


@vector_function
def sigmoid(x):
    return reciprocal.formula(1 + exp.formula(-x))


@vector_function
def _by_side(z, positive, negative):
    """One of two values by the sign of z, and 0 for z = 0."""
    return positive.where(z.is_above(0), negative.where((-z).is_above(0), 0.0))


@vector_function
def _where_not_zero(mark, then, otherwise):
    """``then`` where the mark is not 0."""
    return then.where(mark.absolute().is_above(0), otherwise)


@vector_function
def _slope(z, is_sigmoid, gradient):
    """gradient · g'(z), from the activation z itself."""
    return gradient * z.times(1 - z, 0.0).where(is_sigmoid.is_above(0), 1 - z * z)


@kernel
def is_kept(seed, entry, dropout):
    """Whether dropout keeps an entry: a hash of (seed, entry), so the same on every thread and in every pass."""
    h = hash_of(seed, entry)
    return np.float64(h >> np.uint64(11)) * 2.0**-53 >= dropout


@kernel
def add_scaled(target, x, row, size):
    """target += x · row, both of ``size`` bytes."""
    x = broadcast(x)
    for v in range(0, size, BYTES):
        store(target + v, fma(x, load(row + v), load(target + v)))


@kernel
def _encode(d, doc, next_doc, rows, parameters, rule, seed, space):
    """z, y and the mass of one document; returns x · c."""
    size = 4 * parameters.W.shape[1]
    W, z, y = address(parameters.W), address(space.Z) + d * size, address(space.Y) + d * size
    for v in range(0, size, BYTES):
        store(z + v, load(address(parameters.b) + v))
        store(y + v, zeros())
    keep_scale = np.float32(1.0 / (1.0 - rule.dropout))
    mass, bias = 0.0, 0.0
    # with a sample W is large and its rows are in no cache: those of the next document are fetched meanwhile
    ahead, last_ahead = rows.indptr[next_doc], rows.indptr[next_doc + 1] if rule.n_draws is not None else 0
    for entry in range(rows.indptr[doc], rows.indptr[doc + 1]):
        word, x = word_of(rows, entry), rows.values[entry]
        if ahead < last_ahead:
            next_word = word_of(rows, ahead)
            prefetch(W + next_word * size, size)
            prefetch(address(parameters.c) + 4 * next_word, np.int64(4))
            ahead += 1
        mass += x
        bias += x * parameters.c[word]
        add_scaled(y, x, W + word * size, size)
        if rule.dropout > 0.0:
            if is_kept(seed, entry, rule.dropout):
                add_scaled(z, rows.inputs[entry] * keep_scale, W + word * size, size)
        elif rule.reads_inputs:
            add_scaled(z, rows.inputs[entry], W + word * size, size)
    if rule.dropout == 0.0 and not rule.reads_inputs:
        add_scaled(z, _ONE, y, size)
    for v in range(0, size, BYTES):
        store(z + v, sigmoid(load(z + v)) if rule.sigmoid else tanh(load(z + v)))
    for j in range(rule.m, parameters.W.shape[1]):  # padding
        space.Z[d, j] = _ZERO
    space.mass[d] = mass
    return bias


@kernel
def hidden_document(thread, d, doc, next_doc, rows, parameters, rule, seed, space):
    """z, a and y of one document, its active neurons, and its part of the loss that needs no logits."""
    bias = _encode(d, doc, next_doc, rows, parameters, rule, seed, space)
    compete(thread, d, rule, space)
    row, size = d * 4 * space.Z.shape[1], 4 * space.Z.shape[1]
    s = zeros()
    for v in range(row, row + size, BYTES):
        s = fma(load(address(space.A) + v), load(address(space.Y) + v), s)
    target = bias + total(s)
    space.target[d] = target
    # the logits of a document's own words are high: relative to their mean, exp neither overflows nor vanishes
    space.level[d] = np.float32(target / space.mass[d]) if space.mass[d] > 0.0 else _ZERO


@kernel
def _normalise(d, n_groups, scale, rule, space):
    """The factor of a document, from E to residuals; returns what the decoder's sums add to its loss.

    ``scale`` is 1 / the number of documents. Each group of tiles has summed exponentials relative to its own level.
    """
    if not rule.softmax:
        space.factor[d] = space.own_terms[d, FACTOR] = scale
        return space.own_terms[d, ADDED]
    level = space.last_level[0, d]
    for group in range(1, n_groups):
        level = max(level, space.last_level[group, d])
    partition = 0.0
    for group in range(n_groups):
        add = 0.0
        for lane in range(space.sums.shape[2]):
            add += space.sums[group, d, lane]
        partition += add * math.exp(space.last_level[group, d] - level)
    own = math.exp(space.own_terms[d, LEVEL] - level) if rule.n_draws is not None else 0.0
    partition += own * space.own_terms[d, ADDED]
    space.level[d] = level
    space.factor[d] = np.float32(scale * space.mass[d] / partition)
    space.own_terms[d, FACTOR] = own * space.factor[d]
    return space.mass[d] * (level + math.log(partition))


@kernel
def _gather_parts(d, n_groups, rule, space, out):
    """Add up the groups' parts of dL/da for the active neurons; the factor and the target's part come later."""
    B, K = space.active.shape
    for v in range(0, 4 * space.n_active[d], BYTES):
        store(out + v, zeros())
    for group in range(n_groups):
        by = _ONE
        if rule.softmax and space.last_level[group, d] != space.level[d]:
            by = np.float32(math.exp(space.last_level[group, d] - space.level[d]))
        add_scaled(out, by, address(space.part) + 4 * K * (group * B + d), 4 * space.n_active[d])


@kernel
def _active_marks(v, rule, space):
    """Numbers that are 0 for the neurons that are not active: their values, or ones where there is no competition."""
    return load(address(space.A) + v) if rule.n_winners > 0 else broadcast(_ONE)


@kernel
def _scatter_gradient(d, scale, rule, space, parts):
    """dL/da of the active neurons into D, and 0 for the others; returns its sum over each side."""
    D, size = space.D[d], 4 * space.D.shape[1]
    for v in range(0, size, BYTES):
        store(address(D) + v, zeros())
    for i in range(space.n_active[d]):
        D[space.active[d, i] // ROW] = space.factor[d] * parts[i]
    positive, negative, minus = zeros(), zeros(), broadcast(-scale)
    for v in range(d * size, (d + 1) * size, BYTES):
        g = fma(minus, load(address(space.Y) + v), load(address(space.D) + v))
        g = _where_not_zero(_active_marks(v, rule, space), g, zeros())
        store(address(space.D) + v, g)
        z = load(address(space.Z) + v)
        positive, negative = plus(positive, _by_side(z, g, zeros())), plus(negative, _by_side(z, zeros(), g))
    return total(positive), total(negative)


@kernel
def hidden_back(thread, d, n_groups, scale, rule, space):
    """D of one document, and what its words add to the gradients of their rows of W; returns its part of the loss."""
    loss = _normalise(d, n_groups, scale, rule, space) - space.target[d]
    if rule.purpose < GRADIENT:
        return loss
    parts = space.sizes[thread]
    if rule.n_draws is not None:
        size, by = 4 * space.D.shape[1], np.float32(-space.own_terms[d, FACTOR] / scale)
        add_scaled(address(space.Y) + d * size, by, address(space.own_part) + d * size, size)
    _gather_parts(d, n_groups, rule, space, address(parts))
    positive, negative = _scatter_gradient(d, scale, rule, space, parts)
    positive, negative = broadcast(rule.alpha * positive), broadcast(rule.alpha * negative)
    for i in range(space.n_active[d]):
        space.won_value[space.won_place[d, i]] = space.factor[d] * space.active_value[d, i]
    size = 4 * space.D.shape[1]
    row = d * size
    keep, minus = broadcast(np.float32(1.0 / (1.0 - rule.dropout))), broadcast(-scale)
    is_sigmoid = broadcast(_ONE if rule.sigmoid else _ZERO)
    for v in range(row, row + size, BYTES):
        z, g = load(address(space.Z) + v), load(address(space.D) + v)
        g = _where_not_zero(_active_marks(v, rule, space), g, _by_side(z, positive, negative))
        slope = _slope(z, is_sigmoid, g)
        dropped = times(minus, load(address(space.A) + v))
        store(address(space.D) + v, slope)
        store(address(space.dropped) + v, dropped)
        store(address(space.kept) + v, fma(keep, slope, dropped))
    return loss
