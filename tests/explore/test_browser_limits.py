"""The page where things are narrow, dark, on paper, without WebGL, or hostile."""

from __future__ import annotations

import json
from base64 import b64decode

import polars as pl
import pytest

import kate
from explore.browsed_corpus import N_DOCUMENTS
from explore.opened_page import OpenedPage, start_chromium
from kate.explore import page

PHONE = (390, 844)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_phone_shows_everything_without_scrolling_sideways(opened, dark):
    for panel in ("topics", "documents", "time", "groups", "words"):
        opened.open(f"panel={panel}&q=gold" if panel == "words" else f"panel={panel}", PHONE, dark=dark)
        assert opened.run("return document.documentElement.scrollWidth") <= PHONE[0]
        shown = opened.find(f"#panel-{panel}").rect
        assert shown["width"] == PHONE[0] and shown["height"] > 150
    paper = opened.run("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(","))) < 128) is dark


def test_light_and_dark_by_a_key_and_on_paper(opened):
    opened.open()
    opened.press("t")
    assert opened.run("return document.documentElement.dataset.theme") == "dark"
    dot = "return getComputedStyle(document.querySelector('.topics .dot')).backgroundColor"
    chosen = opened.run(dot)
    opened.open()  # what the reader chose is kept, colours of topics and all
    assert opened.run("return document.documentElement.dataset.theme") == "dark"
    assert opened.run(dot) == chosen
    opened.press("t")
    opened.window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    assert opened.run("return getComputedStyle(document.querySelector('.search')).display") == "none"
    assert opened.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    opened.window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    opened.run("localStorage.clear()")


def test_an_address_with_a_document_shows_it_on_a_phone(opened):
    opened.open("doc=3", PHONE)
    assert opened.find(".reading > .title").is_displayed()
    assert opened.text(".reading > .title") == "Report 3 of the rail"


def test_the_head_has_room_for_what_the_corpus_is_and_messages_for_what_is_chosen(opened):
    for width in (1024, 1440):
        opened.open("q=railraod", (width, 768))
        cut = "[...document.querySelectorAll('.top h1, .top .facts')].some((one) => one.scrollWidth > one.clientWidth)"
        assert not opened.run(f"return {cut}")
        opened.wait_for("document.querySelector('.search-said').textContent")
        said, chips = opened.find(".search-said").rect, opened.find(".chip").rect
        assert said["y"] + said["height"] <= chips["y"]


@pytest.mark.parametrize("size", [(1280, 860), PHONE], ids=["desktop", "phone"])
def test_the_map_is_on_paper_too_light_and_with_its_points(opened, size):
    opened.open("topics=0&doc=0", size, dark=True)
    names = "return [...document.querySelectorAll('.label.shown')].map((one) => one.style.transform)"
    shown = opened.run(names)
    paper = PAINTED.replace("canvas.points", "canvas.paper")
    opened.run("window.seen = null; addEventListener('beforeprint', () => { window.seen = " + paper + "; })")
    # on paper a canvas is a list of strokes: one that clears takes away what other canvases show below it
    opened.run(
        "window.cleared = 0; CanvasRenderingContext2D.prototype.clearRect = () => { window.cleared += 1; }"
    )
    base64 = opened.window.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})["data"]
    assert opened.run("return window.seen") > N_DOCUMENTS
    assert opened.run("return window.cleared") == 0
    assert b"/Width 1980" in b64decode(base64)  # the picture of the map is in the file
    opened.wait_for("document.querySelector('canvas.paper') === null")
    opened.wait_for(f"JSON.stringify((() => {{ {names} }})()) === {json.dumps(json.dumps(shown))}")
    assert opened.run("return getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 26)"


def test_everything_that_can_be_pressed_has_a_name(opened):
    opened.open("doc=0&panel=words&word=gold&topics=1")
    nameless = opened.run(
        "return [...document.querySelectorAll('button, input, select, [role=application], svg[role=img]')]"
        ".filter((one) => !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length))"
        ".map((one) => one.outerHTML.slice(0, 90))"
    )
    assert nameless == []
    opened.press("?")
    assert opened.run("return document.querySelector('dialog').open")
    opened.press("\ue00c")


# how many pixels of the map have a point on them
PAINTED = """(() => {
const canvas = document.querySelector("canvas.points"), drawn = document.createElement("canvas");
Object.assign(drawn, { width: canvas.width, height: canvas.height });
const pen = drawn.getContext("2d");
pen.drawImage(canvas, 0, 0);
return pen.getImageData(0, 0, drawn.width, drawn.height).data.filter((one, at) => at % 4 === 3 && one > 0).length
})()"""


def test_points_are_drawn_without_webgl_too(folder, shared):
    shared.open("topics=0")
    if shared.run("return document.querySelector('.map').dataset.drawing") == "WebGL":
        # a context that is lost on the way
        shared.run(
            "document.querySelector('canvas.points').getContext('webgl2').getExtension('WEBGL_lose_context').loseContext()"
        )
    shared.wait_for("document.querySelector('.map').dataset.drawing === 'Canvas'")
    shared.wait_for(f"{PAINTED} > {N_DOCUMENTS}")
    plain = start_chromium(folder / "plain", "--disable-3d-apis")
    try:
        opened = OpenedPage(plain, folder / "corpus.html").open("topics=0")
        assert opened.run("return document.querySelector('.map').dataset.drawing") == "Canvas"
        opened.wait_for(f"{PAINTED} > {N_DOCUMENTS}")
        opened.run("document.querySelector('.map').focus()")
        opened.press("\ue007")  # Enter opens the document in the middle
        opened.press("0", "j")
        opened.wait_for("!document.querySelector('.reader').hidden")
        assert [one for one in opened.faults() if "WebGL" not in one] == []
    finally:
        plain.quit()


HOSTILE = [
    "</script><script>window.broken = 1</script> gold coin",
    "<img src=x onerror='window.broken = 2'> silver <!-- coin",
    "\u202eright to left \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 gold",
    "emoji \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f3f4\U000e0067\U000e0062\U000e007f silver",
    "a" * 500_000 + " gold " + "silver " * 70_000,
    "nul \x00 bell \x07 escape \x1b[31m vertical \x0b gold \ufffe \x7f",
    "{{script}} {{data}} ${window.broken = 3} constructor __proto__ toString hasOwnProperty gold",
    "",
    "\ufeff \u200b\u200d\u2028\u2029",
    "quotes \" and ' and ` and \\ and &quot;&lt;b&gt; gold",
]


def test_hostile_documents_are_harmless(window, tmp_path):
    values = [
        *("</script><b>", "__proto__", "constructor", "\u202eabc", "\x00"),
        *("=1+1", "<img src=x>", "", "a\nb", "\U0001f600"),
    ]
    columns = {"__proto__": values, "</style><script>": values[::-1], "year": list(range(-3, 7))}
    model = kate.TextModel(n_components=3, max_epochs=2, random_state=0, min_df=1).fit(
        [*HOSTILE, "gold coin"]
    )
    title = "</title><script>window.broken = 4</script>\x00{{data}}"
    page(model, pl.DataFrame({"text": HOSTILE, **columns}), tmp_path / "hostile.html", title=title)
    opened = OpenedPage(window, tmp_path / "hostile.html").open("", PHONE)
    opened.faults()
    for row, text in enumerate(HOSTILE):
        opened.run(f"location.hash = 'doc={row}&panel=documents&q=gold'")
        opened.wait_for(f"document.querySelector('.reading')?.dataset.row === '{row}'")
        shown = opened.run("return document.querySelector('.reading .text')?.textContent ?? ''")
        assert shown == text[:20_000]
        assert opened.run("return document.documentElement.scrollWidth") <= PHONE[0]
    for panel in ("groups", "words", "topics"):
        opened.run(f"location.hash = 'panel={panel}&word=constructor&by=__proto__'")
        opened.wait_for(f"document.querySelector('#panel-{panel}').offsetParent !== null")
        assert opened.run("return document.documentElement.scrollWidth") <= PHONE[0]
    assert opened.run("return window.broken ?? null") is None
    assert opened.faults() == []
