"""A corpus as people have it in Python (texts, a pandas or Polars frame) → Documents, and back to what it was."""

from __future__ import annotations

from typing import Any

import polars as pl

from kate.text.documents import Documents, first_repeated
from kate.text.fields import Fields, choose_fields

__all__ = ["as_documents", "like_given"]

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
    return Documents.from_texts(corpus) if frame is None else _documents_of(frame, text)


def like_given(corpus: Any, frame: pl.DataFrame) -> Any:
    """A result as the corpus was given: the columns of a frame by their own names, in pandas if it was pandas.

    >>> given = pl.DataFrame({"body": ["A tax bill"]})
    >>> like_given(given, as_documents(given).frame.with_columns(topic=pl.lit(3))).columns
    ['body', 'topic']
    """
    given = _as_polars(corpus)
    if given is None:
        return frame
    added = [name for name in frame.columns if name not in {*_OWN, *given.columns}]
    clash = [name for name in frame.columns if name.startswith("topic") and name in given.columns]
    result = given.drop(clash).with_columns(frame.select(*added, *clash))
    if isinstance(corpus, pl.DataFrame):
        return result
    restored = result.to_pandas()
    restored.index = corpus.index
    return restored


def _as_polars(corpus: Any) -> pl.DataFrame | None:
    if isinstance(corpus, pl.LazyFrame):
        return corpus.collect()
    if isinstance(corpus, pl.DataFrame):
        return corpus
    if type(corpus).__module__.startswith("pandas") and hasattr(corpus, "columns"):
        return pl.from_pandas(corpus)
    return None


def _documents_of(frame: pl.DataFrame, text: str | None) -> Documents:
    fields = choose_fields(frame.columns, Fields(text=text), "the frame")
    texts = frame[fields.text or ""]
    if texts.dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise ValueError(
            f"the column {fields.text!r} holds {texts.dtype}; expected strings: choose another (text=)"
        )
    missing = texts.is_null().arg_true()
    if len(missing):
        raise ValueError(
            f"row {missing[0]} of the frame has no text (column {fields.text!r}); drop such rows, or fill them with ''"
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
