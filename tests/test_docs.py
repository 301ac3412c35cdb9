"""The site: it builds without a warning, links included, and its pages fetch nothing from the network."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from explore.opened_page import start_chromium
from page_examples import ROOT

if any(find_spec(package) is None for package in ("furo", "myst_nb", "sphinx", "sphinx_copybutton")):
    pytest.skip("the site needs pip install 'kate-text[docs]'", allow_module_level=True)

# What a browser fetches by itself; links that a reader follows (a href) may lead anywhere.
_FETCHED = (
    re.compile(
        r"""<(?:script|img|iframe|source|audio|video|embed)\b[^>]*\bsrc\s*=\s*["']?(?:https?:)?//""", re.I
    ),
    re.compile(r"""<link\b(?![^>]*rel="(?:canonical|license)")[^>]*href\s*=\s*["']?(?:https?:)?//""", re.I),
    re.compile(r"""url\(\s*["']?(?:https?:)?//""", re.I),
    re.compile(r"""@import\s+["']?(?:https?:)?//""", re.I),
)


def build(source: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """The site as ``make docs`` makes it."""
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-W",
        "--keep-going",
        "-q",
        "-d",
        f"{site}.doctrees",
    ]
    return subprocess.run([*command, str(source), str(site)], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = build(ROOT / "docs", folder)
    assert done.returncode == 0, done.stderr
    return folder


def fetched_from_outside(text: str) -> list[str]:
    return [found.group() for pattern in _FETCHED for found in pattern.finditer(text)]


def test_nothing_is_fetched_from_the_network(site: Path) -> None:
    pages = [path for path in site.rglob("*") if path.suffix in (".html", ".css", ".svg")]
    assert len(pages) > 20
    for page in pages:
        assert not fetched_from_outside(page.read_text(encoding="utf-8")), page.relative_to(site)


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    window = start_chromium(tmp_path_factory.mktemp("phone"))
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    yield window
    window.quit()


# What reaches beyond the right edge, but for what is in a frame that scrolls (a table, code); the menus wait outside.
_OUTSIDE = """
const edge = document.documentElement.clientWidth + 0.5;
const frame = (one) => one.parentElement && !one.parentElement.matches("body, .content")  // which could scroll
  && (getComputedStyle(one.parentElement).overflowX !== "visible" || frame(one.parentElement));
return [...document.querySelectorAll("body *")]
  .filter(one => one.getBoundingClientRect().right > edge && !frame(one))
  .filter(one => !one.closest(".sidebar-drawer, .toc-drawer") && getComputedStyle(one).visibility !== "hidden")
  .map(one => one.tagName + ": " + one.textContent.trim().slice(0, 50));
"""


def test_no_page_is_wider_than_a_phone(phone: Any, site: Path) -> None:
    for page in sorted(site.rglob("*.html")):
        phone.get(page.as_uri())
        assert phone.execute_script("return document.documentElement.scrollWidth") == 390, page.name
        assert phone.execute_script(_OUTSIDE) == [], page.name


def test_the_tables_of_the_paper_are_no_endless_page_on_a_phone(phone: Any, site: Path) -> None:
    phone.get((site / "reproduction.html").as_uri())
    assert phone.execute_script("return document.documentElement.scrollHeight") < 20_000


def test_every_page_is_in_the_contents(site: Path) -> None:
    contents = (site / "index.html").read_text(encoding="utf-8")
    for page in [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]:
        name = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert f'href="{name}"' in contents or name == "index.html", (
            f"{page.name} is in no toctree of docs/index.md"
        )


def test_what_fetches_is_seen() -> None:
    for seen in (
        '<script src="https://cdn.example/x.js">',
        '<link rel="stylesheet" href="//fonts.example/css">',
        "src: url(https://fonts.example/x.woff2)",
        '@import "https://example.org/x.css"',
    ):
        assert fetched_from_outside(seen), seen
    assert not fetched_from_outside('<a href="https://example.org">there</a><script src="_static/x.js">')


def test_a_broken_link_is_an_error(tmp_path: Path) -> None:
    source = tmp_path / "docs"
    source.mkdir()
    conf = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    (source / "conf.py").write_text(
        conf.replace("Path(__file__).resolve().parents[1]", f"Path({str(ROOT)!r})")
    )
    (source / "_static").mkdir()
    (source / "_static" / "site.css").touch()
    (source / "index.md").write_text("# A\n\n[gone](gone.md) and [here](#nowhere)\n")
    done = build(source, tmp_path / "site")
    assert done.returncode != 0
    assert "gone.md" in done.stderr
    assert "nowhere" in done.stderr
