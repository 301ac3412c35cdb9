"""One training step of KATE on the CPU, compiled: four passes over a batch of sparse rows, in tiles of words.

For a batch of B documents, V words and m topics:

    Z (B, m)     = g(W x + b)                                      hidden_pass
    A (B, m)     = compete(Z); role: +-1 winner, +-2 loser, 0 neither
    residual     = output(W A + c) - x, a tile of words at a time  decoder_pass
    D (B, m)     = dL / d(W x + b)                                 hidden_back
    G (V, m)     = the gradient of W, decoder's and encoder's part encoder_back, then the update

The words are cut into tiles whose rows of W stay in the cache while logits, residuals and both gradients of the
decoder are computed, so no array of B × V is swept twice (the softmax keeps one, for its normaliser). Tiles are dealt
to a fixed number of groups, and each group sums its own part of the hidden gradient: the result does not depend on the
number of threads.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange

from kate.engines.blas import multiply, multiply_by_transposed, multiply_transposed
from kate.engines.elementary import (
    FAST,
    ONE,
    ZERO,
    adadelta,
    adam,
    compete_on_side,
    exponentials,
    is_kept,
    sigmoid,
    sigmoids,
    tanh,
)

TILE = 256  # words in a tile: 256 rows of 128 floats are 128 KiB, at home in any L2 cache
GROUPS = 16  # parts of the hidden gradient, and so the most threads that a step can use
KEEP_GRADIENT, ADAM, ADADELTA = 0, 1, 2


class Rows(NamedTuple):
    """Scaled sparse documents; ``values`` are input and target at once, ``mass`` their sum for each document."""

    indptr: Any
    indices: Any
    values: Any
    mass: Any


class Rule(NamedTuple):
    """:class:`kate.engines.network.Recipe` in numbers."""

    softmax: bool
    sigmoid: bool
    n_winners: int
    alpha: np.float32
    dropout: float
    seed: int


class ByWord(NamedTuple):
    """The batch by word: entries of word w are ptr[w]:ptr[w + 1] of ``docs`` (in the batch) and ``entries``."""

    ptr: Any
    docs: Any
    entries: Any


class Space(NamedTuple):
    """Memory that a step works in, for one batch size."""

    Z: Any  # (B, m)
    A: Any  # (B, m)
    role: Any  # (B, m) int8
    D: Any  # (B, m)
    part: Any  # (GROUPS, B, m)
    logits: Any  # (tiles or GROUPS, B * TILE)
    highest: Any  # (tiles, B): the softmax's maximum of a row in a tile
    total: Any  # (tiles, B): and the sum of its exponentials
    losses: Any  # (GROUPS,)


class UpdateRule(NamedTuple):
    """The optimizer of this step: ``correct1`` and ``correct2`` are Adam's bias corrections."""

    method: int
    rate: np.float32
    decay1: np.float32
    decay2: np.float32
    epsilon: np.float32
    correct1: np.float32
    correct2: np.float32


@njit(cache=True)
def tiles_of(W):
    return (W.shape[0] + TILE - 1) // TILE


@njit(cache=True)
def groups_of(W):
    return min(GROUPS, tiles_of(W))


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _encode(start, stop, rows, W, b, rule, z):
    """z = g(W x + b) for the entries start:stop of one document."""
    keep_scale = np.float32(1.0 / (1.0 - rule.dropout))
    z[:] = b
    for entry in range(start, stop):
        if rule.dropout == 0.0 or is_kept(rule.seed, entry, rule.dropout):
            x = rows.values[entry] * keep_scale
            row = W[rows.indices[entry]]
            for j in range(z.size):
                z[j] += x * row[j]
    if rule.sigmoid:
        for j in range(z.size):
            z[j] = sigmoid(z[j])
    else:
        for j in range(z.size):
            z[j] = tanh(z[j])


@njit(cache=True)
def _compete(z, a, role, rule):
    """a = compete(z) for one document, and who won and lost; without winners everybody keeps what they have."""
    if rule.n_winners == 0:
        a[:] = z
        return
    a[:] = ZERO
    role[:] = 0
    scratch = np.empty(z.size, np.float32)
    compete_on_side(z, a, role, 1, (rule.n_winners + 1) // 2, rule.alpha, scratch)
    compete_on_side(z, a, role, -1, rule.n_winners // 2, rule.alpha, scratch)


@njit(cache=True, parallel=True)
def hidden_pass(rows, docs, W, b, rule, Z, A, role):
    """Z = g(W x + b) and A = compete(Z), document by document."""
    for d in prange(docs.size):
        _encode(rows.indptr[docs[d]], rows.indptr[docs[d] + 1], rows, W, b, rule, Z[d])
        _compete(Z[d], A[d], role[d], rule)


@njit(cache=True)
def sort_by_word(rows, docs, by_word):
    """Fill ``by_word`` by a counting sort; within a word the documents keep their order."""
    indptr, indices, ptr = rows.indptr, rows.indices, by_word.ptr
    ptr[:] = 0
    for d in docs:
        for entry in range(indptr[d], indptr[d + 1]):
            ptr[indices[entry] + 1] += 1
    for w in range(1, ptr.size):
        ptr[w] += ptr[w - 1]
    for i in range(docs.size):
        for entry in range(indptr[docs[i]], indptr[docs[i] + 1]):
            place = ptr[indices[entry]]  # for now the next free place; after the loop, the word's end
            by_word.docs[place] = i
            by_word.entries[place] = entry
            ptr[indices[entry]] = place + 1
    for w in range(ptr.size - 1, 0, -1):
        ptr[w] = ptr[w - 1]
    ptr[0] = 0


@njit(cache=True)
def _logits(sgemm, tile, slot, values, by_word, A, W, c, logits):
    """The tile's A Wᵀ (without c) and Σ x (o + c), what the target contributes to either loss."""
    first, last = tile * TILE, min(tile * TILE + TILE, W.shape[0])
    o = logits[slot, : A.shape[0] * (last - first)].reshape(A.shape[0], last - first)
    multiply_by_transposed(sgemm, A, W[first:last], o, 1.0, 0.0)
    target = 0.0
    for w in range(first, last):
        for place in range(by_word.ptr[w], by_word.ptr[w + 1]):
            target += values[by_word.entries[place]] * (o[by_word.docs[place], w - first] + c[w])
    return o, target


@njit(cache=True)
def _softmax_group(sgemm, group, n_groups, values, by_word, A, W, c, space):
    loss = 0.0
    for tile in range(group, tiles_of(W), n_groups):
        o, target = _logits(sgemm, tile, tile, values, by_word, A, W, c, space.logits)
        exponentials(o, c[tile * TILE : tile * TILE + TILE], space.highest[tile], space.total[tile])
        loss -= target
    space.losses[group] = loss


@njit(cache=True, parallel=True)
def softmax_exponentials(sgemm, values, by_word, A, W, c, space):
    """Exponentials of all tiles into ``space.logits``, with their maxima and sums; losses = - Σ x o."""
    n_groups = groups_of(W)
    for group in prange(n_groups):
        _softmax_group(sgemm, np.int64(group), n_groups, values, by_word, A, W, c, space)


@njit(cache=True)
def softmax_normalise(highest, total, n_docs, mass):
    """Turn ``total`` into the factor from a tile's exponentials to mass × probability; returns Σ mass log Σ e^o."""
    n_tiles = highest.shape[0]
    loss = 0.0
    for d in range(n_docs):
        top = highest[0, d]
        for tile in range(1, n_tiles):
            top = max(top, highest[tile, d])
        add = 0.0
        for tile in range(n_tiles):
            add += total[tile, d] * math.exp(highest[tile, d] - top)
        log_partition = top + math.log(add)
        loss += mass[d] * log_partition
        for tile in range(n_tiles):
            total[tile, d] = mass[d] * math.exp(highest[tile, d] - log_partition)
    return loss


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _probabilities(o, factor):
    for d in range(o.shape[0]):
        row, by = o[d], factor[d]
        for w in range(row.size):
            row[w] *= by


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _residual(o, values, by_word, first, scale, grad_c):
    """A tile's reconstruction becomes its residual; the gradient of the tile's output biases is its column sums."""
    for w in range(o.shape[1]):
        for place in range(by_word.ptr[first + w], by_word.ptr[first + w + 1]):
            o[by_word.docs[place], w] -= values[by_word.entries[place]]
        grad_c[w] = ZERO
    for d in range(o.shape[0]):
        row = o[d]
        for w in range(row.size):
            grad_c[w] += scale * row[w]


@njit(cache=True)
def _decoder_group(sgemm, group, n_groups, values, by_word, A, W, c, use_softmax, scale, space, G, grad_c):
    loss = space.losses[group] if use_softmax else 0.0
    for tile in range(group, tiles_of(W), n_groups):
        first, last = tile * TILE, min(tile * TILE + TILE, W.shape[0])
        if use_softmax:
            o = space.logits[tile, : A.shape[0] * (last - first)].reshape(A.shape[0], last - first)
            _probabilities(o, space.total[tile])
        else:
            o, target = _logits(sgemm, tile, group, values, by_word, A, W, c, space.logits)
            loss += sigmoids(o, c[first:last]) - target
        if scale > 0:
            _residual(o, values, by_word, first, scale, grad_c[first:last])
            multiply(sgemm, o, W[first:last], space.part[group], scale, 0.0 if tile == group else 1.0)
            multiply_transposed(sgemm, o, A, G[first:last], scale, 0.0)
    space.losses[group] = loss


@njit(cache=True, parallel=True)
def decoder_pass(sgemm, values, by_word, A, W, c, use_softmax, scale, space, G, grad_c):
    """Residuals tile by tile and the gradients they give: G (V, m), grad_c, and dL/dA in ``space.part``.

    ``scale``, one over the batch size, makes them gradients of the mean loss; 0 asks for the loss alone.
    """
    n_groups = groups_of(W)
    for group in prange(n_groups):
        _decoder_group(
            sgemm, np.int64(group), n_groups, values, by_word, A, W, c, use_softmax, scale, space, G, grad_c
        )


@njit(cache=True, error_model="numpy", fastmath=FAST)
def hidden_back(rule, Z, role, part, n_groups, D):
    """The parts of dL/dA → D = dL/d(W x + b). Losers learn only through the winners' amplification."""
    for d in range(D.shape[0]):
        grad = D[d]
        grad[:] = part[0, d]
        for group in range(1, n_groups):
            more = part[group, d]
            for j in range(grad.size):
                grad[j] += more[j]
        if rule.n_winners > 0:
            positive, negative = ZERO, ZERO
            for j in range(grad.size):
                positive += grad[j] if role[d, j] == 1 else ZERO
                negative += grad[j] if role[d, j] == -1 else ZERO
            for j in range(grad.size):
                kind = role[d, j]
                if kind == 2:
                    grad[j] = rule.alpha * positive
                elif kind == -2:
                    grad[j] = rule.alpha * negative
                elif kind == 0:
                    grad[j] = ZERO
        for j in range(grad.size):
            z = Z[d, j]
            grad[j] *= z * (ONE - z) if rule.sigmoid else ONE - z * z


@njit(cache=True)
def _update(p, g, first, second, u):
    if u.method == ADAM:
        adam(p, g, first, second, u.rate, u.decay1, u.decay2, u.epsilon, u.correct1, u.correct2)
    elif u.method == ADADELTA:
        adadelta(p, g, first, second, u.rate, u.decay1, u.epsilon)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _encoder_group(group, n_groups, rows, by_word, rule, D, W, G, first, second, update):
    keep_scale = np.float32(1.0 / (1.0 - rule.dropout))
    for tile in range(group, tiles_of(W), n_groups):
        for w in range(tile * TILE, min(tile * TILE + TILE, W.shape[0])):
            g = G[w]
            for place in range(by_word.ptr[w], by_word.ptr[w + 1]):
                entry = by_word.entries[place]
                if rule.dropout == 0.0 or is_kept(rule.seed, entry, rule.dropout):
                    x = rows.values[entry] * keep_scale
                    row = D[by_word.docs[place]]
                    for j in range(g.size):
                        g[j] += x * row[j]
            _update(W[w], g, first[w], second[w], update)


@njit(cache=True, parallel=True)
def encoder_back(rows, by_word, rule, D, W, G, first, second, update):
    """Add the encoder's part to the gradient row by row and, while a row is warm, let the optimizer step on it."""
    n_groups = groups_of(W)
    for group in prange(n_groups):
        _encoder_group(np.int64(group), n_groups, rows, by_word, rule, D, W, G, first, second, update)


@njit(cache=True)
def forward(sgemm, rows, docs, network, rule, by_word, space, G, grad_c, scale):
    """Hidden and decoder pass of one batch; returns its summed loss."""
    B = docs.size
    A = space.A[:B]
    hidden_pass(rows, docs, network.W, network.b, rule, space.Z[:B], A, space.role[:B])
    sort_by_word(rows, docs, by_word)
    loss = 0.0
    if rule.softmax:
        softmax_exponentials(sgemm, rows.values, by_word, A, network.W, network.c, space)
        loss += softmax_normalise(space.highest, space.total, B, rows.mass[docs])
    decoder_pass(sgemm, rows.values, by_word, A, network.W, network.c, rule.softmax, scale, space, G, grad_c)
    return loss + space.losses[: groups_of(network.W)].sum()


@njit(cache=True)
def step(sgemm, rows, docs, network, rule, by_word, space, gradient, first, second, update):
    """One whole step; returns the summed loss of the batch. With KEEP_GRADIENT nothing but ``gradient`` changes."""
    B = docs.size
    scale = np.float32(1.0 / B)
    loss = forward(sgemm, rows, docs, network, rule, by_word, space, gradient.W, gradient.c, scale)
    D = space.D[:B]
    hidden_back(rule, space.Z[:B], space.role[:B], space.part, groups_of(network.W), D)
    encoder_back(rows, by_word, rule, D, network.W, gradient.W, first.W, second.W, update)
    gradient.b[:] = ZERO
    for d in range(B):
        gradient.b[:] += D[d]
    _update(network.b, gradient.b, first.b, second.b, update)
    _update(network.c, gradient.c, first.c, second.c, update)
    return loss
