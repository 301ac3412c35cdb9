"""The tables of docs/rivals.md, docs/models.md and docs/comparison.md are made from the kept runs and measurements."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_our_own_parts_is_made_from_the_benchmark() -> None:
    spec = importlib.util.spec_from_file_location("speed_table", ROOT / "experiments" / "speed_table.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    shown = script.MODELS_PAGE.read_text().split(script.START)[1].split(script.END)[0]
    assert shown.strip() == script.rivals_table(), "run: python experiments/speed_table.py --update"


@pytest.mark.parametrize("name", ["why_rivals_differ", "vae_width", "comparison_table"])
def test_the_table_is_made_from_the_runs(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "experiments" / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    shown = script.PAGE.read_text().split(script.START)[1].split(script.END)[0]
    assert shown.strip() == script.table(), f"run: python experiments/{name}.py --update"
