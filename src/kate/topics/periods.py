"""Periods of a calendar, or groups: what a column of a corpus says about when a document was written, or by whom."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.errors import quoted
from kate.spelling import did_you_mean
from kate.text.dates import Dates, Resolution, find_dates

__all__ = ["Every", "Periods", "column_of", "find_periods", "period_name"]

Every: TypeAlias = Literal["day", "week", "month", "quarter", "year", "decade"]
"""How long a period is."""

_INTERVALS = {"day": "1d", "week": "1w", "month": "1mo", "quarter": "1q", "year": "1y", "decade": "10y"}
# up to so many days a period of this length is chosen: about forty of them at the most
_SPANS: tuple[tuple[float, Every], ...] = (
    (45, "day"),
    (300, "week"),
    (4 * 366, "month"),
    (10 * 366, "quarter"),
    (60 * 366, "year"),
    (float("inf"), "decade"),
)
_SHORTEST: dict[Resolution, Every] = {"day": "day", "month": "month", "year": "year"}
_SAYS_DATE = re.compile(r"(?<![a-z])(date|datetime|timestamp)(?![a-z])|^time$")
_MOST_PERIODS = 100_000

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Periods:
    """The periods, or groups, of a corpus and where its documents belong.

    values : of every period its first day, without gaps; of groups their values, sorted
    places : (n_docs,), the row of ``values`` of each document; -1 where nothing is written
    every : the length of a period; None for groups
    """

    values: pl.Series
    places: Numbers
    every: Every | None


def column_of(by: str, frames: Sequence[pl.DataFrame]) -> pl.Series:
    """The column of that name in the first frame that has it; a missing one is an error that lists those there are."""
    for frame in frames:
        if by in frame.columns:
            return frame[by]
    names = [
        name for name in dict.fromkeys(name for frame in frames for name in frame.columns) if name != "text"
    ]
    raise ValueError(f"the corpus has no column {quoted(by)}; {did_you_mean(by, names)}")


def find_periods(column: pl.Series, every: str | None, ids: pl.Series | None = None) -> Periods:
    """Periods of a column of dates, groups of any other; ``every`` None takes a length that suits the dates.

    >>> days = pl.Series("date", ["1999-01-30", "1999-03-02"])
    >>> find_periods(days, "month").values.to_list()  # February is there, too
    [datetime.date(1999, 1, 1), datetime.date(1999, 2, 1), datetime.date(1999, 3, 1)]
    """
    if every is not None and every not in get_args(Every):
        raise ValueError(f"every is {quoted(every)}; {did_you_mean(str(every), get_args(Every))}")
    says_date = _SAYS_DATE.search(column.name.lower()) is not None
    dates = find_dates(column, required=every is not None or says_date, ids=ids)
    if dates is None and every is not None:
        raise ValueError(
            f"every={quoted(every)} is for dates, and the column {quoted(column.name)} holds {column.dtype} that "
            "are none; leave every out to take its values as groups"
        )
    if dates is None and says_date and column.dtype.is_numeric():
        raise ValueError(
            f"the column {quoted(column.name)} holds numbers that are neither years nor days such as 19990301; "
            "write dates as 1999-03-01"
        )
    periods = _groups(column) if dates is None else _calendar(dates, every, column.name)
    n_missing = int((periods.places < 0).sum())
    if n_missing == len(column) and len(column):
        raise ValueError(f"the column {quoted(column.name)} is empty: no document has a value there")
    if n_missing:
        warnings.warn(
            f"{n_missing:,} of {len(column):,} documents have nothing in the column {quoted(column.name)} and are "
            "left out",
            UserWarning,
            stacklevel=4,
        )
    return periods


def _groups(column: pl.Series) -> Periods:
    if column.dtype.is_nested() or column.dtype == pl.Object:
        raise ValueError(f"the column {quoted(column.name)} holds {column.dtype}, which cannot be grouped")
    if column.dtype.is_float():
        column = column.fill_nan(None)
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
        column = column.set(column.str.strip_chars() == "", None)
    values = column.drop_nulls().unique().sort()
    places = pl.Series(range(len(values)), dtype=pl.Int64)
    found = pl.DataFrame({"value": column}).join(
        pl.DataFrame({"value": values, "place": places}), on="value", how="left", maintain_order="left"
    )
    return Periods(values.alias("group"), found["place"].fill_null(-1).to_numpy(), None)


def _calendar(dates: Dates, every: str | None, name: str) -> Periods:
    shortest = _SHORTEST[dates.resolution]
    lengths = list(get_args(Every))
    if every is None:
        every = max(_suited(dates.days), shortest, key=lengths.index)
    elif lengths.index(every) < lengths.index(shortest):
        raise ValueError(
            f"every={quoted(every)} is shorter than what the column {quoted(name)} says: it has {shortest}s; take "
            f"every={quoted(shortest)} or longer"
        )
    starts = dates.days.dt.truncate(_INTERVALS[every])
    if every == "decade":
        years = dates.days.dt.year() // 10 * 10
        starts = years.cast(pl.String).str.pad_start(4, "0").str.to_date("%Y", strict=False)
    known = starts.drop_nulls()
    if known.is_empty():
        return Periods(pl.Series("period", [], dtype=pl.Date), np.full(len(starts), -1), _as_every(every))
    first, last = known.min(), known.max()
    _require_few(first, last, every)
    values = pl.Series("period", pl.date_range(first, last, _INTERVALS[every], eager=True))  # type: ignore[arg-type]
    places = np.searchsorted(values.to_numpy(), starts.fill_null(first).to_numpy())
    return Periods(values, np.where(starts.is_null().to_numpy(), -1, places), _as_every(every))


def _as_every(every: str) -> Every:
    return next(one for one in get_args(Every) if one == every)


def _suited(days: pl.Series) -> Every:
    known = days.drop_nulls()
    span = 0 if known.is_empty() else (known.max() - known.min()).days  # type: ignore[operator, union-attr]
    return next(every for most, every in _SPANS if span <= most)


def _require_few(first: object, last: object, every: str) -> None:
    days = (last - first).days  # type: ignore[operator]
    if every in ("day", "week") and days / (7 if every == "week" else 1) > _MOST_PERIODS:
        raise ValueError(
            f"every={quoted(every)} makes more than {_MOST_PERIODS:,} periods from {first} to {last}; take longer ones"
        )


def period_name(value: object, every: Every | None) -> str:
    """A period as people write it.

    >>> from datetime import date
    >>> [period_name(date(1999, 4, 1), every) for every in ("day", "month", "quarter", "year", "decade")]
    ['1999-04-01', '1999-04', '1999 Q2', '1999', '1999s']
    """
    if every is None:
        return str(value)
    day = str(value)
    year, month = day[:4], int(day[5:7])
    names = {
        "month": day[:7],
        "quarter": f"{year} Q{(month + 2) // 3}",
        "year": year,
        "decade": f"{year}s",
    }
    return names.get(every, day)
