"""The pages of the documentation: their examples run, and what is shown without running names options that exist."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from kate.cli.demo import show
from kate.demo import tour
from kate.demo.speeches import paragraphs
from kate.explore import map_layout
from page_examples import CODE, OTHER, ROOT, add_news, examples_of, pages, run_page, shape, updated

PAGES = [page for page in pages() if examples_of(page.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what ``make demo`` leaves in kate-demo, from a twentieth of the paragraphs."""
    folder = tmp_path_factory.mktemp("pages")
    size = tour.DemoSize(settings={"n_components": 64, "vocabulary_size": 2_000, "max_epochs": 3})
    with contextlib.redirect_stdout(io.StringIO()), pytest.MonkeyPatch.context() as patch:
        patch.setattr(tour, "draw_pictures", lambda *_: [])  # tests/demo draws them, and lays out the map
        patch.setattr(tour, "write_explorer", lambda folder, *_: folder / "explore.html")
        show(folder / "kate-demo", paragraphs()[::20], size)
    return folder / "kate-demo"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_work(page: Path, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(demo, tmp_path / "kate-demo")
    add_news(tmp_path)
    monkeypatch.setattr(map_layout, "_has_opentsne", lambda: False)  # tests/explore lays out maps
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    run = run_page(page)

    if run.missing:
        pytest.skip(f"all ran but the code of {', '.join(sorted(run.missing))}, which is not installed")


def test_every_block_of_code_is_of_a_kind_that_is_run_or_known() -> None:
    for page in pages():
        text = page.read_text(encoding="utf-8")
        kinds = re.findall(r"^ *```(\S+)", text, re.MULTILINE)
        unknown = [kind for kind in kinds if kind not in CODE + OTHER and not kind.startswith("{")]
        assert not unknown, f"{page.name} has blocks of {unknown}, which no test runs"
        indented = re.findall(rf"^ +```({'|'.join(CODE)})\b", text, re.MULTILINE)
        assert not indented, f"{page.name} has indented code, which no test finds"
        assert not re.findall(r"^```python[^\n]*\n>>> ", text, re.MULTILINE), (
            f"{page.name}: use pycon for >>>"
        )
        assert not re.findall(r"^```sh\n\$ kate", text, re.MULTILINE), f"{page.name}: use console for $"


def test_there_are_examples_to_run() -> None:
    kinds = [example.kind for page in PAGES for example in examples_of(page.read_text(encoding="utf-8"))]
    assert kinds.count("console") >= 30
    assert kinds.count("pycon") >= 30


def test_a_wrong_output_and_a_failure_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for body, found in {
        ">>> 1 + 1\n'two'": "line 2",
        ">>> 1 / 0": "line 2: 1 / 0",
        ">>> print('seen')\n": "line 2",
    }.items():
        page.write_text(f"```pycon\n{body}\n```\n")
        with pytest.raises(AssertionError, match=found):
            run_page(page)
    page.write_text("```sh\nkate fit --no-such-option\n```\n")
    with pytest.raises(AssertionError, match="fit has no --no-such-option"):
        run_page(page)


def test_code_of_a_package_that_is_missing_is_told(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python no_such_package\nraise SystemExit\n```\n")
    assert run_page(page).missing == {"no_such_package"}


def test_an_update_writes_what_is_printed_and_nothing_else() -> None:
    page = "# A\n\n```pycon\n>>> 6 * 7\n41\n\n>>> for i in range(2):\n...     print(i)\n```\n\n```text\n>>> 1\n```\n"
    assert updated(page) == page.replace("41", "42").replace("print(i)\n", "print(i)\n0\n1\n")


def test_numbers_and_quoted_words_do_not_count() -> None:
    assert shape("21,125 documents in 12.3 s") == shape("1,056 documents in 0.9 s")
    assert shape("'Richard Nixon, 1970'") == shape("'George Bush, 1991'")
    assert shape("(3, 7)") != shape("(3, 7, 1)")


def test_the_demo_has_dates(demo: Path) -> None:
    assert {"text", "year", "label", "title"} <= set(pl.read_ndjson(demo / "paragraphs.jsonl").columns)
