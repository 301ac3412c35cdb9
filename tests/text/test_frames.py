"""Frames go in as documents and come out as what they were, with the columns that were added."""

import polars as pl
import pytest

from kate.text.documents import Documents
from kate.text.frames import as_documents, in_kind, with_added

FRAME = pl.DataFrame(
    {"year": [1790, 1791], "body": ["A tax bill", "A treaty"], "key": ["a", "b"], "topic": ["x", "y"]}
)


def test_every_column_is_kept():
    documents = as_documents(FRAME)
    assert documents.texts.to_list() == ["A tax bill", "A treaty"]
    assert (documents.ids, documents.labels) == (["a", "b"], ["x", "y"])
    assert documents.frame["year"].to_list() == [1790, 1791]


def test_results_have_the_columns_of_the_frame_and_the_new_ones():
    added = [pl.Series("topic", [3, 4]), pl.Series("topic_share", [0.5, 0.6])]
    with pytest.warns(UserWarning, match="its own are kept: 'topic' is now 'topic_given'"):
        result = with_added(FRAME, as_documents(FRAME), added)
    assert result.columns == ["year", "body", "key", "topic_given", "topic", "topic_share"]
    assert result["topic_given"].to_list() == ["x", "y"]
    assert result["topic"].to_list() == [3, 4]
    with pytest.warns(UserWarning, match="'topic' is now 'topic_given2', 'topic_share' is now"):
        again = with_added(result, as_documents(result, text="body"), added)
    assert again["topic_given"].to_list() == ["x", "y"]
    assert again["topic_given2"].to_list() == [3, 4]


def test_rows_can_be_picked():
    result = with_added(FRAME, as_documents(FRAME), [pl.Series("new", [9])], rows=[1])
    assert result.rows() == [(1791, "A treaty", "b", "y", 9)]
    none = with_added(FRAME, as_documents(FRAME), [pl.Series("new", [], dtype=pl.Int64)], rows=[])
    assert (none.columns, len(none)) == ([*FRAME.columns, "new"], 0)


def test_pandas_comes_back_as_pandas_with_its_index_and_its_kinds():
    frame = FRAME.to_pandas().set_index(pl.Series([7, 9]).to_pandas())
    frame["stars"] = frame["year"].astype("category")
    frame["mixed"] = [1, "x"]
    documents = as_documents(frame)
    assert documents.frame["mixed"].to_list() == ["1", "x"]
    result = with_added(frame, documents, [pl.Series("new", [1, None])])
    assert type(result).__module__.startswith("pandas")
    assert result.index.tolist() == [7, 9]
    assert str(result["new"].dtype) == "Int64"
    assert str(result["stars"].dtype) == "category"
    assert result["mixed"].tolist() == [1, "x"]
    picked = with_added(frame, documents, [pl.Series("new", [0.5])], rows=[1])
    assert (picked.index.tolist(), picked["key"].tolist()) == ([9], ["b"])
    assert "new" not in frame.columns


def test_a_pandas_frame_with_a_name_twice_is_refused():
    frame = pl.DataFrame({"text": ["a"], "b": [1]}).to_pandas()
    frame.columns = ["text", "text"]
    with pytest.raises(ValueError, match="several columns named 'text'"):
        as_documents(frame)


def test_a_new_frame_is_of_the_kind_of_the_corpus():
    frame = pl.DataFrame({"n": [1, None], "words": [["a"], []], "name": ["x", None]})
    assert in_kind(FRAME, frame) is frame
    result = in_kind(FRAME.to_pandas(), frame)
    assert type(result).__module__.startswith("pandas")
    assert result["words"].tolist() == [["a"], []]


def test_texts_and_documents_are_documents():
    given = Documents.from_texts(["a"])
    assert as_documents(given) is given
    assert as_documents(["a", "b"]).ids == ["0", "1"]
    assert as_documents([["gold", "coin"]]).texts.to_list() == ["gold coin"]
    assert as_documents(FRAME.lazy()).ids == ["a", "b"]


def test_ids_that_are_not_unique_are_numbered():
    assert as_documents(FRAME.with_columns(key=pl.lit("a"))).ids == ["0", "1"]


@pytest.mark.parametrize(
    ("frame", "error", "message"),
    [
        ("one text", TypeError, "not one string"),
        (5, TypeError, "this is of type int"),
        (None, TypeError, "this is of type NoneType"),
        ({"a": 1}, TypeError, "this is of type dict"),
        (["a", None], TypeError, "document 1 is None; every document must be a str"),
        ([float("nan")], TypeError, "document 0 is nan"),
        (pl.Series(["a", None]), TypeError, "document 1 is None"),
        (pl.DataFrame({"n": [1]}), ValueError, "no field with a usual name"),
        (pl.DataFrame({"text": [1]}), ValueError, "holds Int64; expected strings"),
        (pl.DataFrame({"text": ["a", None]}), ValueError, "row 1 of the frame has no text"),
    ],
)
def test_what_is_no_corpus_is_refused(frame, error, message):
    with pytest.raises(error, match=message):
        as_documents(frame)
