"""Dates as people write them are read; what is no date is named with its row, and nothing is guessed."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import polars as pl
import pytest

from kate.text.dates import Dates, find_dates

MARCH = date(1999, 3, 1)


def read(*values: Any, required: bool = True) -> Dates:
    found = find_dates(pl.Series("when", values), required=required)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "written",
    [
        "1999-03-01",
        " 1999-03-01 ",
        "1999-3-1",
        "1999/03/01",
        "1999.03.01",
        "19990301",
        "1999-03-01T12:30",
        "1999-03-01 12:30:59.123456+01:00",
        "1999-03-01T23:59:59Z",
        "1.3.1999",
        "01. 03. 1999",
        "1 March 1999",
        "1st March 1999",
        "1-Mar-1999",
        "March 1, 1999",
        "Mar. 1 1999",
        "Mon, 01 Mar 1999 12:00:00 GMT",
        "Monday, March 1, 1999",
        date(1999, 3, 1),
        datetime(1999, 3, 1, 23, 59),
        datetime(1999, 3, 1, 23, 59, tzinfo=timezone(timedelta(hours=-8))).replace(tzinfo=None),
    ],
)
def test_a_day(written: Any) -> None:
    found = read(written)
    assert (found.days.to_list(), found.resolution) == ([MARCH], "day")


@pytest.mark.parametrize("written", ["1999-03", "1999/3", "March 1999", "Mar 1999"])
def test_a_month(written: str) -> None:
    assert (read(written).days.to_list(), read(written).resolution) == ([MARCH], "month")


@pytest.mark.parametrize("written", ["1999", 1999, 1999.0])
def test_a_year(written: Any) -> None:
    found = read(written, None)
    assert (found.days.to_list(), found.resolution) == ([date(1999, 1, 1), None], "year")


def test_days_as_whole_numbers() -> None:
    assert read(19990301, 20011231).days.to_list() == [MARCH, date(2001, 12, 31)]


def test_an_hour_is_that_of_its_place() -> None:
    late = pl.Series("when", [datetime(1999, 3, 1, 6, tzinfo=UTC)]).dt.convert_time_zone("Asia/Tokyo")
    found = find_dates(late, required=True)
    assert found is not None
    assert found.days.to_list() == [MARCH]


def test_days_and_months_are_told_apart_by_the_whole_column() -> None:
    assert read("1/3/1999", "13/3/1999").days[0] == MARCH
    assert read("3/1/1999", "3/13/1999").days[0] == MARCH
    with pytest.raises(ValueError, match="'1/3/1999', can be read in two ways"):
        read("1/3/1999", "2/3/1999")
    with pytest.raises(ValueError, match=r"with the day first .'13/3/1999'. and with the month first"):
        read("13/3/1999", "3/13/1999")


def test_kinds_may_be_mixed_and_the_coarsest_tells() -> None:
    found = read("1999-03-01", "March 1999", "")
    assert (found.days.to_list(), found.resolution) == ([MARCH, MARCH, None], "month")


@pytest.mark.parametrize(
    "values",
    [
        ["Ann", "Bob"],
        ["margin 1999", "other"],
        [1, 2, 5],
        [1999.5, 2000.0],
        [True, False],
        ["1999-03-01", "Ann", "Bob"],
        [timedelta(days=1)],
        [99999999],
        [],
    ],
)
def test_other_columns_are_no_dates(values: list[Any]) -> None:
    found = find_dates(pl.Series("who", values), required=False)
    assert found is None or found.days.is_empty()


@pytest.mark.parametrize("wrong", ["yesterday", "1999-02-30", "31.4.1999", "1999-13", "99-03-01", "1" * 300])
def test_a_value_that_is_no_date_is_named_with_its_row(wrong: str) -> None:
    column = pl.Series("when", ["1999-03-01", "1999-03-02", wrong])
    with pytest.raises(
        ValueError, match=r"in the column 'when' .row 2, id 'c'. is not a date; expected"
    ) as caught:
        find_dates(column, required=False, ids=pl.Series(["a", "b", "c"]))
    assert wrong[:40] in str(caught.value)
    assert len(str(caught.value)) < 200
