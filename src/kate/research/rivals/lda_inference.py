"""LDA's mean-field iteration for documents, compiled: for encoding, and for training by gensim and scikit-learn.

    γ = α + Σ_w counts_w · φ_w        φ_w ∝ exp ψ(γ) · strengths_w

exp ψ(x) is computed as one function, without logarithms: ψ(x) = ψ(x + 4) - Σ 1 / (x + i) over i = 0 … 3, and
exp ψ(x + 4) has a short asymptotic series, in powers of x + 3.5. benchmarks/rivals.py compares it with the libraries.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.cpu.machine_code import compiled_once
from kate.engines.cpu.simd_memory import float_of_bits

__all__ = ["converge"]

Floats = NDArray[np.float32]

_exact: Any = partial(compiled_once, fastmath={"contract"})
# Sums may be taken in any order, so that LLVM can use vector instructions.
_kernel: Any = partial(compiled_once, fastmath={"contract", "reassoc", "nsz"})
_LARGEST = np.float32(1e8)  # beyond it Σ 1 / (x + i) is negligible, and its denominators would overflow


def converge(
    X: csr_matrix,
    words: Floats,
    prior: Floats,
    gamma: Floats,
    *,
    iterations: int,
    tolerance: float,
    epsilon: float = 0.0,
    statistics: Floats | None = None,
) -> int:
    """Iterate each document's γ, in place, until its mean change is below the tolerance; returns how many converged.

    ``words`` (n_words, n_components) are strengths, ``prior`` (n_components,) is α, ``gamma`` (n_docs, n_components)
    the start. ``epsilon`` is added to a word's likelihood, Σ_topics exp E[ln θ] · strengths. Where ``statistics``
    (n_words, n_components) are given, counts_w · exp E[ln θ] / likelihood_w of every document is added to them.

    >>> words = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    >>> gamma = np.ones((1, 2), dtype=np.float32)
    >>> converge(csr_matrix([[4, 4, 1]]), words, np.ones(2, np.float32), gamma, iterations=50, tolerance=1e-3)
    1
    >>> gamma
    array([[9., 2.]], dtype=float32)
    """
    collect = statistics is not None
    return int(
        _converge(
            X.indptr,
            X.indices,
            X.data.astype(np.float32, copy=False),
            np.ascontiguousarray(words, dtype=np.float32),
            np.ascontiguousarray(prior, dtype=np.float32),
            gamma,
            iterations,
            np.float32(tolerance),
            float(epsilon),
            statistics if collect else np.empty((0, words.shape[1]), dtype=np.float32),
            collect,
        )
    )


@_kernel
def _converge(
    indptr, indices, counts, words, prior, gamma, iterations, tolerance, epsilon, statistics, collect
):
    n_components = words.shape[1]
    longest = 0
    for document in range(gamma.shape[0]):
        longest = max(longest, indptr[document + 1] - indptr[document])
    # the strengths of the document's words, one row after the other
    own = np.empty((longest, n_components), dtype=np.float32)
    theta = np.empty(n_components, dtype=np.float32)
    sums = np.empty(n_components, dtype=np.float32)
    n_converged = 0
    for document in range(gamma.shape[0]):
        start, end = indptr[document], indptr[document + 1]
        for entry in range(start, end):
            word = indices[entry]
            for topic in range(n_components):
                own[entry - start, topic] = words[word, topic]
        current = gamma[document]
        floor = _expect(current, theta, epsilon)
        for _ in range(iterations):
            _share(own, counts[start:end], theta, sums, floor)
            change = np.float32(0)
            for topic in range(n_components):
                moved = prior[topic] + theta[topic] * sums[topic]
                change += abs(moved - current[topic])
                current[topic] = moved
            floor = _expect(current, theta, epsilon)
            if change < tolerance * n_components:
                n_converged += 1
                break
        if collect:
            _collect(own, counts[start:end], indices[start:end], theta, floor, statistics)
    return n_converged


@_kernel
def _share(own, counts, theta, sums, floor):
    """sums = Σ_w counts_w / likelihood_w · strengths_w."""
    n_components = len(theta)
    for topic in range(n_components):
        sums[topic] = 0
    for entry in range(len(counts)):
        share = counts[entry] / _likelihood(own, entry, theta, floor)
        for topic in range(n_components):
            sums[topic] += share * own[entry, topic]


@_kernel
def _collect(own, counts, words, theta, floor, statistics):
    for entry in range(len(counts)):
        share = counts[entry] / _likelihood(own, entry, theta, floor)
        word = words[entry]
        for topic in range(len(theta)):
            statistics[word, topic] += share * theta[topic]


@_kernel
def _likelihood(own, entry, theta, floor):
    total = np.float32(0)
    for topic in range(len(theta)):
        total += theta[topic] * own[entry, topic]
    return total + floor


@_kernel
def _expect(gamma, theta, epsilon):
    """theta = exp ψ(γ) relative to the largest, so that not all of them underflow; returns ε on that scale.

    The scale, exp ψ(Σ γ), cancels out everywhere else.
    """
    largest, total = gamma[0], np.float32(0)
    for topic in range(len(gamma)):
        largest = max(largest, gamma[topic])
        total += gamma[topic]
    highest = _reciprocals(largest)
    scale = np.float32(1) / _far_exp_psi(largest)
    for topic in range(len(gamma)):
        x = gamma[topic]
        theta[topic] = scale * _far_exp_psi(x) * _exp(highest - _reciprocals(x))
    if epsilon == 0:
        return np.float32(0)
    apart = np.float64(highest) - np.float64(_reciprocals(total))
    return np.float32(epsilon * scale * _far_exp_psi(total) * np.exp(apart))


@_exact
def exp_psi(x, result):
    """exp ψ of positive numbers, 0 where it is below 1e-38."""
    for i in range(len(x)):
        result[i] = _far_exp_psi(x[i]) * _exp(-_reciprocals(x[i]))


@_exact
def _reciprocals(x):
    """1/x + 1/(x + 1) + 1/(x + 2) + 1/(x + 3); the first is computed alone: it may be large."""
    x = min(x, _LARGEST)
    three = np.float32(11) + x * (np.float32(12) + x * np.float32(3))
    return np.float32(1) / x + three / (np.float32(6) + x * (np.float32(11) + x * (np.float32(6) + x)))


@_exact
def _far_exp_psi(x):
    """exp ψ(x + 4) to about 2e-7."""
    y = x + np.float32(3.5)
    r = np.float32(1) / (y * y)
    p = np.float32(-37 / 5760) + r * np.float32(10313 / 2903040)
    return y * (np.float32(1) + r * (np.float32(1 / 24) + r * p))


@_exact
def _exp(x):
    """exp of numbers up to 0, 0 below -87: x = n ln 2 + r, exp r by a polynomial, 2^n made from its bits."""
    bounded = max(x, np.float32(-87))
    n = np.rint(bounded * np.float32(1.44269504))
    # ln 2 in two parts, so that r is exact
    r = bounded - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
    p = np.float32(1 / 720) + r * np.float32(1 / 5040)
    p = np.float32(1 / 24) + r * (np.float32(1 / 120) + r * p)
    p = np.float32(1) + r * (np.float32(1) + r * (np.float32(0.5) + r * (np.float32(1 / 6) + r * p)))
    power = float_of_bits((np.int32(n) + np.int32(127)) << np.int32(23))
    return p * power if x > np.float32(-87) else np.float32(0)
