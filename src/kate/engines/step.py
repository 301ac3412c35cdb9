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

import numpy as np
from numba import njit, prange

from kate.engines.decoder import decoder_pass, softmax_exponentials, softmax_normalise
from kate.engines.elementary import FAST, adadelta, adam, is_kept
from kate.engines.hidden import hidden_back, hidden_pass
from kate.engines.memory import (
    ADADELTA,
    ADAM,
    FEW_WINNERS,
    SMALL_TILE,
    TILE,
    groups_of,
    sort_by_winner,
    sort_by_word,
    tiles_of,
)


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
    A = space.A[: docs.size]
    W, c = network.W, network.c
    hidden_pass(rows, docs, W, network.b, rule, space)
    sort_by_word(rows, docs, by_word)
    only_winners = 0 < rule.n_winners <= FEW_WINNERS * W.shape[1] and W.shape[1] <= SMALL_TILE
    if only_winners:
        sort_by_winner(space.who, space.n_who[: docs.size], space.won_ptr, space.won)
    loss = 0.0
    if rule.softmax:
        softmax_exponentials(sgemm, rows.values, by_word, A, W, c, only_winners, space)
        loss += softmax_normalise(space.highest, space.total, docs.size, rows.mass[docs])
    decoder_pass(sgemm, rows.values, by_word, A, W, c, rule.softmax, only_winners, scale, space, G, grad_c)
    return loss + space.losses[: groups_of(W)].sum()


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _add_up(D, total):
    total[:] = D[0]
    for d in range(1, D.shape[0]):
        row = D[d]
        for j in range(total.size):
            total[j] += row[j]


@njit(cache=True)
def step(sgemm, rows, docs, network, rule, by_word, space, gradient, first, second, update):
    """One whole step; returns the summed loss of the batch. With KEEP_GRADIENT nothing but ``gradient`` changes."""
    B = docs.size
    scale = np.float32(1.0 / B)
    loss = forward(sgemm, rows, docs, network, rule, by_word, space, gradient.W, gradient.c, scale)
    D = space.D[:B]
    hidden_back(rule, space.Z[:B], space.role[:B], space.part, groups_of(network.W), D)
    encoder_back(rows, by_word, rule, D, network.W, gradient.W, first.W, second.W, update)
    _add_up(D, gradient.b)
    _update(network.b, gradient.b, first.b, second.b, update)
    _update(network.c, gradient.c, first.c, second.c, update)
    return loss
