"""Many small clusters of documents: k-means on unit vectors, the leaves of the tree of topics.

Our own few lines rather than scikit-learn's KMeans: its threads add up in the order in which they finish, so that two
runs differ in the last digits and sometimes in a cluster. Here the same vectors always give the same clusters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kate.sparse_arrays import sparse
from kate.unit_rows import unit_rows

__all__ = ["cluster_sums", "leaf_clusters", "leaves_in_groups", "nearest_centres", "settle"]

_ROUNDS = 15
_SETTLED = 0.001  # share of documents that still move when k-means may stop
_BLOCK = 2048  # documents compared with all centres at a time

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


def leaf_clusters(vectors: Floats, n_leaves: int) -> Numbers:
    """The cluster of each of the vectors (n_docs, d) of length 1; at most ``n_leaves``.

    Clusters are numbered in the order of their first documents. They start from documents picked by a fixed seed, not
    by that of the model: models of different seeds whose vectors agree get topics that agree. A better start
    (k-means++) made no better topics, since the leaves are joined anyway.
    """
    picked = np.random.default_rng(0).permutation(len(vectors))[:n_leaves]
    centres, clusters = vectors[np.sort(picked)], np.full(len(vectors), -1)
    for _ in range(_ROUNDS):
        nearest = nearest_centres(vectors, centres)
        n_moved = np.count_nonzero(nearest != clusters)
        clusters = nearest
        if n_moved <= _SETTLED * len(vectors):
            break
        sums = cluster_sums(vectors, clusters, n_leaves)
        used = np.bincount(clusters, minlength=n_leaves) > 0
        centres = np.where(used[:, None], unit_rows(sums), centres)
    return _by_first_document(clusters)


def leaves_in_groups(vectors: Floats, groups: Numbers, n_leaves: int) -> Numbers:
    """Small clusters of the documents of each group, as many as it has documents; at most ``n_leaves`` in all."""
    sizes = np.bincount(groups)
    clusters = np.full(len(vectors), -1)
    for group, size in enumerate(sizes.tolist()):
        rows = np.flatnonzero(groups == group)
        of_group = 1 + (n_leaves - len(sizes)) * size // len(vectors)
        clusters[rows] = clusters.max(initial=-1) + 1 + leaf_clusters(vectors[rows], of_group)
    return _by_first_document(clusters)


def settle(vectors: Floats, centres: Floats, rounds: int = 4) -> Floats:
    """Centres after a few rounds of k-means among the documents: seeds agree better, and labels a little."""
    for _ in range(rounds):
        nearest = nearest_centres(vectors, centres)
        used = np.bincount(nearest, minlength=len(centres)) > 0
        sums = cluster_sums(vectors, nearest, len(centres))
        centres = np.where(used[:, None], unit_rows(sums), centres)
    return centres


def _by_first_document(clusters: Numbers) -> Numbers:
    """Clusters numbered anew, in the order of their first documents."""
    _, first_documents, numbers = np.unique(clusters, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first_documents))[numbers.reshape(-1)]


def nearest_centres(vectors: Floats, centres: Floats) -> Numbers:
    """For each vector the row of the centre with the largest product; of equals the first."""
    nearest = np.empty(len(vectors), dtype=np.int64)
    turned = np.ascontiguousarray(centres.T)
    for first in range(0, len(vectors), _BLOCK):
        block = slice(first, first + _BLOCK)
        nearest[block] = (vectors[block] @ turned).argmax(axis=1)
    return nearest


def cluster_sums(vectors: Floats, clusters: Numbers, n_clusters: int) -> Floats:
    """The sum of the vectors of each cluster (n_clusters, d)."""
    ones = np.ones(len(vectors), dtype=np.float32)
    members = sparse.csr_array((ones, (clusters, np.arange(len(vectors)))), shape=(n_clusters, len(vectors)))
    return np.asarray(members @ vectors, dtype=np.float32)
