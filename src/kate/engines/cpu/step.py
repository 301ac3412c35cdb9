"""Training steps of KATE on the CPU: one compiled function for a run of batches, four passes per batch.

For a batch of B documents, the words that it decodes (all V of them, or a sample) and m neurons:

    before         which words are decoded                                           sampling.py
    hidden pass    Z, A (B, m): the hidden layer and the competition, one document   hidden.py, winners.py
                   at a time; with a sample also the words that it alone has         own_words.py
    decoder pass   E (B, words): sigmoids or exponentials of the logits, one tile    decoder.py, tiles.py
                   of words at a time, and their part of dL/dA
    back pass      D (B, m) = dL / d(Wᵀ x + b), one document at a time               hidden.py
    learning pass  dL/dW, dL/dc and the optimizer's step, one tile at a time         gradient.py, tiles.py

All threads work on the same pass, and take the next documents or tiles from a counter (barrier.py). Tiles are dealt to
a fixed number of groups, and each group sums its own part of dL/dA: so the result does not depend on the number of
threads.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"
from __future__ import annotations

import numpy as np

from kate.engines.cpu.addresses import address
from kate.engines.cpu.barrier import DONE, HALT, STOP, next_item, read_state, wait_for_all, write_state
from kate.engines.cpu.buffers import ADAM, GRADIENT, ROW, Update
from kate.engines.cpu.decoder import decode_group
from kate.engines.cpu.gradient import count_items, learn_hidden_bias, learn_item
from kate.engines.cpu.hidden import hidden_back, hidden_document
from kate.engines.cpu.machine_code import compiled_once
from kate.engines.cpu.own_words import decode_own_words
from kate.engines.cpu.sampling import choose_batch_words
from kate.engines.cpu.simd_math import TILE, inlined, kernel

_DOCS = 4  # documents that a thread takes from the counter at a time
_ONE = np.float32(1.0)


@kernel
def _sort_by_winner(n_docs, space):
    """List the documents in which each neuron is active, by a counting sort; lists are padded to multiples of 4."""
    ptr, m = space.won_ptr, space.D.shape[1]
    for j in range(m + 1):
        ptr[j] = 0
    for d in range(n_docs):
        for i in range(space.n_active[d]):
            ptr[space.active[d, i] // ROW + 1] += 1
    for j in range(1, m + 1):
        ptr[j] = ptr[j - 1] + (ptr[j] + 3) // 4 * 4
    for place in range(ptr[m]):
        space.won[place], space.won_value[place] = 0, np.float32(0.0)
    for d in range(n_docs):
        for i in range(space.n_active[d]):
            j = space.active[d, i] // ROW
            space.won[ptr[j]], space.won_place[d, i] = d * ROW, ptr[j]
            ptr[j] += 1
    # ptr[j] is now the end of list j: the next list begins there, rounded up
    for j in range(m, 0, -1):
        ptr[j] = (ptr[j - 1] + 3) // 4 * 4
    ptr[0] = 0
    for d in range(n_docs, space.factor.size):  # the list of all documents is padded, too
        space.factor[d] = np.float32(0.0)


@kernel
def _update_of(rule, rate, step):
    """The optimizer's numbers for one step, counted from 1."""
    correct1, correct2 = 1.0, 1.0
    if rule.purpose == ADAM:
        correct1, correct2 = 1.0 / (1.0 - rule.decay1**step), 1.0 / (1.0 - rule.decay2**step)
    return Update(
        rule.purpose, np.float32(rate), np.float32(rule.decay1), np.float32(rule.decay2), np.float32(rule.epsilon),
        np.float32(correct1), np.float32(correct2),
    )  # fmt: skip


@inlined
def _hidden_pass(thread, state, docs, rows, words, parameters, rule, sampling, seed, space):
    """Encode the documents and let the neurons compete."""
    n_chunks = (docs.size + _DOCS - 1) // _DOCS
    item = next_item(state)
    while item < n_chunks:
        stop = min((item + 1) * _DOCS, docs.size)
        for d in range(item * _DOCS, stop):
            next_doc = docs[min(d + 1, stop - 1)]
            hidden_document(thread, d, docs[d], next_doc, rows, parameters, rule, seed, space)
            if sampling is not None:
                decode_own_words(d, docs[d], rows, parameters, rule, words, space)
        item = next_item(state)


@inlined
def _decoder_pass(thread, state, n_docs, n_groups, parameters, rule, words, space):
    """Decode the groups of tiles, and list the documents of each neuron."""
    item = next_item(state)
    while item <= n_groups:
        if item == n_groups:  # little work, for a thread that would only wait for the others
            if rule.purpose >= GRADIENT:
                _sort_by_winner(n_docs, space)
        else:
            decode_group(thread, item, n_docs, parameters, rule, words, space)
        item = next_item(state)


@inlined
def _hidden_back_pass(thread, state, n_docs, n_groups, rule, space):
    """The gradient back through the hidden layer."""
    scale = _ONE / np.float32(n_docs)
    n_chunks = (n_docs + _DOCS - 1) // _DOCS
    item = next_item(state)
    while item < n_chunks:
        for d in range(item * _DOCS, min((item + 1) * _DOCS, n_docs)):
            space.target[d] = hidden_back(thread, d, n_groups, scale, rule, space)
        item = next_item(state)


@kernel
def _choose_words_of(batch, rows, seeds, sampling, parameters, words):
    """The words that a batch decodes, where there is such a batch."""
    if batch < seeds.size:
        docs = rows.docs[rows.ptr[batch] : rows.ptr[batch + 1]]
        choose_batch_words(rows, docs, words, sampling, seeds[batch], 4 * parameters.W.shape[1])


@inlined
def _learning_pass(
    thread, state, batch, n_docs, rows, words, next_words, parameters, gradient, moments1, moments2, rule, sampling,
    rates, seeds, space
):  # fmt: skip
    """Gradient and optimizer, tile by tile; meanwhile one thread chooses the words of the next batch."""
    u = _update_of(rule, rates[batch], rule.n_steps + batch + 1)
    n_items = count_items(words) if rule.purpose >= GRADIENT else 0
    item = next_item(state)
    while item <= n_items:
        if item == 0:
            _choose_words_of(batch + 1, rows, seeds, sampling, parameters, next_words)
            if rule.purpose >= GRADIENT:
                learn_hidden_bias(thread, n_docs, parameters, gradient, moments1, moments2, u, space)
        else:
            learn_item(
                thread, item - 1, n_docs, rows, words, parameters, gradient, moments1, moments2, rule, seeds[batch], u,
                space,
            )  # fmt: skip
        item = next_item(state)


def _train_batches(
    thread, n_threads, state, rows, even_words, odd_words, parameters, gradient, moments1, moments2, rule, sampling,
    rates, seeds, space, losses,
):  # fmt: skip
    """What one thread does: every batch, one after the other. The summed loss of each goes to ``losses``.

    ``sampling`` is None where all words are decoded: numba then does not compile what only a sample needs.
    """
    where = address(state)
    if thread == 0:
        _choose_words_of(np.int64(0), rows, seeds, sampling, parameters, even_words)
    if not wait_for_all(state, n_threads):
        return
    for batch in range(losses.size):
        words, next_words = (even_words, odd_words) if batch % 2 == 0 else (odd_words, even_words)
        docs, seed = rows.docs[rows.ptr[batch] : rows.ptr[batch + 1]], seeds[batch]
        _hidden_pass(thread, state, docs, rows, words, parameters, rule, sampling, seed, space)
        if not wait_for_all(state, n_threads):
            return
        n_groups = min(space.part.shape[0], (words.n[0] + TILE - 1) // TILE)
        _decoder_pass(thread, state, docs.size, n_groups, parameters, rule, words, space)
        if not wait_for_all(state, n_threads):
            return
        _hidden_back_pass(thread, state, docs.size, n_groups, rule, space)
        if not wait_for_all(state, n_threads):
            return
        if thread == 0:
            for group in range(n_groups):
                losses[batch] += space.losses[group]
            for d in range(docs.size):
                losses[batch] += space.target[d]
            write_state(where, DONE, batch + 1)
            write_state(where, HALT, read_state(where, STOP))  # one thread decides for all of them
        _learning_pass(
            thread, state, batch, docs.size, rows, words, next_words, parameters, gradient, moments1, moments2, rule,
            sampling, rates, seeds, space,
        )  # fmt: skip
        if not wait_for_all(state, n_threads):
            return
        if read_state(where, HALT) > 0:
            break


train_batches = compiled_once(_train_batches)
