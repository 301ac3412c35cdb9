"""The decoder of a CPU step, a tile of words at a time: logits, loss, residuals, and the gradients they give."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from kate.engines.blas import multiply, multiply_by_transposed, multiply_transposed
from kate.engines.elementary import FAST, ZERO, add_rows, dot_rows, exponentials, sigmoids, turn, turn_back
from kate.engines.memory import TILE, groups_of, tiles_of


@njit(cache=True)
def _logits(sgemm, group, o, A, W_tile, space, only_winners):
    """o = A W_tileᵀ, without c: by the winners' rows of the turned tile where they are few, by BLAS otherwise."""
    if only_winners:
        turn(W_tile, space.turned[group])
        for d in range(o.shape[0]):
            add_rows(A[d], space.who[d, : space.n_who[d]], space.turned[group], o[d])
    else:
        multiply_by_transposed(sgemm, A, W_tile, o, 1.0, 0.0)


@njit(cache=True)
def _target(o, c, values, by_word, first):
    """Σ x (o + c) of a tile's entries: what the target contributes to either loss."""
    add = 0.0
    for w in range(o.shape[1]):
        for place in range(by_word.ptr[first + w], by_word.ptr[first + w + 1]):
            add += values[by_word.entries[place]] * (o[by_word.docs[place], w] + c[w])
    return add


@njit(cache=True)
def _tile(logits, slot, n_docs, first, last):
    """A tile's part of the memory for logits, (n_docs, last - first)."""
    return logits[slot, : n_docs * (last - first)].reshape(n_docs, last - first)


@njit(cache=True)
def _softmax_group(sgemm, group, n_groups, values, by_word, A, W, c, only_winners, space):
    loss = 0.0
    for tile in range(group, tiles_of(W), n_groups):
        first, last = tile * TILE, min(tile * TILE + TILE, W.shape[0])
        o = _tile(space.logits, tile, A.shape[0], first, last)
        _logits(sgemm, group, o, A, W[first:last], space, only_winners)
        loss -= _target(o, c[first:last], values, by_word, first)
        exponentials(o, c[first:last], space.highest[tile], space.total[tile])
    space.losses[group] = loss


@njit(cache=True, parallel=True)
def softmax_exponentials(sgemm, values, by_word, A, W, c, only_winners, space):
    """Exponentials of all tiles into ``space.logits``, with their maxima and sums; losses = - Σ x o."""
    n_groups = groups_of(W)
    for group in prange(n_groups):
        _softmax_group(sgemm, np.int64(group), n_groups, values, by_word, A, W, c, only_winners, space)


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
def _residual_back(sgemm, group, o, A, W_tile, space, only_winners, scale, is_first):
    """The group's part of dL/dA: residual times W_tile. Only the winners' columns of it are ever looked at."""
    if only_winners:
        part = space.part[group]
        for d in range(o.shape[0]):
            if is_first:
                part[d] = ZERO
            dot_rows(o[d], space.who[d, : space.n_who[d]], space.turned[group], scale, part[d])
    else:
        multiply(sgemm, o, W_tile, space.part[group], scale, 0.0 if is_first else 1.0)


@njit(cache=True)
def _weights_back(sgemm, group, o, A, space, only_winners, scale, G_tile):
    """G_tile = scale · residualᵀ A: the decoder's part of the gradient of W."""
    if only_winners:
        turned = space.turned[group]  # W's tile is no longer needed
        for j in range(A.shape[1]):
            winners = space.won[space.won_ptr[j] : space.won_ptr[j + 1]]
            add_rows(A[:, j], winners, o, turned[j, : o.shape[1]])
        turn_back(turned, scale, G_tile)
    else:
        multiply_transposed(sgemm, o, A, G_tile, scale, 0.0)


@njit(cache=True)
def _decoder_group(
    sgemm, group, n_groups, values, by_word, A, W, c, use_softmax, only_winners, scale, space, G, grad_c
):
    loss = space.losses[group] if use_softmax else 0.0
    for tile in range(group, tiles_of(W), n_groups):
        first, last = tile * TILE, min(tile * TILE + TILE, W.shape[0])
        o = _tile(space.logits, tile if use_softmax else group, A.shape[0], first, last)
        if use_softmax:
            _probabilities(o, space.total[tile])
            if only_winners and scale > 0:
                turn(W[first:last], space.turned[group])
        else:
            _logits(sgemm, group, o, A, W[first:last], space, only_winners)
            loss -= _target(o, c[first:last], values, by_word, first)
            loss += sigmoids(o, c[first:last])
        if scale > 0:
            _residual(o, values, by_word, first, scale, grad_c[first:last])
            _residual_back(sgemm, group, o, A, W[first:last], space, only_winners, scale, tile == group)
            _weights_back(sgemm, group, o, A, space, only_winners, scale, G[first:last])
    space.losses[group] = loss


@njit(cache=True, parallel=True)
def decoder_pass(sgemm, values, by_word, A, W, c, use_softmax, only_winners, scale, space, G, grad_c):
    """Residuals tile by tile and the gradients they give: G (V, m), grad_c, and dL/dA in ``space.part``.

    ``scale``, one over the batch size, makes them gradients of the mean loss; 0 asks for the loss alone.
    """
    n_groups = groups_of(W)
    for group in prange(n_groups):
        _decoder_group(
            sgemm,
            np.int64(group),
            n_groups,
            values,
            by_word,
            A,
            W,
            c,
            use_softmax,
            only_winners,
            scale,
            space,
            G,
            grad_c,
        )
