"""The grid file: what it may say, and how it says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

import kate
from kate.research.datasets.loading import DATASETS
from kate.research.reproduce.spec import ScoresOutput, read_grid
from research.reproduce.toys import GRID, write_grid


def test_the_papers_grid_has_every_table_and_figure() -> None:
    grid = read_grid()
    tables = ["datasets", "table3", "table4", "table5", "table6", "table7", "table8", "table9"]
    assert set(grid.outputs) == {*tables, "figure2", "figure3", "figure4", "figure5"}
    assert grid.seeds == 5
    table6 = grid.outputs["table6"]
    assert isinstance(table6, ScoresOutput)
    assert len(table6.models) == 13
    assert table6.models[-1] == "kate"
    for output in grid.outputs.values():
        for name in getattr(output, "datasets", ()):
            assert name in DATASETS


def test_experiments_and_package_have_one_file() -> None:
    packaged = Path(kate.__file__).parent / "research" / "reproduce" / "paper.toml"
    shown = Path(__file__).parents[3] / "experiments" / "paper.toml"
    assert shown.samefile(packaged)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('kind = "scores"', 'kind = "score"'), r"\[outputs.table5\]: kind is 'score'; choose from datasets"),
        (('best = "highest"', 'bests = "highest"'), "unknown setting 'bests'; did you mean best"),
        (('title = "Table 4: words"', ""), r"\[outputs.table4\] lacks title"),
        (("seeds = 2", "seed = 2"), "unknown part 'seed'; did you mean seeds"),
        (("seeds = 2", "seeds = = 2"), "is no TOML file"),
        (('file = "toy.jsonl"', ""), r"\[corpora.toy\] lacks file"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = write_grid(tmp_path, 1, GRID.replace(*change))
    with pytest.raises(ValueError, match=message):
        read_grid(path)


def test_outputs_are_chosen_by_name() -> None:
    grid = read_grid()
    assert [output.key for output in grid.chosen(["table6", "table5"])] == ["table5", "table6"]
    assert len(grid.chosen(None)) == len(grid.outputs)
    with pytest.raises(ValueError, match="no output 'tabel5'; did you mean table5"):
        grid.chosen(["tabel5"])
