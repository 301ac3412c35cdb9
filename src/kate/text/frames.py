"""A corpus as people have it in Python (texts, a pandas or Polars frame) → Documents, and results back in its kind."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from kate.errors import quoted
from kate.text.documents import Documents, first_repeated
from kate.text.fields import Fields, choose_fields

__all__ = ["as_documents", "given_columns", "in_kind", "moved_names", "with_added"]

_OWN = ("text", "id", "label", "title")


def as_documents(corpus: Any, text: str | None = None) -> Documents:
    """Documents of texts, of lists of words, or of a frame, all of whose columns are kept.

    text : the column of a frame that holds the text; a usual name ("text", "body", …) is found without it

    >>> frame = pl.DataFrame({"body": ["A tax bill"], "year": [1790]})
    >>> as_documents(frame).frame.columns
    ['text', 'id', 'label', 'title', 'year']
    """
    if isinstance(corpus, Documents):
        return corpus
    if isinstance(corpus, str | bytes):
        raise TypeError("a corpus is several texts, not one string; give a list, or kate.read_corpus(path)")
    frame = _as_polars(corpus)
    return Documents.from_texts(_texts(corpus)) if frame is None else _documents_of(frame, text)


def _texts(corpus: Any) -> Any:
    """Texts, or lists of words; anything else is refused."""
    if isinstance(corpus, pl.Series) and corpus.dtype == pl.String and not corpus.null_count():
        return corpus
    if isinstance(corpus, Mapping) or not isinstance(corpus, Iterable):
        raise TypeError(
            f"a corpus is a list of texts, a frame or Documents, and this is of type {type(corpus).__name__}"
        )
    texts = list(corpus)
    for row, value in enumerate(texts):
        if not isinstance(value, str | list | tuple):
            raise TypeError(
                f"document {row} is {quoted(value, 40)}; every document must be a str (or every one a list of str): "
                "drop it or replace it by ''"
            )
    return texts


def given_columns(corpus: Any, documents: Documents) -> pl.DataFrame:
    """The columns of a corpus by the names that they have there: in a frame, or in the files that were read.

    >>> given = pl.DataFrame({"body": ["A tax bill"], "topic": ["money"]})
    >>> given_columns(given, as_documents(given)).columns
    ['body', 'topic']
    """
    given = _as_polars(corpus)
    if given is not None:
        return given
    return documents.frame if documents.source is None else documents.source


def with_added(
    corpus: Any, documents: Documents, added: Sequence[pl.Series], rows: Sequence[int] | None = None
) -> Any:
    """The corpus with new columns at the end, in pandas if it was pandas; a column that has such a name gets another.

    documents : those of the corpus
    rows : the documents that the new columns are of; None is all

    >>> given = pl.DataFrame({"body": ["A tax bill", "A treaty"]})
    >>> with_added(given, as_documents(given), [pl.Series("topic", [3])], rows=[1]).rows()
    [('A treaty', 3)]
    """
    names = [column.name for column in added]
    if _is_pandas(corpus):
        kept = corpus if rows is None else corpus.iloc[list(rows)]
        kept = kept.rename(columns=moved_names(list(map(str, kept.columns)), names))
        return kept.assign(**{column.name: _pandas_values(column) for column in added})
    frame = given_columns(corpus, documents)
    frame = frame if rows is None else frame[list(rows)]
    return frame.rename(moved_names(frame.columns, names)).with_columns(added)


def in_kind(corpus: Any, frame: pl.DataFrame) -> Any:
    """A frame as pandas if the corpus is pandas."""
    if not _is_pandas(corpus):
        return frame
    return _pandas().DataFrame({column.name: _pandas_values(column) for column in frame})


def moved_names(names: Sequence[str], added: Sequence[str]) -> dict[str, str]:
    """New names for columns of the corpus that have the name of one that is added, with a warning: nothing is lost.

    >>> moved_names(["text", "year"], ["topic"])
    {}
    """
    moved: dict[str, str] = {}
    taken = {*names, *added}
    for name in added:
        if name in names:
            ways = (f"{name}_given{number}" for number in ("", *range(2, len(taken) + 3)))
            moved[name] = next(way for way in ways if way not in taken)
            taken.add(moved[name])
    if moved:
        told = ", ".join(f"{quoted(name)} is now {quoted(new)}" for name, new in moved.items())
        warnings.warn(
            f"the corpus has columns of the names that are added; its own are kept: {told}",
            UserWarning,
            stacklevel=4,
        )
    return moved


def _is_pandas(corpus: Any) -> bool:
    return type(corpus).__module__.partition(".")[0] == "pandas" and hasattr(corpus, "columns")


def _pandas() -> Any:
    """Loaded already where it is asked for, and never needed otherwise."""
    return sys.modules["pandas"]


def _pandas_values(column: pl.Series) -> Any:
    """Values for a pandas column; whole numbers stay such where some are missing."""
    if column.dtype == pl.Int64:
        return _pandas().array(column.to_list(), dtype="Int64")
    return column.to_list() if column.dtype.is_nested() or column.dtype == pl.String else column.to_numpy()


def _as_polars(corpus: Any) -> pl.DataFrame | None:
    if isinstance(corpus, pl.LazyFrame):
        return corpus.collect()
    if isinstance(corpus, pl.DataFrame):
        return corpus
    return _of_pandas(corpus) if _is_pandas(corpus) else None


def _of_pandas(frame: Any) -> pl.DataFrame:
    """Column by column: one of mixed values becomes strings."""
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the frame has several columns named {quoted(twice)}; give each a name of its own")
    columns = []
    for place, name in enumerate(names):
        values = frame.iloc[:, place]
        try:
            column = pl.Series(pl.from_pandas(values))
        except (TypeError, ValueError, OverflowError):
            strings = [None if value is None or value != value else str(value) for value in values]  # noqa: PLR0124
            column = pl.Series(strings, dtype=pl.String)
        columns.append(column.alias(name))
    return pl.DataFrame(columns)


def _documents_of(frame: pl.DataFrame, text: str | None) -> Documents:
    fields = choose_fields(frame.columns, Fields(text=text), "the frame")
    texts = frame[fields.text or ""]
    if texts.dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise ValueError(
            f"the column {quoted(fields.text)} holds {texts.dtype}; expected strings: choose another (text=)"
        )
    missing = texts.is_null().arg_true()
    if len(missing):
        raise ValueError(
            f"row {missing[0]} of the frame has no text (column {quoted(fields.text)}); drop such rows, or fill "
            "them with ''"
        )
    columns = {"text": texts.cast(pl.String)}
    for role in ("id", "label", "title"):
        name = fields.given.get(role)
        usable = name is not None and not frame[name].dtype.is_nested()
        columns[role] = (
            frame[name or ""].cast(pl.String) if usable else pl.Series([None] * len(frame), dtype=pl.String)
        )
    if columns["id"].null_count() or first_repeated(columns["id"]) is not None:
        columns["id"] = pl.Series(range(len(frame)), dtype=pl.Int64).cast(pl.String)
    taken = {*_OWN, *fields.given.values()}
    others = [frame[name] for name in frame.columns if name not in taken]
    return Documents(pl.DataFrame([column.alias(name) for name, column in columns.items()] + others))
