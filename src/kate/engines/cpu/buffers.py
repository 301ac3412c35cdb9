"""What the passes of a CPU step share: the documents, the rule of a step, the words of a batch, memory to work in.

Shapes: B documents in a batch, V words, m neurons (padded to whole vectors), at most K active neurons in a document.
Words are decoded in tiles of TILE words. Lists that compiled code walks through hold places in bytes, not numbers of
rows, so that it need not multiply.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.cpu.simd_math import TILE
from kate.engines.cpu.target import LANES
from kate.engines.network import Network, Optimizer, Recipe, floats

# Tiles of words are dealt to so many groups, and each group sums its own part of the hidden gradient. Because the
# number is fixed, the result does not depend on the number of threads. The decoder pass can use no more threads.
GROUPS = 16
# Rows of a tile that are used at a time: with 16 lanes they take 32 KiB, and stay in the nearest cache meanwhile.
BLOCK = 128
ROW = 4 * TILE  # bytes of a row of a tile
ADDED, LEVEL, FACTOR = range(3)  # columns of Workspace.own_terms
# what a run is for: the loss, the gradient, or training by an optimizer
LOSS, GRADIENT, ADAM, ADADELTA = range(4)


class Rows(NamedTuple):
    """Scaled sparse documents (CSR); ``values`` are the input and the target. Batch i has ``docs[ptr[i]:ptr[i + 1]]``.

    ``indices`` are read as 32-bit integers that are ``stride`` apart, so that the same compiled function reads indices
    of 32 and of 64 bits.
    """

    indptr: Any
    indices: Any
    stride: int
    values: Any
    inputs: Any
    docs: Any
    ptr: Any


class Parameters(NamedTuple):
    """A network's arrays (or their gradient, or the optimizer's moments), columns padded to whole vectors."""

    W: Any  # (V, m)
    b: Any  # (m,)
    c: Any  # (V,)


class RunArrays(NamedTuple):
    """What a run reads and changes. To measure the loss, only the parameters are used."""

    parameters: Parameters
    gradient: Parameters
    moments1: Parameters
    moments2: Parameters


class Rule(NamedTuple):
    """:class:`kate.engines.network.Recipe` and the optimizer in numbers; ``m`` is the number of neurons, not padded.

    ``n_draws`` is None where all words are decoded. None is another type than an integer, so that numba compiles the
    code for samples only where a sample is asked for.
    """

    purpose: int
    softmax: bool
    sigmoid: bool
    m: int
    n_winners: int
    alpha: np.float32
    dropout: float
    reads_inputs: bool  # the encoder reads other values than those to be reconstructed
    decay1: float
    decay2: float
    epsilon: float
    n_steps: int
    n_draws: int | None


class Update(NamedTuple):
    """The optimizer at one step; ``correct1`` and ``correct2`` correct Adam's moments, which start at zero."""

    purpose: int
    rate: np.float32
    decay1: np.float32
    decay2: np.float32
    epsilon: np.float32
    correct1: np.float32
    correct2: np.float32


class Words(NamedTuple):
    """The words that a batch decodes, and which of its documents have them.

    First come the words that are decoded for all documents; after them, with a sample, those that one document alone
    has, which are decoded for that document. The entries of ``words[i]`` are ptr[i]:ptr[i + 1] of ``docs`` (numbers in
    the batch) and of ``entries`` (numbers in the rows).
    """

    n: Any  # (2,): how many words are decoded for all documents, and how many words there are
    words: Any  # padded to whole tiles
    bytes: Any  # where the row of each word begins in W
    ptr: Any
    docs: Any
    entries: Any
    weight: Any  # how many words a sampled word stands for; 0 where only its own document decodes it
    log_weight: Any
    local: Any  # (V,) int32: the place of a word among ``words``, or -1; empty without a sample
    chance: Any  # (V,): the chance of a word to be drawn


class SamplingTables(NamedTuple):
    """What sampling keeps of every word: the chance that it is drawn, and its place in this and in the next batch."""

    chance: NDArray[np.float32]
    local: tuple[NDArray[np.int32], ...]


class Workspace(NamedTuple):
    """The memory that a step works in. A neuron is active in a document where it wins, or where none has to."""

    # one row per document
    Z: Any  # (B, m): the hidden layer
    A: Any  # (B, m): the hidden layer after the competition
    Y: Any  # (B, m): Σ x W over the words of a document
    D: Any  # (B, m): dL / d(Wᵀ x + b)
    kept: Any  # (B, m): times x, what a word that dropout kept adds to the gradient of its row of W
    dropped: Any  # (B, m): the same for a word that dropout removed
    mass: Any  # (B,): Σ x
    target: Any  # (B,): Σ x o, the target's part of the loss; later the loss that is not in ``losses``
    # (B,): what is subtracted from the logits before exp, so that it neither overflows nor vanishes
    level: Any
    factor: Any  # (B,): residual = factor · E - x / B
    # the active neurons of each document
    active: Any  # (B, K) int32: where their rows begin in a transposed tile, in bytes
    active_value: Any  # (B, K): their values in A
    n_active: Any  # (B,): how many there are; zeros follow up to a multiple of 8
    block_start: Any  # (B, blocks + 1): where the neurons of each block begin in ``active``
    won_place: Any  # (B, K) int32: their places in ``won``
    # the documents of each neuron
    won_ptr: Any  # (m + 1,): the documents in which neuron j is active are won_ptr[j]:won_ptr[j + 1] of ...
    won: Any  # int32: ... where their rows begin in a tile of E, in bytes
    won_value: Any  # the neuron's value in the document, times the document's factor
    all_docs: Any  # (B,) int32: where the row of each document begins in a tile of E, in bytes
    # the decoder
    E: Any  # (tiles, B, TILE): sigmoids, or exponentials, of the logits
    levels: Any  # (tiles, B): the level that the exponentials are relative to
    last_level: Any  # (GROUPS, B): the level of each group now
    sums: Any  # (GROUPS, B, LANES): of the exponentials
    part: Any  # (GROUPS, B, K): parts of dL/dA, of the active neurons
    losses: Any  # (GROUPS,)
    # one per thread
    transposed: Any  # (threads, m, TILE): a tile of Wᵀ, or of its gradient
    strip: Any  # (threads, LANES, m): the gradients of LANES words
    bias: Any  # (threads, 5, TILE): of a tile c, its gradient (or sums for the loss), two moments, and zeros
    # (threads, max(m, K)): |z| of the neurons of a document; also used for sums of as many numbers
    sizes: Any
    # with a sample: words that one document alone has
    own: Any  # (words,): their sigmoids or exponentials, times what they add to their weight
    own_part: Any  # (B, m): their part of dL/dA
    # (B, 3): what they add to the loss or to the sum of the softmax, their level, their factor
    own_terms: Any


# where LANES rows of a transposed tile begin, in bytes
STRIDES = np.arange(LANES, dtype=np.int64) * ROW


def padded(n: int, to: int = LANES) -> int:
    """n, rounded up to a multiple of ``to``."""
    return -(-n // to) * to


def all_words(n_words: int, pitch: int, n_entries: int) -> Words:
    """All words, in their order; ``pitch`` is the length of a row of W in bytes."""
    words = _room_for_words(n_words, n_entries)
    words.n[:] = n_words
    words.words[:n_words] = np.arange(n_words)
    words.bytes[:] = words.words * pitch
    words.weight[:] = 1
    return words


def room_for_sampled_words(tables: SamplingTables, which: int, n_draws: int, n_entries: int) -> Words:
    """Room for the words of a batch and a sample of the others; ``which`` is 0 for one batch and 1 for the next."""
    words = _room_for_words(min(tables.chance.size, n_entries + n_draws), n_entries)
    return words._replace(local=tables.local[which], chance=tables.chance)


def forget_words(words: list[Words]) -> None:
    """Put the tables back to their first state: no word has a place in a batch."""
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


def new_workspace(
    n_words: int, m: int, n_docs: int, n_active: int, n_threads: int, keeps_tiles: bool, is_softmax: bool,
    n_own: int = 0,
) -> Workspace:  # fmt: skip
    """Memory for batches of ``n_docs``. Without ``keeps_tiles`` (nothing is learned) each thread has one tile of E.

    ``n_words`` are decoded for all documents. With a sample, ``n_own`` is the most words that a batch has.
    """
    B, K, tiles = n_docs, padded(n_active), padded(n_words, TILE) // TILE
    groups, blocks = min(GROUPS, tiles), -(-m // BLOCK)
    return Workspace(
        Z=floats(B, m), A=floats(B, m), Y=floats(B, m), D=floats(B, m), kept=floats(B, m), dropped=floats(B, m),
        mass=np.zeros(B), target=np.zeros(B), level=floats(B), factor=floats(padded(B, 4)),
        active=np.zeros((B, K), np.int32), active_value=floats(B, K), n_active=np.zeros(B, np.int64),
        block_start=np.zeros((B, blocks + 1), np.int64), won_place=np.zeros((B, K), np.int32),
        won_ptr=np.zeros(m + 1, np.int64), won=np.zeros(B * K + 4 * m, np.int32), won_value=floats(B * K + 4 * m),
        all_docs=(np.arange(padded(B, 4)) % B * ROW).astype(np.int32),
        E=floats(tiles if keeps_tiles else n_threads, B, TILE),
        levels=floats(tiles if is_softmax else 1, B), last_level=floats(groups, B), sums=floats(groups, B, LANES),
        part=floats(groups, B, K), losses=np.zeros(groups),
        transposed=floats(n_threads, m, TILE), strip=floats(n_threads, LANES, m), bias=floats(n_threads, 5, TILE),
        sizes=floats(n_threads, max(m, K)),
        own=floats(n_own), own_part=floats(B if n_own else 0, m), own_terms=np.zeros((B, 3)),
    )  # fmt: skip


def rows_of(
    X: csr_matrix, batches: list[NDArray[np.int64]], inputs: NDArray[np.float32] | None = None
) -> Rows:
    """The documents as compiled code reads them; nothing is copied that need not be."""
    n_entries = X.indptr[-1]  # the arrays may be longer
    indices = np.asarray(X.indices[:n_entries])
    indices = np.ascontiguousarray(indices.astype(indices.dtype.newbyteorder("<"), copy=False))
    values = np.asarray(np.ascontiguousarray(X.data[:n_entries], dtype=np.float32))
    return Rows(
        indptr=X.indptr.astype(np.int64),
        indices=indices.view("<i4"),
        stride=indices.dtype.itemsize // 4,  # word numbers fit the lower half of 64 bits
        values=values,
        inputs=values if inputs is None else np.ascontiguousarray(inputs[:n_entries], dtype=np.float32),
        docs=np.concatenate(batches),
        ptr=np.cumsum([0, *(docs.size for docs in batches)]),
    )


def rule_of(
    recipe: Recipe, optimizer: Optimizer | None, purpose: int, m: int, reads_inputs: bool = False
) -> Rule:
    decays, epsilon, n_steps = (
        (optimizer.decay, optimizer.epsilon, optimizer.n_steps) if optimizer else ((0.0, 0.0), 0.0, 0)
    )
    return Rule(
        purpose, recipe.loss == "softmax", recipe.activation == "sigmoid", m, recipe.n_winners,
        np.float32(recipe.amplification), recipe.dropout, reads_inputs, *decays, epsilon, n_steps,
        recipe.n_sampled or None,
    )  # fmt: skip


def parameters_of(network: Network) -> Parameters:
    """The network's own arrays where its rows are whole vectors, otherwise copies, padded with zeros."""
    m = network.b.size
    if m % LANES == 0 and all(array.flags.c_contiguous for array in network):
        return Parameters(*network)
    W, b = floats(network.W.shape[0], padded(m)), floats(padded(m))
    W[:, :m], b[:m] = network.W, network.b
    return Parameters(W, b, np.ascontiguousarray(network.c))


def write_back(parameters: Parameters, network: Network) -> None:
    """Copy the parameters into the network's own arrays, where they are copies."""
    if parameters.W is not network.W:
        m = network.b.size
        network.W[...], network.b[...] = parameters.W[:, :m], parameters.b[:m]
        network.c[...] = parameters.c
