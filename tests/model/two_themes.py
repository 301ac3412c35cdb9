"""Counts of documents of two themes: what belongs together is known."""

import numpy as np
from scipy.sparse import csr_matrix

__all__ = ["two_themes"]


def two_themes(n_docs=60, n_words=20, seed=0):
    """Documents of two themes with words of their own: even rows use the first half of the words, odd the second."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n_docs, n_words), dtype=int)
    half = n_words // 2
    for row in range(n_docs):
        words = rng.integers(0, half, size=12) + (row % 2) * half
        np.add.at(X[row], words, 1)
    return csr_matrix(X), np.arange(n_docs) % 2
