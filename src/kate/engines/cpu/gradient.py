"""The gradient of W and c, one tile of words at a time, and the optimizer's step while the gradient is in the cache.

    dL/dW = Eᵀ (factor · A) - xᵀ A / B + x'ᵀ D        dL/dc = Eᵀ factor - Σ x / B

The first product is dense: for each neuron, it adds up rows of a tile of E, those of the documents in which the neuron
is active. The rest is sparse and added word by word. No gradient of the size of W is written, unless it is asked for.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"
from __future__ import annotations

import math

import numpy as np

from kate.engines.cpu.addresses import address, prefetch
from kate.engines.cpu.buffers import ADADELTA, ADAM, FACTOR, GRADIENT, ROW, STRIDES
from kate.engines.cpu.hidden import add_scaled, is_kept
from kate.engines.cpu.simd_math import (
    BYTES,
    TILE,
    fma,
    kernel,
    plus,
    reciprocal,
    reciprocal_root,
    times,
    vector_function,
)
from kate.engines.cpu.simd_memory import broadcast, load, store, transpose, zeros
from kate.engines.cpu.target import LANES
from kate.engines.cpu.tiles import add_rows

_ONE, _ZERO = np.float32(1.0), np.float32(0.0)
# With a sample: so many words that one document alone has are learned with each tile; their rows fit the second cache.
_SHARE = 4 * TILE


@vector_function
def _running_mean(old, decay, new):
    """decay · old + (1 - decay) · new"""
    return (old - new).times(decay, new)


@vector_function
def _adam_change(first, second, epsilon):
    """first / (sqrt(second) + epsilon); 1e-36 changes nothing but second = 0, which has no 1 / sqrt."""
    second = second + 1e-36
    root = second * reciprocal_root.formula(second)
    return first * reciprocal.formula(root + epsilon)


@vector_function
def _root_of_ratio(x, y):
    """sqrt(x / y) = x / sqrt(x y), without a division; x y must neither overflow nor vanish."""
    return x * reciprocal_root.formula(x * y)


@kernel
def adam(p, g, first, second, size, u):
    """One Adam step on ``size`` bytes at p, with the gradient g and two moments; all but g are changed."""
    decay1, decay2, epsilon = broadcast(u.decay1), broadcast(u.decay2), broadcast(u.epsilon)
    correct2, minus = broadcast(u.correct2), broadcast(-u.rate * u.correct1)
    for v in range(0, size, BYTES):
        gradient = load(g + v)
        m1 = _running_mean(load(first + v), decay1, gradient)
        m2 = _running_mean(load(second + v), decay2, times(gradient, gradient))
        store(first + v, m1)
        store(second + v, m2)
        store(p + v, fma(_adam_change(m1, times(m2, correct2), epsilon), minus, load(p + v)))


@kernel
def adadelta(p, g, first, second, size, u):
    """One Adadelta step on ``size`` bytes at p; moments are running means of squared gradients and squared changes."""
    rho, epsilon, minus = broadcast(u.decay1), broadcast(u.epsilon), broadcast(-u.rate)
    for v in range(0, size, BYTES):
        gradient = load(g + v)
        squares = _running_mean(load(first + v), rho, times(gradient, gradient))
        changes = load(second + v)
        change = times(gradient, _root_of_ratio(plus(changes, epsilon), plus(squares, epsilon)))
        store(first + v, squares)
        store(second + v, _running_mean(changes, rho, times(change, change)))
        store(p + v, fma(change, minus, load(p + v)))


@kernel
def update(p, g, first, second, size, u):
    """One step of the optimizer."""
    if u.purpose == ADAM:
        adam(p, g, first, second, size, u)
    elif u.purpose == ADADELTA:
        adadelta(p, g, first, second, size, u)


@kernel
def count_items(words):
    """Into how many items of work the words of a batch are divided."""
    n_tiles = (words.n[0] + TILE - 1) // TILE
    return max(n_tiles, (words.n[1] - words.n[0] + _SHARE - 1) // _SHARE)


@kernel
def _own_share(item, words):
    """Of the words that one document alone has, those that belong to an item: the first and the one after the last."""
    n_items = count_items(words)
    share = (words.n[1] - words.n[0] + n_items - 1) // n_items
    start = min(words.n[0] + item * share, words.n[1])
    return start, min(start + share, words.n[1])


@kernel
def _prefetch_word(local, words, parameters, moments1, moments2):
    """Ask for what learning a word will read."""
    size, word, row = 4 * parameters.W.shape[1], words.words[local], words.bytes[local]
    for array in (parameters, moments1, moments2):
        prefetch(address(array.W) + row, size)
        prefetch(address(array.c) + 4 * word, np.int64(4))


@kernel
def _weights_of_tile(thread, tile, n_docs, words, parameters, moments1, moments2, rule, space):
    """Eᵀ (factor · A) of a tile, transposed, and Eᵀ factor.

    With a sample W is large and the rows that are learned next are in no cache: they are fetched meanwhile.
    """
    B, m = space.E.shape[1], space.D.shape[1]
    E = address(space.E) + tile * B * ROW
    out = address(space.transposed) + thread * m * ROW
    scratch = address(space.bias) + thread * 5 * ROW
    for v in range(0, ROW, BYTES):
        store(scratch + 4 * ROW + v, zeros())
    nothing = scratch + 4 * ROW
    start, stop = _own_share(tile, words)
    n_dense = min(TILE, words.n[0] - tile * TILE)
    n_rows, n_asked = n_dense + stop - start if rule.n_draws is not None else 0, 0
    for j in range(m):
        while n_asked * m < n_rows * (j + 1):
            local = tile * TILE + n_asked if n_asked < n_dense else start + n_asked - n_dense
            _prefetch_word(local, words, parameters, moments1, moments2)
            n_asked += 1
        first, last = space.won_ptr[j], space.won_ptr[j + 1]
        offsets, value = address(space.won) + 4 * first, address(space.won_value) + 4 * first
        add_rows(offsets, value, last - first, E, out + j * ROW, nothing)
    n = (n_docs + 3) // 4 * 4
    add_rows(address(space.all_docs), address(space.factor), n, E, scratch + ROW, nothing)


@kernel
def _relevel(tile, n_docs, space):
    """Where the level of a document was raised after this tile, make its exponentials relative to the last level."""
    for d in range(n_docs):
        if space.levels[tile, d] != space.level[d]:
            by = np.float32(math.exp(space.levels[tile, d] - space.level[d]))
            for i in range(TILE):
                space.E[tile, d, i] *= by


@kernel
def _words_of_strip(
    thread,
    first,
    last,
    offset,
    rows,
    words,
    parameters,
    gradient,
    moments1,
    moments2,
    rule,
    seed,
    scale,
    u,
    space,
):
    """Add the sparse part of the gradient to LANES rows, word by word, and take the optimizer's step on each."""
    size = 4 * parameters.W.shape[1]
    gradient_c = space.bias[thread, 1, offset:]
    for local in range(first, last):
        g = address(space.strip) + (thread * LANES + local - first) * size
        for i in range(words.ptr[local], words.ptr[local + 1]):
            entry, d = words.entries[i], words.docs[i]
            target, read = rows.values[entry], rows.inputs[entry]
            # where only this document decodes the word, its residual is added here
            if rule.n_draws is not None and words.weight[local] != _ONE:
                target -= np.float32(space.own_terms[d, FACTOR]) * space.own[local] / scale
            gradient_c[local - first] -= scale * target
            if rule.dropout == 0.0 or is_kept(seed, entry, rule.dropout):
                add_scaled(g, read, address(space.kept) + d * size, size)
                target -= read
            if target != _ZERO:
                add_scaled(g, target, address(space.dropped) + d * size, size)
        row = words.bytes[local]
        if u.purpose == GRADIENT:
            for v in range(0, size, BYTES):
                store(address(gradient.W) + row + v, load(g + v))
        else:
            update(
                address(parameters.W) + row, g, address(moments1.W) + row, address(moments2.W) + row, size, u
            )


@kernel
def _bias_of_piece(thread, first, last, words, parameters, gradient, moments1, moments2, rule, u, space):
    """The optimizer's step on c of some words, at most a tile of them, or their gradient."""
    bias = space.bias[thread]
    # a whole tile is changed in place
    if rule.n_draws is None and last - first == TILE and u.purpose > GRADIENT:
        c, first1, first2 = address(parameters.c), address(moments1.c), address(moments2.c)
        update(c + 4 * first, address(bias) + ROW, first1 + 4 * first, first2 + 4 * first, np.int64(ROW), u)
        return
    for i in range(last - first):
        word = words.words[first + i]
        bias[0, i], bias[2, i], bias[3, i] = parameters.c[word], moments1.c[word], moments2.c[word]
    where = address(bias)
    update(where, where + ROW, where + 2 * ROW, where + 3 * ROW, np.int64(ROW), u)
    for i in range(last - first):
        word = words.words[first + i]
        if u.purpose == GRADIENT:
            gradient.c[word] = bias[1, i]
        else:
            parameters.c[word], moments1.c[word], moments2.c[word] = bias[0, i], bias[2, i], bias[3, i]


@kernel
def learn_item(
    thread, item, n_docs, rows, words, parameters, gradient, moments1, moments2, rule, seed, u, space
):
    """The gradient of some rows of W and c, and the optimizer's step on them.

    An item is a tile of the words that were decoded for all documents, and, with a sample, some of the words that one
    document alone has, whose gradient is sparse.
    """
    m = parameters.W.shape[1]
    strips = address(space.strip) + thread * LANES * 4 * m
    if item * TILE < words.n[0]:
        if rule.softmax:
            _relevel(item, n_docs, space)
        _weights_of_tile(thread, item, n_docs, words, parameters, moments1, moments2, rule, space)
    start, end = item * TILE, words.n[0]
    own_start, own_end = _own_share(item, words)
    for piece in range(1 + (own_end - own_start + TILE - 1) // TILE):
        if piece > 0:
            start, end = own_start + (piece - 1) * TILE, own_end
            for v in range(0, ROW, BYTES):
                store(address(space.bias[thread]) + ROW + v, zeros())
        stop = min(start + TILE, end)
        for strip in range(4):
            first = start + strip * LANES
            if piece == 0:
                for j in range(0, m, LANES):
                    source = address(space.transposed) + (thread * m + j) * ROW + strip * BYTES
                    transpose(address(STRIDES), source, strips + 4 * j, 4 * m)
            else:
                for v in range(0, LANES * 4 * m, BYTES):
                    store(strips + v, zeros())
            _words_of_strip(
                thread, first, min(first + LANES, stop), strip * LANES, rows, words, parameters, gradient, moments1,
                moments2, rule, seed, np.float32(1.0 / n_docs), u, space,
            )  # fmt: skip
        _bias_of_piece(thread, start, stop, words, parameters, gradient, moments1, moments2, rule, u, space)


@kernel
def learn_hidden_bias(thread, n_docs, parameters, gradient, moments1, moments2, u, space):
    """dL/db = Σ d over the documents, and the optimizer's step on b."""
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
