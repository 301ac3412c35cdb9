"""Doc2Vec's inference, compiled for many documents at once: gensim's rule and random numbers, the network held fixed.

    a word of the document, and noise words:       error = (1 or 0) - σ(h · outer)    v += rate · Σ error · outer
        dbow       h = v
        dm-concat  h = v and the neighbours' vectors, concatenated

Only v is learned. So what the neighbours of dm-concat add to h · outer can be computed before: it is looked up in the
products of all words as neighbours with all words as predicted words, one place of the window after the other. gensim
reads all of ``outer`` for every word instead, 11 vectors for a window of 5. benchmarks/rivals.py has the times.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kate.engines.cpu.machine_code import compiled_once

__all__ = ["ParagraphNetwork", "infer"]

Floats = NDArray[np.float32]

# Sums may be taken in any order, so that LLVM can use vector instructions.
_kernel: Any = partial(compiled_once, fastmath={"contract", "reassoc", "nsz"})
_DRAWS_AT_ONCE = 2**24  # predicted words in memory at a time
_WORTH = 8  # one prediction takes the time of about so many products of two words
_LONGEST = 10_000  # gensim ignores words of a document beyond this
_FAR = np.float32(6)  # beyond it gensim takes σ as 0 or 1, and learns nothing
_ODDS = np.exp((np.arange(1000) / 1000 * 2 - 1) * 6)
_SIGMOID = (_ODDS / (_ODDS + 1)).astype(np.float32)  # gensim's table, from -6 to 6
_STEP = np.float32(83)  # entries of the table per unit: gensim divides 1000 by 12 in whole numbers
_MULTIPLIER, _INCREMENT, _MODULO = np.uint64(25214903917), np.uint64(11), np.uint64(2**48 - 1)
_LOWER_BITS = np.uint64(16)
# noise is drawn with numbers below 2³¹; the guide has one entry for every 2¹⁹ of them
_COARSE = np.uint64(19)


class ParagraphNetwork(NamedTuple):
    """A trained network, with gensim's numbers of the words; dbow has a window of 0."""

    inner: Floats  # (n_words, n_components), the words as neighbours
    outer: Floats  # (n_words, 1 + 2 · window, n_components), the words as predicted words
    beyond: int  # the word for places beyond the ends of a document
    kept: NDArray[np.uint32]  # (n_words,), how often a word is not skipped; empty: always
    noise: NDArray[np.uint32]  # (n_words,), cumulative frequencies, to draw noise words
    negative: int  # noise words per word


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
    predicted = np.empty((len(words), 1 + network.negative), dtype=np.int32)
    ends = np.empty(states.shape, dtype=np.int64)
    guide = np.searchsorted(network.noise, np.arange(0, 2**31, 2 ** int(_COARSE)))
    codes = np.concatenate(documents)
    n_drawn = _draw(codes, starts, states, network.kept, network.noise, guide, words, predicted, ends)
    words, predicted = words[:n_drawn], predicted[:n_drawn]
    scores = np.zeros(predicted.shape, dtype=np.float32)
    if len(network.inner) ** 2 < _WORTH * predicted.size:
        window = network.outer.shape[1] // 2
        shifts = [shift for shift in range(-window, window + 1) if shift]
        for at, shift in enumerate(shifts, start=1):
            products = network.inner @ network.outer[:, at].T
            _look_up(words, ends, predicted, shift, network.beyond, products, scores)
    else:
        _multiply(words, ends, predicted, network.beyond, network.inner, network.outer, scores)
    _train(ends, predicted, scores, np.ascontiguousarray(network.outer[:, 0]), rates, vectors)


@_kernel
def _draw(codes, starts, states, kept, noise, guide, words, predicted, ends):
    """The words of every document and pass that are not skipped, with their noise words; -1 for no word."""
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
                predicted[place, 0] = words[place]
                for draw in range(1, predicted.shape[1]):
                    word = _find(noise, guide, (state >> _LOWER_BITS) % np.uint64(noise[-1]))
                    state = (state * _MULTIPLIER + _INCREMENT) & _MODULO
                    predicted[place, draw] = word if word != words[place] else -1
            ends[document, epoch] = n_drawn
    return n_drawn


@_kernel
def _find(noise, guide, number):
    """The first word whose cumulative frequency is not below a number; ``guide`` says where to start."""
    found = guide[number >> _COARSE]
    while np.uint64(noise[found]) < number:
        found += 1
    return found


@_kernel
def _look_up(words, ends, predicted, shift, beyond, products, scores):
    """Add to the scores what the neighbour at one place of the window adds, for each predicted word."""
    first = 0
    for end in ends.flat:
        for place in range(first, end):
            inside = first <= place + shift < end
            neighbour = words[place + shift] if inside else beyond
            for draw in range(predicted.shape[1]):
                if predicted[place, draw] >= 0:
                    scores[place, draw] += products[neighbour, predicted[place, draw]]
        first = end


@_kernel
def _multiply(words, ends, predicted, beyond, inner, outer, scores):
    """What ``_look_up`` does for all places, if there are too few documents to compute the products of all words."""
    first, window = 0, outer.shape[1] // 2
    for end in ends.flat:
        for place in range(first, end):
            for draw in range(predicted.shape[1]):
                word = predicted[place, draw]
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
def _train(ends, predicted, scores, outer, rates, vectors):
    first = 0
    work = np.empty(vectors.shape[1], dtype=np.float32)
    for document in range(ends.shape[0]):
        vector = vectors[document]
        for epoch in range(ends.shape[1]):
            for place in range(first, ends[document, epoch]):
                work[:] = 0
                for draw in range(predicted.shape[1]):
                    word = predicted[place, draw]
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
