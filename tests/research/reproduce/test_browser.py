"""The page in a real browser: contents work, the console is silent, nothing overflows, by day and by night."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kate.research.reproduce.plan import RunPlan
from kate.research.reproduce.reproduction_report import write_report
from research.reproduce.toys import invented

selenium = pytest.importorskip("selenium", reason="selenium is not installed")

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
WIDTHS = {"phone": (360, 740), "desk": (1280, 900)}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    binary = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no Chromium with its chromedriver on this machine")
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = binary
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    try:
        window = Chrome(options=options, service=Service(driver))
    except WebDriverException as error:
        pytest.skip(f"Chromium does not start here: {error.msg}")
    yield window
    window.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, plan: RunPlan) -> str:
    folder = tmp_path_factory.mktemp("page")
    records = invented(plan)
    longest = next(iter(records.values()))
    message = "a very long message without a single space in it: " + "n_components=" * 60
    longest |= {"status": "failed", "errors": {"fit": {"type": "ValueError", "message": message}}}
    write_report(plan, records, folder)
    return Path(folder / "index.html").as_uri()


def show(browser: Any, page: str, size: tuple[int, int], scheme: str = "light") -> None:
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get("about:blank")
    browser.get(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", WIDTHS.values(), ids=WIDTHS)
def test_nothing_overflows_and_the_console_is_silent(browser: Any, page: str, size: Any, scheme: str) -> None:
    show(browser, page, size, scheme)
    # what is folded away must fit as well
    browser.execute_script("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    outside = browser.execute_script(
        """const edge = document.documentElement.clientWidth + 0.5;
        return [...document.querySelectorAll("body *")]
          .filter(one => !one.closest("thead") && one.getBoundingClientRect().right > edge)
          .map(one => one.tagName + ": " + one.textContent.slice(0, 50))"""
    )
    assert outside == []
    assert browser.get_log("browser") == []


def test_the_contents_lead_to_their_sections(browser: Any, page: str) -> None:
    show(browser, page, WIDTHS["desk"])
    links = browser.find_elements("css selector", "nav a")
    assert len(links) >= 10
    for link in links:
        name = link.get_attribute("href").rsplit("#", 1)[1]
        browser.execute_script("arguments[0].click()", link)
        top = browser.execute_script(
            "return document.getElementById(arguments[0]).getBoundingClientRect().top", name
        )
        at_end = browser.execute_script(
            "return window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2"
        )
        assert top >= 0
        assert top < 60 or at_end


def test_dark_is_dark_and_light_is_light(browser: Any, page: str) -> None:
    brightness = {}
    for scheme in ("light", "dark"):
        show(browser, page, WIDTHS["desk"], scheme)
        color = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        brightness[scheme] = sum(int(part) for part in color[4:-1].split(","))
    assert brightness["light"] > 700
    assert brightness["dark"] < 120


def test_points_show_their_values_and_a_series_can_be_picked(browser: Any, page: str) -> None:
    show(browser, page, WIDTHS["desk"])
    said = browser.execute_script(
        """const mark = document.querySelector("#figure4-charts circle");
        mark.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, clientX: 300, clientY: 300}));
        const tip = document.getElementById("tip");
        return [tip.hidden, tip.textContent]"""
    )
    assert said[0] is False
    assert "% fetched: 0." in said[1]
    picked = browser.execute_script(
        """const figure = document.getElementById("figure2-charts");
        figure.querySelector(".legend button").click();
        return [figure.classList.contains("picked"), figure.querySelectorAll("g.pick").length]"""
    )
    assert picked[0] is True
    assert picked[1] >= 1


def test_a_phone_folds_the_sections_and_a_link_opens_its_own(browser: Any, page: str) -> None:
    are_open = "return [...document.querySelectorAll('details.section')].map(one => one.open)"
    show(browser, page, WIDTHS["desk"])
    assert all(browser.execute_script(are_open))
    show(browser, page, WIDTHS["phone"])
    assert not any(browser.execute_script(are_open))
    assert browser.execute_script("return document.documentElement.scrollHeight") < 20_000
    last = browser.find_elements("css selector", "nav a")[-1]
    browser.execute_script("arguments[0].click()", last)
    later = f"const done = arguments[0]; setTimeout(() => done((() => {{ {are_open} }})()), 50)"
    opened = browser.execute_async_script(later)
    assert opened == [False] * (len(opened) - 1) + [True]


def test_a_table_is_a_list_of_cards_on_a_phone(browser: Any, page: str) -> None:
    display = "return getComputedStyle(document.querySelector('table.cards tbody tr')).display"
    show(browser, page, WIDTHS["phone"])
    browser.execute_script("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert browser.execute_script(display) in {"grid", "block"}
    show(browser, page, WIDTHS["desk"])
    assert browser.execute_script(display) == "table-row"
