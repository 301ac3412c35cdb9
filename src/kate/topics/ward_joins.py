"""Ward's rule: of all pairs of clusters, join the two whose union is least scattered, until one is left.

SciPy's linkage counts every cluster as one document; here it weighs as much as it has documents.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["joined", "joined_by_group", "joins_of_parts", "parted"]

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Numbers = NDArray[np.int64]


def joined(means: NDArray[np.floating], sizes: Numbers) -> tuple[Numbers, Doubles]:
    """Ward's joins of clusters, given their means (n, d) and sizes (n,): the nodes of every join, and its cost.

    >>> joins, costs = joined(np.array([[0.0], [1.0], [5.0]]), np.array([1, 1, 2]))
    >>> joins.tolist(), costs.round(2).tolist()
    ([[0, 1], [2, 3]], [0.5, 20.25])
    """
    n = len(means)
    points, weights = np.asarray(means, dtype=np.float64), sizes.astype(np.float64)
    squares = (points**2).sum(axis=1)
    cost = np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0)
    cost *= weights[:, None] * weights / (weights[:, None] + weights)
    np.fill_diagonal(cost, np.inf)
    nodes, joins, costs = np.arange(n), np.empty((max(n - 1, 0), 2), dtype=np.int64), np.empty(max(n - 1, 0))
    for step in range(n - 1):
        kept, gone = sorted(divmod(int(cost.argmin()), n))
        least = cost[kept, gone]
        joins[step], costs[step] = sorted((nodes[kept], nodes[gone])), least
        both = weights + weights[kept] + weights[gone]
        # the cost of joining any other with the union, from the costs of joining it with each (Lance and Williams)
        to_union = (weights + weights[kept]) * cost[kept] + (weights + weights[gone]) * cost[gone]
        to_union = (to_union - weights * least) / both
        to_union[[kept, gone]] = np.inf
        cost[gone], cost[:, gone] = np.inf, np.inf
        cost[kept], cost[:, kept] = to_union, to_union
        weights[kept] += weights[gone]
        nodes[kept] = n + step
    return joins, costs


def joined_by_group(
    sums: Floats, sizes: Numbers, groups: Numbers, upper: Numbers | None = None
) -> tuple[Numbers, Doubles]:
    """The joins within each group of clusters, the least costly first, and after them those of the groups.

    sums : (n, d), of the vectors of each cluster's documents
    groups : (n,), the group of each cluster, from 0 without gaps
    upper : (n_groups - 1, 2), how the groups are joined; None: by Ward's rule

    >>> sums, sizes = np.array([[0.0], [10.0], [1.0], [12.0]]), np.array([1, 1, 1, 1])
    >>> joined_by_group(sums, sizes, np.array([0, 1, 0, 1]))[0].tolist()
    [[0, 2], [1, 3], [4, 5]]
    """
    n, n_groups = len(sizes), int(groups.max(initial=0)) + 1
    members = [np.flatnonzero(groups == group) for group in range(n_groups)]
    within = [joined(sums[own] / sizes[own, None], sizes[own]) for own in members]
    order = sorted(
        (cost, group, step)
        for group, (_, costs) in enumerate(within)
        # rounding may turn two joins of a group around
        for step, cost in enumerate(np.maximum.accumulate(costs).tolist())
    )
    nodes = [own.tolist() for own in members]  # of each group: its clusters, then what its joins made
    joins, found = [], []
    for made, (cost, group, step) in enumerate(order, n):
        joins.append(sorted(nodes[group][node] for node in within[group][0][step].tolist()))
        found.append(cost)
        nodes[group].append(made)
    group_sums = np.stack([sums[own].sum(axis=0) for own in members])
    group_sizes = np.array([sizes[own].sum() for own in members])
    if upper is None:
        upper, costs = joined(group_sums / group_sizes[:, None], group_sizes)
    else:
        costs = _costs_of(upper, group_sums, group_sizes)
    tops = [of_group[-1] for of_group in nodes] + list(range(n + len(joins), 2 * n - 1))
    joins += [sorted((tops[one], tops[other])) for one, other in upper.tolist()]
    return np.array(joins, dtype=np.int64).reshape(-1, 2), np.array([*found, *costs.tolist()])


def _costs_of(joins: Numbers, sums: Floats, sizes: Numbers) -> Doubles:
    """What given joins cost by Ward's rule."""
    clusters = [(row.astype(np.float64), size) for row, size in zip(sums, sizes.tolist(), strict=True)]
    costs = []
    for one, other in joins.tolist():
        (sum_one, n_one), (sum_other, n_other) = clusters[one], clusters[other]
        distance = ((sum_one / n_one - sum_other / n_other) ** 2).sum()
        costs.append(distance * n_one * n_other / (n_one + n_other))
        clusters.append((sum_one + sum_other, n_one + n_other))
    return np.array(costs, dtype=np.float64)


def parted(joins: Numbers, n: int, n_parts: int) -> Numbers:
    """For each of ``n`` clusters its part, when all joins but the last ones are made.

    >>> parted(np.array([[0, 2], [1, 3]]), 3, 2).tolist()
    [1, 0, 1]
    """
    return np.unique(_nodes(joins, n, n_parts), return_inverse=True)[1].reshape(-1)


def joins_of_parts(joins: Numbers, n: int, n_parts: int, used: Numbers) -> Numbers:
    """The joins that :func:`parted` leaves out, of those parts that are ``used``, which are numbered without gaps.

    >>> joins = np.array([[0, 2], [1, 3], [4, 5]])
    >>> [joins_of_parts(joins, 4, 3, np.array(used)).tolist() for used in ([0, 1, 2], [1, 2])]
    [[[0, 1], [2, 3]], [[0, 1]]]
    """
    number = {node: part for part, node in enumerate(np.unique(_nodes(joins, n, n_parts))[used].tolist())}
    found: list[list[int]] = []
    for made, pair in enumerate(joins[n - n_parts :].tolist(), 2 * n - n_parts):
        there = [number.pop(node) for node in pair if node in number]
        if len(there) == 2:
            number[made] = len(used) + len(found)
            found.append(sorted(there))
        elif there:
            number[made] = there[0]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _nodes(joins: Numbers, n: int, n_parts: int) -> Numbers:
    """For each of ``n`` clusters the node that it belongs to when ``n_parts`` are left."""
    nodes = np.arange(n)
    for made, pair in enumerate(joins[: n - n_parts], n):
        nodes[np.isin(nodes, pair)] = made
    return nodes
