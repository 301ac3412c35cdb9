"""The upper part of the tree of topics: some dozens of groups of documents that hardly depend on the seed.

Where a corpus has no clear groups, clusters have many ends that are equally good, and the smallest change of a vector
leads to another one. The vectors that training starts from are alike for all seeds, but know less. So they say which
documents lie together as far as some dozens of groups, and the trained vectors take it from there: the groups settle
among them, and they are what the groups are parted and joined by. Of short texts, training learns little about what is
near to what at large: there the start's vectors join the groups, too. docs/defaults.md tells what that gains.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kate.topics.leaf_clusters import cluster_sums, leaf_clusters, nearest_centres, settle
from kate.topics.ward_joins import joined, joins_of_parts, parted
from kate.unit_rows import unit_rows

__all__ = ["MOST_GROUPS", "coarse_groups"]

MOST_GROUPS = 40
_LEAVES_PER_GROUP = 4  # of a small corpus, which has fewer groups

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


def coarse_groups(vectors: Floats, coarse: Floats, n_leaves: int) -> tuple[Numbers, Numbers]:
    """The group of each document by its trained unit vector and its ``coarse`` one, (n_docs,), from 0 without gaps.

    And how the coarse vectors join these groups, (n_groups - 1, 2).
    """
    n_groups = min(MOST_GROUPS, n_leaves // _LEAVES_PER_GROUP)
    if n_groups < 2:
        return np.zeros(len(vectors), dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
    clusters = leaf_clusters(coarse, n_leaves)
    n_clusters = int(clusters.max()) + 1
    sizes = np.bincount(clusters, minlength=n_clusters)
    joins, _ = joined(cluster_sums(coarse, clusters, n_clusters) / sizes[:, None], sizes)
    n_groups = min(n_groups, n_clusters)
    groups = parted(joins, n_clusters, n_groups)[clusters]
    centres = settle(vectors, unit_rows(cluster_sums(vectors, groups, n_groups)))
    used, found = np.unique(nearest_centres(vectors, centres), return_inverse=True)
    return found.reshape(-1), joins_of_parts(joins, n_clusters, n_groups, used)
