"""Near-duplicates: documents with nearly the same words, looked for among those of nearly the same meaning."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kate.search.store import DocumentStore

__all__ = ["DuplicateGroup", "find_duplicates"]

Rows = NDArray[np.int64]

# Neighbours of a document that are looked at, and how near they must be: copies have cosines of nearly 1.
_NEIGHBOURS = 50
_LEAST_COSINE = 0.8
_ROWS_AT_ONCE, _PAIRS_AT_ONCE = 512, 20_000


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


def _near_pairs(vectors: NDArray[np.float32]) -> tuple[Rows, Rows]:
    """Pairs of documents, the earlier first, of nearly the same meaning; of each at most its nearest ones."""
    found: list[Rows] = [np.empty((0, 2), np.int64)]
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        # each pair is looked at once: with the documents from here on
        cosines = vectors[start : start + _ROWS_AT_ONCE] @ vectors[start:].T
        cosines[np.tri(*cosines.shape, dtype=np.bool_)] = -1
        if cosines.shape[1] > _NEIGHBOURS:
            crowded = np.flatnonzero(np.count_nonzero(cosines >= _LEAST_COSINE, axis=1) > _NEIGHBOURS)
            least = -np.partition(-cosines[crowded], _NEIGHBOURS, axis=1)[:, _NEIGHBOURS, None]
            cosines[crowded] = np.where(cosines[crowded] >= least, cosines[crowded], -1)
        found.append(np.argwhere(cosines >= _LEAST_COSINE) + start)
    pairs = np.concatenate(found)
    return pairs[:, 0], pairs[:, 1]


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
    members: dict[int, list[int]] = {}
    for place in np.union1d(first, second).tolist():
        members.setdefault(int(group_of[place]), []).append(place)
    least: dict[int, float] = {}
    for place, overlap in zip(first.tolist(), overlaps.tolist(), strict=True):
        group = int(group_of[place])
        least[group] = min(least.get(group, 1.0), overlap)
    found = []
    for group, places in sorted(members.items(), key=lambda item: (-len(item[1]), item[1])):
        shown = store.documents(rows[places])
        found.append(DuplicateGroup(tuple(shown["id"]), tuple(shown["title"]), round(least[group], 4)))
    return found
