"""The columns of a file stay what they are, by their own names, beside the documents that are made of them."""

from __future__ import annotations

import datetime

import polars as pl

from kate import read_corpus


def test_the_columns_of_a_file_are_kept_as_they_are(tmp_path):
    (tmp_path / "a.csv").write_text("when,Body,topic,id,text\n1999-03-01,gold,money,7,other\n,silver,,7,\n")
    documents = read_corpus(tmp_path / "a.csv", text="Body")
    assert documents.source.columns == ["when", "Body", "topic", "id", "text"]
    assert documents.source.rows() == [
        ("1999-03-01", "gold", "money", "7", "other"),
        ("", "silver", "", "7", ""),
    ]
    assert documents.frame.columns == ["text", "id", "label", "title", "when"]


def test_fields_that_come_late_and_other_names_of_the_text_are_kept(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"n": 1, "body": "gold"}\n{"body": "silver", "late": true}\n')
    (tmp_path / "b.jsonl").write_text('{"content": "coin", "n": "x"}\n')
    documents = read_corpus([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    assert documents.source.to_dicts() == [
        {"n": "1", "body": "gold", "late": None},
        {"n": None, "body": "silver", "late": True},
        {"n": "x", "body": "coin", "late": None},
    ]


def test_nested_values_are_kept_where_they_are_asked_for(tmp_path):
    rows = (
        '{"text": "gold", "tags": ["a", "b"], "odd": [1]}\n{"text": "silver", "tags": [], "odd": {"x": 1}}\n'
    )
    (tmp_path / "a.jsonl").write_text(rows)
    assert read_corpus(tmp_path / "a.jsonl").source.columns == ["text"]
    source = read_corpus(tmp_path / "a.jsonl", keep_nested=True).source
    assert source["tags"].to_list() == [["a", "b"], []]
    assert source["odd"].to_list() == ["[1]", '{"x": 1}']
    source.write_parquet(tmp_path / "a.parquet")
    assert read_corpus(tmp_path / "a.parquet").source.columns == ["text", "odd"]
    again = read_corpus(tmp_path / "a.parquet", keep_nested=True).source
    assert again.equals(source)


def test_plain_texts_have_their_places_as_columns(tmp_path):
    (tmp_path / "a.txt").write_text("gold\nsilver\n")
    assert read_corpus(tmp_path / "a.txt").source.rows() == [("a:1", "gold"), ("a:2", "silver")]
    (tmp_path / "folder" / "money").mkdir(parents=True)
    (tmp_path / "folder" / "money" / "one.txt").write_text("gold")
    source = read_corpus(tmp_path / "folder").source
    assert source.to_dicts() == [{"id": "money/one.txt", "text": "gold", "label": "money"}]


def test_dates_of_parquet_are_kept(tmp_path):
    frame = pl.DataFrame({"date": [datetime.date(1999, 3, 1)], "text": ["gold"]})
    frame.write_parquet(tmp_path / "a.parquet")
    documents = read_corpus(tmp_path / "a.parquet")
    assert documents.source.equals(frame)
    assert documents.frame["date"].dtype == pl.Date


def test_columns_of_the_same_name_are_all_kept(tmp_path):
    (tmp_path / "a.csv").write_text("text,note,note\ngold,one,two\n")
    source = read_corpus(tmp_path / "a.csv").source
    assert source.to_dicts() == [{"text": "gold", "note": "one", "note_2": "two"}]
