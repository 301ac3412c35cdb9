"""The gradient of W and c, a tile of words at a time, and the optimizer's step on it while it is in the cache.

    dL/dW = Eᵀ (factor · A) - xᵀ A / B + x'ᵀ D        dL/dc = Eᵀ factor - Σ x / B

The first product adds up rows of a tile of E, of the documents that a neuron won; the sparse rest is added word by
word. No gradient of the size of W is ever written, except where somebody asks for it.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"
from __future__ import annotations

import math

import numpy as np

from kate.engines.decoder import add_rows
from kate.engines.formulas import (
    BYTES,
    LANES,
    TILE,
    fma,
    kernel,
    plus,
    reciprocal,
    reciprocal_root,
    times,
    vector_function,
)
from kate.engines.hidden import add_scaled, is_kept
from kate.engines.memory import ADADELTA, ADAM, GRADIENT, ROW, STRIDES
from kate.engines.vectors import address, broadcast, load, store, turn, zeros


@vector_function
def _moved(old, decay, new):
    """decay · old + (1 - decay) · new, a running mean."""
    return (old - new).times(decay, new)


@vector_function
def _adam_change(first, second, epsilon):
    """first / (sqrt(second) + epsilon); what is added to second is nothing, but for its root at zero."""
    second = second + 1e-36
    root = second * reciprocal_root.formula(second)
    return first * reciprocal.formula(root + epsilon)


@vector_function
def _root(x):
    return x * reciprocal_root.formula(x)


@kernel
def adam(p, g, first, second, size, u):
    """One Adam step on ``size`` bytes, in place; ``correct1`` and ``correct2`` undo that the moments start at zero."""
    decay1, decay2, epsilon = broadcast(u.decay1), broadcast(u.decay2), broadcast(u.epsilon)
    correct2, minus = broadcast(u.correct2), broadcast(-u.rate * u.correct1)
    for v in range(0, size, BYTES):
        gradient = load(g + v)
        m1 = _moved(load(first + v), decay1, gradient)
        m2 = _moved(load(second + v), decay2, times(gradient, gradient))
        store(first + v, m1)
        store(second + v, m2)
        store(p + v, fma(_adam_change(m1, times(m2, correct2), epsilon), minus, load(p + v)))


@kernel
def adadelta(p, g, first, second, size, u):
    """One Adadelta step on ``size`` bytes, in place, with running means of squared gradients and squared changes."""
    rho, epsilon, minus = broadcast(u.decay1), broadcast(u.epsilon), broadcast(-u.rate)
    for v in range(0, size, BYTES):
        gradient = load(g + v)
        squares = _moved(load(first + v), rho, times(gradient, gradient))
        changes = load(second + v)
        change = times(
            times(gradient, _root(plus(changes, epsilon))), reciprocal_root(plus(squares, epsilon))
        )
        store(first + v, squares)
        store(second + v, _moved(changes, rho, times(change, change)))
        store(p + v, fma(change, minus, load(p + v)))


@kernel
def update(p, g, first, second, size, u):
    if u.purpose == ADAM:
        adam(p, g, first, second, size, u)
    elif u.purpose == ADADELTA:
        adadelta(p, g, first, second, size, u)


@kernel
def _weights_of_tile(thread, tile, n_docs, space):
    """Eᵀ (factor · A) of a tile, turned, and Eᵀ factor: each row a sum over the documents that a neuron won."""
    B, m = space.E.shape[1], space.D.shape[1]
    E = address(space.E) + tile * B * ROW
    out = address(space.turned) + thread * m * ROW
    scratch = address(space.bias) + thread * 5 * ROW
    for v in range(0, ROW, BYTES):
        store(scratch + 4 * ROW + v, zeros())
    nothing = scratch + 4 * ROW
    for j in range(m):
        start, stop = space.won_ptr[j], space.won_ptr[j + 1]
        who, value = address(space.won) + 4 * start, address(space.won_value) + 4 * start
        add_rows(who, value, stop - start, E, out + j * ROW, nothing)
    n = (n_docs + 3) // 4 * 4
    add_rows(address(space.all_docs), address(space.factor), n, E, scratch + ROW, nothing)


@kernel
def _relevel(tile, n_docs, space):
    """Where the level of a document rose after this tile, its exponentials become relative to the last level."""
    for d in range(n_docs):
        if space.levels[tile, d] != space.level[d]:
            by = np.float32(math.exp(space.levels[tile, d] - space.level[d]))
            for i in range(TILE):
                space.E[tile, d, i] *= by


@kernel
def _words_of_strip(
    thread, first, last, rows, words, parameters, gradient, moments1, moments2, rule, seed, scale, u, space
):
    """Add what the documents that have a word add to its row, and let the optimizer step on it."""
    size = 4 * parameters.W.shape[1]
    bias = space.bias[thread]
    for local in range(first, last):
        g = address(space.strip) + (thread * LANES + local - first) * size
        for i in range(words.ptr[local], words.ptr[local + 1]):
            entry, d = words.entries[i], words.docs[i]
            x = rows.values[entry]
            bias[1, local % TILE] -= scale * x
            if rule.dropout == 0.0 or is_kept(seed, entry, rule.dropout):
                add_scaled(g, x, address(space.kept) + d * size, size)
            else:
                add_scaled(g, x, address(space.dropped) + d * size, size)
        row = words.bytes[local]
        if u.purpose == GRADIENT:
            for v in range(0, size, BYTES):
                store(address(gradient.W) + row + v, load(g + v))
        else:
            update(
                address(parameters.W) + row, g, address(moments1.W) + row, address(moments2.W) + row, size, u
            )


@kernel
def _bias_of_tile(thread, tile, words, parameters, gradient, moments1, moments2, u, space):
    bias = space.bias[thread]
    first, last = tile * TILE, min(tile * TILE + TILE, words.n[0])
    for i in range(last - first):
        word = words.words[first + i]
        bias[0, i], bias[2, i], bias[3, i] = parameters.c[word], moments1.c[word], moments2.c[word]
    where = address(bias)
    update(where, where + ROW, where + 2 * ROW, where + 3 * ROW, ROW, u)
    for i in range(last - first):
        word = words.words[first + i]
        if u.purpose == GRADIENT:
            gradient.c[word] = bias[1, i]
        else:
            parameters.c[word], moments1.c[word], moments2.c[word] = bias[0, i], bias[2, i], bias[3, i]


@kernel
def learn_tile(
    thread, tile, n_docs, rows, words, parameters, gradient, moments1, moments2, rule, seed, u, space
):
    """The gradient of a tile's rows of W and of its part of c, and the optimizer's step on both."""
    m = parameters.W.shape[1]
    if rule.softmax:
        _relevel(tile, n_docs, space)
    _weights_of_tile(thread, tile, n_docs, space)
    scale = np.float32(1.0 / n_docs)
    for strip in range(4):
        first = tile * TILE + strip * LANES
        last = min(first + LANES, words.n[0])
        for j in range(0, m, LANES):
            source = address(space.turned) + (thread * m + j) * ROW + strip * BYTES
            turn(address(STRIDES), source, address(space.strip) + 4 * (thread * LANES * m + j), 4 * m)
        _words_of_strip(
            thread, first, last, rows, words, parameters, gradient, moments1, moments2, rule, seed, scale, u, space
        )  # fmt: skip
    _bias_of_tile(thread, tile, words, parameters, gradient, moments1, moments2, u, space)


@kernel
def learn_hidden_bias(thread, n_docs, parameters, gradient, moments1, moments2, u, space):
    """dL/db = Σ d over the documents."""
    size = 4 * parameters.b.size
    g = address(space.sizes[thread])
    for v in range(0, size, BYTES):
        store(g + v, zeros())
    for d in range(n_docs):
        add_scaled(g, np.float32(1.0), address(space.D) + d * size, size)
    if u.purpose == GRADIENT:
        for v in range(0, size, BYTES):
            store(address(gradient.b) + v, load(g + v))
    else:
        update(address(parameters.b), g, address(moments1.b), address(moments2.b), size, u)
