"""A column of dates, as people write them → days. What could be read in two ways is refused rather than guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

import polars as pl

from kate.errors import quoted

__all__ = ["Dates", "Resolution", "find_dates"]

Resolution = Literal["day", "month", "year"]
"""What a date says at least: 1999 is a year, 1999-03 a month."""

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_TIME = r"(?:[T ,]+\d{1,2}:\d{2}.*)?"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_MONTH = r"(?P<name>[a-z]{3,9})\.?"
_FORMS: Mapping[str, re.Pattern[str]] = {
    "year first": re.compile(rf"(?P<y>\d{{4}})(?P<sep>[-/.])(?P<m>\d{{1,2}})(?P=sep)(?P<d>\d{{1,2}}){_TIME}"),
    "digits": re.compile(rf"(?P<y>\d{{4}})(?P<m>\d{{2}})(?P<d>\d{{2}}){_TIME}"),
    "month": re.compile(r"(?P<y>\d{4})[-/](?P<m>\d{1,2})"),
    "year": re.compile(r"(?P<y>\d{4})"),
    "day first": re.compile(rf"(?P<d>\d{{1,2}})\.\s?(?P<m>\d{{1,2}})\.\s?(?P<y>\d{{4}}){_TIME}"),
    "either first": re.compile(
        rf"(?P<a>\d{{1,2}})(?P<sep>[-/])(?P<b>\d{{1,2}})(?P=sep)(?P<y>\d{{4}}){_TIME}"
    ),
    "named, day first": re.compile(
        rf"{_WEEKDAY}(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+{_MONTH}[\s,-]+(?P<y>\d{{4}})(?:\s.*)?",
        re.IGNORECASE,
    ),
    "named, month first": re.compile(
        rf"{_WEEKDAY}{_MONTH}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}}){_TIME}", re.IGNORECASE
    ),
    "named month": re.compile(rf"{_MONTH}[\s,-]+(?P<y>\d{{4}})", re.IGNORECASE),
}
_FIRST_YEAR, _LAST_YEAR = 1000, 2200  # whole numbers that may be years
_ENOUGH = 0.5  # share of the values that are dates in a column of dates; the others are then mistakes


@dataclass(frozen=True, eq=False)
class Dates:
    """The days of a column, null where it has none, and how much they say."""

    days: pl.Series  # of pl.Date
    resolution: Resolution


def find_dates(column: pl.Series, *, required: bool, ids: pl.Series | None = None) -> Dates | None:
    """The column as dates; None if it is something else, such as names of authors.

    required : a value that is no date is an error that names its row. Without it, that is so only in a column most of
        whose values are dates
    ids : of the documents, for that error

    >>> found = find_dates(pl.Series("when", ["1999-03-01", "2 March 1999", None]), required=False)
    >>> found.days.to_list(), found.resolution
    ([datetime.date(1999, 3, 1), datetime.date(1999, 3, 2), None], 'day')
    >>> find_dates(pl.Series("author", ["Ann", "Bob"]), required=False) is None
    True
    """
    kind = column.dtype
    if kind == pl.Date:
        return Dates(column, "day")
    if kind == pl.Datetime:
        return Dates(column.dt.replace_time_zone(None).cast(pl.Date), "day")
    strings = _as_strings(column)
    if strings is None:
        return None
    values = strings.drop_nulls().unique(maintain_order=True)
    parsed = _parse(values.to_list(), column.name)
    failed = [value for value, found in parsed.items() if found is None]
    if failed and not required and len(failed) > (1 - _ENOUGH) * len(parsed):
        return None
    if failed:
        _refuse(column.name, failed[0], strings, ids)
    resolutions = {found[1] for found in parsed.values() if found is not None}
    days = {value: found[0] for value, found in parsed.items() if found is not None}
    order: tuple[Resolution, ...] = ("year", "month", "day")
    coarsest: Resolution = next((one for one in order if one in resolutions), "day")
    return Dates(strings.replace_strict(days, default=None, return_dtype=pl.Date), coarsest)


def _as_strings(column: pl.Series) -> pl.Series | None:
    """What may be dates, as strings without spaces around them; null where nothing is written."""
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        stripped = column.cast(pl.String).str.strip_chars()
        return stripped.set(stripped == "", None)
    if not column.dtype.is_numeric():
        return column.cast(pl.String) if column.dtype == pl.Null else None
    numbers = column.drop_nulls()
    if column.dtype.is_float():
        column = column.fill_nan(None)
        numbers = column.drop_nulls()
        if not (numbers == numbers.floor()).all():
            return None
    years = numbers.is_between(_FIRST_YEAR, _LAST_YEAR).all()
    days = numbers.is_between(_FIRST_YEAR * 10_000, _LAST_YEAR * 10_000).all()
    if numbers.is_empty() or not (years or days):
        return None
    return column.cast(pl.Int64).cast(pl.String)


def _parse(values: list[str], name: str) -> dict[str, tuple[date, Resolution] | None]:
    """Each value as a day; None where it is none."""
    found: dict[str, tuple[date, Resolution] | None] = {}
    either: dict[str, re.Match[str]] = {}
    for value in values:
        found[value] = None
        for form, pattern in _FORMS.items():
            match = pattern.fullmatch(value)
            if match is None:
                continue
            if form == "either first":
                either[value] = match
            else:
                found[value] = _day_of(match)
            break
    if either:
        day, month = _order_of(either, name)
        for value, match in either.items():
            found[value] = _valid(int(match["y"]), int(match[month]), int(match[day]), "day")
    return found


def _day_of(match: re.Match[str]) -> tuple[date, Resolution] | None:
    parts = match.groupdict()
    month = parts.get("m") or "1"
    if parts.get("name") is not None:
        named = [n for n, full in enumerate(_MONTHS, 1) if full.startswith(parts["name"].lower())]
        if not named:
            return None
        month = str(named[0])
    has_month = parts.get("m") is not None or parts.get("name") is not None
    resolution: Resolution = "day" if parts.get("d") else "month" if has_month else "year"
    return _valid(int(parts["y"]), int(month), int(parts.get("d") or 1), resolution)


def _valid(year: int, month: int, day: int, resolution: Resolution) -> tuple[date, Resolution] | None:
    try:
        return date(year, month, day), resolution
    except ValueError:
        return None


def _order_of(dates: Mapping[str, re.Match[str]], name: str) -> tuple[str, str]:
    """Which of the first two numbers is the day and which the month: what the whole column allows."""
    day_first = next((value for value, match in dates.items() if int(match["a"]) > 12), None)
    month_first = next((value for value, match in dates.items() if int(match["b"]) > 12), None)
    if day_first is not None and month_first is None:
        return "a", "b"
    if month_first is not None and day_first is None:
        return "b", "a"
    if day_first is None or month_first is None:
        shown = next(iter(dates))
        raise ValueError(
            f"the dates of the column {quoted(name)}, such as {quoted(shown)}, can be read in two ways (day or "
            "month first); write them as year-month-day"
        )
    raise ValueError(
        f"the column {quoted(name)} has dates with the day first ({quoted(day_first)}) and with the month first "
        f"({quoted(month_first)}); write them all as year-month-day"
    )


def _refuse(name: str, value: str, strings: pl.Series, ids: pl.Series | None) -> None:
    row = int((strings == value).arg_true()[0])
    where = f"row {row}" if ids is None else f"row {row}, id {quoted(ids[row])}"
    raise ValueError(
        f"{quoted(value, 40)} in the column {quoted(name)} ({where}) is not a date; expected dates such as "
        "1999-03-01, 1999-03 or 1999"
    )
