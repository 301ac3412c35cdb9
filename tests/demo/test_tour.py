"""The demo on a few hundred paragraphs: everything is made, and the commands that it recommends work."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from pathlib import Path

import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

import kate
from kate.cli import app
from kate.cli.demo import show
from kate.demo.speeches import Paragraph
from kate.demo.speeches import paragraphs as all_paragraphs
from kate.demo.tour import FULL_SIZE, Addresses, DemoSize, choose_topics
from kate.extras import install_command

SMALL = DemoSize(
    settings={"n_components": 8, "vocabulary_size": 800, "max_epochs": 3}, n_mapped=100, map_iterations=250
)


@pytest.fixture(scope="module")
def paragraphs() -> list[Paragraph]:
    return all_paragraphs()[::40]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory, paragraphs: list[Paragraph]) -> tuple[Path, str]:
    """The folder that the demo made, and what it printed."""
    folder = tmp_path_factory.mktemp("demo") / "made" / "here"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        seconds = show(folder, paragraphs, SMALL)
    assert {"read", "fit", "index", "search", "draw", "page"} <= set(seconds)
    return folder, printed.getvalue()


def test_it_fits_as_kate_fit_does() -> None:
    assert not FULL_SIZE.settings


def test_it_leaves_a_model_an_index_and_the_paragraphs(
    shown: tuple[Path, str], paragraphs: list[Paragraph]
) -> None:
    folder, _ = shown
    assert kate.load(folder / "model").n_components == 8
    assert len(kate.Index.load(folder / "index")) == len(paragraphs)
    read = kate.read_corpus(folder / "paragraphs.jsonl")
    assert read.texts.to_list() == [paragraph.text for paragraph in paragraphs]
    assert read.ids == [paragraph.id for paragraph in paragraphs]
    assert read.titles == [paragraph.title for paragraph in paragraphs]


@pytest.mark.parametrize("name", ["topics-through-time", "paragraph-map"])
def test_it_draws_pictures(shown: tuple[Path, str], name: str) -> None:
    folder, _ = shown
    picture = imread(folder / f"{name}.png")
    assert min(picture.shape[:2]) >= 300
    assert picture.shape[1] > 1000
    assert picture.std() > 0.03


def test_it_makes_a_page_of_all_paragraphs(shown: tuple[Path, str], paragraphs: list[Paragraph]) -> None:
    folder, printed = shown
    html = (folder / "explore.html").read_text(encoding="utf-8")
    manifest = json.loads(html.split('id="kate-manifest">')[1].split("</script>")[0])
    assert manifest["n_documents"] == len(paragraphs)
    assert manifest["texts"] == "whole"
    assert manifest["date"]["column"] == "year"
    assert manifest["title"] == "State of the Union"
    assert f"\n  {(folder / 'explore.html').as_uri()}\n" in printed


def test_it_prints_topics_words_searches_and_timings(shown: tuple[Path, str]) -> None:
    _, printed = shown
    assert "529 paragraphs" in printed
    assert "12 of 50 topics" in printed
    assert "█" in printed
    assert "Similar words" in printed
    assert 'Search: "' in printed
    assert " s; in all " in printed


def test_the_table_has_the_topics_of_the_picture(
    shown: tuple[Path, str], paragraphs: list[Paragraph]
) -> None:
    folder, printed = shown
    topics = kate.load(folder / "model").topics(50)
    chosen = choose_topics(topics, Addresses.of(paragraphs))
    rows = printed.split("name: words of the peak")[1].split("Similar words")[0].split("\n")
    assert [int(row.split()[0]) for row in rows if row.strip()] == [topic.number for topic in chosen]


def test_what_it_recommends_works(shown: tuple[Path, str], paragraphs: list[Paragraph]) -> None:
    folder, printed = shown
    commands = [line.strip() for line in printed.split("Try next")[1].splitlines() if line.strip()]
    assert {"topics", "trends", "plot", "label", "search", "explore"} <= {
        command.split()[1] for command in commands
    }
    for command in commands:
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.exit_code == 0, (command, result.output)
    assert (folder / "tree.png").is_file()


def test_a_second_run_replaces_the_first(
    shown: tuple[Path, str], paragraphs: list[Paragraph], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = shown
    monkeypatch.setattr("kate.demo.tour.draw_pictures", lambda *_: [])  # drawn once is enough
    monkeypatch.setattr("kate.demo.tour.write_explorer", lambda *_: folder / "explore.html")
    vectors = (folder / "index" / "vectors.npy").read_bytes()
    show(folder, paragraphs, SMALL)
    assert (folder / "index" / "vectors.npy").read_bytes() == vectors


def test_without_the_package_it_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = CliRunner().invoke(app, ["demo", "-o", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert install_command("demo") in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_addresses_know_their_years(paragraphs: list[Paragraph]) -> None:
    addresses = Addresses.of(paragraphs)
    assert addresses.years == (1790, max(paragraph.year for paragraph in paragraphs))
    assert addresses.n_addresses == len({paragraph.title for paragraph in paragraphs})
