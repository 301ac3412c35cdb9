"""The notebooks of the site run; the outputs kept with them are theirs, small, and show no texts of a data set."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

if any(find_spec(package) is None for package in ("nbclient", "nbformat", "ipykernel")):
    pytest.skip("notebooks need pip install 'kate-text[docs]'", allow_module_level=True)

from kate.research.datasets import list_datasets
from notebook_runs import NOTEBOOKS, executed

NAMES = {"news_with_dates", "film_reviews", "your_own_folder"}
[MOVIES] = [row for row in list_datasets() if row.name == "movies"]


def cells_with_code(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def kinds(notebook: dict) -> list[list[str]]:
    """What each cell shows: the kinds of its outputs."""
    return [
        sorted(kind for output in cell["outputs"] for kind in output.get("data", {}))
        for cell in cells_with_code(notebook)
    ]


def test_there_are_three() -> None:
    assert {path.stem for path in NOTEBOOKS} == NAMES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_kept(path: Path, tmp_path: Path) -> None:
    if path.stem == "film_reviews" and not MOVIES.is_here:
        pytest.skip("the film reviews are not here: see kate datasets")

    made = executed(path, tmp_path)

    assert kinds(made) == kinds(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_kept_is_small_and_without_errors(path: Path) -> None:
    assert path.stat().st_size < 150_000
    notebook = json.loads(path.read_text(encoding="utf-8"))
    outputs = [output for cell in cells_with_code(notebook) for output in cell["outputs"]]
    assert len(outputs) >= 5
    assert not [output for output in outputs if output["output_type"] in {"error", "stream"}]


def test_the_film_reviews_show_words_and_figures_alone() -> None:
    [path] = [path for path in NOTEBOOKS if path.stem == "film_reviews"]
    for cell in cells_with_code(json.loads(path.read_text(encoding="utf-8"))):
        for output in cell["outputs"]:
            shown = "".join(output["data"]["text/plain"])
            assert not any(len(line.split()) > 30 for line in shown.splitlines()), "this looks like a text"
