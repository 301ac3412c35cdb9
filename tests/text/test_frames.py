"""Frames go in as documents and come out as what they were, with the columns that were added."""

import polars as pl
import pytest

from kate.text.documents import Documents
from kate.text.frames import as_documents, like_given

FRAME = pl.DataFrame(
    {"year": [1790, 1791], "body": ["A tax bill", "A treaty"], "key": ["a", "b"], "topic": ["x", "y"]}
)


def test_every_column_is_kept():
    documents = as_documents(FRAME)
    assert documents.texts.to_list() == ["A tax bill", "A treaty"]
    assert (documents.ids, documents.labels) == (["a", "b"], ["x", "y"])
    assert documents.frame["year"].to_list() == [1790, 1791]


def test_results_have_the_columns_of_the_frame_and_the_new_ones():
    labelled = as_documents(FRAME).frame.with_columns(
        pl.Series("topic", [3, 4]), pl.Series("topic_share", [0.5, 0.6])
    )
    result = like_given(FRAME, labelled)
    assert result.columns[:3] == ["year", "body", "key"]
    assert result["topic"].to_list() == [3, 4]
    assert result["topic_share"].to_list() == [0.5, 0.6]


def test_pandas_comes_back_as_pandas_with_its_index():
    frame = FRAME.to_pandas().set_index(pl.Series([7, 9]).to_pandas())
    result = like_given(frame, as_documents(frame).frame.with_columns(new=pl.lit(1)))
    assert type(result).__module__.startswith("pandas")
    assert result.index.tolist() == [7, 9]
    assert result["new"].tolist() == [1, 1]


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
        (pl.DataFrame({"n": [1]}), ValueError, "no field with a usual name"),
        (pl.DataFrame({"text": [1]}), ValueError, "holds Int64; expected strings"),
        (pl.DataFrame({"text": ["a", None]}), ValueError, "row 1 of the frame has no text"),
    ],
)
def test_what_is_no_corpus_is_refused(frame, error, message):
    with pytest.raises(error, match=message):
        as_documents(frame)
