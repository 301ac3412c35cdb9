"""Pages of odd corpora in Chromium: each shows what it has, says what it has not, and breaks nothing."""

from __future__ import annotations

import polars as pl
import pytest

import kate
from explore.opened_page import OpenedPage, start_chromium
from kate.explore import page

PEACE, MONEY = "a treaty of peace among nations", "gold and silver coins of the bank"
TEXTS = [PEACE, MONEY, "peace and an envoy", "silver dollars in the bank"] * 10


@pytest.fixture(scope="module")
def model():
    return kate.TextModel(n_components=4, max_epochs=2, min_df=1).fit(TEXTS)


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    window = start_chromium(tmp_path_factory.mktemp("edges"))
    yield window
    window.quit()


CORPORA = {
    "one document": (pl.DataFrame({"text": [MONEY]}), {}, "1 document"),
    "some of unknown words": (
        pl.DataFrame({"text": [MONEY, "Χαίρετε", "κόσμε"], "title": ["a", "b", None]}),
        {},
        "3 documents",
    ),
    "all alike": (pl.DataFrame({"text": [MONEY] * 50}), {}, "50 documents"),
    "one day": (
        pl.DataFrame({"text": TEXTS, "date": ["1999-03-01"] * 40}),
        {"date": "date"},
        "40 documents, 1999",
    ),
    "no texts": (
        pl.DataFrame({"text": TEXTS, "year": [1900 + row for row in range(40)]}),
        {"texts": "none"},
        "40 documents",
    ),
    "a sample": (pl.DataFrame({"text": TEXTS}), {"sample": 10}, "10 documents, a sample of 40 documents"),
}


@pytest.mark.parametrize("name", CORPORA)
def test_it_opens_is_searched_and_read(name, model, window, tmp_path):
    corpus, options, facts = CORPORA[name]
    page(model, corpus, tmp_path / "a.html", **options)
    opened = OpenedPage(window, tmp_path / "a.html").open()
    assert facts in opened.text(".top .facts")
    opened.find("#search").send_keys("silver")
    opened.wait_for("document.querySelector('.how-many').textContent.includes('hit')")
    opened.find(".documents-panel button.document").click()
    opened.wait_for("document.querySelector('.reading')?.textContent.length > 0")
    shown = opened.text(".reading")
    if options.get("texts") == "none":
        assert "made without the texts" in shown
    else:
        assert "silver" in shown
    assert opened.faults() == []


def test_a_document_of_unknown_words_says_so(model, window, tmp_path):
    page(model, ["Χαίρετε", MONEY], tmp_path / "a.html")
    opened = OpenedPage(window, tmp_path / "a.html").open("doc=0")
    opened.wait_for("document.querySelector('.reading')?.textContent.includes('Χαίρετε')")
    assert "No word of this document is known to the model" in opened.text(".reading")
    assert opened.faults() == []
