"""The tables of docs/reproduction.md: the best is bold whoever it is, large differences are flagged."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from kate.research.evaluation import Score, Summary, read_results
from kate.research.evaluation.run_keys import key_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rivals_table", ROOT / "experiments" / "rivals_table.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def summary(model: str, accuracy: float, words: int = 2000) -> Summary:
    scores = {"classification": {"accuracy": Score(accuracy, 0.002, 3)}}
    return Summary("20news", {"vocabulary_size": words}, model, 128, {}, 3, 0, scores, {})


def test_rows_have_the_paper_ours_and_tuned_side_by_side(script: ModuleType) -> None:
    runs = [
        summary("kate-paper", 0.74),
        summary("ae", 0.73),
        summary("ae:tuned", 0.78),
        summary("lsa", 0.735),
    ]
    text = script.as_markdown(script.table_rows(runs, "classification", "accuracy"), "accuracy")
    assert (
        text.splitlines()[2:]
        == [
            "| kate-paper | **0.744** | **0.740 ± 0.002 (3)** | – | -0.004 |",
            "| ae | 0.084 | 0.730 ± 0.002 (3) | **0.780 ± 0.002 (3)** | +0.646 ⚑ |",
            "| lsa (defaults) | – | 0.735 ± 0.002 (3) | 0.735 ± 0.002 (3) | – |",  # searched in vain: the same runs
        ]
    )


def test_another_vocabulary_is_another_table_without_the_papers_numbers(script: ModuleType) -> None:
    runs = [summary("kate-paper", 0.74), summary("kate-paper", 0.8, words=20_000)]
    headings = [heading for heading, _ in script.groups(runs)]
    assert headings == ["20news, 128 topics, 2,000 words", "20news, 128 topics, 20,000 words"]
    [row] = script.table_rows(runs[1:], "classification", "accuracy")
    assert row.paper is None


def test_of_deviations_the_lowest_is_the_best(script: ModuleType) -> None:
    rows = [
        script.Row("kate", None, Score(2.0, None, 1), None),
        script.Row("lsa", None, Score(1.0, None, 1), None),
    ]
    assert "**1.000 (1)**" in script.as_markdown(rows, "mscd")
    assert "**2.000 (1)**" in script.as_markdown(rows, "accuracy")


def test_every_kept_run_has_the_key_of_what_it_says(script: ModuleType) -> None:
    kept = [*script.kept_runs(), *read_results(ROOT / "experiments" / "results.jsonl")]
    assert len(kept) > 1300
    assert [record["key"] for record in kept if record["key"] != key_of(record)] == []


def test_the_page_has_the_tables_that_the_kept_runs_give(script: ModuleType) -> None:
    shown = script.PAGE.read_text().split(script.START)[1].split(script.END)[0]
    assert shown.strip() == script.page_tables(), "run: python experiments/rivals_table.py --update"
