"""Lines of results → page, report and figures: numbers, reasons, errors, sentences; nothing is run."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from matplotlib.image import imread

from kate.research.reproduce.findings import findings, headlines, missing_numbers
from kate.research.reproduce.lookup import Results
from kate.research.reproduce.plan import GridCell, RunPlan
from kate.research.reproduce.reproduction_report import make_page, write_report
from kate.research.reproduce.spec import read_grid
from research.reproduce.toys import invented, toy_grid


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory, plan: RunPlan) -> Path:
    folder = tmp_path_factory.mktemp("book")
    records = invented(plan)
    broken = plan.planned(GridCell("toy", "lsa", "paper", 4), 0).key or ""
    for seed in plan.seeds:
        key = plan.planned(GridCell("toy", "lsa", "paper", 4), seed).key or ""
        error = {"fit": {"type": "ValueError", "message": "n_components=4 <is> wrong"}}
        records[key] |= {"status": "failed", "errors": error, "scores": {}, "details": {}}
    assert records[broken]["status"] == "failed"
    write_report(plan, records, folder)
    return folder


def test_the_page_is_one_file_that_asks_for_nothing(book: Path) -> None:
    html = (book / "index.html").read_text("utf-8")
    assert not re.search(r'(?:src|href)="(?!#|data:)', html)
    assert "@import" not in html
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", html)
    for link in re.findall(r'href="#([^"]+)"', html):
        assert f'id="{link}"' in html


def test_ids_are_unique(book: Path) -> None:
    ids = re.findall(r' id="([^"]+)"', (book / "index.html").read_text("utf-8"))
    assert len(ids) == len(set(ids))


def test_page_and_report_say_the_same(book: Path) -> None:
    html, report = (book / "index.html").read_text("utf-8"), (book / "report.md").read_text("utf-8")
    for text in ("0.550", "What we found", "not available here", "failed", "no data"):
        assert text in html, text
        assert text in report, text
    assert "± 0.071" in html
    assert "**0.550 ± 0.071**" in report  # the best of its column, in bold
    assert "![" in report
    assert "figures/figure2.png" in report


def test_a_number_of_fewer_seeds_says_how_many(tmp_path: Path, plan: RunPlan) -> None:
    records = invented(plan)
    del records[plan.planned(GridCell("toy", "kate", "tuned", 4), 1).key or ""]
    write_report(plan, records, tmp_path)
    assert "**0.500 (1)**" in (tmp_path / "report.md").read_text("utf-8")


def test_the_budget_of_tuning_is_told_once(book: Path) -> None:
    report = (book / "report.md").read_text("utf-8")
    assert report.count("Tuned settings were searched") == 1
    also = [line for line in report.splitlines() if line.startswith("- Searched with ")]
    assert also and len({line.partition(":")[0] for line in also}) == len(also)
    assert "16 trials per model, by accuracy on validation documents (BM25: by map" in report


def test_errors_are_shown_in_full_and_escaped(book: Path) -> None:
    html = (book / "index.html").read_text("utf-8")
    assert "n_components=4 &lt;is&gt; wrong" in html
    assert "<is>" not in html
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<b>" not in html


def test_figures_are_files_that_can_be_read(book: Path) -> None:
    for name in ("figure2", "figure4", "figure5"):
        root = ET.parse(book / "figures" / f"{name}.svg").getroot()
        assert root.tag.endswith("svg")
        assert root.findall(".//{http://www.w3.org/2000/svg}title")  # values to point at
        assert imread(book / "figures" / f"{name}.png").shape[0] > 100


def test_settings_and_versions_of_the_runs_are_there(book: Path) -> None:
    html = (book / "index.html").read_text("utf-8")
    assert "Settings and versions of every run" in html
    assert "&quot;max_epochs&quot;: 3" in html
    assert "Versions 1" in html


def test_multiples_of_kates_time(book: Path) -> None:
    report = (book / "report.md").read_text("utf-8")
    table = report.split("## Table 9")[1].split("##")[0]
    assert "1.10 1×" in table
    assert "Nothing else ran meanwhile." in table


def test_sentences_come_from_the_numbers(plan: RunPlan) -> None:
    records = invented(plan)
    for seed in plan.seeds:
        key = plan.planned(GridCell("toy", "lsa", "tuned", 4), seed).key or ""
        records[key]["scores"]["classification"]["accuracy"] = 0.9
    results = Results(plan, records)
    assert len(headlines(results)) <= 3
    [leads] = [sentence for sentence in headlines(results) if sentence.startswith("Of the columns of scores")]
    assert " and **0 of 2** with every model tuned alike (the others: KATE_no_amp 1, LSA 1)." in leads
    assert missing_numbers(results).endswith(" numbers are missing, of no-such-model.")
    told = [
        sentence for sentence in findings(results) if sentence.startswith("Table 6, toy, accuracy, tuned")
    ]
    assert told == [
        "Table 6, toy, accuracy, tuned: 4 topics **LSA** 0.900 ± 0.000, KATE number 2 of 2 with 0.550 ± 0.071."
    ]


def test_a_page_of_no_runs_and_a_quick_one(tmp_path: Path, plan: RunPlan) -> None:
    empty = make_page(Results(plan, {}), {})
    assert not empty.banner
    quick = RunPlan(toy_grid(tmp_path).made_quick())
    page = make_page(Results(quick, invented(quick)), {})
    assert page.banner.startswith("A quick look")


def test_the_papers_own_page_can_be_made_without_runs(tmp_path: Path) -> None:
    plan = RunPlan(read_grid(), seeds=1, only=["table6", "table7"])
    written = write_report(plan, {}, tmp_path)
    report = (tmp_path / "report.md").read_text("utf-8")
    assert {path.name for path in written} == {"index.html", "report.md"}
    assert "| KATE | **0.744** |" in report
    assert "| DocNADE | **0.564** |" in report
