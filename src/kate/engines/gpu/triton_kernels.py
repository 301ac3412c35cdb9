"""The operations of a step between its matrix products, as a few Triton kernels.

With a small network the time of a step depends on the number of kernels, not on what they compute. So one kernel does
all that happens between two products; most of them have one program per document. A document is a row of ``n_words`` or
``n_components`` numbers. What changes from step to step (the next row of the layout, facts, rates) is read from memory,
so that a CUDA graph can replay the kernels. Sums have a fixed order: the same input gives the same bits.

Names in capitals are constants when a kernel is compiled. The tests run everything here in Triton's interpreter. It has
no libdevice, so tanh and log1p are written out.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["backward", "compete", "decode", "learn", "place"]


@triton.jit
def place(
    at, ends, places, kept, values, X_in, X, n_slots, n_words, HAS_DROPOUT: tl.constexpr, BLOCK: tl.constexpr
):
    """Make the next documents dense: what dropout leaves of them in ``X_in``, all of them in ``X``."""
    document = tl.program_id(0)
    row = tl.load(at)
    lanes = tl.arange(0, BLOCK)
    first_cell = document.to(tl.int64) * n_words
    nothing = tl.zeros([BLOCK], tl.float32)
    for word in range(0, n_words, BLOCK):
        words = word + lanes
        tl.store(X_in + first_cell + words, nothing, mask=words < n_words)
        if HAS_DROPOUT:
            tl.store(X + first_cell + words, nothing, mask=words < n_words)
    tl.debug_barrier()  # an entry and the zero before it are written by different threads
    my_end = ends + row * tl.num_programs(0) + document
    end = tl.load(my_end)
    start = tl.load(my_end - 1, mask=document > 0, other=0)
    for slot in range(start, end, BLOCK):
        slots = slot + lanes
        entries = row * n_slots + slots
        cells = tl.load(places + entries, mask=slots < end, other=0)
        tl.store(X_in + cells, tl.load(kept + entries, mask=slots < end, other=0.0), mask=slots < end)
        if HAS_DROPOUT:
            tl.store(X + cells, tl.load(values + entries, mask=slots < end, other=0.0), mask=slots < end)


@triton.jit
def compete(
    Z, A, b, n_components, amplification, N_WINNERS: tl.constexpr, IS_TANH: tl.constexpr, BLOCK: tl.constexpr
):
    """``Z`` is X_in W at first and becomes g(X_in W + b); ``A`` = compete(Z), or Z where there are no winners.

    The bits of a larger positive float are a larger integer. So the smallest activation that wins a side is found bit
    by bit, from the highest bit down, by counting the activations that are at least as large: 30 rounds for any number
    of neurons, and no sorting. Of the activations equal to it, the first ones win, until there are enough winners.
    """
    neurons = tl.arange(0, BLOCK)
    is_neuron = neurons < n_components
    row = tl.program_id(0).to(tl.int64) * n_components
    h = tl.load(Z + row + neurons, mask=is_neuron, other=0.0) + tl.load(
        b + neurons, mask=is_neuron, other=0.0
    )
    z = tl.where(is_neuron, _tanh(h) if IS_TANH else _sigmoid(h), 0.0)
    tl.store(Z + row + neurons, z, mask=is_neuron)
    if N_WINNERS == 0:
        tl.store(A + row + neurons, z, mask=is_neuron)
    else:
        side = tl.arange(0, 2)  # the positive and the negative one
        share = (N_WINNERS + 1 - side) // 2
        sign = (1 - 2 * side).to(tl.float32)
        energy = tl.maximum(z[None, :] * sign[:, None], 0.0)  # (2, neurons)
        bits = energy.to(tl.int32, bitcast=True)
        least = tl.zeros([2], tl.int32)
        for i in range(30):  # activations are below 2, of which the bits are 2³⁰
            higher = least + (1 << (29 - i))
            n_reaching = tl.sum((bits >= higher[:, None]).to(tl.int32), axis=1)
            least = tl.where(n_reaching >= share, higher, least)
        is_above = bits > least[:, None]
        room = share - tl.sum(is_above.to(tl.int32), axis=1)
        is_equal = bits == least[:, None]
        n_equal = tl.cumsum(is_equal.to(tl.int32), axis=1)  # up to and including each neuron
        won = (is_above | (is_equal & (n_equal <= room[:, None]))) & (bits > 0)
        lost = tl.sum(tl.where(won, 0.0, energy), axis=1)
        gained = tl.where(won, energy + amplification * lost[:, None], 0.0)
        tl.store(A + row + neurons, tl.sum(gained * sign[:, None], axis=0), mask=is_neuron)


@triton.jit
def decode(R, X, c, facts, at, losses, n_words, IS_SOFTMAX: tl.constexpr, BLOCK: tl.constexpr):
    """``R`` is A Wᵀ at first and becomes (output(A Wᵀ + c) - X) / B; adds the documents' losses to ``losses``."""
    document = tl.program_id(0)
    n_docs = tl.num_programs(0)
    facts += tl.load(at) * 3 * n_docs + document
    mass, share, is_real = tl.load(facts), tl.load(facts + n_docs), tl.load(facts + 2 * n_docs)
    first_cell = document.to(tl.int64) * n_words
    lanes = tl.arange(0, BLOCK)
    if IS_SOFTMAX:
        greatest, log_sum = _log_sum(R + first_cell, c, n_words, BLOCK)
    loss = tl.zeros([BLOCK], tl.float32)
    for word in range(0, n_words, BLOCK):
        words = word + lanes
        is_word = words < n_words
        cells = first_cell + words
        o = tl.load(R + cells, mask=is_word, other=0.0) + tl.load(c + words, mask=is_word, other=0.0)
        x = tl.load(X + cells, mask=is_word, other=0.0)
        if IS_SOFTMAX:
            log_p = (o - greatest) - log_sum
            loss_of_word = -x * log_p
            output = mass * tl.exp(log_p)
        else:
            loss_of_word = tl.maximum(o, 0.0) + _log1p(tl.exp(-tl.abs(o))) - x * o
            output = _sigmoid(o)
        loss += tl.where(is_word, loss_of_word, 0.0)
        tl.store(R + cells, (output - x) * share, mask=is_word)
    total = tl.sum(loss.to(tl.float64), axis=0) * is_real
    tl.store(losses + document, tl.load(losses + document) + total)


@triton.jit
def backward(
    D, Z, A, at, all_numbers, numbers, n_components, amplification, HAS_WINNERS: tl.constexpr, IS_TANH: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """``D`` is dL/dA at first and becomes dL/d(X_in W + b): losers learn only through the winners' amplification.

    The first program also copies the optimizer's ``numbers`` of this step and moves ``at`` on to the next step; no
    other program of this kernel reads it.
    """
    document = tl.program_id(0)
    neurons = tl.arange(0, BLOCK)
    is_neuron = neurons < n_components
    cells = document.to(tl.int64) * n_components + neurons
    grad = tl.load(D + cells, mask=is_neuron, other=0.0)
    z = tl.load(Z + cells, mask=is_neuron, other=0.0)
    if HAS_WINNERS:
        won = tl.load(A + cells, mask=is_neuron, other=0.0) != 0.0
        of_positive = tl.sum(tl.where(won & (z > 0.0), grad, 0.0), axis=0)
        of_negative = tl.sum(tl.where(won & (z < 0.0), grad, 0.0), axis=0)
        through = tl.where(z > 0.0, of_positive, of_negative) * amplification
        grad = tl.where(won, grad, tl.where(z == 0.0, 0.0, through))
    slope = 1.0 - z * z if IS_TANH else z * (1.0 - z)
    tl.store(D + cells, grad * slope, mask=is_neuron)
    if document == 0:
        row = tl.load(at)
        three = tl.arange(0, 4)
        tl.store(
            numbers + three, tl.load(all_numbers + row * 3 + three, mask=three < 3, other=0.0), mask=three < 3
        )
        tl.debug_barrier()  # every thread has read it
        tl.store(at, row + 1)


@triton.jit
def learn(
    parameters, gradient, first, second, numbers, R, D, n_docs, n_words, n_components, n_weights, METHOD: tl.constexpr,
    DECAY1: tl.constexpr, DECAY2: tl.constexpr, EPSILON: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """The gradients of the biases, which are sums of columns, and the optimizer's step on all parameters.

    The first programs each take some columns of D (for b), the next ones of R (for c), the others a part of W, whose
    gradient is already there. With the method "none" only the gradients of the biases are computed.
    """
    program = tl.program_id(0)
    n_for_b = tl.cdiv(n_components, COLUMNS)
    n_for_c = tl.cdiv(n_words, COLUMNS)
    if program < n_for_b + n_for_c:
        is_for_b = program < n_for_b
        n_columns = tl.where(is_for_b, n_components, n_words)
        columns = (program - tl.where(is_for_b, 0, n_for_b)) * COLUMNS + tl.arange(0, COLUMNS)
        if is_for_b:
            sums = _column_sums(D, columns, n_docs, n_components, ROWS, COLUMNS)
        else:
            sums = _column_sums(R, columns, n_docs, n_words, ROWS, COLUMNS)
        places = n_weights + tl.where(is_for_b, 0, n_components) + columns
        tl.store(gradient + places, sums, mask=columns < n_columns)
        _move(
            parameters,
            first,
            second,
            numbers,
            places,
            sums,
            columns < n_columns,
            METHOD,
            DECAY1,
            DECAY2,
            EPSILON,
        )
    else:
        weights = (program - n_for_b - n_for_c).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        is_there = weights < n_weights
        g = tl.load(gradient + weights, mask=is_there, other=0.0)
        _move(parameters, first, second, numbers, weights, g, is_there, METHOD, DECAY1, DECAY2, EPSILON)


@triton.jit
def _move(
    parameters, first, second, numbers, places, g, is_mine, METHOD: tl.constexpr, DECAY1: tl.constexpr,
    DECAY2: tl.constexpr, EPSILON: tl.constexpr,
):  # fmt: skip
    """The optimizer's step on the parameters at ``places`` with the gradient ``g``."""
    if METHOD != "none":
        rate = tl.load(numbers)
        p = tl.load(parameters + places, mask=is_mine, other=0.0)
        one = tl.load(first + places, mask=is_mine, other=0.0)
        two = tl.load(second + places, mask=is_mine, other=0.0)
        if METHOD == "adam":
            one += (1 - DECAY1) * (g - one)
            two = DECAY2 * two + (1 - DECAY2) * g * g
            change = one / (tl.sqrt(two * tl.load(numbers + 2)) + EPSILON) * tl.load(numbers + 1)
        else:
            one = DECAY1 * one + (1 - DECAY1) * g * g
            change = tl.sqrt((two + EPSILON) / (one + EPSILON)) * g
            two = DECAY1 * two + (1 - DECAY1) * change * change
        tl.store(first + places, one, mask=is_mine)
        tl.store(second + places, two, mask=is_mine)
        tl.store(parameters + places, p - rate * change, mask=is_mine)


@triton.jit
def _column_sums(matrix, columns, n_rows, n_columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """The sums of some columns of a matrix of ``n_rows``."""
    sums = tl.zeros([ROWS, COLUMNS], tl.float32)
    for start in range(0, n_rows, ROWS):
        rows = start + tl.arange(0, ROWS)
        cells = rows[:, None].to(tl.int64) * n_columns + columns[None, :]
        sums += tl.load(
            matrix + cells, mask=(rows[:, None] < n_rows) & (columns[None, :] < n_columns), other=0.0
        )
    return tl.sum(sums, axis=0)


@triton.jit
def _log_sum(logits, c, n_words, BLOCK: tl.constexpr):
    """The greatest o = logits + c of a row, and log Σ exp(o - greatest); until the end, each lane has its own."""
    lanes = tl.arange(0, BLOCK)
    greatest = tl.full([BLOCK], -3.0e38, tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for word in range(0, n_words, BLOCK):
        words = word + lanes
        is_word = words < n_words
        o = tl.load(logits + words, mask=is_word, other=0.0) + tl.load(c + words, mask=is_word, other=0.0)
        o = tl.where(is_word, o, -float("inf"))
        higher = tl.maximum(greatest, o)
        total = total * tl.exp(greatest - higher) + tl.exp(o - higher)
        greatest = higher
    of_all = tl.max(greatest, axis=0)
    return of_all, tl.log(tl.sum(total * tl.exp(greatest - of_all), axis=0))


@triton.jit
def _tanh(x):
    """tanh; near 0 by its series, because 1 - exp(-2x) loses digits there."""
    square = x * x
    series = 1.0 + square * (-1 / 3 + square * (2 / 15 + square * (-17 / 315 + square * (62 / 2835))))
    t = tl.exp(-2.0 * tl.abs(x))
    size = (1.0 - t) / (1.0 + t)
    return tl.where(square < 0.0625, x * series, tl.where(x < 0.0, -size, size))


@triton.jit
def _sigmoid(x):
    """The sigmoid, without overflow."""
    t = tl.exp(-tl.abs(x))
    return tl.where(x < 0.0, t, 1.0) / (1.0 + t)


@triton.jit
def _log1p(t):
    """log(1 + t) for t from 0 to 1; near 0 by its series, because 1 + t loses digits there."""
    return tl.where(t < 0.015625, t * (1.0 + t * (-0.5 + t * (1 / 3 + t * -0.25))), tl.log(1.0 + t))
