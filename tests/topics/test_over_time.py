"""Topics through time and by group: every period is there, counts are those of the labels, changes are found."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

import kate
from kate import TextModel
from kate.model.encoder import EmptyDocumentsWarning
from kate.topics.over_time import changed_words
from kate.topics.periods import find_periods, period_name
from topics.four_themes import dated_frame, fitted

COLUMNS = ["topic", "topic_name", "documents", "share", "words"]


@pytest.fixture(scope="module")
def model() -> TextModel:
    return fitted()


def test_counts_are_those_of_the_labels(model: TextModel) -> None:
    frame = dated_frame()
    topics = model.topics(4)
    over = topics.over(frame, every="quarter")
    assert over.columns == ["period", *COLUMNS]
    assert over["period"].dtype == pl.Date
    labelled = topics.label(frame).with_columns(period=pl.col("date").dt.truncate("1q"))
    counted = labelled.group_by("period", "topic").len()
    joined = over.join(counted, on=["period", "topic"], how="left")
    assert joined["documents"].to_list() == joined["len"].fill_null(0).to_list()
    sums = over.group_by("period").agg(pl.col("share").sum())["share"]
    assert sums.to_numpy() == pytest.approx(1)


def test_periods_without_documents_are_there_and_have_no_share(model: TextModel) -> None:
    frame = pl.DataFrame({"date": ["1999-01-31", "1999-03-01"], "text": ["gold coin", "navy ships"]})
    over = model.topics(4).over(frame, every="month")
    assert over["period"].unique(maintain_order=True).to_list() == [
        datetime.date(1999, month, 1) for month in (1, 2, 3)
    ]
    empty = over.filter(pl.col("period") == datetime.date(1999, 2, 1))
    assert empty["documents"].to_list() == [0] * 4
    assert empty["share"].to_list() == [None] * 4


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (["1999-03-01"], "day"),
        (["1999-03-01", "1999-04-01"], "day"),
        (["1999-03-01", "1999-09-01"], "week"),
        (["1999-03-01", "2001-04-01"], "month"),
        (["1999-03-01", "2006-04-01"], "quarter"),
        (["1970-03-01", "2006-04-01"], "year"),
        (["1790", "2026"], "decade"),
        (["1999", "2001"], "year"),
        (["1999-03", "1999-04"], "month"),
    ],
)
def test_the_length_of_a_period_suits_the_dates(days: list[str], expected: str) -> None:
    periods = find_periods(pl.Series("date", days), None)
    assert periods.every == expected
    assert len(periods.values) <= 60


@pytest.mark.parametrize(
    ("every", "first", "last", "n"),
    [
        ("day", "1999-12-30", "2000-01-02", 4),
        ("week", "1999-12-27", "1999-12-27", 1),
        ("month", "1999-12-01", "2000-01-01", 2),
        ("quarter", "1999-10-01", "2000-01-01", 2),
        ("year", "1999-01-01", "2000-01-01", 2),
        ("decade", "1990-01-01", "2000-01-01", 2),
    ],
)
def test_periods_are_those_of_the_calendar(every: Any, first: str, last: str, n: int) -> None:
    periods = find_periods(pl.Series("date", ["2000-01-02", None, "1999-12-30"]).drop_nulls(), every)
    assert (str(periods.values[0]), str(periods.values[-1]), len(periods.values)) == (first, last, n)
    assert periods.places.tolist() == [n - 1, 0]


def test_names_of_periods() -> None:
    day = datetime.date(1999, 12, 27)
    names = [period_name(day, every) for every in ("day", "week", "month", "quarter", "year")]
    assert names == ["1999-12-27", "1999-12-27", "1999-12", "1999 Q4", "1999"]
    assert period_name("Ann", None) == "Ann"


def test_groups(model: TextModel) -> None:
    over = model.topics(4).over(dated_frame(), by="author")
    assert over.columns == ["group", *COLUMNS]
    assert over["group"].unique(maintain_order=True).to_list() == ["Ann", "Bob"]
    # themes follow one another, so that each author has two of them
    assert over["share"].to_list().count(0.5) == 4
    stars = dated_frame().with_columns(stars=pl.lit(5))
    assert model.topics(4).over(stars, by="stars")["group"].to_list() == [5] * 4


def test_documents_without_a_date_or_a_known_word_are_left_out(model: TextModel) -> None:
    frame = pl.DataFrame({"date": ["1999", None, "1999", " "], "text": ["gold", "gold", "zzz", "gold"]})
    with (
        pytest.warns(EmptyDocumentsWarning, match="1 of 4"),
        pytest.warns(
            UserWarning, match="2 of 4 documents have nothing in the column 'date' and are left out"
        ),
    ):
        over = model.topics(4).over(frame)
    assert over["documents"].sum() == 1
    assert over["share"].sum() == 1


def test_pandas_goes_in_and_comes_out(model: TextModel) -> None:
    frame = dated_frame().to_pandas()
    over = model.topics(4).over(frame, every="year")
    assert type(over).__module__.startswith("pandas")
    assert over["documents"].sum() == len(frame)
    assert over["words"].map(type).eq(list).all()


@pytest.mark.parametrize(
    ("frame", "arguments", "message"),
    [
        (dated_frame(8), {"by": "dat"}, "the corpus has no column 'dat'; did you mean date?"),
        (dated_frame(8), {"by": "author", "every": "month"}, "every='month' is for dates|is not a date"),
        (dated_frame(8).with_columns(stars=pl.lit(5)), {"by": "stars", "every": "year"}, "is for dates"),
        (dated_frame(8), {"every": "monthly"}, "every is 'monthly'; did you mean month"),
        (
            dated_frame(8).with_columns(date=pl.Series(["1999-01-01"] * 7 + ["soon"])),
            {},
            "'soon' in the column 'date' .row 7, id '7'. is not a date",
        ),
        (dated_frame(8).with_columns(date=pl.lit("soon")), {}, "'soon' in the column 'date' .row 0"),
        (dated_frame(8).with_columns(date=pl.lit(None)), {}, "the column 'date' is empty"),
        (
            dated_frame(8).with_columns(date=pl.lit("1999")),
            {"every": "month"},
            "it has years; take every='year'",
        ),
        (dated_frame(8).with_columns(tags=pl.Series([["a"]] * 8)), {"by": "tags"}, "which cannot be grouped"),
        (
            dated_frame(2).with_columns(date=pl.Series(["1000-01-01", "2199-01-01"])),
            {"every": "day"},
            "more than 100,000 periods",
        ),
        (["gold"], {}, "the corpus has no column 'date'"),
        (
            dated_frame(8).with_columns(timestamp=pl.lit(1_612_345_678)),
            {"by": "timestamp"},
            "neither years nor days",
        ),
    ],
)
def test_what_cannot_be_grouped_is_refused(
    model: TextModel, frame: Any, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        model.topics(4).over(frame, **arguments)


def test_changed_topics_are_followed(model: TextModel) -> None:
    try:
        over = model.topics(4).rename(0, "first").merge(0, 1).over(dated_frame(), every="year")
        assert over["topic"].unique().to_list() == [0, 2, 3]
        assert over["topic_name"][0] == "first"
    finally:
        model.topics().undo().undo()


def test_words_that_changed_are_found() -> None:
    """Topic 0 has words 0 and 1 always, word 2 in the first period and word 3 in the second; topic 1 has word 4."""
    rows = [(period, topic) for period in (0, 1) for topic in (0, 1) for _ in range(20)]
    X = np.zeros((len(rows), 5))
    for row, (period, topic) in enumerate(rows):
        X[row, [4] if topic else [0, 1, 2 + period]] = 1
    periods, topics = np.array(rows).T
    assert changed_words(csr_matrix(X), periods, topics, 2, 2) == {0: [2], 2: [3]}
    topics[0], periods[1] = -1, -1
    assert changed_words(csr_matrix(X), periods, topics, 2, 2) == {0: [2], 2: [3]}


def test_chance_is_no_change() -> None:
    random = np.random.default_rng(0)
    X = csr_matrix(random.random((400, 50)) < 0.2)
    found = changed_words(X, random.integers(4, size=400), random.integers(2, size=400), 4, 2)
    assert sum(map(len, found.values())) <= 2


def test_files_have_their_own_columns(model: TextModel, tmp_path: Any) -> None:
    frame = dated_frame(16).with_columns(category=pl.lit("x"), seen=pl.col("date").cast(pl.Datetime))
    frame.write_parquet(tmp_path / "c.parquet")
    frame.write_csv(tmp_path / "c.csv")
    expected = model.topics(4).over(frame, every="quarter")
    for name in ("c.parquet", "c.csv"):
        documents = kate.read_corpus(tmp_path / name)
        for by in ("date", "seen"):
            assert model.topics(4).over(documents, by, "quarter").equals(expected)
        # read as the label, and still there by its own name
        assert model.topics(4).over(documents, by="category")["documents"].sum() == 16
        assert model.topics(4).over(documents, by="label")["documents"].sum() == 16
