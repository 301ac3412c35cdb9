"""The page in a real Chromium, from a file: everything that a reader does."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kate
from explore.browsed_corpus import N_DOCUMENTS, THEMES, browsed_corpus
from explore.page_reading import read_page
from kate.cli import app
from kate.text.documents import Documents

ARROW_RIGHT = "\ue014"
SHOWN_X = "Number(new URLSearchParams(location.hash.slice(1)).get('view')?.split('_')[0])"


def test_it_shows_topics_documents_and_names_that_do_not_overlap(opened):
    opened.open()
    assert opened.text("h1") == "Reports & <b>years</b>"
    assert opened.run("return document.title") == "Reports & <b>years</b>"
    assert "300 documents, 1800–1899" in opened.text(".facts")
    assert len(opened.all(".topics > li")) == 5
    assert opened.texts(".topic .part") == ["20%"] * 5
    boxes = opened.run(
        "return [...document.querySelectorAll('.label.shown')].map((one) => one.getBoundingClientRect().toJSON())"
    )
    assert len(boxes) == 5
    for at, one in enumerate(boxes):
        for other in boxes[:at]:
            apart = one["right"] <= other["left"] or other["right"] <= one["left"]
            assert apart or one["bottom"] <= other["top"] or other["bottom"] <= one["top"]


def test_search_finds_words_and_meaning_and_says_so_in_the_address(opened, model):
    opened.open()
    opened.press("/")
    opened.press("gold and silver")
    opened.wait_for("document.querySelector('.how-many').textContent.endsWith('hits')")
    found = opened.run(
        "return [...document.querySelectorAll('.documents li')].map((one) => Number(one.dataset.row))"
    )
    documents = Documents.from_texts(browsed_corpus()["text"], titles=browsed_corpus()["title"].to_list())
    assert found[:10] == [int(hit.id) for hit in kate.Index.build(model, documents).search("gold and silver")]
    assert {word.lower() for word in opened.texts(".documents li:first-child mark")} == {"gold", "silver"}
    n_hits, n_all = opened.chosen()
    assert 40 <= n_hits <= 70 and n_all == N_DOCUMENTS
    assert len(set(opened.texts(".similar-words .word")) & set(THEMES["money"].split())) >= 3
    assert opened.view()["q"] == "gold and silver"
    opened.press("\ue00c")  # Escape
    opened.wait_for("document.querySelector('.how-many').textContent === '300 documents'")


def test_search_says_what_may_be_meant(opened):
    opened.open("q=railraod")
    assert "did you mean railroad" in opened.text(".search-said")
    assert opened.texts(".documents .nothing") != []
    opened.open("q=%22open")
    assert "without its partner" in opened.text(".search-said")


def test_the_slider_cuts_the_tree_live(opened, model):
    opened.open()
    stops = opened.run("return JSON.parse(document.getElementById('kate-manifest').textContent).cuts")
    for step in ("]", "]", "["):
        opened.press(step)
    opened.run(
        "const slider = document.getElementById('cut-slider'); slider.value = arguments[0];"
        "slider.dispatchEvent(new Event('input', { bubbles: true }))",
        stops.index(3),
    )
    opened.wait_for("document.querySelectorAll('.topics > li').length === 3")
    assert set(opened.texts(".topics .name")) == {topic.name for topic in model.topics(3)}
    assert opened.view()["cut"] == "3"


def test_a_topic_filters_map_time_and_list(opened):
    opened.open()
    name = opened.texts(".topics .name")[0]
    opened.all(".topics .topic")[0].click()
    opened.wait_for("document.querySelector('.how-many').textContent === '60 documents'")
    assert opened.chosen() == (60, N_DOCUMENTS)
    assert set(opened.texts(".documents .of")) == {name}
    assert opened.texts(".ridges .ridge-name") == [name]
    opened.wait_for(
        f"[...document.querySelectorAll('.label.shown')].map((one) => one.textContent).join() === {json.dumps(name)}"
    )
    opened.all(".topics .topic")[0].click()
    opened.wait_for("document.querySelectorAll('.ridges .ridge').length === 5")


def test_pointing_at_a_topic_that_is_not_chosen_leaves_the_chosen_one_in_the_light(opened):
    from selenium.webdriver.common.action_chains import ActionChains

    opened.open("topics=0")
    first, other = opened.all(".topics .topic")[:2]
    light = "[...document.querySelectorAll('.label.shown, .ridges, .ridge')].map((one) => one.getAttribute('class'))"
    opened.wait_for("document.querySelectorAll('.label.shown').length === 1")
    before = opened.run(f"return {light}")
    ActionChains(opened.window).move_to_element(other).perform()
    opened.wait_for("document.querySelectorAll('.topics li')[1].classList.contains('lit')")
    opened.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert opened.run(f"return {light}") == before
    ActionChains(opened.window).move_to_element(first).perform()
    opened.wait_for("document.querySelector('.ridge.lit') !== null")


def test_lasso_and_what_tells_its_documents_apart(opened):
    opened.open("panel=words")
    opened.drag(".map", [(0.02, 0.02), (0.98, 0.02), (0.98, 0.55), (0.02, 0.55), (0.02, 0.04)], key="\ue008")
    opened.wait_for("document.querySelector('.chips')?.textContent.includes('drawn on the map')")
    n_chosen, _ = opened.chosen()
    assert 0 < n_chosen < N_DOCUMENTS
    assert opened.texts(".word-telling .word") != []
    assert len(opened.view()["lasso"].split("..")) >= 3


def test_the_map_is_zoomed_dragged_and_read_by_keys(opened):
    opened.open()
    opened.run("document.querySelector('.map').focus()")
    opened.press("+", ARROW_RIGHT)
    opened.wait_for(f"{SHOWN_X} > 0.5")
    assert float(opened.view()["view"].split("_")[2]) == pytest.approx(1.8)
    opened.press("0")
    opened.wait_for("!location.hash.includes('view=')")
    # a drag may begin on a name: it moves the map and chooses nothing
    opened.drag(".label.shown", [(0.5, 0.5), (0.7, 0.5), (1.9, 1.5)])
    opened.wait_for(f"{SHOWN_X} < 0.5")
    assert "topics" not in opened.view()


def test_keys_that_come_while_the_map_flies_all_count(opened):
    opened.open(moving=True)
    opened.run("document.querySelector('.map').focus()")
    opened.press("+", "+", ARROW_RIGHT)
    opened.wait_for(f"{SHOWN_X} > 0.5")
    assert float(opened.view()["view"].split("_")[2]) == pytest.approx(1.8**2, rel=1e-3)


def test_names_beside_ridges_have_room_in_wide_letters(opened):
    opened.open("panel=time")
    opened.run("document.documentElement.style.setProperty('--sans', '\"DejaVu Sans Mono\", monospace')")
    opened.run("document.querySelector('.topics .topic').click()")
    opened.press("r")
    opened.run(
        "document.querySelector('.topic-form input').value = 'an extraordinarily long name of a topic'"
    )
    opened.find(".topic-form button.primary").click()
    opened.wait_for("document.querySelector('.ridge .ridge-name')?.textContent.startsWith('an extra')")
    name, panel = opened.find(".ridge .ridge-name").rect, opened.find(".ridges").rect
    assert opened.text(".ridge .ridge-name").endswith("…")
    assert name["x"] >= panel["x"]


def test_brushing_time_chooses_a_period(opened):
    opened.open("panel=time")
    opened.drag(".strip", [(0.3, 0.3), (0.4, 0.3), (0.5, 0.3)])
    opened.wait_for("document.querySelector('.chip') !== null")
    first, last = (int(day[:4]) for day in opened.view()["period"].split(".."))
    assert 1800 < first < last < 1899
    expected = browsed_corpus().filter(pl.col("year").is_between(first, last)).height
    assert opened.chosen() == (expected, N_DOCUMENTS)


def test_groups_of_any_column(opened):
    opened.open("panel=groups")
    assert sorted(opened.texts(".groups .name")) == sorted(THEMES)
    opened.all(".groups .group")[0].click()
    opened.wait_for("document.querySelector('.chosen-count')?.textContent.startsWith('60')")
    opened.open("panel=groups&by=pages")
    assert len(opened.all(".groups .group")) == 8


def test_the_reader_tells_topics_words_columns_and_similar_documents(opened, model):
    opened.open("doc=0")
    assert opened.text(".reading > .title") == "Report 0 of the money"
    assert (
        dict(zip(opened.texts(".columns dt"), opened.texts(".columns dd"), strict=True))["label"] == "money"
    )
    topics = model.topics(5)
    [shares] = topics.shares([browsed_corpus()["text"][0]])
    assert opened.texts(".topic-share .name")[0] == list(topics)[int(shares.argmax())].name
    assert opened.texts(".topic-share .part")[0] == f"{100 * shares.max():.0f}%"
    marked = {word.lower() for word in opened.texts(".reading .text mark")}
    assert {"gold", "silver"} <= marked and not marked & {"and", "the", "of"}
    others = opened.texts(".similar .title")
    assert len(others) == 6 and all(title.endswith("of the money") for title in others)
    opened.all(".similar .document")[0].click()
    opened.wait_for(f"document.querySelector('.reading > .title').textContent === {json.dumps(others[0])}")
    opened.press("\ue00c")
    opened.wait_for("document.querySelector('.reader').hidden")


def test_a_word_has_neighbours_topics_and_a_curve(opened, model):
    opened.open("panel=words&word=gold")
    shown = opened.texts(".word-about .word")
    assert shown[:5] == [word for word, _ in model.similar_words("gold", 5)]
    held = browsed_corpus()["text"].str.to_lowercase().str.contains(r"\bgold\b").sum()
    assert f"in {held} documents" in opened.text(".word-about .facts")
    assert "Report" not in opened.texts(".word-topics .name")[0]
    assert opened.find(".word-curve").get_attribute("aria-label").startswith("The use of gold through time")
    opened.open("panel=words&word=nosuchword")
    assert "No document holds nosuchword" in opened.text(".word-body")


def test_renamed_and_merged_topics_are_saved_as_kate_topics_takes_them(opened, folder, model):
    opened.open()
    first, second = opened.texts(".topics .name")[:2]
    opened.all(".topics .topic")[0].click()
    opened.press("r")
    opened.find(".topic-form input").clear()
    opened.find(".topic-form input").send_keys("a  better name \u201cx\u201d\n")
    opened.wait_for("document.querySelector('.topics').textContent.includes('a  better name')")
    opened.run(
        "[...document.querySelectorAll('.acts button')].find((one) => one.textContent === 'Merge').click()"
    )
    opened.run(
        "const choice = document.querySelector('.topic-form select');"
        "choice.value = [...choice.options].find((one) => one.textContent === arguments[0]).value",
        second,
    )
    opened.find(".topic-form button.primary").click()
    opened.wait_for("document.querySelectorAll('.topics > li').length === 4")
    kept = opened.view()
    opened.open(f"edits={kept['edits']}")  # the address keeps changes, too
    assert len(opened.all(".topics > li")) == 4
    opened.run("[...document.querySelectorAll('.changes button')].at(-1).click()")
    saved = opened.downloaded(folder / "edits.json")
    told = CliRunner().invoke(app, ["topics", str(folder / "model"), "--apply", str(saved)])
    assert told.exit_code == 0, told.output
    changed = kate.load(folder / "model").topics()
    assert sorted(opened.texts(".topics .name")) == sorted(topic.name for topic in changed)
    sizes = changed.label(browsed_corpus()["text"])["topic_name"].value_counts()
    assert dict(sizes.rows())["a  better name \u201cx\u201d"] == 120
    assert first != second


def test_a_reload_shows_the_same_view(opened):
    opened.open(
        "cut=4&topics=1&period=1820-01-01..1870-12-31&panel=groups&by=label&q=gold&doc=5&view=0.4_0.6_2"
    )
    before = opened.view(), opened.text(".chips"), opened.text(".reading"), opened.texts(".topics .name")
    opened.window.refresh()
    opened.wait_for("document.getElementById('explorer').dataset.ready === 'words'")
    assert (
        opened.view(),
        opened.text(".chips"),
        opened.text(".reading"),
        opened.texts(".topics .name"),
    ) == before
    opened.open(
        "cut=7777&topics=x&period=no&doc=99999&lasso=1_2&view=a_b_c&edits={{&by=nothing&panel=none&sort=%00"
    )
    assert opened.texts(".how-many") == ["300 documents"]


def test_the_list_is_saved_as_a_table(opened, folder):
    opened.open("topics=0")
    rows = opened.chosen()[0]
    opened.run("[...document.querySelectorAll('.list-acts button')].at(-1).click()")
    saved = opened.downloaded(folder / "documents.csv")
    with saved.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert len(found) == rows
    assert found[0]["title"].startswith("Report ")


def test_pointing_at_a_document_shows_it_and_a_click_opens_it(opened):
    from selenium.webdriver.common.action_chains import ActionChains

    _, parts = read_page(Path(opened.address.removeprefix("file://")))
    x, y = np.frombuffer(parts["positions"], np.uint16).reshape(2, -1)[:, 7] / 65_535
    opened.open(f"view={x:.4f}_{y:.4f}_40")
    middle = opened.find(".map")
    ActionChains(opened.window).move_to_element(middle).move_by_offset(2, 2).perform()
    opened.wait_for("!document.querySelector('.hover-card').hidden")
    title = opened.text(".hover-card .title")
    assert title.startswith("Report ")
    opened.wait_for("document.querySelector('.hover-card .snippet').textContent.startsWith('The ')")
    ActionChains(opened.window).click().perform()
    opened.wait_for(f"document.querySelector('.reading > .title')?.textContent === {json.dumps(title)}")
    assert opened.view()["doc"] == title.split()[1]
