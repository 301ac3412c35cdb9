"""Filters: conditions of SQL on columns, and nothing else of SQL."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from kate.search.filters import Filter, FilterError

FRAME = pl.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "year": [1815, 1848, None, 1900],
        "Party": ["Whig", "O'Brien", "Whig", None],
        "a column": [1.5, 2.0, 2.5, 3.0],
    }
)


def rows(where: str) -> str:
    return "".join(FRAME["id"].filter(Filter.read(where, FRAME.columns).rows(FRAME)))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("year >= 1848", "bd"),
        ("YEAR >= 1848 and party = 'Whig'", ""),
        ("year < 1848 or year is null", "ac"),
        ("Party = 'O''Brien'", "b"),
        ("party like 'Wh%'", "ac"),
        ("year between 1800 and 1850", "ab"),
        ("id in ('a', 'd')", "ad"),
        ("not (year = 1815)", "bd"),
        ('"a column" > 2', "cd"),
        ("`a column` > 2", "cd"),
        ("lower(party) = 'whig'", "ac"),
        ("year % 2 = 0 and year <> 1900", "b"),
        ("year > -5", "abd"),
        ("Party = 'drop table; select --'", ""),
    ],
)
def test_conditions(where: str, expected: str) -> None:
    assert rows(where) == expected


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("", "the filter is empty"),
        ("yaer = 1815", "no column is named 'yaer'; did you mean year?"),
        ('"yaer" = 1815', "no column is named 'yaer'"),
        ("year >=", "is not a condition"),
        ("year year", "no condition"),
        ("(year = 1", "is not a condition"),
        ("year + 1", "is a value and no condition"),
        ("1 = 1", "names no column"),
        ("year = 1; drop table x", "cannot hold"),
        ("year = 1 -- x", "cannot hold"),
        ("year = 1 /* x */", "cannot hold"),
        ("year in (select year from t)", "cannot SELECT"),
        ("exists (select 1)", "no function 'exists'"),
        ("read_csv('/etc/passwd') = 'x' and year = 1", "no function 'read_csv'"),
        ("id = read_text('/etc/passwd')", "no function 'read_text'"),
        ("year = 'Whig", "cannot hold"),
        ("Party > 5", "cannot be asked of Party"),
    ],
)
def test_what_is_no_condition_is_refused(where: str, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        rows(where)


def test_a_filter_reads_no_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("id\na\n")
    for where in (f"id in (select id from read_csv('{secret}'))", f"id = read_csv('{secret}')"):
        with pytest.raises(FilterError):
            rows(where)


def test_columns_may_be_named_as_words_of_sql() -> None:
    frame = pl.DataFrame({"date": ["x", "y"], "select": [1, 2]})
    found = Filter.read("date = 'y' and select = 2", frame.columns)
    assert found.rows(frame).to_list() == [False, True]


def test_the_same_for_lance() -> None:
    found = Filter.read("YEAR > 5 and party = 'Year'", ["year", "Party"])
    assert found.lance_sql({"year": "year", "Party": "column_1"}) == "`year` > 5 and `column_1` = 'Year'"
