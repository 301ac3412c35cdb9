"""Cells → numbers, or the reason why there is none; and the paper's own numbers."""

from __future__ import annotations

from typing import Any

import pytest

from kate.research.evaluation.run_keys import key_of
from kate.research.reproduce.lookup import Results, papers_name, papers_score
from kate.research.reproduce.plan import GridCell, RunPlan
from research.reproduce.toys import invented

KATE = GridCell("toy", "kate", "tuned", 4)


def test_a_score_is_the_mean_over_the_seeds(plan: RunPlan) -> None:
    found = Results(plan, invented(plan)).score(KATE, "classification", "accuracy")
    assert found.score is not None
    assert (found.score.mean, found.score.n) == (pytest.approx(0.55), 2)
    assert found.score.sd == pytest.approx(0.0707, abs=1e-3)


def test_of_several_names_the_first_that_is_there(plan: RunPlan) -> None:
    results = Results(plan, invented(plan))
    found = results.score(KATE, "retrieval", ["centred_precision@1%", "precision@1%"])
    assert found.mean == pytest.approx(0.275)


def test_a_missing_number_has_a_reason(plan: RunPlan) -> None:
    records = invented(plan)
    results = Results(plan, records)
    assert results.score(GridCell("wiki10", "kate", "paper", 4), "multilabel", "macro_f1").state == "no data"
    assert (
        results.score(GridCell("toy", "no-such-model", "paper", 4), "neurons", "mscd").state
        == "not available"
    )
    assert Results(plan, {}).score(KATE, "neurons", "mscd").state == "not run"
    keys = [plan.planned(KATE, seed).key or "" for seed in plan.seeds]
    for key in keys:
        records[key]["skipped"] = {"neurons": "neurons needs components"}
        del records[key]["scores"]["neurons"]
    assert results.score(KATE, "neurons", "mscd").reason == "neurons needs components"


def test_an_error_is_told_and_one_seed_is_not_all(plan: RunPlan) -> None:
    records = invented(plan)
    first, second = (plan.planned(KATE, seed).key or "" for seed in plan.seeds)
    error = {"fit": {"type": "MemoryError", "message": "too large"}}
    records[first] |= {"status": "failed", "errors": error, "scores": {}}
    found = Results(plan, records).score(KATE, "neurons", "mscd")
    assert found.state == "value"
    assert found.reason == "1 of 2 seeds; one failed: MemoryError in fit: too large"
    records[second] |= {"status": "failed", "errors": error, "scores": {}}
    failed = Results(plan, records).score(KATE, "neurons", "mscd")
    assert (failed.state, failed.reason) == ("failed", "MemoryError in fit: too large")


def on_cuda(records: dict[str, Any], device: str | None = "cuda") -> dict[str, Any]:
    """The same lines as another machine would have kept them."""
    moved = [record | {"model": record["model"] | {"device": device}} for record in records.values()]
    return {key_of(record): record | {"key": key_of(record)} for record in moved}


def test_runs_of_another_device_show_and_say_so(plan: RunPlan) -> None:
    here, there = Results(plan, invented(plan)), Results(plan, on_cuda(invented(plan)))
    mine, theirs = (results.score(KATE, "classification", "accuracy") for results in (here, there))
    assert mine.score == theirs.score
    assert (mine.where, theirs.where) == ("", "run on cuda")
    assert there.details(KATE, "words")[0] == here.details(KATE, "words")[0]
    assert there.seconds_were_alone(KATE)
    unknown = Results(plan, on_cuda(invented(plan), None)).score(KATE, "classification", "accuracy")
    assert unknown.where == "run on a device that was not kept"


def test_the_papers_numbers_stand_by_model_and_size() -> None:
    assert papers_score("20news", "neurons.mscd", 20, "kate-noamp") == 0.154
    assert papers_score("rcv1", "multilabel.micro_f1", 512, "docnade") == 0.831
    assert papers_score("rcv1", "multilabel.micro_f1", 512, "dbn") is None
    assert papers_score("20news", "time.fit_seconds", 20, "kate") == 1214
    assert papers_name("kate") == "KATE"
