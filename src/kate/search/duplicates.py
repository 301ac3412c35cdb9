"""Near-duplicates: documents with nearly the same words, looked for among those of nearly the same meaning."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from kate.search.exact_search import nearest_rows
from kate.search.store import DocumentStore

__all__ = ["DuplicateGroup", "find_duplicates"]

Rows = NDArray[np.int64]

# Neighbours of a document that are looked at, and how near they must be: copies have cosines of nearly 1.
_NEIGHBOURS = 20
_LEAST_COSINE = 0.8


@dataclass(frozen=True)
class DuplicateGroup:
    """Documents that say the same: their ids, in the order of the index, and the least overlap of linked ones."""

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
    parts = list(store.all_documents())
    rows = np.concatenate([part[0] for part in parts])
    vectors = np.concatenate([part[1] for part in parts])
    words = [held for part in parts for held in part[2]]
    first, second = _near_pairs(vectors)
    overlaps = _overlaps(words, first, second)
    kept = overlaps >= threshold
    return _groups(store, rows, first[kept], second[kept], overlaps[kept])


def _near_pairs(vectors: NDArray[np.float32]) -> tuple[Rows, Rows]:
    """Pairs of documents, the earlier first, that are among each other's nearest."""
    found = nearest_rows(vectors, vectors, _NEIGHBOURS + 1)
    lengths = [int(np.searchsorted(-one.scores, -_LEAST_COSINE, side="right")) for one in found]
    first = np.repeat(np.arange(len(vectors)), lengths)
    second = np.concatenate([one.rows[:n] for one, n in zip(found, lengths, strict=True)])
    pairs = np.unique(np.sort(np.column_stack([first, second])[first != second], axis=1), axis=0)
    return pairs[:, 0], pairs[:, 1]


def _overlaps(words: list[Any], first: Rows, second: Rows) -> NDArray[np.float64]:
    sets = {row: frozenset(np.asarray(words[row]).tolist()) for row in np.union1d(first, second).tolist()}
    shared = np.empty(len(first))
    for pair, (one, other) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        a, b = sets[one], sets[other]
        n_shared = len(a & b)
        shared[pair] = n_shared / max(1, len(a) + len(b) - n_shared)
    return shared


def _groups(
    store: DocumentStore, rows: Rows, first: Rows, second: Rows, overlaps: NDArray[np.float64]
) -> list[DuplicateGroup]:
    if not len(first):
        return []
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
