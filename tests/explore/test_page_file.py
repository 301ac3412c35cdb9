"""A page in one file: its data are those of the model, and nothing in them can break it."""

import json

import numpy as np
import polars as pl
import pytest

import kate
from explore.page_reading import read_page
from kate.explore import page
from kate.explore.column_parts import NO_DATE

TEXTS = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5


@pytest.fixture(scope="module")
def model():
    return kate.TextModel(n_components=2, max_epochs=2).fit(TEXTS)


def test_topics_of_every_stop_are_those_of_the_model(model, tmp_path):
    page(model, TEXTS, tmp_path / "a.html")
    manifest, parts = read_page(tmp_path / "a.html")
    assigned = np.frombuffer(parts["assignments"], np.uint8).reshape(len(manifest["cuts"]), len(TEXTS))
    found = json.loads(parts["topics"])
    assert manifest["cuts"] == [cut["n"] for cut in found["cuts"]]
    for cut, of_documents in zip(found["cuts"], assigned, strict=True):
        topics = model.topics(cut["n"])
        assert [(row["number"], row["name"]) for row in cut["topics"]] == [
            (topic.number, topic.name) for topic in topics
        ]
        assert [row["words"][0][0] for row in cut["topics"]] == [topic.words[0] for topic in topics]
        assert topics.label(TEXTS)["topic"].to_list() == of_documents.tolist()


def test_columns_dates_and_texts(model, tmp_path):
    frame = pl.DataFrame(
        {
            "body": TEXTS[:3],
            "year": [1801, None, 1803],
            "kind": ["a", "b", "a"],
            "size": [1.5, None, float("nan")],
        }
    )
    written = page(model, frame, tmp_path / "a.html", date="year", text="body")
    manifest, parts = read_page(tmp_path / "a.html")
    columns = {column["name"]: column for column in json.loads(parts["documents"])["columns"]}
    assert columns["size"]["values"] == [1.5, None, None]
    assert columns["kind"]["categories"] == ["a", "b"]
    assert columns["kind"]["codes"] == [0, 1, 0]
    days = np.frombuffer(parts["dates"], np.int32)
    assert days[1] == NO_DATE
    assert manifest["date"]["first"] == days[0] < days[2]
    offsets = np.frombuffer(parts["text_offsets"], np.uint32)
    assert parts["texts-0"][offsets[1] : offsets[2]].decode() == TEXTS[1]
    assert written.n_bytes == (tmp_path / "a.html").stat().st_size
