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
SIGN_BIT = np.int32(-(2**31))
INFINITY_BITS = np.int32(0x7F800000)  # above the bits of every finite float


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


@njit(cache=True, error_model="numpy")
def _smallest_winner(sizes, share):
    """A size that parts the ``share`` largest from the others, as far as ties let it, by bisection over a float's bits.

    Counting how many are at least so large is a vector loop without a branch, which a sort or a quickselect is not.
    """
    low, high = np.int32(1), INFINITY_BITS  # more than ``share`` sizes are >= low, fewer are >= high
    while high - low > 1:
        middle = np.int32(low + (high - low) // 2)
        count = 0
        for j in range(sizes.size):
            count += sizes[j] >= middle
        if count == share:
            return middle
        if count > share:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True, error_model="numpy")
def _settle_ties(sizes, threshold, share):
    """Where more than ``share`` are at least the threshold, the last that equal it lose: their size turns negative."""
    spare = share
    for j in range(sizes.size):
        spare -= sizes[j] > threshold
    for j in range(sizes.size):
        if sizes[j] == threshold:
            if spare > 0:
                spare -= 1
            else:
                sizes[j] = -threshold


@njit(cache=True, error_model="numpy", fastmath=FAST)
def compete_on_side(z, bits, a, role, sign, share, alpha, sizes):
    """One side (sign +1 or -1) of one document's competition: fills ``a`` and ``role`` where sign * z > 0.

    A role is the sign for a winner and twice the sign for a loser; the rules are those of ``kate.compete``. ``bits`` is
    ``z`` read as integers: of positive floats the larger has the larger bits.
    """
    n = 0
    for j in range(z.size):
        size = bits[j] if sign > 0 else np.int32(bits[j] ^ SIGN_BIT)
        sizes[j] = size if size > 0 else np.int32(0)
        n += size > 0
    threshold, energy = np.int32(1), ZERO  # everybody wins
    if n > share:
        threshold = _smallest_winner(sizes, share) if share > 0 else INFINITY_BITS
        n_winners = 0
        for j in range(z.size):
            n_winners += sizes[j] >= threshold
        if n_winners > share:
            _settle_ties(sizes, threshold, share)
        for j in range(z.size):
            energy += z[j] if sizes[j] != 0 and sizes[j] < threshold else ZERO
    for j in range(z.size):
        has_won = sizes[j] >= threshold
        has_lost = sizes[j] != 0 and sizes[j] < threshold
        a[j] = z[j] + alpha * energy if has_won else a[j]
        role[j] = sign if has_won else (np.int8(2 * sign) if has_lost else role[j])


@njit(cache=True, error_model="numpy", fastmath=FAST)
def turn(W, turned):
    """turned = Wᵀ, eight rows at a time.

    The rows of ``turned`` are a little longer than they need be: with a power of two they would share cache sets.
    """
    whole = W.shape[0] - W.shape[0] % 8
    for first in range(0, whole, 8):
        for j in range(W.shape[1]):
            for w in range(8):
                turned[j, first + w] = W[first + w, j]
    for w in range(whole, W.shape[0]):
        for j in range(W.shape[1]):
            turned[j, w] = W[w, j]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def turn_back(turned, scale, W):
    """W = scale · turnedᵀ, eight rows at a time."""
    whole = W.shape[0] - W.shape[0] % 8
    for first in range(0, whole, 8):
        for j in range(W.shape[1]):
            for w in range(8):
                W[first + w, j] = scale * turned[j, first + w]
    for w in range(whole, W.shape[0]):
        for j in range(W.shape[1]):
            W[w, j] = scale * turned[j, w]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def add_rows(a, who, turned, o):
    """o = Σ a[j] turned[j] over the neurons j in ``who``, eight at a time: so often is a row of o read and written."""
    T = o.size
    for w in range(T):
        o[w] = ZERO
    for i in range(0, who.size - 7, 8):
        t0, t1, t2, t3 = turned[who[i]], turned[who[i + 1]], turned[who[i + 2]], turned[who[i + 3]]
        t4, t5, t6, t7 = turned[who[i + 4]], turned[who[i + 5]], turned[who[i + 6]], turned[who[i + 7]]
        a0, a1, a2, a3 = a[who[i]], a[who[i + 1]], a[who[i + 2]], a[who[i + 3]]
        a4, a5, a6, a7 = a[who[i + 4]], a[who[i + 5]], a[who[i + 6]], a[who[i + 7]]
        for w in range(T):
            o[w] += (a0 * t0[w] + a1 * t1[w] + a2 * t2[w] + a3 * t3[w]) + (
                a4 * t4[w] + a5 * t5[w] + a6 * t6[w] + a7 * t7[w]
            )
    for i in range(who.size - who.size % 8, who.size):
        row, by = turned[who[i]], a[who[i]]
        for w in range(T):
            o[w] += by * row[w]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def dot_rows(o, who, turned, scale, out):
    """out[j] += scale · (o · turned[j]) for the neurons j in ``who``, four at a time."""
    T = o.size
    for i in range(0, who.size - 3, 4):
        t0, t1, t2, t3 = turned[who[i]], turned[who[i + 1]], turned[who[i + 2]], turned[who[i + 3]]
        s0, s1, s2, s3 = ZERO, ZERO, ZERO, ZERO
        for w in range(T):
            s0 += o[w] * t0[w]
            s1 += o[w] * t1[w]
            s2 += o[w] * t2[w]
            s3 += o[w] * t3[w]
        out[who[i]] += scale * s0
        out[who[i + 1]] += scale * s1
        out[who[i + 2]] += scale * s2
        out[who[i + 3]] += scale * s3
    for i in range(who.size - who.size % 4, who.size):
        row, s = turned[who[i]], ZERO
        for w in range(T):
            s += o[w] * row[w]
        out[who[i]] += scale * s


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
        change = g[j] * np.sqrt((changes[j] + epsilon) / (squares[j] + epsilon))
        changes[j] = rho * changes[j] + (ONE - rho) * change * change
        p[j] -= rate * change
