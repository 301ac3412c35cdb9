"""What the README says is what was measured."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_table_of_speed_is_the_one_that_the_benchmarks_give() -> None:
    spec = importlib.util.spec_from_file_location("speed_table", ROOT / "experiments" / "speed_table.py")
    assert spec is not None and spec.loader is not None
    speed_table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(speed_table)

    shown = (ROOT / "README.md").read_text().split(speed_table.START)[1].split(speed_table.END)[0]

    assert shown.strip() == speed_table.table(), "run: python experiments/speed_table.py --update"
