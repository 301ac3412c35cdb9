"""The tables of docs/rivals.md are what the runs say."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["why_rivals_differ", "vae_width"])
def test_the_table_is_made_from_the_runs(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "experiments" / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    shown = script.PAGE.read_text().split(script.START)[1].split(script.END)[0]
    assert shown.strip() == script.table(), f"run: python experiments/{name}.py --update"
