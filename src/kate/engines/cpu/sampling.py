"""The words that a batch decodes: all of them, or those of its documents and a sample of the others.

With reconstruction sampling (after Dauphin, Glorot and Bengio, 2011) the cost of a step depends on its documents and on
the sample, not on the size of the vocabulary. Let U be the words that several documents of the batch have: they are
decoded for every document. From the others, n words are drawn with replacement, word w with the chance q(w). A word
that was drawn r times has the weight ω = r / (n q(w)): it stands for so many words. The words of U have the weight 1,
those that were not drawn 0:

    cross-entropy   Σ over all w of softplus(o)  ≈  Σ ω softplus(o)             unbiased, and so is the gradient
    softmax         log Σ over all w of e^o      ≈  log Σ e^(o + log ω)         its bias falls with n

A word that only one document has must count once in that document, drawn or not: own_words.py adds the missing 1 - ω.
In a large vocabulary most words of a batch are of this kind. They are decoded for one document, not for the batch.

One half of the draws picks an entry of the corpus, the other half any word. So q(w) is the mean of the word's share of
all entries and of 1 / V, divided by the sum of these means outside U.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"
from __future__ import annotations

import math

import numpy as np

from kate.engines.cpu.addresses import address, prefetch
from kate.engines.cpu.simd_math import TILE, kernel

# The share of draws that pick any word: so rare words are drawn, too, and no weight is huge.
UNIFORM = 0.5
_ONE, _ZERO = np.float32(1.0), np.float32(0.0)
# numba compiles a kernel again for every integer that is written out in a call; these have no value for it
_NONE, _FOUR = np.int64(0), np.int64(4)


@kernel
def hash_of(seed, number):
    """64 random bits that depend on the two numbers alone: the same on every thread and in every pass."""
    h = (np.uint64(seed) + np.uint64(number)) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@kernel
def word_of(rows, entry):
    """The word of an entry of the documents."""
    return np.int64(rows.indices[entry * rows.stride])


@kernel
def _below(bits, n):
    """A number below n (less than 2^31) from the upper half of random bits."""
    return np.int64(((bits >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@kernel
def _draw(stream, number, rows, n_words):
    """The word of one draw."""
    bits = hash_of(stream, number)
    if np.float64(bits & np.uint64(0xFFFFFFFF)) < UNIFORM * 2.0**32:
        return _below(bits, n_words)
    n_entries = rows.values.size
    if n_entries < 2**31:
        return word_of(rows, _below(bits, n_entries))
    return word_of(rows, np.int64(hash_of(bits, np.int64(1)) % np.uint64(n_entries)))


@kernel
def _prefetch_words(rows, doc, words):
    """Ask for the places of a document's words in the batch: the table is large, and in no cache."""
    for entry in range(rows.indptr[doc], rows.indptr[doc + 1]):
        prefetch(address(words.local) + 4 * word_of(rows, entry), _FOUR)


@kernel
def _take(words, word, n):
    """Put a word in the place n of the batch; returns the next place."""
    words.local[word], words.words[n], words.weight[n] = n, word, _ZERO
    words.ptr[n + 1] = 0
    return n + 1


@kernel
def _swap(words, i, j):
    """Exchange two words of the batch and the numbers of their entries; they have no weights yet."""
    a, b = words.words[i], words.words[j]
    words.words[i], words.words[j] = b, a
    words.local[a], words.local[b] = j, i
    words.ptr[i + 1], words.ptr[j + 1] = words.ptr[j + 1], words.ptr[i + 1]


@kernel
def _own_words(rows, docs, words):
    """Collect the words of the documents, in the order they come; ``ptr`` counts their entries."""
    for i in range(words.n[1]):
        words.local[words.words[i]] = -1
    n = _NONE
    for d in range(docs.size):
        _prefetch_words(rows, docs[min(d + 1, docs.size - 1)], words)
        for entry in range(rows.indptr[docs[d]], rows.indptr[docs[d] + 1]):
            word = word_of(rows, entry)
            if words.local[word] < 0:
                n = _take(words, word, n)
            words.ptr[words.local[word] + 1] += 1
    return n


@kernel
def _shared_words(words, n_own):
    """Move the words that several documents have to the front; returns how many there are."""
    n_shared = _NONE
    for i in range(n_own):
        if words.ptr[i + 1] > 1:
            _swap(words, i, n_shared)
            words.weight[n_shared] = _ONE
            n_shared += 1
    return n_shared


@kernel
def _count_draw(words, word, n_dense, n):
    """Count a draw of a word that is not shared, and move it before ``n_dense``; returns the new n_dense and n."""
    if words.local[word] < 0:
        n = _take(words, word, n)
    if words.local[word] >= n_dense:
        _swap(words, words.local[word], n_dense)
        n_dense += 1
    words.weight[words.local[word]] += _ONE
    return n_dense, n


@kernel
def _other_words(rows, words, n_shared, n_own, n_draws, seed):
    """Draw ``n_draws`` other words (or take all, where there are no more) and weigh them; they follow the shared words.

    Returns how many words are decoded for all documents, and how many words the batch has.
    """
    n_dense, n, n_words = n_shared, n_own, words.local.size
    if n_words - n_shared <= n_draws:
        for word in range(n_words):
            if words.local[word] < 0 or words.local[word] >= n_shared:
                n_dense, n = _count_draw(words, word, n_dense, n)
        return n_dense, n
    outside = 1.0
    for i in range(n_shared):
        outside -= words.chance[words.words[i]]
    number, n_drawn, stream = _NONE, 0, hash_of(seed, np.int64(-1))  # not the bits of the dropout
    while n_drawn < n_draws:
        word = _draw(stream, number, rows, n_words)
        number += 1
        if words.local[word] < 0 or words.local[word] >= n_shared:
            n_dense, n = _count_draw(words, word, n_dense, n)
            n_drawn += 1
    for i in range(n_shared, n_dense):
        words.weight[i] *= np.float32(outside / (n_draws * words.chance[words.words[i]]))
    return n_dense, n


@kernel
def _count_all(rows, docs, words):
    """Without a sample: count the entries of every word."""
    n = words.n[1]
    for i in range(n + 1):
        words.ptr[i] = 0
    for doc in docs:
        for entry in range(rows.indptr[doc], rows.indptr[doc + 1]):
            words.ptr[word_of(rows, entry) + 1] += 1
    return n


@kernel
def _sample(rows, docs, words, n_draws, seed, pitch):
    """With a sample: the words of a batch and their weights; the last tile is filled with the first word."""
    n_own = _own_words(rows, docs, words)
    n_shared = _shared_words(words, n_own)
    n_dense, n = _other_words(rows, words, n_shared, n_own, n_draws, seed)
    for i in range(n_dense):
        words.log_weight[i] = np.float32(math.log(words.weight[i]))
    end = (n + TILE - 1) // TILE * TILE
    for i in range(n, end):
        words.words[i] = words.words[0]
    for i in range(end):
        words.bytes[i] = words.words[i] * pitch
    words.n[0], words.n[1] = n_dense, n
    return n


@kernel
def choose_batch_words(rows, docs, words, sampling, seed, pitch):
    """Fill ``words`` for a batch: which documents have which word, by a counting sort that keeps their order."""
    ptr = words.ptr
    n = (
        _count_all(rows, docs, words)
        if sampling is None
        else _sample(rows, docs, words, sampling, seed, pitch)
    )
    ptr[0] = 0
    for i in range(1, n + 1):
        ptr[i] += ptr[i - 1]
    for d in range(docs.size):
        for entry in range(rows.indptr[docs[d]], rows.indptr[docs[d] + 1]):
            word = word_of(rows, entry)
            i = word if sampling is None else np.int64(words.local[word])
            place = ptr[i]  # the next free place of the word; after the loop, its end
            words.docs[place], words.entries[place] = d, entry
            ptr[i] = place + 1
    for i in range(n, 0, -1):
        ptr[i] = ptr[i - 1]
    ptr[0] = 0
