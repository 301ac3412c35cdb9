"""Hits: what a search found, the best first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from kate.search.passages import Passage, on_one_line
from kate.storage.json_values import as_json

__all__ = ["Hit", "Hits"]


@dataclass(frozen=True)
class Hit:
    """A document that was found.

    Attributes
    ----------
    rank : counts from 1, over all pages of results
    score : of both halves at most 1; by meaning the cosine, by words the BM25
    id, label, title : of the document
    snippet : the passage that matches, on one line, without characters that could disturb a terminal
    marks : where the words of the query stand in the snippet, as (start, end)
    columns : the other columns of the document
    """

    rank: int
    score: float
    id: str
    label: str | None
    title: str | None
    snippet: str
    marks: tuple[tuple[int, int], ...] = ()
    columns: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON can hold it."""
        return {
            "rank": self.rank,
            "score": self.score,
            "id": self.id,
            "label": self.label,
            "title": self.title,
            "snippet": self.snippet,
            "marks": [list(mark) for mark in self.marks],
            "columns": as_json(self.columns, strict=False),
        }


class Hits(list[Hit]):
    """The hits of a search, a list.

    ``suggestions`` has the words of the query that no document holds, each with words that are spelled alike.
    """

    def __init__(self, hits: Iterable[Hit] = (), suggestions: dict[str, list[str]] | None = None) -> None:
        super().__init__(hits)
        self.suggestions = suggestions or {}

    @classmethod
    def of(
        cls,
        documents: pl.DataFrame,
        scores: Sequence[float],
        passages: Sequence[Passage],
        offset: int = 0,
        suggestions: dict[str, list[str]] | None = None,
    ) -> Hits:
        """The hits of documents (id, label, title and the other columns), with their scores and passages."""
        hits = []
        rows = documents.iter_rows(named=True)
        for rank, (row, score, passage) in enumerate(zip(rows, scores, passages, strict=True), offset + 1):
            own = {name: row.pop(name) for name in ("id", "label", "title")}
            if own["title"] is not None:
                own["title"] = on_one_line(own["title"])
            hits.append(Hit(rank, score, **own, snippet=passage.text, marks=passage.marks, columns=row))
        return cls(hits, suggestions)
