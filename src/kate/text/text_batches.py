"""Texts of any kind in batches of about the same length, every document checked: a string, or a list of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from kate.errors import quoted
from kate.threads import require_own_threads

__all__ = ["PlainTexts", "is_encodable", "text_batches"]

# Characters of a batch: enough to keep a thread busy, few enough that its list of distinct chunks stays small.
CHARACTERS_AT_ONCE = 2_000_000

# Strings, or lists of words.
PlainTexts: TypeAlias = Iterable[str] | Iterable[Sequence[str]]


def text_batches(texts: PlainTexts, size: int | None = None) -> Iterator[pl.Series]:
    """Batches of about ``size`` characters; every document is checked to be a string, or a list of strings.

    >>> [len(batch) for batch in text_batches(["four", "more", "words"], size=8)]
    [2, 1]
    >>> [batch.to_list() for batch in text_batches([["cut", "already"], ["words"]])]
    [[['cut', 'already'], ['words']]]
    """
    require_own_threads()
    size = size or CHARACTERS_AT_ONCE
    kind = type(texts).__name__
    if isinstance(texts, str | bytes):
        raise TypeError(f"expected a list of texts, got one {kind}; put it in a list: [text]")
    if isinstance(texts, Mapping) or hasattr(texts, "columns") or getattr(texts, "ndim", 1) != 1:
        raise TypeError(f"expected a list of texts, got a {kind}; pass its column of texts")
    if not isinstance(texts, Iterable):
        raise TypeError(f"expected a list of texts, got {kind}")
    return _series_batches(texts, size) if isinstance(texts, pl.Series) else _list_batches(texts, size)


def _series_batches(texts: pl.Series, size: int) -> Iterator[pl.Series]:
    are_lists = texts.dtype == pl.List(pl.String)
    if texts.dtype != pl.String and not are_lists and len(texts) > 0:
        raise TypeError(f"expected texts, got a Polars series of {texts.dtype}; cast it to String")
    if texts.null_count():
        raise TypeError(_not_a_text(int(texts.is_null().arg_max() or 0), None))
    # a word is taken for eight characters
    lengths = texts.list.len() * 8 if are_lists else texts.cast(pl.String).str.len_bytes()
    ends = lengths.cum_sum().to_numpy()
    start = 0
    while start < len(texts):
        reach = (int(ends[start - 1]) if start else 0) + size
        stop = max(start + 1, int(np.searchsorted(ends, reach, side="right")))
        yield texts.slice(start, stop - start)
        start = stop


def _list_batches(texts: Iterable[Any], size: int) -> Iterator[pl.Series]:
    batch: list[Any] = []
    length = 0
    # the first document tells: lists of words, or strings
    are_lists = False
    for position, given in enumerate(texts):
        text: Any = given.tolist() if isinstance(given, np.ndarray) and given.ndim == 1 else given
        if position == 0:
            are_lists = isinstance(text, list | tuple)
        if not (_are_words(text) if are_lists else isinstance(text, str)):
            raise TypeError(_not_a_text(position, text))
        width = 8 * len(text) if are_lists else len(text)
        if batch and length + width > size:
            yield _as_series(batch, position)
            batch, length = [], 0
        batch.append(text)
        length += width
    if batch:
        yield _as_series(batch, position + 1)


def _are_words(text: Any) -> bool:
    return isinstance(text, list | tuple) and all(isinstance(word, str) for word in text)


def _as_series(batch: list[Any], end: int) -> pl.Series:
    try:
        return pl.Series(batch, dtype=pl.String if isinstance(batch[0], str) else pl.List(pl.String))
    # half a surrogate pair, from a decoder that ignored errors
    except UnicodeEncodeError as error:
        broken = next(i for i, text in enumerate(batch) if not is_encodable(text))
        raise ValueError(
            f"document {end - len(batch) + broken} holds a character that is not valid Unicode "
            f'({error.reason}); clean it with text.encode("utf-8", "replace").decode("utf-8")'
        ) from None


def is_encodable(text: str | Iterable[str]) -> bool:
    try:
        "".join(text).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _not_a_text(position: int, found: object) -> str:
    what = "None" if found is None else f"{quoted(found, 40)} ({type(found).__name__})"
    return (
        f"document {position} is {what}; every document must be a str (or every one a list of str): drop it or "
        "replace it by ''"
    )
