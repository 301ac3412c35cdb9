"""The order of hits: by score, or by a column of the documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.errors import quoted
from kate.search.exact_search import Ranking
from kate.spelling import did_you_mean

__all__ = ["SORTED_AMONG", "SortBy"]

# So many documents, the best by score, are sorted by a column: further down are those that hardly match.
SORTED_AMONG = 100


@dataclass(frozen=True)
class SortBy:
    """A column, and whether the highest comes first; no column is the order of the scores.

    >>> SortBy.read("-year", ["year"]), SortBy.read("year desc", ["year"]) == SortBy.read("-year", ["year"])
    (SortBy(column='year', falling=True), True)
    """

    column: str | None = None
    falling: bool = False

    @classmethod
    def read(cls, sort: str | None, columns: list[str]) -> SortBy:
        """What ``sort`` says: a column, -column, or the word score."""
        if sort is None or sort.strip().lower() in {"score", "-score"}:
            return cls()
        name, *direction = sort.strip().rsplit(" ", 1) if sort not in columns else [sort]
        if direction and direction[0].lower() not in {"asc", "desc"}:
            name, direction = sort.strip(), []
        falling = bool(direction) and direction[0].lower() == "desc"
        if name not in columns and name.startswith("-"):
            name, falling = name[1:], True
        if name not in columns:
            known = ["score", *columns]
            raise ValueError(f"no column is named {quoted(name)}; {did_you_mean(name, known)}")
        return cls(name, falling)

    def among(self, n_wanted: int) -> int:
        """How many of the best documents must be found for so many hits."""
        return n_wanted if self.column is None else max(SORTED_AMONG, n_wanted)

    def sorted(self, found: Ranking, values: Callable[[NDArray[np.int64], str], pl.Series]) -> Ranking:
        """The hits in this order; documents without a value come last, equals stay in the order of their scores."""
        if self.column is None or not len(found.rows):
            return found
        column = values(found.rows, self.column)
        order = (
            column.to_frame("value")
            .with_row_index("place")
            .sort("value", descending=self.falling, nulls_last=True, maintain_order=True)["place"]
            .to_numpy()
        )
        return Ranking(found.rows[order], found.scores[order])
