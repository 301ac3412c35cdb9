"""Approximate search by a graph of neighbours (HNSW, of usearch): a search looks at some thousand vectors, not at all.

The graph finds candidates with its own copy of the vectors, in half precision. They are scored with the vectors
themselves, so that a hit has the same score as in an exact search. Documents without a known word are not in the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kate.extras import install_command
from kate.search.exact_search import Ranking, VectorRows, nearest_rows, rank_rows
from kate.search.graph_file import require_sound
from kate.storage.checked_files import BlockFile
from kate.storage.folders import FolderError
from kate.threads import thread_count

if TYPE_CHECKING:
    from usearch.index import BatchMatches, Matches
    from usearch.index import Index as UsearchIndex

__all__ = ["GraphFacts", "NeighbourGraph", "require_usearch"]

Floats = NDArray[np.float32]

# Links from a document to others; twice as many on the lowest level.
_LINKS = 16
# The links of a new document are chosen among so many candidates.
_BUILD_DEPTH = 128
# Candidates that a search keeps: the first number that finds enough is taken.
_DEPTHS = (64, 128, 256, 512, 1024)
# What the sample must reach, so that other queries reach 0.95.
_WANTED_RECALL = 0.97
# Documents whose neighbours are searched for: half of them choose the depth, the other half measure the recall.
_SAMPLE = 512
_RECALL_AT = 10
_ROWS_AT_ONCE = 65_536
_REMEDY = "the index is damaged; copy it again or index the documents anew"


@dataclass(frozen=True)
class GraphFacts:
    """What was chosen and measured when a graph was built.

    ``recall_at_10`` is the share of the exact ten nearest documents that the graph found. The queries were
    ``n_queries`` documents of the index, each left out of its own answer; none of them helped to choose ``depth``.
    """

    depth: int
    recall_at_10: float
    n_queries: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class NeighbourGraph:
    """Approximate neighbours among the rows of some vectors."""

    def __init__(self, facts: GraphFacts, open_usearch: Callable[[], UsearchIndex]) -> None:
        """Use :meth:`build` or :meth:`load`; the graph is opened when it is first used."""
        self.facts = facts
        self._open = open_usearch

    @classmethod
    def build(cls, vectors: Floats, n_jobs: int | None = None) -> NeighbourGraph:
        """Link every row of ``vectors`` (of length 1, or 0) to its neighbours.

        One thread (``n_jobs=1``) gives the same graph every time; several (None: all cores) are faster, but a few links
        depend on which thread comes first.
        """
        neighbours = _usearch().Index(
            ndim=vectors.shape[1],
            metric="ip",
            dtype="bf16",
            connectivity=_LINKS,
            expansion_add=_BUILD_DEPTH,
        )
        threads = thread_count(n_jobs)
        for first in range(0, len(vectors), _ROWS_AT_ONCE):
            block = np.ascontiguousarray(vectors[first : first + _ROWS_AT_ONCE])
            rows = np.flatnonzero(block.any(axis=1))
            if rows.size:
                neighbours.add(rows + first, block[rows], threads=threads)
        return cls(_measured(neighbours, vectors), lambda: neighbours)

    def nearest(self, vectors: VectorRows, queries: Floats, top: int) -> list[Ranking]:
        """Like :func:`kate.search.exact_search.nearest_rows`, but a few of the nearest rows may be missed.

        More than ``facts.depth`` rows are searched for exactly: the graph would have to be read as a whole.
        """
        if top > self.facts.depth:
            return nearest_rows(vectors, queries, top)
        candidates = _candidates(self._neighbours, queries, self.facts.depth)
        return [rank_rows(vectors, query, rows, top) for query, rows in zip(queries, candidates, strict=True)]

    def save(self, path: Path) -> None:
        self._neighbours.save(path)

    @classmethod
    def load(cls, file: BlockFile, facts: GraphFacts, shape: tuple[int, ...]) -> NeighbourGraph:
        """The graph that ``save`` wrote for vectors of ``shape``; the file is checked as a whole when it is first used.

        A damaged graph would lead usearch to addresses outside of it.
        """
        return cls(facts, lambda: _mapped(file, shape))

    @cached_property
    def _neighbours(self) -> UsearchIndex:
        return self._open()


def _mapped(file: BlockFile, shape: tuple[int, ...]) -> UsearchIndex:
    usearch_index = _usearch()
    file.check()
    path = file.path
    try:
        require_sound(file.buffer, shape[0])
        neighbours: UsearchIndex | None = usearch_index.Index.restore(file.buffer, view=True)
    except (RuntimeError, ValueError) as error:
        raise FolderError(f"{path} is not a graph of usearch ({error}): {_REMEDY}") from None
    if neighbours is None:
        raise FolderError(f"{path} is not a graph of usearch: {_REMEDY}")
    if neighbours.ndim != shape[1] or len(neighbours) > shape[0]:
        raise FolderError(
            f"{path} has {len(neighbours):,} vectors of {neighbours.ndim} numbers, the index {shape[0]:,} of "
            f"{shape[1]}: {_REMEDY}"
        )
    return neighbours


def _candidates(neighbours: UsearchIndex, queries: Floats, depth: int) -> list[NDArray[np.int64]]:
    """For each query the rows that the graph proposes, to be scored with the vectors."""
    count = min(depth, len(neighbours))
    if not count:
        return [np.empty(0, np.int64)] * len(queries)
    neighbours.expansion_search = depth  # type: ignore[misc]  # it has a setter that the stubs do not know
    try:
        matches: Matches | BatchMatches = neighbours.search(
            np.ascontiguousarray(queries), count, threads=thread_count(None)
        )
    except RuntimeError as error:
        raise FolderError(f"the graph of neighbours does not answer ({error}): {_REMEDY}") from None
    # for a single query usearch gives one row, without its length
    keys: Any = np.atleast_2d(matches.keys)
    counts: Any = np.atleast_1d(getattr(matches, "counts", keys.shape[1]))
    return [row[:n].astype(np.int64) for row, n in zip(keys, counts, strict=True)]


def _measured(neighbours: UsearchIndex, vectors: Floats) -> GraphFacts:
    """The smallest depth that finds enough on half of a sample of documents, and its recall on the other half."""
    with_words = np.flatnonzero(vectors.any(axis=1))
    sample = np.random.default_rng(0).permutation(with_words)[:_SAMPLE]
    queries = np.ascontiguousarray(vectors[sample])
    expected = nearest_rows(vectors, queries, _RECALL_AT + 1)
    choosing = slice(0, len(sample) // 2)
    measuring = slice(len(sample) // 2, None)

    def recall(depth: int, part: slice) -> float:
        asked = queries[part]
        found = [
            rank_rows(vectors, query, rows, _RECALL_AT + 1)
            for query, rows in zip(asked, _candidates(neighbours, asked, depth), strict=True)
        ]
        shares = map(_recall, found, expected[part], sample[part].tolist())
        return float(np.mean([share for share in shares if share is not None] or [1.0]))

    depth = next((depth for depth in _DEPTHS if recall(depth, choosing) >= _WANTED_RECALL), _DEPTHS[-1])
    return GraphFacts(depth, round(recall(depth, measuring), 4), len(sample[measuring]))


def _recall(found: Ranking, expected: Ranking, itself: int) -> float | None:
    """The share of a document's nearest that were found; of equally near ones any counts. None if it has none."""
    others = expected.scores[expected.rows != itself][:_RECALL_AT]
    if not others.size:
        return None
    return float((found.scores[found.rows != itself][:_RECALL_AT] >= others[-1]).sum() / others.size)


def require_usearch() -> None:
    """Raise ImportError now if the extra is missing."""
    _usearch()


def _usearch() -> Any:
    try:
        import usearch.index
    except ImportError as error:
        raise ImportError(
            f"approximate search needs the package usearch: {install_command('ann')} (an index that was "
            "made with it can be searched without it: kate search --exact)"
        ) from error
    return usearch.index
