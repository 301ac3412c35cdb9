"""The hidden layer of a CPU step, there and back, a document at a time.

    z = g(Wᵀ x' + b)         x' = x after dropout
    a = compete(z)           the winners of either side, who take alpha times the energy of its losers
    y = Wᵀ x                 so that Σ x o = a · y + x · c, the target's part of either loss, needs no logit

and back, from the decoder's parts of dL/da, of the winners alone:

    d = g'(z) · (dL/da of a winner; alpha Σ dL/da over the winners of its side, of a loser)
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"
from __future__ import annotations

import math

import numpy as np

from kate.engines.cpu.addresses import address, prefetch
from kate.engines.cpu.buffers import ADDED, BLOCK, FACTOR, GRADIENT, LEVEL, ROW
from kate.engines.cpu.sampling import hash_of, word_of
from kate.engines.cpu.simd_math import (
    BYTES,
    exp,
    fma,
    kernel,
    maximum,
    plus,
    reciprocal,
    times,
    vector_function,
)
from kate.engines.cpu.simd_memory import broadcast, count_at_least, float_of_bits, load, store, total, zeros

_ONE, _ZERO = np.float32(1.0), np.float32(0.0)
_SMALLEST = np.float32(1e-45)  # above zero
_INFINITE = np.int32(0x7F800000)  # above the bits of every finite float


@vector_function
def tanh(x):
    return 1 - 2 * reciprocal.formula(exp.formula(2 * x) + 1)


@vector_function
def sigmoid(x):
    return reciprocal.formula(1 + exp.formula(-x))


@vector_function
def _won(size, threshold, value):
    """The value where the size reaches the threshold, else 0."""
    return value.where(size.is_at_least(threshold), 0.0)


@vector_function
def _lost(size, threshold):
    """The size where it is below the threshold, else 0."""
    return (size * 0.0).where(size.is_at_least(threshold), size)


@vector_function
def _by_side(z, positive, negative):
    return positive.where(z.is_above(0), negative.where((-z).is_above(0), 0.0))


@vector_function
def _where_not_zero(mark, then, otherwise):
    return then.where(mark.absolute().is_above(0), otherwise)


@vector_function
def _slope(z, is_sigmoid, gradient):
    return gradient * z.times(1 - z, 0.0).where(is_sigmoid.is_above(0), 1 - z * z)


@kernel
def is_kept(seed, entry, dropout):
    """Whether the dropout keeps an entry: a hash of (seed, entry), so the same on every thread and in every pass."""
    h = hash_of(seed, entry)
    return np.float64(h >> np.uint64(11)) * 2.0**-53 >= dropout


@kernel
def add_scaled(target, x, row, size):
    """target += x row, vectors of ``size`` bytes."""
    x = broadcast(x)
    for v in range(0, size, BYTES):
        store(target + v, fma(x, load(row + v), load(target + v)))


@kernel
def _encode(d, doc, next_doc, rows, parameters, rule, seed, space):
    size = 4 * parameters.W.shape[1]
    W, z, y = address(parameters.W), address(space.Z) + d * size, address(space.Y) + d * size
    for v in range(0, size, BYTES):
        store(z + v, load(address(parameters.b) + v))
        store(y + v, zeros())
    keep_scale = np.float32(1.0 / (1.0 - rule.dropout))
    mass, bias = 0.0, 0.0
    # with a sample W is large, and its rows lie anywhere: those of the next document are fetched meanwhile
    ahead, last_ahead = rows.indptr[next_doc], rows.indptr[next_doc + 1] if rule.n_draws is not None else 0
    for entry in range(rows.indptr[doc], rows.indptr[doc + 1]):
        word, x = word_of(rows, entry), rows.values[entry]
        if ahead < last_ahead:
            next_word = word_of(rows, ahead)
            prefetch(W + next_word * size, size)
            prefetch(address(parameters.c) + 4 * next_word, 4)
            ahead += 1
        mass += x
        bias += x * parameters.c[word]
        add_scaled(y, x, W + word * size, size)
        if rule.dropout > 0.0 and is_kept(seed, entry, rule.dropout):
            add_scaled(z, x * keep_scale, W + word * size, size)
    if rule.dropout == 0.0:
        add_scaled(z, _ONE, y, size)
    for v in range(0, size, BYTES):
        store(z + v, sigmoid(load(z + v)) if rule.sigmoid else tanh(load(z + v)))
    for j in range(rule.m, parameters.W.shape[1]):  # neurons that are there for whole vectors only
        space.Z[d, j] = _ZERO
    space.mass[d] = mass
    return bias


@kernel
def _count(sizes, size, threshold):
    threshold = broadcast(threshold)
    n = 0
    for v in range(0, size, BYTES):
        n += count_at_least(load(sizes + v), threshold)
    return n


@kernel
def _smallest_winner(sizes, size, share):
    """A size that parts the ``share`` largest from the others, as far as ties let it, by bisection over its bits.

    Of positive floats the larger has the larger bits. Counting is a vector loop without a branch, as no sort is.
    """
    low, high = np.int32(1), _INFINITE  # more than ``share`` are at least low, fewer are at least high
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
    """Where more than ``share`` reach the threshold, the last that equal it lose; returns their energy."""
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
    """One side (sign +1 or -1) of one document's competition, added to ``a``; the rules are those of kate.compete."""
    where, by = address(sizes), broadcast(sign)
    for v in range(0, size, BYTES):
        store(where + v, maximum(times(load(z + v), by), zeros()))
    threshold, energy = _SMALLEST, _ZERO  # everybody wins
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
    """The neurons that are not silent, in their order, padded with silence to a multiple of 8, and cut into blocks."""
    A, who, value = space.A[d], space.who[d], space.value[d]
    n, block = 0, 1
    space.split[d, 0] = 0
    for j in range(rule.m):
        if j == block * BLOCK:
            space.split[d, block] = n + -n % 8  # eight are decoded at a time
            block += 1
        if n < who.size:
            # a loser is written, too, and written over by the next: no branch could foresee who wins
            who[n], value[n] = j * ROW, A[j]
            n += A[j] != _ZERO or rule.n_winners == 0
    space.n_who[d] = n
    while n % 8:
        who[n], value[n] = 0, _ZERO
        n += 1
    for later in range(block, space.split.shape[1]):
        space.split[d, later] = n
    for earlier in range(1, block):
        space.split[d, earlier] = min(space.split[d, earlier], n)


@kernel
def compete(thread, d, rule, space):
    """a of one document from its z, and who is not silent."""
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


@kernel
def hidden_document(thread, d, doc, next_doc, rows, parameters, rule, seed, space):
    """z, a, y of one document, and who is not silent."""
    bias = _encode(d, doc, next_doc, rows, parameters, rule, seed, space)
    compete(thread, d, rule, space)
    row, size = d * 4 * space.Z.shape[1], 4 * space.Z.shape[1]
    s = zeros()
    for v in range(row, row + size, BYTES):
        s = fma(load(address(space.A) + v), load(address(space.Y) + v), s)
    target = bias + total(s)
    space.target[d] = target
    # the logits of a document's own words are high: relative to their mean, exponentials neither vanish nor overflow
    space.level[d] = np.float32(target / space.mass[d]) if space.mass[d] > 0.0 else _ZERO


@kernel
def normaliser(d, n_groups, scale, rule, space):
    """The factor from a document's row of E to its residual; returns what the softmax adds to its loss."""
    if not rule.softmax:
        space.factor[d] = space.own_in[d, FACTOR] = scale
        return space.own_in[d, ADDED]
    level = space.last_level[0, d]
    for group in range(1, n_groups):
        level = max(level, space.last_level[group, d])
    partition = 0.0
    for group in range(n_groups):
        add = 0.0
        for lane in range(space.sums.shape[2]):
            add += space.sums[group, d, lane]
        partition += add * math.exp(space.last_level[group, d] - level)
    own = math.exp(space.own_in[d, LEVEL] - level) if rule.n_draws is not None else 0.0
    partition += own * space.own_in[d, ADDED]
    space.level[d] = level
    space.factor[d] = np.float32(scale * space.mass[d] / partition)
    space.own_in[d, FACTOR] = own * space.factor[d]
    return space.mass[d] * (level + math.log(partition))


@kernel
def _gather_parts(d, n_groups, rule, space, out):
    """dL/da of the neurons that are not silent but for the target's part, over the factor: the groups' parts added."""
    B, K = space.who.shape
    for v in range(0, 4 * space.n_who[d], BYTES):
        store(out + v, zeros())
    for group in range(n_groups):
        by = _ONE
        if rule.softmax and space.last_level[group, d] != space.level[d]:
            by = np.float32(math.exp(space.last_level[group, d] - space.level[d]))
        add_scaled(out, by, address(space.part) + 4 * K * (group * B + d), 4 * space.n_who[d])


@kernel
def _not_silent(v, rule, space):
    """Marks that are zero where neurons are silent: their values, or without a competition, where none is, ones."""
    return load(address(space.A) + v) if rule.n_winners > 0 else broadcast(_ONE)


@kernel
def _scatter_gradient(d, scale, rule, space, parts):
    """dL/da of those that are not silent into D, zeros of the others; returns its sums over either side."""
    D, size = space.D[d], 4 * space.D.shape[1]
    for v in range(0, size, BYTES):
        store(address(D) + v, zeros())
    for i in range(space.n_who[d]):
        D[space.who[d, i] // ROW] = space.factor[d] * parts[i]
    positive, negative, minus = zeros(), zeros(), broadcast(-scale)
    for v in range(d * size, (d + 1) * size, BYTES):
        g = fma(minus, load(address(space.Y) + v), load(address(space.D) + v))
        g = _where_not_zero(_not_silent(v, rule, space), g, zeros())
        store(address(space.D) + v, g)
        z = load(address(space.Z) + v)
        positive, negative = plus(positive, _by_side(z, g, zeros())), plus(negative, _by_side(z, zeros(), g))
    return total(positive), total(negative)


@kernel
def hidden_back(thread, d, n_groups, scale, rule, space):
    """D of one document, and what each of its words adds to the gradient of its row of W; returns the loss's part."""
    loss = normaliser(d, n_groups, scale, rule, space) - space.target[d]
    if rule.purpose < GRADIENT:
        return loss
    parts = space.sizes[thread]
    if rule.n_draws is not None:
        size, by = 4 * space.D.shape[1], np.float32(-space.own_in[d, FACTOR] / scale)
        add_scaled(address(space.Y) + d * size, by, address(space.own_part) + d * size, size)
    _gather_parts(d, n_groups, rule, space, address(parts))
    positive, negative = _scatter_gradient(d, scale, rule, space, parts)
    positive, negative = broadcast(rule.alpha * positive), broadcast(rule.alpha * negative)
    for i in range(space.n_who[d]):
        space.won_value[space.place[d, i]] = space.factor[d] * space.value[d, i]
    size = 4 * space.D.shape[1]
    row = d * size
    keep, minus = broadcast(np.float32(1.0 / (1.0 - rule.dropout))), broadcast(-scale)
    is_sigmoid = broadcast(_ONE if rule.sigmoid else _ZERO)
    for v in range(row, row + size, BYTES):
        z, g = load(address(space.Z) + v), load(address(space.D) + v)
        g = _where_not_zero(_not_silent(v, rule, space), g, _by_side(z, positive, negative))
        slope = _slope(z, is_sigmoid, g)
        dropped = times(minus, load(address(space.A) + v))
        store(address(space.D) + v, slope)
        store(address(space.dropped) + v, dropped)
        store(address(space.kept) + v, fma(keep, slope, dropped))
    return loss
