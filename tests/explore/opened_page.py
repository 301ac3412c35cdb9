"""A page in Chromium, as a reader uses it: what is shown, what is clicked, what the console says."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--use-angle=swiftshader",  # WebGL without a graphics card
    "--enable-unsafe-swiftshader",
)
PATIENCE = 60.0  # seconds, for a busy machine


def start_chromium(folder: Path, *flags: str) -> Any:
    """A window without a screen whose downloads go to ``folder``; the test is skipped where there is no Chromium."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    binary = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no Chromium with its chromedriver on this machine")
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, *flags, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        window = webdriver.Chrome(options=options, service=Service(driver))
    except WebDriverException as error:
        pytest.skip(f"Chromium does not start here: {error.msg}")
    window.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    return window


class OpenedPage:
    """One page in one window; ``open`` begins anew with a view."""

    def __init__(self, window: Any, path: Path) -> None:
        self.window, self.address = window, path.as_uri()

    def open(
        self, view: str = "", size: tuple[int, int] = (1280, 860), *, dark: bool = False, moving: bool = False
    ) -> OpenedPage:
        phone = size[0] < 600
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": phone}
        self.window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "no-preference" if moving else "reduce"}
        self.window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, motion]})
        self.window.get("about:blank")
        self.window.get(f"{self.address}#{view}" if view else self.address)
        self.wait_for("document.getElementById('explorer').dataset.ready === 'words'")
        return self

    def run(self, script: str, *arguments: Any) -> Any:
        return self.window.execute_script(script, *arguments)

    def wait_for(self, condition: str) -> None:
        until = time.monotonic() + PATIENCE
        while not self.run(f"return Boolean({condition})"):
            shown = self.run("return document.body.innerText")[:500] if time.monotonic() > until else ""
            assert time.monotonic() <= until, f"never so: {condition}\n{shown}"
            time.sleep(0.02)

    def downloaded(self, path: Path) -> Path:
        """A file that the page saves, once it is there whole: Chromium names it so at the end."""
        until = time.monotonic() + PATIENCE
        while not path.is_file():
            assert time.monotonic() <= until, f"never saved: {path.name}"
            time.sleep(0.02)
        return path

    def find(self, selector: str) -> Any:
        return self.window.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return self.window.find_elements("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector
        )

    def text(self, selector: str) -> str:
        [found] = self.texts(selector)
        return found

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.window).send_keys(*keys).perform()

    def drag(self, selector: str, places: list[tuple[float, float]], key: str | None = None) -> None:
        """Drag over an element, from place to place; places are parts of its width and height."""
        from selenium.webdriver.common.action_chains import ActionChains

        box = self.find(selector).rect
        points = [(int(box["x"] + x * box["width"]), int(box["y"] + y * box["height"])) for x, y in places]
        chain = ActionChains(self.window, duration=20)
        if key:
            chain.key_down(key)
        mouse = chain.w3c_actions.pointer_action
        mouse.move_to_location(*points[0])
        mouse.pointer_down()
        for point in points[1:]:
            mouse.move_to_location(*point)
        mouse.pointer_up()
        chain.perform()
        if key:
            ActionChains(self.window).key_up(key).perform()

    def view(self) -> dict[str, str]:
        """What the address says."""
        self.run("window.dispatchEvent(new Event('pagehide'))")  # it is written with a little delay
        return self.run("return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")

    def chosen(self) -> tuple[int, int]:
        """How many documents are chosen, of how many."""
        chosen, of_all = self.text(".chosen-count").split(" of ")
        return int(chosen.replace(",", "")), int(of_all.replace(",", ""))

    def faults(self) -> list[str]:
        """What the console complained of since it was asked last."""
        return [
            line["message"]
            for line in self.window.get_log("browser")
            if line["level"] in ("SEVERE", "WARNING")
        ]

    def requests(self) -> list[str]:
        """The addresses that were asked for since it was asked last."""
        import json

        messages = [json.loads(line["message"])["message"] for line in self.window.get_log("performance")]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]
