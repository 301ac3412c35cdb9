"""The excerpt of the page in docs/reproduction.md: sections by their names, without tables that have no data."""

import importlib.util
import json
import lzma
from pathlib import Path

import pytest

from kate.research.report.page_markdown import page_markdown
from kate.research.reproduce import grid_corpora
from kate.research.reproduce.lookup import Results
from kate.research.reproduce.plan import RunPlan
from kate.research.reproduce.reproduction_report import make_page
from kate.research.reproduce.spec import read_grid

ROOT = Path(__file__).parents[2]
REPORT = """# Title

## Table 7: sets

rcv1, F1

| model | ours |
|---|---|
| LDA | no data |
| *not in the paper* |  |
| LSA | no data |

- no data here

toy, F1

| model | ours |
|---|---|
| LDA | 0.5 |
| LSA | no data |

## Settings and versions of every run

long
"""


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location(
        "reproduction_tables", ROOT / "experiments" / "reproduction_tables.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_table_without_any_data_goes_with_its_heading(script):
    shown = script.chosen(REPORT, [])
    assert "rcv1, F1" not in shown
    assert "- no data here" in shown
    assert "toy, F1\n\n| model | ours |" in shown
    assert "Settings and versions" not in shown


def test_a_text_goes_between_its_marks_and_nowhere_else(script):
    page = "\n".join(["# A", *script.OPENING, "## B", script.START, "old", script.END, "after"])
    new = script.put(script.put(page, script.OPENING, "first"), (script.START, script.END), "table")
    kept = [line for line in new.splitlines() if line]
    first, end = script.OPENING
    assert kept == ["# A", first, "first", end, "## B", script.START, "table", script.END, "after"]
    with pytest.raises(SystemExit, match="has no marks"):
        script.put("# A", script.OPENING, "first")


def test_a_section_that_is_not_there_is_refused(script):
    with pytest.raises(SystemExit, match="no section starts with 'Table 9'; there are: Table 7: sets"):
        script.chosen(REPORT, ["Table 9"])


def test_the_page_has_the_sections_that_the_kept_runs_give(script, monkeypatch):
    """All runs of the paper's grid but some last seeds are kept, and the tables and sentences are made from them."""
    # the data sets of the page; nothing is read of them
    here, missing = {"20news", "movies", "reuters21578"}, grid_corpora.why_missing
    monkeypatch.setattr(
        grid_corpora, "why_missing", lambda name, own=None: None if name in here else missing(name, own)
    )
    if any(missing(name) is None for name in ("rcv1", "wiki10")):
        pytest.skip("there are more data sets here than on the page")
    lines = lzma.decompress((ROOT / "experiments" / "reproduction.jsonl.xz").read_bytes()).splitlines()
    records = {record["key"]: record for record in map(json.loads, lines)}
    plan = RunPlan(read_grid())
    assert (len(plan.found_in(records)), len(plan.demands)) == (1375, 1375)

    page = make_page(Results(plan, records), {})
    picture, sentences = page.opening
    assert [len(picture.charts), sentences.text.count("KATE leads")] == [2, 1]
    report = page_markdown(page)
    made = script.sections("\n" + script.chosen(report, []))
    start, end = script.OPENING
    whole = script.TARGET.read_text("utf-8")
    assert whole.split(start)[1].split(end)[0].strip() == script.opening(report)
    shown = whole.split(script.START)[1].split(script.END)[0]
    kept = script.sections(shown)
    assert made.keys() == kept.keys()
    for title in kept.keys() - {"The data sets"}:  # which would have to be counted
        assert made[title] == kept[title], title
