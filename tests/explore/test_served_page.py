"""The page that kate serve gives for an index: in Chromium, on loopback, with more documents than its map shows."""

from __future__ import annotations

import os

import numpy as np
import polars as pl
import pytest

import kate
from explore.opened_page import OpenedPage, start_chromium
from kate.text.frames import as_documents

pytest.importorskip("starlette", reason="the extra serve is not installed")
from kate.serve.service import make_app
from serve.loopback import running

os.environ["NO_PROXY"] = "127.0.0.1"

PEACE = ["treaty", "peace", "nations", "ally", "envoy", "truce"]
MONEY = ["gold", "silver", "coin", "bank", "mint", "dollars"]
ON_MAP = 100


@pytest.fixture(scope="module")
def index():
    """600 documents, of which the map shows 100; one that it does not show has words of its own."""
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice((PEACE, MONEY)[row % 2], size=4, replace=False)) for row in range(600)]
    shown = set(np.sort(np.random.default_rng(0).choice(np.arange(600), ON_MAP, replace=False)).tolist())
    stranger = next(row for row in range(599, 0, -2) if row not in shown)
    texts[stranger] += " zanzibar <b>&amp;"
    frame = pl.DataFrame(
        {
            "id": [f"a/{row}" for row in range(600)],
            "title": [f"number {row}" for row in range(600)],
            "text": texts,
            "year": [1800 + row % 100 for row in range(600)],
            "kind": ["rare" if row == stranger else ("odd" if row % 2 else "even") for row in range(600)],
        }
    )
    model = kate.TextModel(4, random_state=0, verbose=False).fit(texts)
    return kate.Index.build(model, as_documents(frame)), f"a/{stranger}", stranger


@pytest.fixture(scope="module")
def folder(index, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "archive"
    index[0].save(folder)
    return folder


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    window = start_chromium(tmp_path_factory.mktemp("served_window"), "--proxy-server=direct://")
    yield window
    window.quit()


class ServedPage(OpenedPage):
    def __init__(self, window, address):
        self.window, self.address = window, address


def test_the_whole_index_is_searched_and_read_in_the_page(folder, index, window):
    _, stranger, number = index
    with running(make_app(folder, on_map=ON_MAP)) as address:
        page = ServedPage(window, f"{address}/explore/")
        page.requests()  # those of a window that has just begun
        page.open()
        assert page.text(".top .facts") == "100 documents, 1800–1899, a sample of 600 documents"
        assert page.text("h1") == "archive"
        page.find(".topic").click()
        assert "in all of the index" in page.text(".topics-panel .details .facts")
        page.find(".topic").click()

        # a document that is not on the map is found, listed, placed and read
        page.find("#search").send_keys("zanzibar")
        page.wait_for("document.querySelector('.documents-panel .title')?.textContent.startsWith('number')")
        page.wait_for("document.querySelector('.how-many').textContent.includes('hit')")
        assert f"number {number}" in page.texts(".documents-panel .title")
        rows = page.run(
            "return [...document.querySelectorAll('.documents-panel li')].map((one) => +one.dataset.row)"
        )
        assert any(row >= ON_MAP for row in rows)
        page.find(".documents-panel button.document").click()
        page.wait_for("document.querySelector('.reading .text')?.textContent.includes('zanzibar <b>&amp;')")
        assert page.text(".reading h2") == f"number {number}"
        assert {"kind", "year"} <= set(page.texts(".reading dt"))
        assert "rare" in page.texts(".reading dd")
        assert page.texts(".reading .topic-share .part")
        assert page.texts(".reading mark")
        page.wait_for("document.querySelectorAll('.reading .similar li').length >= 3")

        # a document of the map, and similar ones
        page.run("document.querySelector('#search').value = ''")
        page.open("doc=3")
        page.wait_for("document.querySelector('.reading .text')?.textContent.length > 10")
        page.wait_for("document.querySelectorAll('.reading .similar li').length >= 3")
        assert stranger not in page.run("return location.hash")
        assert not page.faults()
        assert [
            one for one in page.requests() if not one.startswith((address, "data:", "about:", "blob:"))
        ] == []


def test_a_token_is_asked_for_and_sent(folder, window):
    with running(make_app(folder, token="secret", on_map=ON_MAP)) as address:
        page = ServedPage(window, f"{address}/explore/")
        page.window.get(page.address)
        page.wait_for("document.querySelector('#token')")
        assert "zanzibar" not in page.window.page_source
        assert "archive" not in page.window.page_source
        page.find("#token").send_keys("wrong\n")
        page.wait_for("document.body.innerText.includes('does not take the one')")
        page.find("#token").send_keys("secret\n")
        page.wait_for("document.getElementById('explorer').dataset.ready === 'words'")
        page.find("#search").send_keys("silver")
        page.wait_for("document.querySelector('.how-many').textContent.includes('hits')")
        assert page.text(".top .facts").endswith("a sample of 600 documents")


def test_a_model_has_nothing_to_explore_and_says_so(index, tmp_path, window):
    index[0].model.save(tmp_path / "speeches")
    with running(make_app(tmp_path / "speeches")) as address:
        page = ServedPage(window, f"{address}/explore/")
        page.window.get(page.address)
        page.wait_for("document.querySelector('.broken')")
        shown = page.text(".broken")
        assert "speeches is a model without documents" in shown
        assert "kate index" in shown
