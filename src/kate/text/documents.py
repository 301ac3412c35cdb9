"""Documents: texts with their ids, labels and titles, in one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import polars as pl

from kate.errors import quoted
from kate.notebook_html import cut_short, table_html
from kate.text.compressed_files import CorpusError
from kate.text.text_batches import is_encodable

__all__ = ["Documents"]

_ROWS, _COLUMNS = 5, 8  # in a notebook


@dataclass(frozen=True, eq=False)
class Documents:
    """A corpus in memory: every property is a view of one table.

    Attributes
    ----------
    frame : pl.DataFrame
        columns text, id (unique), label, title (null if there is none), then the other fields of the source.
    n_skipped, skipped : int
        malformed rows that were left out, and the messages about the first of them.
    source : pl.DataFrame or None
        the same rows with the columns of the files, by their own names and in their order; None where there were
        no files.

    Examples
    --------
    >>> documents = Documents.from_texts(["A tax bill", "A treaty"], labels=["money", "peace"])
    >>> len(documents), documents.ids, documents.labels, documents.titles
    (2, ['0', '1'], ['money', 'peace'], None)
    """

    frame: pl.DataFrame
    n_skipped: int = 0
    skipped: tuple[str, ...] = ()
    source: pl.DataFrame | None = None

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str] | Iterable[Sequence[str]],
        ids: Sequence[object] | None = None,
        labels: Sequence[object] | None = None,
        titles: Sequence[object] | None = None,
    ) -> Documents:
        """Documents from texts in memory; ids are running numbers unless they are given.

        A list of words becomes these words with spaces between them.
        """
        column = texts if isinstance(texts, pl.Series) else _column("text", list(map(_joined, texts)))
        if ids is None:
            ids = range(len(column))
        columns = {"text": column.alias("text")}
        for name, values in (("id", ids), ("label", labels), ("title", titles)):
            if values is not None and len(values) != len(column):
                raise CorpusError(
                    f"{len(values):,} {name}s for {len(column):,} texts; give one for each, or none"
                )
            strings = [None] * len(column) if values is None else [_string(value) for value in values]
            columns[name] = _column(name, strings)
        if (twice := first_repeated(columns["id"])) is not None:
            raise CorpusError(f"the id {quoted(twice)} is given to several documents; ids must be unique")
        return cls(pl.DataFrame(columns))

    @property
    def texts(self) -> pl.Series:
        return self.frame["text"]

    @property
    def ids(self) -> list[str]:
        return self.frame["id"].to_list()

    @property
    def labels(self) -> list[str | None] | None:
        """A label for each document, or None when no document has one."""
        return self._values("label")

    @property
    def titles(self) -> list[str | None] | None:
        """A title for each document, or None when no document has one."""
        return self._values("title")

    def __len__(self) -> int:
        return len(self.frame)

    def _repr_html_(self) -> str:
        """For notebooks: the first documents, long texts cut short."""
        columns = [column for column in self.frame if column.null_count() < len(column)]
        shown = self.frame.select(column.name for column in columns[:_COLUMNS]).head(_ROWS)
        rows = [[escape(cut_short(str(value))) for value in row] for row in shown.iter_rows()]
        table = table_html(shown.columns, rows, more=len(self) - len(rows))
        return f"<div><strong>{len(self):,} documents</strong>{table}</div>"

    def _values(self, name: str) -> list[str | None] | None:
        column = self.frame[name]
        return None if column.null_count() == len(column) else column.to_list()


def first_repeated(ids: pl.Series) -> str | None:
    """The first id that was seen before; None if all are different."""
    repeated = ids.filter(~ids.is_first_distinct())
    return None if repeated.is_empty() else str(repeated[0])


def _column(name: str, strings: list[Any]) -> pl.Series:
    try:
        return pl.Series(name, strings, dtype=pl.String)
    except UnicodeEncodeError:  # half a surrogate pair, from a decoder that ignored errors
        broken = next(i for i, one in enumerate(strings) if isinstance(one, str) and not is_encodable(one))
    raise CorpusError(
        f"the {name} of document {broken:,} holds half a character, which is not valid Unicode; clean it with "
        'text.encode("utf-8", "replace").decode("utf-8")'
    )


def _joined(text: Any) -> Any:
    return " ".join(text) if isinstance(text, list | tuple) else text


def _string(value: object) -> str | None:
    return None if value is None else str(value)
