"""Hits: what a search found, the best first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import polars as pl

from kate.notebook_html import cut_short, marked, table_html
from kate.search.passages import Passage, on_one_line
from kate.storage.json_values import as_json

__all__ = ["Hit", "Hits"]

_HEAD = ["rank", "score", "document", "text"]
_SHOWN = 50  # hits in a notebook


@dataclass(frozen=True)
class Hit:
    """A document that was found.

    Attributes
    ----------
    rank : int
        counts from 1, over all pages of results
    score : float
        of both halves at most 1; by meaning the cosine, by words the BM25
    id, label, title : str
        of the document
    snippet : str
        the passage that matches, on one line, without characters that could disturb a terminal
    marks : tuple[tuple[int, int], ...]
        where the words of the query stand in the snippet, as (start, end)
    columns : dict[str, Any]
        the other columns of the document

    Examples
    --------
    >>> import kate
    >>> texts = ["The treaty of peace was signed.", "Gold and silver coins."]
    >>> index = kate.Index.build(kate.TextModel(2, max_epochs=1).fit(texts * 5), texts)
    >>> hit = index.search("silver", by="words")[0]
    >>> hit.rank, hit.id, [hit.snippet[start:end] for start, end in hit.marks]
    (1, '1', ['silver'])
    """

    rank: int
    score: float
    id: str
    label: str | None
    title: str | None
    snippet: str
    marks: tuple[tuple[int, int], ...] = ()
    columns: dict[str, Any] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return table_html(_HEAD, [self._cells()])

    def _cells(self) -> list[str]:
        return [
            str(self.rank),
            f"{self.score:.3f}",
            escape(cut_short(self.title or self.id)),
            marked(self.snippet, self.marks),
        ]

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

    Examples
    --------
    >>> import kate
    >>> texts = ["The treaty of peace was signed.", "Gold and silver coins."]
    >>> index = kate.Index.build(kate.TextModel(2, max_epochs=1).fit(texts * 5), texts)
    >>> hits = index.search("silver traety", by="words")
    >>> len(hits), hits.suggestions
    (1, {'traety': ['treaty']})
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

    def _repr_html_(self) -> str:
        """For notebooks: a row for each hit, the words of the query marked."""
        rows = [hit._cells() for hit in self[:_SHOWN]]
        return table_html(_HEAD, rows, more=max(0, len(self) - _SHOWN))
