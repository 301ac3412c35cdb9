"""TF-IDF: rare words have a higher weight, and repeating a word adds only a little."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

__all__ = ["inverse_document_frequencies", "weigh"]


def inverse_document_frequencies(X: csr_matrix) -> NDArray[np.float32]:
    """idf (n_words,): 1 + ln((1 + n_docs) / (1 + documents with the word)).

    >>> inverse_document_frequencies(csr_matrix([[2, 0], [1, 0]])).round(3)
    array([1.   , 2.099], dtype=float32)
    """
    frequencies = np.bincount(X.indices[X.data > 0], minlength=X.shape[1])
    return np.asarray(1 + np.log((1 + X.shape[0]) / (1 + frequencies)), dtype=np.float32)


def weigh(X: csr_matrix, idf: NDArray[Any], *, sublinear: bool = True) -> csr_matrix:
    """Rows of length 1: (1 + ln counts) · idf, or counts · idf; a document without words stays 0.

    >>> weigh(csr_matrix([[1, 1], [0, 0]]), np.ones(2)).toarray().round(3)
    array([[0.707, 0.707],
           [0.   , 0.   ]], dtype=float32)
    """
    weights = csr_matrix(X, dtype=np.float32, copy=True)
    weights.eliminate_zeros()
    if sublinear:
        weights.data = 1 + np.log(weights.data)
    weights.data *= idf[weights.indices].astype(np.float32)
    lengths = np.sqrt(np.asarray(weights.multiply(weights).sum(axis=1)).ravel())
    weights.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(weights.indptr))
    return weights
