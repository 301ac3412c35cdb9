"""A grid: only what is missing is run; failures are recorded and tried again; an interrupt loses nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kate.research.datasets.corpus import Corpus
from kate.research.evaluation import (
    CorpusSource,
    GridProgress,
    PlannedRun,
    corpus_of,
    plan_runs,
    read_results,
    run_grid,
)
from research.evaluation.toys import Topicless, make_documents

TASKS = ["classification", "time"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "folder" / "results.jsonl"


def plan(corpus: Corpus, n_seeds: int = 2, **settings: Any) -> list[PlannedRun]:
    return plan_runs([CorpusSource.of(corpus)], ["quick"], [3, 4], range(n_seeds), settings)


def test_every_combination_is_a_line_with_all_that_it_depends_on(
    corpus: Corpus, quick_model: type[Topicless], path: Path
) -> None:
    records = run_grid(plan(corpus), path, tasks=TASKS)

    assert records == read_results(path)
    assert [(line["model"]["n_components"], line["seed"]) for line in records] == [
        (3, 0),
        (3, 1),
        (4, 0),
        (4, 1),
    ]
    first = records[0]
    assert first["status"] == "done"
    assert first["dataset"]["documents"] == {"fitting": 86, "validation": 10, "test": 24}
    assert first["dataset"]["settings"]["test_share"] == 0.2
    assert first["model"]["settings"]["n_components"] == 3
    assert {"kate", "numpy", "scipy", "scikit-learn", "numba", "python", "platform"} == set(first["versions"])
    assert first["seconds"].keys() == {"fit", "encode", "classification"}
    assert len({line["key"] for line in records}) == 4


def test_only_what_is_missing_is_run(corpus: Corpus, quick_model: type[Topicless], path: Path) -> None:
    before = run_grid(plan(corpus, 1), path, tasks=TASKS)
    events: list[GridProgress] = []
    after = run_grid(plan(corpus, 2), path, tasks=TASKS, progress=events.append)

    assert quick_model.fits == 4
    assert [after[0], after[2]] == before
    assert [event.run.seed for event in events if event.record] == [1, 1]
    assert {event.n_missing for event in events} == {2}
    assert [event.stage for event in events if event.n_over == 0] == [
        "load",
        "fit",
        "encode",
        "classification",
    ]

    run_grid(plan(corpus, 2), path, tasks=TASKS)
    assert quick_model.fits == 4


def test_a_changed_setting_or_corpus_is_another_run(
    corpus: Corpus, quick_model: type[Topicless], path: Path
) -> None:
    run_grid(plan(corpus, 1), path, tasks=TASKS)
    other = corpus_of(make_documents(n_each=41), "toy")
    run_grid(plan(other, 1), path, tasks=TASKS)
    run_grid(plan(corpus, 1, error=""), path, tasks=TASKS)

    assert quick_model.fits == 6
    assert len(read_results(path)) == 6


def test_a_task_that_is_missing_is_added_to_those_that_are_there(
    corpus: Corpus, quick_model: type[Topicless], path: Path
) -> None:
    run_grid(plan(corpus, 1)[:1], path, tasks=["classification"])
    [record] = run_grid(plan(corpus, 1)[:1], path, tasks=["retrieval", "neurons"])

    assert set(record["scores"]) == {"classification", "retrieval"}
    assert record["skipped"] == {"neurons": "neurons needs components"}
    run_grid(plan(corpus, 1)[:1], path, tasks=["classification", "neurons"])
    assert quick_model.fits == 2


def test_a_torn_last_line_is_run_again(corpus: Corpus, quick_model: type[Topicless], path: Path) -> None:
    complete = run_grid(plan(corpus), path, tasks=TASKS)
    path.write_bytes(path.read_bytes()[:-40])
    again = run_grid(plan(corpus), path, tasks=TASKS)

    assert quick_model.fits == 5
    assert again[:3] == complete[:3]
    assert again[3]["scores"]["classification"] == complete[3]["scores"]["classification"]
    assert len(read_results(path)) == 4


def test_a_failed_run_is_recorded_and_tried_again(
    corpus: Corpus, quick_model: type[Topicless], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = quick_model.fit

    def fail_once(model: Topicless, X: Any) -> Any:
        if X.shape[0] > 64 and (model.n_components, model.random_state) == (3, 1):
            raise RuntimeError("the disk is on fire")
        return fit(model, X)

    with monkeypatch.context() as patch:
        patch.setattr(quick_model, "fit", fail_once)
        records = run_grid(plan(corpus), path, tasks=TASKS)
    assert [record["status"] for record in records] == ["done", "failed", "done", "done"]
    assert records[1]["errors"] == {"fit": {"type": "RuntimeError", "message": "the disk is on fire"}}
    assert quick_model.fits == 3

    again = run_grid(plan(corpus), path, tasks=TASKS)
    assert [record["status"] for record in again] == ["done"] * 4
    assert quick_model.fits == 4


def test_an_interrupt_keeps_what_is_finished(
    corpus: Corpus, quick_model: type[Topicless], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(progress: GridProgress) -> None:
        if progress.n_over == 2 and progress.stage == "encode":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_grid(plan(corpus), path, tasks=TASKS, progress=interrupt)
    kept = read_results(path)
    assert [(line["model"]["n_components"], line["seed"]) for line in kept] == [(3, 0), (3, 1)]

    assert run_grid(plan(corpus), path, tasks=TASKS)[:2] == kept
    assert quick_model.fits == 5  # the interrupted one twice


def test_a_corpus_that_cannot_be_had_is_asked_for_once_and_the_rest_goes_on(
    corpus: Corpus, quick_model: type[Topicless], path: Path
) -> None:
    asked = []

    def load() -> Corpus:
        asked.append(1)
        raise FileNotFoundError("archive.tar.gz is not on this machine")

    lost = CorpusSource("lost", {}, load)
    runs = plan_runs([lost, CorpusSource.of(corpus)], ["quick"], [3], range(2))
    records = run_grid(runs, path, tasks=TASKS)

    assert [record["status"] for record in records] == ["failed", "failed", "done", "done"]
    assert records[0]["errors"]["load"]["message"] == "archive.tar.gz is not on this machine"
    assert len(asked) == 1


def test_a_corpus_with_nothing_missing_is_not_loaded(
    corpus: Corpus, quick_model: type[Topicless], path: Path
) -> None:
    source = CorpusSource.of(corpus)
    run_grid(plan_runs([source], ["quick"], [3], [0]), path, tasks=TASKS)

    def never() -> Corpus:
        raise AssertionError("loaded for nothing")

    idle = CorpusSource(source.name, source.settings, never)
    [record] = run_grid(plan_runs([idle], ["quick"], [3], [0]), path, tasks=TASKS)
    assert record["status"] == "done"


def test_kate_in_a_grid_keeps_its_settings_and_its_warnings(corpus: Corpus, path: Path) -> None:
    runs = plan_runs([CorpusSource.of(corpus)], ["kate", "kate-paper"], [4], [0], {"max_epochs": 2})
    records = run_grid(runs, path)

    assert [record["status"] for record in records] == ["done", "done"]
    assert [record["model"]["settings"]["loss"] for record in records] == ["softmax", "cross-entropy"]
    assert "centred_map" in records[1]["scores"]["retrieval"]
    assert all(record["warnings"] == [] for record in records)
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_mistakes_are_told_before_anything_is_run(corpus: Corpus) -> None:
    sources = [CorpusSource.of(corpus)]
    with pytest.raises(ValueError, match="no model is named 'kat'; did you mean kate"):
        plan_runs(sources, ["kat"], [4], [0])
    with pytest.raises(ValueError, match="has no setting 'epochs'; did you mean max_epochs"):
        plan_runs(sources, ["kate"], [4], [0], {"epochs": 3})
    with pytest.raises(ValueError, match="dropout=2"):
        plan_runs(sources, ["kate-paper"], [4], [0], {"dropout": 2})
    with pytest.raises(ValueError, match="n_components is no setting"):
        plan_runs(sources, ["kate"], [4], [0], {"n_components": 3})
    with pytest.raises(ValueError, match="no data set is named '20new'"):
        CorpusSource.dataset("20new")
    with pytest.raises(TypeError, match="movies has no option 'headers'"):
        CorpusSource.dataset("movies", options={"headers": False})


def test_what_is_named_twice_is_run_once(corpus: Corpus) -> None:
    assert len(plan_runs([CorpusSource.of(corpus)], ["kate", "kate"], [4, 4], [0, 0])) == 1
