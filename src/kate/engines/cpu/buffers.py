"""What the passes of a CPU step share: the documents, the rule of a step, the words of a batch, memory to work in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.cpu.simd_math import TILE
from kate.engines.cpu.target import LANES
from kate.engines.network import Network, Optimizer, Recipe, floats

GROUPS = (
    16  # in which tiles of words are dealt: parts of the hidden gradient, and so the most threads that help
)
BLOCK = 128  # rows of a tile, 32 KiB of them, that stay in the nearest caches while all documents use them
ROW = 4 * TILE  # bytes of a tile's row
ADDED, LEVEL, FACTOR = range(3)  # of what is decoded for one document alone
LOSS, GRADIENT, ADAM, ADADELTA = range(4)  # what a step is for: to measure, to differentiate, or to learn


class Rows(NamedTuple):
    """Scaled sparse documents; ``values`` are input and target at once. ``docs`` in batches ptr[i]:ptr[i + 1].

    ``indices`` are read as 32-bit integers, ``stride`` apart: one compiled function for matrices of any size.
    """

    indptr: Any
    indices: Any
    stride: int
    values: Any
    docs: Any
    ptr: Any


class Parameters(NamedTuple):
    """A network's arrays (or their gradient, or moments), columns padded to whole vectors."""

    W: Any  # (V, m)
    b: Any  # (m,)
    c: Any  # (V,)


class RunArrays(NamedTuple):
    """What a run reads and changes; the last three are not touched where it is not for them."""

    parameters: Parameters
    gradient: Parameters
    moments1: Parameters
    moments2: Parameters


class Rule(NamedTuple):
    """:class:`kate.engines.network.Recipe` and the optimizer in numbers; ``m`` is the number of real neurons."""

    purpose: int
    softmax: bool
    sigmoid: bool
    m: int
    n_winners: int
    alpha: np.float32
    dropout: float
    decay1: float
    decay2: float
    epsilon: float
    n_steps: int
    n_draws: (
        int | None
    )  # None is no sample, and a type of its own: code for samples alone is then not even compiled


class Update(NamedTuple):
    """The optimizer at one step: ``correct1`` and ``correct2`` undo that Adam's moments start at zero."""

    purpose: int
    rate: np.float32
    decay1: np.float32
    decay2: np.float32
    epsilon: np.float32
    correct1: np.float32
    correct2: np.float32


class Words(NamedTuple):
    """The words that a batch decodes, and which of its documents have them: first those decoded for all of them.

    Entries of the word ``words[i]`` are ptr[i]:ptr[i + 1] of ``docs`` (in the batch) and ``entries`` (of the rows).
    """

    n: Any  # (2,): how many are decoded for all documents, and how many with those decoded for their own alone
    words: Any  # padded to whole tiles
    bytes: Any  # the same: where a word's row begins in W
    ptr: Any
    docs: Any
    entries: Any
    weight: Any  # how many words a sampled one stands for; 0 where it is decoded for its own document alone
    log_weight: Any
    local: Any  # (V,) int32: where a word stands among ``words``, or -1; without sampling empty
    chance: Any  # (V,): of being drawn


class Tables(NamedTuple):
    """What sampling keeps of every word: the chance that it is drawn, and where it stands in two batches."""

    chance: NDArray[np.float32]
    local: tuple[NDArray[np.int32], ...]


class Space(NamedTuple):
    """Memory that a step works in. B documents, m neurons, K at most not silent, tiles of TILE words."""

    Z: Any  # (B, m): the hidden layer
    A: Any  # (B, m): after the competition
    Y: Any  # (B, m): Σ x W over a document's words
    D: Any  # (B, m): dL / d(W x + b)
    kept: Any  # (B, m): what a word that the encoder saw adds to its row's gradient, over x
    dropped: Any  # (B, m): and what one adds that it did not see
    who: Any  # (B, K) int32: the neurons that are not silent, each as the place of its row in a tile (bytes)
    value: Any  # (B, K): and their values in A
    n_who: Any  # (B,): how many they are; silent ones follow, up to a multiple of 8
    split: Any  # (B, blocks + 1): where the neurons of a block begin in ``who``
    place: Any  # (B, K) int32: where they stand in ``won``
    won_ptr: Any  # (m + 1,): the documents in which a neuron is not silent are won_ptr[j]:won_ptr[j + 1] ...
    won: Any  # int32: ... of this, each as the place of its row in a tile of E (bytes)
    won_value: Any  # and its value there times the document's factor
    all_docs: Any  # (B,) int32: every document's row
    factor: Any  # (B,): from E to the residual, over the batch size
    mass: Any  # (B,): Σ x
    target: Any  # (B,): Σ x o, what the target contributes to either loss
    level: Any  # (B,): logits are exponentiated relative to this
    E: Any  # (tiles, B, TILE): sigmoids, or exponentials
    levels: Any  # (tiles, B): the level they are relative to
    last_level: Any  # (GROUPS, B)
    sums: Any  # (GROUPS, B, LANES): of the exponentials
    part: Any  # (GROUPS, B, K): of dL/dA
    losses: Any  # (GROUPS,)
    turned: Any  # (threads, m, TILE): a tile of Wᵀ, or of its gradient
    strip: Any  # (threads, LANES, m): gradients of so many words
    bias: Any  # (threads, 5, TILE): c of a tile, its gradient (or sums for the loss), two moments, and zeros
    sizes: Any  # (threads, max(m, K)): of a document's neurons
    own: Any  # (words,): sigmoids or exponentials of what one document alone has, in it, times what they add to ω
    own_part: Any  # (B, m): their part of dL/dA
    own_in: (
        Any  # (B, 3): what they add to the loss or to the softmax's partition, LEVEL and FACTOR of a document
    )


STRIDES = np.arange(LANES, dtype=np.int64) * ROW  # rows of a turned tile


def padded(n: int, to: int = LANES) -> int:
    return -(-n // to) * to


def all_words(n_words: int, pitch: int, n_entries: int) -> Words:
    """All words, in their order; ``pitch`` is the length of a row of W in bytes."""
    words = _room_for_words(n_words, n_entries)
    words.n[:] = n_words
    words.words[:n_words] = np.arange(n_words)
    words.bytes[:] = words.words * pitch
    words.weight[:] = 1
    return words


def sampled_words(tables: Tables, turn: int, n_draws: int, n_entries: int) -> Words:
    """Room for the words of a batch and the sample of the others; batches take turns at two of these."""
    words = _room_for_words(min(tables.chance.size, n_entries + n_draws), n_entries)
    return words._replace(local=tables.local[turn], chance=tables.chance)


def forget_words(words: list[Words]) -> None:
    """Leave the tables as they were: no word stands among those of a batch."""
    for each in words:
        each.local[each.words[: each.n[1]]] = -1


def _room_for_words(n_words: int, n_entries: int) -> Words:
    n = padded(n_words, TILE)
    return Words(
        n=np.zeros(2, np.int64), words=np.zeros(n, np.int64), bytes=np.zeros(n, np.int64),
        ptr=np.zeros(n + 1, np.int64), docs=np.zeros(n_entries, np.int32), entries=np.zeros(n_entries, np.int64),
        weight=np.zeros(n, np.float32), log_weight=np.zeros(n, np.float32),
        local=np.zeros(0, np.int32), chance=np.zeros(0, np.float32),
    )  # fmt: skip


def space_for(
    n_words: int, m: int, n_docs: int, n_who: int, n_threads: int, keeps_tiles: bool, is_softmax: bool,
    n_own: int = 0,
) -> Space:  # fmt: skip
    """Room for batches of ``n_docs``; without ``keeps_tiles`` (where nothing is learned) a thread has one tile.

    ``n_words`` are decoded for all documents; with sampling there are ``n_own`` words at most.
    """
    B, K, tiles = n_docs, padded(n_who), padded(n_words, TILE) // TILE
    groups = min(GROUPS, tiles)
    blocks = -(-m // BLOCK)
    return Space(
        Z=floats(B, m), A=floats(B, m), Y=floats(B, m), D=floats(B, m), kept=floats(B, m), dropped=floats(B, m),
        who=np.zeros((B, K), np.int32), value=floats(B, K), n_who=np.zeros(B, np.int64),
        split=np.zeros((B, blocks + 1), np.int64), place=np.zeros((B, K), np.int32),
        won_ptr=np.zeros(m + 1, np.int64), won=np.zeros(B * K + 4 * m, np.int32), won_value=floats(B * K + 4 * m),
        all_docs=(np.arange(padded(B, 4)) % B * ROW).astype(np.int32), factor=floats(padded(B, 4)),
        mass=np.zeros(B), target=np.zeros(B), level=floats(B),
        E=floats(tiles if keeps_tiles else n_threads, B, TILE),
        levels=floats(tiles if is_softmax else 1, B), last_level=floats(groups, B), sums=floats(groups, B, LANES),
        part=floats(groups, B, K), losses=np.zeros(groups),
        turned=floats(n_threads, m, TILE), strip=floats(n_threads, LANES, m), bias=floats(n_threads, 5, TILE),
        sizes=floats(n_threads, max(m, K)),
        own=floats(n_own), own_part=floats(B if n_own else 0, m), own_in=np.zeros((B, 3)),
    )  # fmt: skip


def rows_of(X: csr_matrix, batches: list[NDArray[np.int64]]) -> Rows:
    n_entries = X.indptr[-1]  # whatever may lie behind them
    indices = np.asarray(X.indices[:n_entries])
    indices = np.ascontiguousarray(indices.astype(indices.dtype.newbyteorder("<"), copy=False))
    values = np.asarray(np.ascontiguousarray(X.data[:n_entries], dtype=np.float32))
    return Rows(
        indptr=X.indptr.astype(np.int64),
        indices=indices.view("<i4"),
        stride=indices.dtype.itemsize // 4,  # of a 64-bit word number the lower half is all of it
        values=values,
        docs=np.concatenate(batches),
        ptr=np.cumsum([0, *(docs.size for docs in batches)]),
    )


def rule_of(recipe: Recipe, optimizer: Optimizer | None, purpose: int, m: int) -> Rule:
    decays, epsilon, n_steps = (
        (optimizer.decay, optimizer.epsilon, optimizer.n_steps) if optimizer else ((0.0, 0.0), 0.0, 0)
    )
    return Rule(
        purpose, recipe.loss == "softmax", recipe.activation == "sigmoid", m, recipe.n_winners,
        np.float32(recipe.amplification), recipe.dropout, *decays, epsilon, n_steps, recipe.n_sampled or None,
    )  # fmt: skip


def parameters_of(network: Network) -> Parameters:
    """The network's own arrays where its rows are whole vectors, otherwise copies with zeros at the end."""
    m = network.b.size
    if m % LANES == 0 and all(array.flags.c_contiguous for array in network):
        return Parameters(*network)
    W, b = floats(network.W.shape[0], padded(m)), floats(padded(m))
    W[:, :m], b[:m] = network.W, network.b
    return Parameters(W, b, np.ascontiguousarray(network.c))


def write_back(parameters: Parameters, network: Network) -> None:
    if parameters.W is not network.W:
        m = network.b.size
        network.W[...], network.b[...] = parameters.W[:, :m], parameters.b[:m]
        network.c[...] = parameters.c
