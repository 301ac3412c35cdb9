"""Outputs → runs: each once, with all that is asked of it, and reasons where there can be none."""

from __future__ import annotations

from pathlib import Path

from kate.research.registry import make_model
from kate.research.reproduce.plan import GridCell, RunPlan, sweep_cell
from kate.research.reproduce.spec import SweepsOutput, read_grid
from kate.research.reproduce.variants import variant
from research.reproduce.toys import toy_grid


def test_a_run_is_planned_once_and_measures_all_that_outputs_ask(plan: RunPlan) -> None:
    planned = plan.planned(GridCell("toy", "kate", "paper", 4), 0)
    assert planned.run is not None
    assert planned.run.model == "kate-paper"
    demand = plan.demands[planned.key or ""]
    assert demand.tasks >= {"neurons", "classification", "retrieval", "map", "class_topics", "words", "time"}
    assert demand.outputs >= {"table5", "table6", "figure4", "table9"}
    assert demand.alone
    # words and maps are shown of the first seed alone
    second = plan.planned(GridCell("toy", "kate", "paper", 4), 1)
    assert not plan.demands[second.key or ""].tasks & {"map", "words", "class_topics"}


def test_the_same_settings_are_the_same_run(plan: RunPlan) -> None:
    plain = plan.planned(GridCell("toy", "kate", "paper", 4), 0)
    swept = plan.planned(GridCell("toy", "kate", "paper", 4, (("activation", "tanh"),)), 0)
    other = plan.planned(GridCell("toy", "kate", "paper", 4, (("activation", "sigmoid"),)), 0)
    assert plain.key == swept.key != other.key


def test_what_cannot_run_here_says_why(plan: RunPlan) -> None:
    unknown = plan.planned(GridCell("toy", "no-such-model", "paper", 4), 0)
    assert unknown.key is None
    assert (unknown.why_not or "").startswith("not available here: no model is named 'no-such-model'")
    missing = plan.planned(GridCell("wiki10", "kate", "paper", 4), 0)
    assert (missing.why_not or "").startswith("no data here; kate datasets")
    untuned = plan.planned(GridCell("toy", "ae", "tuned", 4), 0)
    assert untuned.key is not None or (untuned.why_not or "").startswith("not tuned yet")


def test_only_some_outputs_are_planned_with_the_tasks_of_all(tmp_path: Path, plan: RunPlan) -> None:
    only = RunPlan(toy_grid(tmp_path), only=["table6"])
    assert [output.key for output in only.outputs] == ["table6"]
    assert len(only.demands) == 6  # two models, two seeds, of KATE two protocols
    key = only.planned(GridCell("toy", "kate", "tuned", 4), 0).key or ""
    assert only.demands[key].tasks == plan.demands[key].tasks


def test_a_quick_look_is_another_run(tmp_path: Path, plan: RunPlan) -> None:
    quick = RunPlan(toy_grid(tmp_path).made_quick())
    assert len(quick.seeds) == 1
    run = next(iter(quick.runs().values()))
    assert run.n_components == 3
    assert run.settings["max_epochs"] == 2
    assert not quick.demands.keys() & plan.demands.keys()
    corpus = run.source.load()
    assert (corpus.fitting.size, corpus.validation.size, corpus.test.size) == (60, 10, 24)
    assert not any(demand.alone for demand in quick.demands.values())


def test_seeds_may_be_given(tmp_path: Path) -> None:
    assert list(RunPlan(toy_grid(tmp_path), seeds=3).seeds) == [0, 1, 2]


def test_a_model_whose_search_found_nothing_better_is_run_once() -> None:
    """ETM's tuned settings are its own: both columns show one run. AE's are not."""
    cells = [
        GridCell("20news", model, protocol, 128) for model in ("etm", "ae") for protocol in ("paper", "tuned")
    ]
    assert [variant(cell, read_grid())[0] for cell in cells] == ["etm", "etm", "ae", "ae:tuned"]


def test_a_sweep_over_the_number_of_topics_keeps_the_settings_of_its_own_size() -> None:
    """Settings are tuned for each size; a figure in which only the size changes takes those of one size."""
    grid = read_grid()
    output = grid.outputs["figure5"]
    assert isinstance(output, SweepsOutput)
    panel = next(panel for panel in output.panels if panel.parameter == "n_components")
    models = {
        size: make_model(name, size, settings)
        for size in panel.values
        for name, settings in [variant(sweep_cell(output, panel, size, "tuned", grid), grid)]
    }
    rates = {model.get_params()["learning_rate"] for model in models.values()}
    assert rates == {make_model("kate-network:tuned", output.topics).get_params()["learning_rate"]}
    assert rates != {make_model("kate-network:tuned", 512).get_params()["learning_rate"]}
