"""Near-duplicates: documents with nearly the same words, looked for among those of nearly the same meaning."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kate.search.store import DocumentStore
from kate.sparse_arrays import sparse

__all__ = ["DuplicateGroup", "find_duplicates"]

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

# Neighbours of a document that are looked at, and how near they must be: copies have cosines of nearly 1.
_NEIGHBOURS = 50
_LEAST_COSINE = 0.8
# A tile of cosines fits into a core's cache.
_ROWS_AT_ONCE, _COLUMNS_AT_ONCE = 512, 4096
_PAIRS_AT_ONCE = 20_000


@dataclass(frozen=True)
class DuplicateGroup:
    """Documents that say the same: their ids, in the order of the index, and the least overlap of linked ones.

    >>> import kate
    >>> texts = ["The treaty of peace was signed in Paris.", "The treaty of peace was signed in Paris!", "Gold coins."]
    >>> index = kate.Index.build(kate.TextModel(2, min_df=1, max_epochs=1).fit(texts * 5), texts)
    >>> [group.ids for group in index.duplicates()]
    [('0', '1')]
    """

    ids: tuple[str, ...]
    titles: tuple[str | None, ...]
    overlap: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def find_duplicates(store: DocumentStore, threshold: float = 0.8) -> list[DuplicateGroup]:
    """Groups of documents, each linked to another of its group by an overlap of words of ``threshold`` or more.

    The overlap is the number of words that two documents share, by the number of words that either has.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold is {threshold}; give a share of words above 0 and up to 1")
    everything = store.everything()
    first, second = _near_pairs(everything.vectors)
    overlaps = _overlaps(everything.words, first, second)
    kept = overlaps >= threshold
    return _groups(store, everything.rows, first[kept], second[kept], overlaps[kept])


def _near_pairs(vectors: Floats) -> tuple[Rows, Rows]:
    """Pairs of documents, the earlier first, of nearly the same meaning; of each at most its nearest ones."""
    different, copies = _copies(vectors)
    shown = vectors[different]
    found = [different[_nearest_after(shown, start)] for start in range(0, len(shown), _ROWS_AT_ONCE)]
    pairs = np.concatenate([copies, *found])
    return pairs[:, 0], pairs[:, 1]


def _copies(vectors: Floats) -> tuple[Rows, Rows]:
    """Rows without the copies of a vector that very many have; and pairs of these, each with the next ones."""
    bits = np.ascontiguousarray(vectors, np.float32).view(np.uint32)
    factors = np.random.default_rng(0).integers(2**63, size=bits.shape[1], dtype=np.uint64)
    checksums = np.einsum("ij,j->i", bits, factors, dtype=np.uint64)
    _, first, group_of, sizes = np.unique(
        checksums, return_index=True, return_inverse=True, return_counts=True
    )
    is_crowded = (sizes > _NEIGHBOURS)[group_of]
    is_crowded[~vectors.any(axis=1)] = False  # they mean nothing, and are near to nothing
    members = np.flatnonzero(is_crowded)
    members = members[np.argsort(group_of[members], kind="stable")]
    pairs = [np.empty((0, 2), np.int64)]
    for step in range(1, min(_NEIGHBOURS, len(members) - 1) + 1):
        together = np.stack([members[:-step], members[step:]], axis=1)
        pairs.append(together[group_of[together[:, 0]] == group_of[together[:, 1]]])
    is_crowded[first] = False
    return np.flatnonzero(~is_crowded), np.concatenate(pairs)


def _nearest_after(vectors: Floats, start: int) -> Rows:
    """Pairs of some rows with later ones: each pair is looked at once, a tile at a time, so that memory is bounded."""
    block = vectors[start : start + _ROWS_AT_ONCE]
    rows, columns, scores = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.float32)]
    for first in range(start, len(vectors), _COLUMNS_AT_ONCE):
        cosines = block @ vectors[first : first + _COLUMNS_AT_ONCE].T
        if first == start:
            cosines[np.tri(*cosines.shape, dtype=np.bool_)] = -1
        if cosines.max() < _LEAST_COSINE:
            continue
        is_near = cosines >= _LEAST_COSINE
        for row in np.flatnonzero(np.count_nonzero(is_near, axis=1) > _NEIGHBOURS).tolist():
            is_near[row] = False
            is_near[row, np.argpartition(-cosines[row], _NEIGHBOURS)[:_NEIGHBOURS]] = True
        here, there = np.nonzero(is_near)
        if len(here):
            rows.append(here + start)
            columns.append(there + first)
            scores.append(cosines[here, there])
    pairs, cosine = np.stack([np.concatenate(rows), np.concatenate(columns)], axis=1), np.concatenate(scores)
    pairs = pairs[np.lexsort((-cosine, pairs[:, 0]))]
    nth = np.arange(len(pairs)) - np.searchsorted(pairs[:, 0], pairs[:, 0])
    return pairs[nth < _NEIGHBOURS]


def _overlaps(words: sparse.csr_array, first: Rows, second: Rows) -> NDArray[np.float64]:
    """The words that two documents share, by those that either has."""
    sizes = np.diff(words.indptr)
    held = sparse.csr_array((np.ones(words.nnz, np.int32), words.indices, words.indptr), shape=words.shape)
    overlaps = np.empty(len(first))
    for start in range(0, len(first), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        shared: Rows = np.asarray(held[first[part]].multiply(held[second[part]]).sum(axis=1)).ravel()
        overlaps[part] = shared / np.maximum(1, sizes[first[part]] + sizes[second[part]] - shared)
    return overlaps


def _groups(
    store: DocumentStore, rows: Rows, first: Rows, second: Rows, overlaps: NDArray[np.float64]
) -> list[DuplicateGroup]:
    if not len(first):
        return []
    from scipy.sparse.csgraph import connected_components  # takes longer to import than a search

    links = sparse.coo_array((np.ones(len(first)), (first, second)), shape=(len(rows), len(rows)))
    _, group_of = connected_components(links, directed=False)
    places = np.union1d(first, second)
    ids, titles = (store.values(rows[places], name).to_list() for name in ("id", "title"))
    members: dict[int, list[int]] = {}
    for number, group in enumerate(group_of[places].tolist()):
        members.setdefault(group, []).append(number)
    least = np.ones(len(rows))
    np.minimum.at(least, group_of[first], overlaps)
    return [
        DuplicateGroup(
            tuple(ids[number] for number in numbers),
            tuple(titles[number] for number in numbers),
            round(float(least[group]), 4),
        )
        for group, numbers in sorted(members.items(), key=lambda item: (-len(item[1]), item[1]))
    ]
