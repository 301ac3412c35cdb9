"""The table of docs/rivals.md is what the runs say."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_table_is_made_from_the_runs():
    path = ROOT / "experiments" / "why_rivals_differ.py"
    spec = importlib.util.spec_from_file_location("why_rivals_differ", path)
    why = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(why)
    shown = why.PAGE.read_text().split(why.START)[1].split(why.END)[0]
    assert shown.strip() == why.table(), "run: python experiments/why_rivals_differ.py --update"
