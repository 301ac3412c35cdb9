"""What the README and docs/gpu.md say is what was measured."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("page", ["README.md", "docs/gpu.md"])
def test_tables_of_speed_are_those_that_the_benchmarks_give(page: str) -> None:
    spec = importlib.util.spec_from_file_location("speed_table", ROOT / "experiments" / "speed_table.py")
    assert spec is not None and spec.loader is not None
    speed_table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(speed_table)

    shown = (ROOT / page).read_text().split(speed_table.START)[1].split(speed_table.END)[0]

    assert shown.strip() == speed_table.TABLES[ROOT / page](), (
        "run: python experiments/speed_table.py --update"
    )
