"""The demo on a few hundred paragraphs: everything is made, and the commands that it recommends work."""

from __future__ import annotations

import contextlib
import io
import shlex
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

import kate
from kate.cli import app
from kate.cli.demo import show
from kate.demo.speeches import Paragraph
from kate.demo.speeches import paragraphs as all_paragraphs
from kate.demo.topic_history import TopicHistory, YearlyShares, choose_for_timeline
from kate.demo.tour import Addresses, DemoSize
from kate.topics.neuron_poles import Topic

SMALL = DemoSize(n_components=8, vocabulary_size=800, max_epochs=3, n_mapped=100, map_iterations=250)


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
    assert {"read", "fit", "index", "search", "draw"} <= set(seconds)
    return folder, printed.getvalue()


def test_it_leaves_a_model_an_index_and_the_paragraphs(
    shown: tuple[Path, str], paragraphs: list[Paragraph]
) -> None:
    folder, _ = shown
    assert kate.load(folder / "model").n_components == SMALL.n_components
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
    assert (folder / f"{name}.svg").stat().st_size > 5_000


def test_it_prints_topics_words_searches_and_timings(shown: tuple[Path, str]) -> None:
    _, printed = shown
    assert "529 paragraphs" in printed
    assert "█" in printed
    assert "Similar words" in printed
    assert 'Search: "' in printed
    assert " s; in all " in printed


def test_what_it_recommends_works(shown: tuple[Path, str], paragraphs: list[Paragraph]) -> None:
    _, printed = shown
    commands = [line.strip() for line in printed.split("Try next")[1].splitlines() if line.strip()]
    assert len(commands) >= 3
    assert any(command.startswith("kate fit ") for command in commands)
    for command in commands:
        quick = ["--epochs", "1"] if command.startswith("kate fit ") else []
        result = CliRunner().invoke(app, [*shlex.split(command)[1:], *quick])
        assert result.exit_code == 0, (command, result.output)


def test_a_second_run_replaces_the_first(
    shown: tuple[Path, str], paragraphs: list[Paragraph], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = shown
    monkeypatch.setattr("kate.demo.tour.draw_pictures", lambda *_: [])  # drawn once is enough
    vectors = (folder / "index" / "vectors.npy").read_bytes()
    show(folder, paragraphs, SMALL)
    assert (folder / "index" / "vectors.npy").read_bytes() == vectors


def test_without_the_package_it_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = CliRunner().invoke(app, ["demo", "-o", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert "pip install 'kate-text[demo]'" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def history(name: str, words: str, share: float, coherence: float, peak: int, rows: slice) -> TopicHistory:
    years = np.arange(1800.0, 2000.0)
    strengths = np.zeros(100, dtype=np.float32)
    strengths[rows] = 1
    topic = Topic(int(name[:-1]), "+" if name[-1] == "+" else "-", tuple(words.split()), share, coherence)
    return TopicHistory(topic, strengths, years, np.exp(-(((years - peak) / 20) ** 2)))


def test_topics_to_show_are_coherent_large_distinct_and_in_order() -> None:
    late = history("0+", "nuclear weapons missile", 0.1, 0.4, 1960, slice(0, 20))
    early = history("1+", "gold silver coin", 0.1, 0.3, 1850, slice(20, 40))
    same_words = history("2+", "silver gold money", 0.1, 0.29, 1870, slice(40, 60))
    same_rows = history("3+", "bombs war arms", 0.1, 0.28, 1970, slice(2, 22))
    rare = history("4+", "zebra lion", 0.001, 0.9, 1900, slice(60, 61))
    vague = history("5+", "thing fact", 0.2, 0.05, 1900, slice(70, 100))
    assert choose_for_timeline([late, early, same_words, same_rows, rare, vague]) == [early, late]


def test_a_history_tells_its_peak_its_time_and_its_label() -> None:
    one = history("0+", "nuclear weapons missile treaty", 0.1, 0.4, 1960, slice(0, 20))
    assert (one.peak, one.peak_share) == (1960, 1.0)
    assert 1950 < one.middle < 1965
    assert one.concentration > 0.5
    assert one.label(17) == "nuclear, weapons"
    assert one.label(3) == "nuclear"
    assert one.sparkline(20) == "▁▁▁▁▁▁▁▁▁▁▁▁▁▂▅██▆▂▁"


def test_shares_are_of_the_paragraphs_of_the_years(paragraphs: list[Paragraph]) -> None:
    addresses = Addresses.of(paragraphs)
    assert addresses.years.min() == 1790
    assert addresses.n_addresses == len({paragraph.title for paragraph in paragraphs})
    yearly = YearlyShares.of(addresses.years)
    everything = yearly.of_documents(np.ones(len(paragraphs), dtype=bool))
    assert np.allclose(everything, 1)
    assert yearly.years[0] == 1790
    assert yearly.years[-1] == addresses.years.max()
    before_1900 = yearly.of_documents(addresses.years < 1900)
    assert before_1900[0] > 0.99
    assert before_1900[-1] < 0.01
