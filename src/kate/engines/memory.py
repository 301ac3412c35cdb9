"""What the passes of a CPU step share: tiles and groups, the batch in two orders, the memory they work in."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

TILE = 256  # words in a tile: 256 rows of 128 floats are 128 KiB, at home in any L2 cache
GROUPS = 16  # parts of the hidden gradient, and so the most threads that a step can use
KEEP_GRADIENT, ADAM, ADADELTA = 0, 1, 2
FEW_WINNERS = 0.3  # of the neurons: where no more win, a decoder that passes over the losers beats BLAS ...
SMALL_TILE = 256  # ... if there are no more neurons than this, so that a turned tile stays in the cache


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
    bits: Any  # (B, m) int32, Z read as integers
    A: Any  # (B, m)
    role: Any  # (B, m) int8
    who: Any  # (B, m) int32: the neurons that are not silent
    n_who: Any  # (B,): and how many they are
    won_ptr: Any  # (m + 1,): the documents in which neuron j is not silent are won_ptr[j]:won_ptr[j + 1] ...
    won: Any  # (B * m,) int32: ... of this
    turned: Any  # (GROUPS, m, TILE + 16): Wᵀ of the tile a group is at
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
def sort_by_winner(who, n_who, won_ptr, won):
    """The documents of each neuron that is not silent in them, by a counting sort."""
    won_ptr[:] = 0
    for d in range(n_who.size):
        for i in range(n_who[d]):
            won_ptr[who[d, i] + 1] += 1
    for j in range(1, won_ptr.size):
        won_ptr[j] += won_ptr[j - 1]
    for d in range(n_who.size):
        for i in range(n_who[d]):
            won[won_ptr[who[d, i]]] = d
            won_ptr[who[d, i]] += 1
    for j in range(won_ptr.size - 1, 0, -1):
        won_ptr[j] = won_ptr[j - 1]
    won_ptr[0] = 0
