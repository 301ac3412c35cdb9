"""The hidden layer of a CPU step, there and back: encode, compete; and the gradient through both."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit, prange

from kate.engines.elementary import FAST, ONE, ZERO, compete_on_side, is_kept, sigmoid, tanh


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _encode(start, stop, rows, W, b, rule, z):
    """z = g(W x + b) for the entries start:stop of one document."""
    keep_scale = np.float32(1.0 / (1.0 - rule.dropout))
    z[:] = b
    for entry in range(start, stop):
        if rule.dropout == 0.0 or is_kept(rule.seed, entry, rule.dropout):
            x = rows.values[entry] * keep_scale
            row = W[rows.indices[entry]]
            for j in range(z.size):
                z[j] += x * row[j]
    if rule.sigmoid:
        for j in range(z.size):
            z[j] = sigmoid(z[j])
    else:
        for j in range(z.size):
            z[j] = tanh(z[j])


@njit(cache=True)
def _compete(z, bits, a, role, who, rule):
    """a = compete(z) for one document, and who won and lost; without winners everybody keeps what they have.

    Returns how many neurons are not silent; ``who`` lists them.
    """
    if rule.n_winners == 0:
        a[:] = z
        return z.size
    a[:] = ZERO
    role[:] = 0
    sizes = np.empty(z.size, np.int32)
    compete_on_side(z, bits, a, role, np.int8(1), (rule.n_winners + 1) // 2, rule.alpha, sizes)
    compete_on_side(z, bits, a, role, np.int8(-1), rule.n_winners // 2, rule.alpha, sizes)
    n = 0
    for j in range(z.size):
        who[n] = j
        n += abs(role[j]) == 1
    return n


@njit(cache=True)
def _hidden_document(d, doc, rows, W, b, rule, space):
    _encode(rows.indptr[doc], rows.indptr[doc + 1], rows, W, b, rule, space.Z[d])
    space.n_who[d] = _compete(space.Z[d], space.bits[d], space.A[d], space.role[d], space.who[d], rule)


@njit(cache=True, parallel=True)
def hidden_pass(rows, docs, W, b, rule, space):
    """Z = g(W x + b) and A = compete(Z), document by document."""
    for d in prange(docs.size):
        _hidden_document(np.int64(d), docs[d], rows, W, b, rule, space)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def hidden_back(rule, Z, role, part, n_groups, D):
    """The parts of dL/dA → D = dL/d(W x + b). Losers learn only through the winners' amplification."""
    for d in range(D.shape[0]):
        grad = D[d]
        grad[:] = part[0, d]
        for group in range(1, n_groups):
            more = part[group, d]
            for j in range(grad.size):
                grad[j] += more[j]
        if rule.n_winners > 0:
            positive, negative = ZERO, ZERO
            for j in range(grad.size):
                positive += grad[j] if role[d, j] == 1 else ZERO
                negative += grad[j] if role[d, j] == -1 else ZERO
            for j in range(grad.size):
                kind = role[d, j]
                if kind == 2:
                    grad[j] = rule.alpha * positive
                elif kind == -2:
                    grad[j] = rule.alpha * negative
                elif kind == 0:
                    grad[j] = ZERO
        for j in range(grad.size):
            z = Z[d, j]
            grad[j] *= z * (ONE - z) if rule.sigmoid else ONE - z * z
