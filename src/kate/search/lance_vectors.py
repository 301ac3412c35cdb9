"""Vectors of a table of LanceDB in memory: LanceDB reads all of them from its files for every exact search.

The first exact search of a version is LanceDB's, so that a single question costs no more than it must; from the second
one on the vectors are kept, and compared as those of the store of files are. A table that changes is read anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kate.search.exact_search import Ranking, nearest_rows, rank_rows
from kate.search.lance_table import VECTOR_COLUMN, cannot_read

__all__ = ["KeptVectors", "VectorKeeper", "vectors_in"]

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

# More is left to LanceDB, on disk: two million documents of 128 dimensions.
_MOST_BYTES = 2**30
# So many rows are compared one by one sooner than all are.
_FEW_ROWS = 50_000


@dataclass(frozen=True, eq=False)
class KeptVectors:
    """The rows of one version of a table, in order, and their vectors (n_docs, n_components)."""

    version: int
    rows: Rows
    vectors: Floats

    def of(self, rows: Rows, others: Callable[[Rows], Floats]) -> Floats:
        """The vectors of rows; ``others`` gives those that came after this version."""
        places, known = self._places(rows)
        vectors = self.vectors[places]
        vectors[~known] = others(rows[~known])
        return vectors

    def _places(self, rows: Rows) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where rows stand, and which of them do."""
        found = np.searchsorted(self.rows, rows).clip(max=len(self.rows) - 1)
        return found, self.rows[found] == rows

    def nearest(self, queries: Floats, top: int, allowed: Rows | None) -> list[Ranking]:
        """The nearest rows to each query, among all or some rows."""
        if allowed is None:
            found = nearest_rows(self.vectors, queries, top)
        else:
            found_places, known = self._places(np.sort(allowed))
            places = found_places[known]
            if len(places) <= _FEW_ROWS:
                found = [rank_rows(self.vectors, query, places, top) for query in queries]
            else:
                mask = np.zeros(len(self.rows), dtype=bool)
                mask[places] = True
                found = nearest_rows(self.vectors, queries, top, mask)
        return [Ranking(self.rows[one.rows], one.scores) for one in found]


class VectorKeeper:
    """Knows when the vectors of a table are worth keeping."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self._lock = threading.Lock()
        self._kept: KeptVectors | None = None
        self._asked_of: int | None = None

    def vectors(self, n_queries: int = 1) -> KeptVectors | None:
        """The vectors, if so many exact searches are not the first of this version; None: ask LanceDB."""
        with self._lock:
            version = int(self._table.version)
            if self._kept is not None and self._kept.version == version:
                return self._kept
            self._kept = None
            is_first, self._asked_of = self._asked_of != version, version
            n_rows, width = (
                int(self._table.count_rows()),
                self._table.schema.field(VECTOR_COLUMN).type.list_size,
            )
            if not n_rows or (is_first and n_queries == 1) or 4 * n_rows * width > _MOST_BYTES:
                return None
            try:
                self._kept = _read(self._table, version, n_rows, width)
            except (RuntimeError, ValueError, OSError) as error:
                raise cannot_read(error) from None
            return self._kept


def _read(table: Any, version: int, n_rows: int, width: int) -> KeptVectors:
    """Batch by batch, so that they are not in memory twice."""
    rows, vectors = np.empty(n_rows, np.int64), np.empty((n_rows, width), np.float32)
    start = 0
    for batch in table.search().with_row_id(True).select([VECTOR_COLUMN]).limit(n_rows).to_batches():
        part = slice(start, start + batch.num_rows)
        rows[part], vectors[part] = batch["_rowid"].to_numpy(), vectors_in(batch[VECTOR_COLUMN])
        start = part.stop
    if start != n_rows:  # what was not read would be anything
        raise ValueError(f"{start:,} vectors of {n_rows:,} rows")
    if (rows[1:] <= rows[:-1]).any():
        order = np.argsort(rows)
        rows, vectors = rows[order], vectors[order]
    return KeptVectors(version, rows, vectors)


def vectors_in(column: Any) -> Floats:
    """The vectors of a column of Arrow, one row each."""
    flat: Floats = column.flatten().to_numpy() if len(column) else np.zeros(0, np.float32)
    return flat.reshape(len(column), column.type.list_size)
