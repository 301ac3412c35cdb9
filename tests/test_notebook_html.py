"""What notebooks show of models, topics, hits and documents: small, escaped, and without colours of its own."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

import kate
from kate.notebook_html import LONGEST_CELL, cut_short, marked, table_html

EVIL = "<script>alert(1)</script> treaty & peace"
VOID = {"br", "img"}


class Balanced(HTMLParser):
    """Every tag is closed by its own, and none is one that runs, fetches or links."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in {"div", "table", "thead", "tbody", "tr", "th", "td", "strong", "span", "mark"}, tag
        assert {name for name, _ in attrs} <= {"style"}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


def read(shown: str) -> str:
    """The text of well-formed HTML."""
    parser = Balanced()
    parser.feed(shown)
    parser.close()
    assert not parser.open
    return " ".join(parser.text.split())


@pytest.fixture(scope="module")
def model() -> kate.TextModel:
    texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    return kate.TextModel(2, max_epochs=2, verbose=False).fit(texts)


@pytest.fixture(scope="module")
def index(model: kate.TextModel) -> kate.Index:
    documents = kate.Documents.from_texts([EVIL, "gold " * 300], titles=[EVIL, None])
    return kate.Index.build(model, documents)


def test_a_model_tells_what_it_learned(model: kate.TextModel) -> None:
    text = read(model._repr_html_())
    assert "documents 20" in text
    assert "english" in text
    assert "TextModel(n_components=4)" in read(kate.TextModel(4)._repr_html_())


def test_topics_and_a_topic_show_their_words(model: kate.TextModel) -> None:
    topics = model.topics(2)
    assert "peace, treaty" in read(topics._repr_html_())
    assert "50.0%" in read(topics._repr_html_())
    named = topics.rename(0, EVIL)
    for shown in (named._repr_html_(), named[0]._repr_html_()):
        assert "<script" not in shown
        assert EVIL in read(shown)
    topics.undo()


def test_hits_mark_the_words_of_the_query(index: kate.Index) -> None:
    hits = index.search("treaty")
    text = read(hits._repr_html_())
    assert EVIL in text.replace("treaty &", "treaty &")
    assert re.findall(r"<mark[^>]*>(.*?)</mark>", hits._repr_html_()) == ["treaty"]
    assert read(hits[0]._repr_html_()).startswith("rank score document text 1 ")


def test_documents_show_the_first_few_cut_short() -> None:
    documents = kate.Documents.from_texts([EVIL, "long " * 10_000] * 30)
    shown = documents._repr_html_()
    assert len(shown) < 6_000
    text = read(shown)
    assert text.startswith("60 documents")
    assert "and 55 more" in text
    assert "label" not in text  # no document has one


def test_nothing_has_a_colour_of_its_own(model: kate.TextModel, index: kate.Index) -> None:
    for shown in (model, model.topics(2), model.topics(2)[0], index.search("gold"), index.search("gold")[0]):
        colours = re.findall(r"(?:color|background)\s*:\s*([^;\"]+)", shown._repr_html_())
        assert set(colours) <= {"inherit", "none", "currentColor"}


def test_a_text_is_cut_and_marks_stay_in_their_places() -> None:
    assert len(cut_short("x" * 10_000)) == LONGEST_CELL
    assert cut_short("a\n\tb") == "a b"
    assert read(marked("gold & silver", [(7, 13), (0, 4)])) == "gold & silver"


def test_an_empty_table_is_a_table() -> None:
    assert read(table_html(["a"], [])) == "a"
    assert read(kate.Hits()._repr_html_()) == "rank score document text"
    assert read(kate.Documents.from_texts([])._repr_html_()) == "0 documents"
