"""The columns of the documents as a page shows them: numbers, dates, categories, texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.errors import quoted
from kate.explore.page_data import array_bytes, json_bytes
from kate.spelling import did_you_mean
from kate.text.dates import Dates, find_dates
from kate.text.documents import Documents

__all__ = ["NO_DATE", "ColumnParts", "column_parts", "shown_values"]

NO_DATE = -(2**31)
_MOST_CATEGORIES = 1_000
_FEW_OF_MANY = 0.5  # categories repeat: at most so many distinct values per document
_LONGEST = 200  # characters of a value that is shown; of a column whose mean is longer only its name is
_USUAL_DATES = ("date", "datetime", "timestamp", "time", "published", "created", "year")


@dataclass(frozen=True, eq=False)
class ColumnParts:
    """Columns and dates.

    columns : name, role ("id", "label", "title" or null) and kind of each, for the manifest
    date : its column, its first and its last day; None where there are no dates
    notes : what was left out, in sentences
    """

    parts: dict[str, bytes]
    columns: list[dict[str, Any]]
    date: dict[str, Any] | None
    notes: list[str]


def column_parts(documents: Documents, date: str | None = None) -> ColumnParts:
    """Every column but the text; ``date`` names that of the dates, and without it one with a usual name is taken."""
    named = _named_columns(documents)
    shown, columns, notes = [], [], list[str]()
    dates, chosen = _found_dates(named, notes) if date is None else _asked_dates(named, date, documents)
    for name, (role, column) in named.items():
        described = _described(column, is_date=name == chosen)
        if described is None:
            notes.append(f"The column {quoted(name)} holds {_shown_kind(column)} and is left out.")
            continue
        shown.append({"name": name, "role": role, **described})
        columns.append({"name": name, "role": role, "kind": described["kind"]})
    parts = {"documents": json_bytes({"columns": shown})}
    if dates is None or chosen is None:
        return ColumnParts(parts, columns, None, notes)
    days = dates.days.cast(pl.Int32).fill_null(NO_DATE).to_numpy().astype(np.int32)
    parts["dates"] = array_bytes(days)
    n_missing = int((days == NO_DATE).sum())
    if n_missing:
        notes.append(f"{n_missing:,} of {len(days):,} documents have no date in the column {quoted(chosen)}.")
    return ColumnParts(parts, columns, _span(dates, days, chosen), notes)


def shown_values(documents: Documents, names: Sequence[str]) -> dict[str, list[Any]]:
    """The values of some columns as a page shows them, of documents that it does not hold."""
    named = _named_columns(documents)
    found = {}
    for name in names:
        column = named.get(name, (None, pl.Series([None] * len(documents))))[1]
        found[name] = (
            _finite(column).to_list()
            if column.dtype.is_numeric()
            else _shortened(column.cast(pl.String)).to_list()
        )
    return found


def _span(dates: Dates, days: NDArray[np.int32], name: str) -> dict[str, Any]:
    known = days[days != NO_DATE]
    return {
        "column": name,
        "first": int(known.min()),
        "last": int(known.max()),
        "resolution": dates.resolution,
    }


def _named_columns(documents: Documents) -> dict[str, tuple[str | None, pl.Series]]:
    """Columns by the names that people know them by: those of their files, where there were files."""
    frame, source = documents.frame, documents.source
    named: dict[str, tuple[str | None, pl.Series]] = {"id": ("id", frame["id"])}
    for role in ("title", "label"):
        column = frame[role]
        if column.null_count() == len(column):
            continue
        given = None if source is None else _same_column(column, source)
        own = given is not None and given not in frame.columns[4:] and given != "id"
        named[given if own and given is not None else role] = (role, column)
    for name in frame.columns[4:]:
        # a column of the corpus may have the name of a role
        free = name if name not in named else f"{name} (column)"
        named[free] = (None, frame[name])
    return named


def _same_column(column: pl.Series, source: pl.DataFrame) -> str | None:
    """The column of the files that holds the same values."""
    for name in source.columns:
        other = source[name]
        if not other.dtype.is_nested() and other.cast(pl.String).equals(column, null_equal=True):
            return name
    return None


def _asked_dates(
    named: dict[str, tuple[str | None, pl.Series]], asked: str, documents: Documents
) -> tuple[Dates, str]:
    """The dates of the column that was asked for; it must hold some."""
    if asked not in named:
        raise ValueError(f"the corpus has no column {quoted(asked)}; {did_you_mean(asked, list(named))}")
    column = named[asked][1]
    found = find_dates(column, required=True, ids=documents.frame["id"])
    if found is None or found.days.null_count() == len(found.days):
        kind = _shown_kind(column) if found is None else "no value at all"
        raise ValueError(
            f"the column {quoted(asked)} holds {kind}; expected dates such as 1999-03-01, 1999-03 or 1999: "
            "choose another column, or leave date out"
        )
    return found, asked


def _found_dates(
    named: dict[str, tuple[str | None, pl.Series]], notes: list[str]
) -> tuple[Dates | None, str | None]:
    """The first column with a usual name that holds dates; one that nearly does is told in ``notes``."""
    by_folded = {name.casefold(): name for name in reversed(named)}
    for name in (by_folded[usual] for usual in _USUAL_DATES if usual in by_folded):
        try:
            found = find_dates(named[name][1], required=False)
        except ValueError as error:
            notes.append(f"The column {quoted(name)} is not used as dates: {error}.")
            continue
        if found is not None and found.days.null_count() < len(found.days):
            return found, name
    return None, None


def _described(column: pl.Series, *, is_date: bool) -> dict[str, Any] | None:
    """The kind and the values of a column; None for one that no page shows."""
    if is_date:  # its days are a part of their own; what was written is shown beside a document
        return {"kind": "date", **_coded(column.cast(pl.String))}
    if column.dtype.is_numeric():
        return {"kind": "number", "values": _finite(column).to_list()}
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object, pl.Null):
        return None
    strings = column.cast(pl.String)
    if (strings.str.len_chars().mean() or 0) > _LONGEST:  # type: ignore[operator]
        return None
    shortened = _shortened(strings)
    n_distinct = shortened.n_unique()
    if n_distinct <= _MOST_CATEGORIES and n_distinct <= max(_FEW_OF_MANY * len(column), 2):
        return {"kind": "category", **_coded(shortened)}
    return {"kind": "text", "values": shortened.to_list()}


def _coded(strings: pl.Series) -> dict[str, Any]:
    """Distinct values, the most frequent first, and for each document the place of its own; -1 is none."""
    counted = strings.drop_nulls().value_counts(sort=True, name="count")
    values = counted.sort(["count", strings.name], descending=[True, False])[strings.name].to_list()
    place = {value: row for row, value in enumerate(values)}
    return {
        "categories": values,
        "codes": [-1 if value is None else place[value] for value in strings.to_list()],
    }


def _finite(column: pl.Series) -> pl.Series:
    if column.dtype.is_integer():
        return column
    numbers = column.cast(pl.Float64)
    return numbers.set(~numbers.is_finite(), None)


def _shortened(strings: pl.Series) -> pl.Series:
    longer = strings.str.len_chars() > _LONGEST
    return strings.zip_with(~longer.fill_null(False), strings.str.slice(0, _LONGEST) + "…")


def _shown_kind(column: pl.Series) -> str:
    if column.dtype == pl.String:
        return "long texts" if (column.str.len_chars().mean() or 0) > _LONGEST else "texts"  # type: ignore[operator]
    return "nothing" if column.dtype == pl.Null else f"values of the type {column.dtype}"
