"""The excerpt of the page in docs/reproduction.md: sections by their names, without tables that have no data."""

import importlib.util
from pathlib import Path

import pytest

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


def test_a_section_that_is_not_there_is_refused(script):
    with pytest.raises(SystemExit, match="no section starts with 'Table 9'; there are: Table 7: sets"):
        script.chosen(REPORT, ["Table 9"])
