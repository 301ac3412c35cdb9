"""Queries: one or two words ask for documents. Needs no judgements: a hit holds the word, or shares the label.

A word is asked that is neither rare nor everywhere: in more than 20 documents and in less than 3 % of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kate.research.metrics.arrays import as_indicator, sorted_classes

__all__ = ["Similarity", "askable_words", "one_word_precision", "two_word_precision"]

MORE_DOCUMENTS_THAN = 20
SMALLER_SHARE_THAN = 0.03
N_QUERIES = 300
TOP = 10

Similarity = Callable[[sp.csr_matrix], NDArray[np.floating[Any]]]
"""Queries as counts (n_queries, n_words) → their scores with the documents (n_queries, n_documents)."""


def askable_words(X: sp.csr_matrix | sp.csr_array) -> NDArray[np.int64]:
    """The columns of the words that may be asked for, of counts (n_documents, n_words).

    >>> import scipy.sparse as sp
    >>> X = sp.csr_array(([1] * 30, ([*range(25), *range(5)], [0] * 25 + [1] * 5)), shape=(1000, 2))
    >>> askable_words(X).tolist()
    [0]
    """
    present = sp.csr_array(X) > 0
    df = np.bincount(present.indices, minlength=X.shape[1])
    return np.flatnonzero((df > MORE_DOCUMENTS_THAN) & (df < SMALLER_SHARE_THAN * X.shape[0]))


def one_word_precision(X: sp.csr_matrix | sp.csr_array, similarity: Similarity) -> float:
    """The share of the ten best documents that hold the word, over 300 words drawn at random (all where fewer).

    ``X`` are the counts of the documents that are searched. A document with score 0 or less is no answer.
    """
    words = askable_words(X)
    if words.size == 0:
        raise ValueError(
            f"no word is in more than {MORE_DOCUMENTS_THAN} and less than {SMALLER_SHARE_THAN:.0%} of the "
            f"{X.shape[0]:,} documents: too few documents to ask for words"
        )
    asked = np.random.default_rng(0).permutation(words)[:N_QUERIES]
    holds = sp.csc_array(sp.csr_array(X) > 0)[:, asked].toarray().T  # (n_queries, n_documents)
    rows, answered = _best(similarity(_as_queries(asked[:, None], X.shape[1])))
    return float((np.take_along_axis(holds, rows, axis=1) & answered).mean())


def two_word_precision(
    X: sp.csr_matrix | sp.csr_array,
    labels: Any,
    held_out: sp.csr_matrix | sp.csr_array,
    held_out_labels: Any,
    similarity: Similarity,
) -> float:
    """The share of the ten best documents that share a label with the held-out document both words come from.

    ``labels`` are one class per document, or an indicator matrix (n_documents, n_labels).
    """
    random = np.random.default_rng(0)
    askable = np.zeros(X.shape[1], dtype=bool)
    askable[askable_words(X)] = True
    documents = sp.csr_array(held_out)
    pairs, sources = [], []
    for row in random.permutation(documents.shape[0]):
        own = documents.indices[documents.indptr[row] : documents.indptr[row + 1]]
        own = own[askable[own]]
        if own.size >= 2:
            pairs.append(random.choice(own, 2, replace=False))
            sources.append(row)
        if len(pairs) == N_QUERIES:
            break
    if not pairs:
        raise ValueError("no held-out document has two words that may be asked for: too few documents")
    rows, answered = _best(similarity(_as_queries(np.array(pairs), X.shape[1])))
    same = _shared_labels(labels, held_out_labels, np.array(sources), rows)
    return float((same & answered).mean())


def _as_queries(words: NDArray[np.integer[Any]], n_words: int) -> sp.csr_matrix:
    """Each row of word columns as the counts of a text that has each of them once."""
    n_queries, length = words.shape
    indptr = np.arange(0, n_queries * length + 1, length)
    ones = np.ones(words.size, dtype=np.float32)
    counts = sp.csr_matrix((ones, words.ravel().astype(np.int32), indptr), shape=(n_queries, n_words))
    counts.sort_indices()
    return counts


def _best(scores: NDArray[np.floating[Any]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The ten best documents of every query, and which of them are answers: with a score above 0."""
    scores = np.asarray(scores)
    rows = np.argsort(-scores, axis=1, kind="stable")[:, :TOP]
    return rows, np.take_along_axis(scores, rows, axis=1) > 0


def _shared_labels(
    labels: Any, held_out_labels: Any, sources: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.bool_]:
    if sp.issparse(labels) or getattr(labels, "ndim", 1) == 2:
        documents = as_indicator(labels, labels.shape[0], "labels")
        asked = as_indicator(held_out_labels, held_out_labels.shape[0], "held_out_labels")[sources]
        shared = np.einsum("ql,qdl->qd", asked.astype(np.int32), documents[rows].astype(np.int32))
        return np.asarray(shared > 0)
    classes = {label: code for code, label in enumerate(sorted_classes([*labels, *held_out_labels]))}
    codes = np.array([classes[label] for label in labels])
    asked_codes = np.array([classes[label] for label in np.asarray(held_out_labels)[sources]])
    return np.asarray(codes[rows] == asked_codes[:, None])
