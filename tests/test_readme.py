"""The README: its figures are those that were measured (test_pages.py runs its examples)."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

import kate

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["docs/performance.md", "docs/gpu.md", "docs/models.md"])
def test_tables_of_speed_are_those_that_the_benchmarks_give(page: str) -> None:
    spec = importlib.util.spec_from_file_location("speed_table", ROOT / "experiments" / "speed_table.py")
    assert spec is not None and spec.loader is not None
    speed_table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(speed_table)

    shown = (ROOT / page).read_text().split(speed_table.START)[1].split(speed_table.END)[0]

    assert shown.strip() == speed_table.TABLES[ROOT / page](), (
        "run: python experiments/speed_table.py --update"
    )


def test_the_figures_of_topics_are_those_of_the_results():
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8").split("\n## Topics\n")[1]
    titles = ["KATE", "LSA + k-means", "LDA", "NMF", "BERTopic, outliers assigned"]
    for line, heading in (
        ("| NMI with", "### NMI with"),
        ("| NPMI of", "### NPMI of"),
        ("| documents that hold", "### Coverage"),
    ):
        [shown] = [row for row in README.splitlines() if row.startswith(line)]
        table = page.split(heading)[1].split("###")[0].splitlines()
        column = next(row for row in table if row.startswith("| model")).split(" | ").index("mean, long")
        means = {
            row.split(" | ")[0].removeprefix("| "): row.split(" | ")[column] for row in table if " | " in row
        }
        assert shown.strip(" |").split(" | ")[1:] == [means[title] for title in titles]


def test_the_seconds_are_those_of_the_kept_runs():
    kept = (ROOT / "experiments" / "comparison.jsonl").read_text(encoding="utf-8")
    runs = {run["model"]: run for run in map(json.loads, kept.splitlines()) if run["corpus"] == "bbc"}
    [shown] = [row for row in README.splitlines() if row.startswith("| processor seconds")]
    models = ("kate", "lsa", "lda-tomotopy", "nmf", "bertopic")
    assert shown.strip(" |").split(" | ")[1:] == [f"{runs[name]['cpu_seconds_fit']:,.1f}" for name in models]


def test_it_says_what_it_is_in_five_lines_and_shows_a_picture():
    head, _, rest = README.partition("![")
    assert len(head.strip().splitlines()[1:]) == 6  # a blank line, and five
    picture = rest.splitlines()[0]
    assert (ROOT / picture.rpartition("(")[2].rstrip(")")).is_file()


def test_every_link_leads_to_a_file():
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", README)]
    assert len(links) > 20
    missing = [link for link in links if not link.startswith("http") and not (ROOT / link).is_file()]
    assert not missing


def test_it_is_short():
    assert len(README.splitlines()) < 200


def test_the_citation_names_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [kate.__version__]
