"""Doc2Vec's inference, compiled for many documents at once: gensim's rule and random numbers, the network held fixed.

    a word of the document, and words of noise:    error = (1 or 0) - σ(h · outer)    v += rate · Σ error · outer
        dbow       h = v
        dm-concat  h = v and the neighbours' vectors, side by side

Only v is learned. So what dm-concat's neighbours add to h · outer can be known before: it is looked up in the products
of all words as neighbours and as what is foretold, one place of the window after the other. gensim reads all of
``outer`` for every word instead, 11 vectors for a window of 5.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["ParagraphNetwork", "infer"]

Floats = NDArray[np.float32]

# Sums may be taken in any order: so they become vector loops.
_kernel: Any = partial(
    njit, cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"}
)
_DRAWS_AT_ONCE = 2**24  # words foretold, of so many documents at a time
_WORTH = 8  # a draw takes the time of about so many of the products of all words
_LONGEST = 10_000  # gensim passes over what a document has beyond it
_FAR = np.float32(6)  # from there on gensim takes σ for 0 or 1, and learns nothing
_ODDS = np.exp((np.arange(1000) / 1000 * 2 - 1) * 6)
_SIGMOID = (_ODDS / (_ODDS + 1)).astype(np.float32)  # gensim's table, from -6 to 6
_STEP = np.float32(83)  # of its entries for 1: gensim divides 1000 by 12 in whole numbers
_MULTIPLIER, _INCREMENT, _MODULO = np.uint64(25214903917), np.uint64(11), np.uint64(2**48 - 1)
_LOWER_BITS = np.uint64(16)
_COARSE = np.uint64(19)  # bits of the numbers that noise is drawn with, up to 2³¹, which the guide leaves out


class ParagraphNetwork(NamedTuple):
    """A trained network, with gensim's numbers of the words; dbow has a window of 0."""

    inner: Floats  # (n_words, n_components), the words as neighbours
    outer: Floats  # (n_words, 1 + 2 · window, n_components), the words as what is foretold
    beyond: int  # the word for what stands beyond the ends of a document
    kept: NDArray[np.uint32]  # (n_words,), how often a word is not passed over; empty: always
    noise: NDArray[np.uint32]  # (n_words,), the cumulated frequencies of noise
    negative: int  # words of noise for each word


def infer(
    network: ParagraphNetwork,
    documents: list[NDArray[np.int64]],
    states: NDArray[np.uint64],
    rates: Floats,
    vectors: Floats,
) -> None:
    """Train the vectors (n_docs, n_components) of documents, in place; the network is held fixed.

    ``rates`` (n_epochs,) are the learning rates, ``states`` (n_docs, n_epochs) where the random numbers of a pass
    start.
    """
    draws = np.array([len(document) for document in documents]) * len(rates) * (1 + network.negative)
    blocks = np.cumsum(draws) // _DRAWS_AT_ONCE
    for block in np.unique(blocks):
        start, end = np.searchsorted(blocks, [block, block + 1])
        _infer_block(network, documents[start:end], states[start:end], rates, vectors[start:end])


def _infer_block(
    network: ParagraphNetwork,
    documents: list[NDArray[np.int64]],
    states: NDArray[np.uint64],
    rates: Floats,
    vectors: Floats,
) -> None:
    starts = np.concatenate([[0], np.cumsum([len(document) for document in documents])])
    words = np.empty(starts[-1] * len(rates), dtype=np.int32)
    foretold = np.empty((len(words), 1 + network.negative), dtype=np.int32)
    ends = np.empty(states.shape, dtype=np.int64)
    guide = np.searchsorted(network.noise, np.arange(0, 2**31, 2 ** int(_COARSE)))
    codes = np.concatenate(documents)
    n_drawn = _draw(codes, starts, states, network.kept, network.noise, guide, words, foretold, ends)
    words, foretold = words[:n_drawn], foretold[:n_drawn]
    scores = np.zeros(foretold.shape, dtype=np.float32)
    if len(network.inner) ** 2 < _WORTH * foretold.size:
        window = network.outer.shape[1] // 2
        shifts = [shift for shift in range(-window, window + 1) if shift]
        for at, shift in enumerate(shifts, start=1):
            products = network.inner @ network.outer[:, at].T
            _look_up(words, ends, foretold, shift, network.beyond, products, scores)
    else:
        _multiply(words, ends, foretold, network.beyond, network.inner, network.outer, scores)
    _train(ends, foretold, scores, np.ascontiguousarray(network.outer[:, 0]), rates, vectors)


@_kernel
def _draw(codes, starts, states, kept, noise, guide, words, foretold, ends):
    """The words of every document and pass that are not passed over, and what each is foretold with, -1 for nothing."""
    n_drawn = 0
    for document in range(states.shape[0]):
        for epoch in range(states.shape[1]):
            first, state = n_drawn, states[document, epoch]
            for word in codes[starts[document] : starts[document + 1]]:
                if len(kept):
                    drawn = state >> _LOWER_BITS
                    state = (state * _MULTIPLIER + _INCREMENT) & _MODULO
                    if np.uint64(kept[word]) < drawn:
                        continue
                words[n_drawn] = word
                n_drawn += 1
                if n_drawn - first == _LONGEST:
                    break
            for place in range(first, n_drawn):
                foretold[place, 0] = words[place]
                for draw in range(1, foretold.shape[1]):
                    word = _find(noise, guide, (state >> _LOWER_BITS) % np.uint64(noise[-1]))
                    state = (state * _MULTIPLIER + _INCREMENT) & _MODULO
                    foretold[place, draw] = word if word != words[place] else -1
            ends[document, epoch] = n_drawn
    return n_drawn


@_kernel
def _find(noise, guide, number):
    """The first whose cumulated frequency is not below a number; ``guide`` knows where to begin."""
    found = guide[number >> _COARSE]
    while np.uint64(noise[found]) < number:
        found += 1
    return found


@_kernel
def _look_up(words, ends, foretold, shift, beyond, products, scores):
    """Add to the scores what the neighbour at a place of the window has with what is foretold."""
    first = 0
    for end in ends.flat:
        for place in range(first, end):
            inside = first <= place + shift < end
            neighbour = words[place + shift] if inside else beyond
            for draw in range(foretold.shape[1]):
                if foretold[place, draw] >= 0:
                    scores[place, draw] += products[neighbour, foretold[place, draw]]
        first = end


@_kernel
def _multiply(words, ends, foretold, beyond, inner, outer, scores):
    """What ``_look_up`` does at all places, for documents too few to be worth the products of all words."""
    first, window = 0, outer.shape[1] // 2
    for end in ends.flat:
        for place in range(first, end):
            for draw in range(foretold.shape[1]):
                word = foretold[place, draw]
                if word < 0:
                    continue
                for at in range(1, outer.shape[1]):
                    other = place + at - window - (1 if at <= window else 0)
                    neighbour = words[other] if first <= other < end else beyond
                    scores[place, draw] += _product(inner[neighbour], outer[word, at])
        first = end


@_kernel
def _product(a, b):
    total = np.float32(0)
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@_kernel
def _train(ends, foretold, scores, outer, rates, vectors):
    first = 0
    work = np.empty(vectors.shape[1], dtype=np.float32)
    for document in range(ends.shape[0]):
        vector = vectors[document]
        for epoch in range(ends.shape[1]):
            for place in range(first, ends[document, epoch]):
                work[:] = 0
                for draw in range(foretold.shape[1]):
                    word = foretold[place, draw]
                    if word < 0:
                        continue
                    score = scores[place, draw] + _product(vector, outer[word])
                    if score <= -_FAR or score >= _FAR:
                        continue
                    sigmoid = _SIGMOID[int((score + _FAR) * _STEP)]
                    error = (np.float32(draw == 0) - sigmoid) * rates[epoch]
                    for topic in range(len(work)):
                        work[topic] += error * outer[word, topic]
                for topic in range(len(work)):
                    vector[topic] += work[topic]
            first = ends[document, epoch]
