"""A graph of neighbours (HNSW, by usearch): a search looks at some thousands of vectors instead of all of them.

The graph keeps its own copy of the vectors in half the precision to find candidates; they are scored with the vectors
themselves, so that a hit has the same score as in an exact search. Documents without a known word are not in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kate.search.exact import Nearest, best_of, nearest, thread_count
from kate.storage.folders import FolderError

if TYPE_CHECKING:
    from usearch.index import BatchMatches, Matches
    from usearch.index import Index as Neighbours

__all__ = ["Graph", "GraphFacts", "require_usearch"]

Floats = NDArray[np.float32]

_LINKS = 16  # of a document to others; twice as many on the lowest level
_DEPTH_OF_BUILDING = 128  # candidates that a new document's links are chosen from
_DEPTHS = (64, 128, 256, 512, 1024)  # candidates that a search keeps: the first that finds enough
_WANTED_RECALL = 0.97  # of the sample, so that other queries reach 0.95
_SAMPLE = 512  # documents asked for their neighbours: half to choose the depth by, half to measure
_RECALL_AT = 10
_ROWS_AT_ONCE = 65_536
_REMEDY = "the index is damaged; copy it again or index the documents anew"


@dataclass(frozen=True)
class GraphFacts:
    """What was chosen and measured when a graph was built.

    ``recall_at_10`` is the share of the exact ten nearest documents that the graph found, over ``n_queries`` documents
    of the index as queries, themselves left out, that had no part in choosing ``depth``.
    """

    depth: int
    recall_at_10: float
    n_queries: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Graph:
    """Approximate neighbours among the rows of some vectors."""

    def __init__(self, facts: GraphFacts, open_neighbours: Callable[[], Neighbours]) -> None:
        """Use :meth:`build` or :meth:`load`; the graph is opened when it is first asked."""
        self.facts = facts
        self._open = open_neighbours

    @classmethod
    def build(cls, vectors: Floats, n_jobs: int | None = None) -> Graph:
        """Link every row of ``vectors`` (of length 1, or 0) to its neighbours.

        One thread (``n_jobs=1``) gives the same graph every time; several (None: all) are quicker, and the order in
        which they come decides about a few links.
        """
        neighbours = _usearch().Index(
            ndim=vectors.shape[1],
            metric="ip",
            dtype="bf16",
            connectivity=_LINKS,
            expansion_add=_DEPTH_OF_BUILDING,
        )
        threads = thread_count() if n_jobs is None or n_jobs < 1 else n_jobs
        for first in range(0, len(vectors), _ROWS_AT_ONCE):
            block = np.ascontiguousarray(vectors[first : first + _ROWS_AT_ONCE])
            rows = np.flatnonzero(block.any(axis=1))
            if rows.size:
                neighbours.add(rows + first, block[rows], threads=threads)
        return cls(_measured(neighbours, vectors), lambda: neighbours)

    def nearest(self, vectors: Floats, queries: Floats, top: int) -> list[Nearest]:
        """As :func:`kate.search.exact.nearest`, but a few of the nearest may be missed.

        More than ``facts.depth`` rows are found exactly: the graph would have to be walked through as a whole.
        """
        if top > self.facts.depth:
            return nearest(vectors, queries, top)
        candidates = _candidates(self._neighbours, queries, self.facts.depth)
        return [best_of(vectors, query, rows, top) for query, rows in zip(queries, candidates, strict=True)]

    def save(self, path: Path) -> None:
        self._neighbours.save(path)

    @classmethod
    def load(cls, path: Path, facts: GraphFacts, shape: tuple[int, ...]) -> Graph:
        """The graph that ``save`` wrote for vectors of ``shape``, mapped into memory rather than read."""
        return cls(facts, lambda: _mapped(path, shape))

    @cached_property
    def _neighbours(self) -> Neighbours:
        return self._open()


def _mapped(path: Path, shape: tuple[int, ...]) -> Neighbours:
    usearch_index = _usearch()
    try:
        neighbours: Neighbours | None = usearch_index.Index.restore(path, view=True)
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


def _candidates(neighbours: Neighbours, queries: Floats, depth: int) -> list[NDArray[np.int64]]:
    """The rows that the graph proposes for each query: all that the search kept, for the scores to decide."""
    count = min(depth, len(neighbours))
    if not count:
        return [np.empty(0, np.int64)] * len(queries)
    neighbours.expansion_search = depth  # type: ignore[misc]  # it has a setter, added in another way
    matches: Matches | BatchMatches = neighbours.search(
        np.ascontiguousarray(queries), count, threads=thread_count()
    )
    keys: Any = np.atleast_2d(matches.keys)  # for a single query usearch gives one row, without its length
    counts: Any = np.atleast_1d(getattr(matches, "counts", keys.shape[1]))
    return [row[:n].astype(np.int64) for row, n in zip(keys, counts, strict=True)]


def _measured(neighbours: Neighbours, vectors: Floats) -> GraphFacts:
    """The least depth that finds enough on half of a sample of documents, and what it finds on the other half."""
    with_words = np.flatnonzero(vectors.any(axis=1))
    sample = np.random.default_rng(0).permutation(with_words)[:_SAMPLE]
    queries = np.ascontiguousarray(vectors[sample])
    expected = nearest(vectors, queries, _RECALL_AT + 1)
    choosing = slice(0, len(sample) // 2)
    measuring = slice(len(sample) // 2, None)

    def recall(depth: int, part: slice) -> float:
        asked = queries[part]
        found = [
            best_of(vectors, query, rows, _RECALL_AT + 1)
            for query, rows in zip(asked, _candidates(neighbours, asked, depth), strict=True)
        ]
        shares = map(_recall, found, expected[part], sample[part].tolist())
        return float(np.mean([share for share in shares if share is not None] or [1.0]))

    depth = next((depth for depth in _DEPTHS if recall(depth, choosing) >= _WANTED_RECALL), _DEPTHS[-1])
    return GraphFacts(depth, round(recall(depth, measuring), 4), len(sample[measuring]))


def _recall(found: Nearest, expected: Nearest, itself: int) -> float | None:
    """The share of a document's nearest that were found, any of equally near ones; None where it has none."""
    others = expected.scores[expected.rows != itself][:_RECALL_AT]
    if not others.size:
        return None
    return float((found.scores[found.rows != itself][:_RECALL_AT] >= others[-1]).sum() / others.size)


def require_usearch() -> None:
    """Complain now if the extra is missing."""
    _usearch()


def _usearch() -> Any:
    try:
        import usearch.index
    except ImportError as error:
        raise ImportError(
            "approximate search needs the package usearch: pip install 'kate-text[ann]' (an index that has been "
            "made with it can be searched without it: kate search --exact)"
        ) from error
    return usearch.index
