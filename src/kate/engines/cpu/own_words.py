"""With a sample: words that only one document of a batch has. They are decoded for that document alone.

The sample (sampling.py) gives such a word the weight ω, or 0 where it was not drawn. In the document that has it, it
must count once, whatever was drawn. So 1 - ω is added there, to the loss and to all gradients:

    e = (1 - ω) sigmoid(o)          or (1 - ω) exp(o - level)          o = a · W[word] + c[word]
    Σ e W[word]                     part of dL/da, without the factor
    factor · e · a                  part of the gradient of W[word], added in gradient.py

The encoder has just read the same rows of W, so that they are in the nearest cache.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"
from __future__ import annotations

import math

import numpy as np

from kate.engines.cpu.addresses import address
from kate.engines.cpu.buffers import ADDED, LEVEL
from kate.engines.cpu.hidden import add_scaled
from kate.engines.cpu.sampling import word_of
from kate.engines.cpu.simd_math import BYTES, fma, kernel
from kate.engines.cpu.simd_memory import load, store, total, zeros

_ONE = np.float32(1.0)


@kernel
def _logit(a, word, parameters):
    """o of one word, from the hidden layer at the address ``a``."""
    size = 4 * parameters.W.shape[1]
    row = address(parameters.W) + word * size
    s = zeros()
    for v in range(0, size, BYTES):
        s = fma(load(a + v), load(row + v), s)
    return total(s) + parameters.c[word]


@kernel
def _sigmoid_and_loss(o):
    """sigmoid(o) and softplus(o)."""
    shrunk = math.exp(-abs(o))
    sigmoid = (1.0 if o >= 0.0 else shrunk) / (1.0 + shrunk)
    return sigmoid, max(o, 0.0) + math.log1p(shrunk)


@kernel
def decode_own_words(d, doc, rows, parameters, rule, words, space):
    """Fill ``space.own`` for the words of one document, and add up their parts of its loss and of dL/da."""
    size = 4 * parameters.W.shape[1]
    a, part = address(space.A) + d * size, address(space.own_part) + d * size
    for v in range(0, size, BYTES):
        store(part + v, zeros())
    entries = range(rows.indptr[doc], rows.indptr[doc + 1])
    level = space.level[d]
    for entry in entries:
        word = word_of(rows, entry)
        local = words.local[word]
        if words.weight[local] != _ONE:
            space.own[local] = _logit(a, word, parameters)
            level = max(level, space.own[local])
    space.level[d] = space.own_terms[d, LEVEL] = level
    added = 0.0
    for entry in entries:
        word = word_of(rows, entry)
        local = words.local[word]
        if words.weight[local] != _ONE:
            share = _ONE - words.weight[local]
            if rule.softmax:
                e = math.exp(space.own[local] - level)
                loss = e
            else:
                e, loss = _sigmoid_and_loss(space.own[local])
            space.own[local] = share * np.float32(e)
            added += share * loss
            add_scaled(part, space.own[local], address(parameters.W) + word * size, size)
    space.own_terms[d, ADDED] = added
