"""The small compiled pieces of the CPU step: exp, the dropout's coin, the competition of one document, an update."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,assignment"
from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

FAST = {
    "contract",
    "reassoc",
    "nsz",
    "arcp",
}  # fast-math without the flags that let LLVM forget NaN and infinity
ONE = np.float32(1.0)
ZERO = np.float32(0.0)


@intrinsic
def _float_of_bits(typingctx, bits):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), codegen


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def exp(x):
    """exp in float32 to about 2 ulp, written so that LLVM makes vector loops of it; libm's would be a call each.

    x = n ln 2 + r with |r| <= ln 2 / 2 (ln 2 in two parts, so that r is exact), exp(r) by a polynomial, and 2^n
    made from its bits.
    """
    x = min(max(x, np.float32(-87.0)), np.float32(88.0))
    n = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
    r = (x - n * np.float32(0.693359375)) + n * np.float32(2.12194440e-4)
    p = np.float32(1.0 / 5040.0) * r + np.float32(1.0 / 720.0)
    p = p * r + np.float32(1.0 / 120.0)
    p = p * r + np.float32(1.0 / 24.0)
    p = p * r + np.float32(1.0 / 6.0)
    p = p * r + np.float32(0.5)
    p = p * r + ONE
    p = p * r + ONE
    return p * _float_of_bits((np.int32(n) + np.int32(127)) << np.int32(23))


@njit(cache=True, error_model="numpy", inline="always")
def tanh(x):
    return ONE - np.float32(2.0) / (exp(np.float32(2.0) * x) + ONE)


@njit(cache=True, error_model="numpy", inline="always")
def sigmoid(x):
    return ONE / (ONE + exp(-x))


@njit(cache=True, error_model="numpy", fastmath=FAST)
def sigmoids(o, c):
    """Logits o + c become sigmoids in place; returns Σ softplus(o + c), the cross-entropy but for the target's part."""
    loss = 0.0
    for d in range(o.shape[0]):
        for start in range(0, o.shape[1], 64):
            chunk, bias = o[d, start : start + 64], c[start : start + 64]
            # log Π(1 + e^-|o|) instead of Σ log(1 + e^-|o|): 64 factors of at most 2 cannot overflow
            product, positive = ONE, ZERO
            for w in range(chunk.size):
                logit = chunk[w] + bias[w]
                e = exp(-abs(logit))
                s = ONE / (ONE + e)
                product = product * (ONE + e)
                positive = positive + (logit if logit > ZERO else ZERO)
                chunk[w] = s if logit >= ZERO else ONE - s
            loss += positive + math.log(product)
    return loss


@njit(cache=True, error_model="numpy", fastmath=FAST)
def exponentials(o, c, highest, total):
    """Logits o + c become exp(logit - the row's maximum) in place; maxima and row sums are kept for the normaliser."""
    for d in range(o.shape[0]):
        row = o[d]
        top = np.float32(-np.inf)
        for w in range(row.size):
            logit = row[w] + c[w]
            row[w] = logit
            top = logit if logit > top else top
        add = ZERO
        for w in range(row.size):
            e = exp(row[w] - top)
            row[w] = e
            add = add + e
        highest[d] = top
        total[d] = add


@njit(cache=True)
def is_kept(seed, entry, dropout):
    """Whether the dropout keeps an entry: a hash of (seed, entry), so the same on every thread and in every pass."""
    h = (np.uint64(seed) + np.uint64(entry)) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    h = h ^ (h >> np.uint64(31))
    return np.float64(h >> np.uint64(11)) * 2.0**-53 >= dropout


@njit(cache=True)
def nth_largest(values, size, n):
    """The n-th largest (from 1) of values[:size] by quickselect; the order of ``values`` is lost."""
    low, high, want = 0, size - 1, n - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if want <= j:
            high = j
        elif want >= i:
            low = i
        else:
            break
    return values[want]


@njit(cache=True)
def compete_on_side(z, a, role, sign, share, alpha, scratch):
    """One side (sign +1 or -1) of one document's competition: fills ``a`` and ``role`` where sign * z > 0.

    A role is the sign for a winner and twice the sign for a loser; the rules are those of ``kate.compete``.
    """
    size = 0
    for j in range(z.size):
        if sign * z[j] > 0:
            scratch[size] = sign * z[j]
            size += 1
    threshold = np.float32(-1.0)  # everybody wins
    ties_that_win = 0
    if size > share:
        threshold = np.float32(np.inf)
        if share > 0:
            threshold = nth_largest(scratch, size, share)
            ties_that_win = share
            for j in range(size):
                if scratch[j] > threshold:
                    ties_that_win -= 1
    energy = ZERO
    for j in range(z.size):
        value = sign * z[j]
        if value > 0:
            if value > threshold:
                role[j] = sign
            elif value == threshold and ties_that_win > 0:
                role[j] = sign
                ties_that_win -= 1
            else:
                role[j] = 2 * sign
                energy += z[j]
    for j in range(z.size):
        if role[j] == sign:
            a[j] = z[j] + alpha * energy


@njit(cache=True, error_model="numpy", fastmath=FAST)
def adam(p, g, first, second, rate, decay1, decay2, epsilon, correct1, correct2):
    """One Adam step on a vector, in place; ``correct1`` and ``correct2`` undo the moments' start at zero."""
    for j in range(p.size):
        first[j] = decay1 * first[j] + (ONE - decay1) * g[j]
        second[j] = decay2 * second[j] + (ONE - decay2) * g[j] * g[j]
        p[j] -= rate * (first[j] * correct1) / (np.sqrt(second[j] * correct2) + epsilon)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def adadelta(p, g, squares, changes, rate, rho, epsilon):
    """One Adadelta step on a vector, in place, with the running means of squared gradients and squared changes."""
    for j in range(p.size):
        squares[j] = rho * squares[j] + (ONE - rho) * g[j] * g[j]
        change = g[j] * np.sqrt(changes[j] + epsilon) / np.sqrt(squares[j] + epsilon)
        changes[j] = rho * changes[j] + (ONE - rho) * change * change
        p[j] -= rate * change
