"""Results: lines survive a kill, and a table says what a pocket calculator says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kate.research.evaluation import read_results, summarise
from kate.research.evaluation.results import LINE_FORMAT, append_result


def record(seed: int = 0, status: str = "done", **changes: Any) -> dict[str, Any]:
    return {
        "format": LINE_FORMAT,
        "key": f"run-{seed}",
        "status": status,
        "dataset": {"name": "toy", "settings": {"vocabulary_size": 10}},
        "model": {
            "name": "kate",
            "n_components": 8,
            "parameters": {"max_epochs": 1},
            "revision": 1,
            "device": "cpu",
        },
        "seed": seed,
        "scores": {"classification": {"accuracy": 0.5 + seed / 10}},
        "skipped": {"regression": "regression needs labels:number"},
    } | changes


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    for seed in range(3):
        append_result(path, record(seed))

    assert read_results(path) == [record(0), record(1), record(2)]


def test_a_torn_line_is_no_run_and_swallows_none(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    append_result(path, record(0))
    append_result(path, record(1, note="größer"))
    whole = path.read_bytes()
    for end in range(whole.index(b"\n") + 2, len(whole) - 1):  # torn anywhere, inside a character too
        path.write_bytes(whole[:end])
        assert [run["seed"] for run in read_results(path)] == [0]
    append_result(path, record(2))

    assert [run["seed"] for run in read_results(path)] == [0, 2]


def test_a_line_that_lacks_its_newline_alone_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(record(0)))
    append_result(path, record(1))

    assert [run["seed"] for run in read_results(path)] == [0, 1]


def test_the_last_line_of_a_run_counts_but_no_failure_hides_a_success(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    for line in (record(0, "failed"), record(0), record(1), record(1, "failed"), record(2), record(2, new=1)):
        append_result(path, line)

    assert read_results(path) == [record(0), record(1), record(2, new=1)]


@pytest.mark.parametrize(
    ("line", "message"),
    [('{"text": "a review"}', "line 1 is no run of kate evaluate"), ("[1]", "line 1 is no run"),
     (json.dumps(record() | {"format": 99}), "line 1 has format 99 and this version of Kate reads 2"),
     (json.dumps(record() | {"format": 1}), "line 1 was written by Kate 0.1.*choose another folder")],
)  # fmt: skip
def test_another_kind_of_file_is_refused(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "results.jsonl").write_text(line + "\n")

    with pytest.raises(ValueError, match=message):
        read_results(tmp_path / "results.jsonl")


def test_means_and_deviations_by_hand() -> None:
    [row] = summarise([record(0), record(1), record(2)])  # 0.5, 0.6, 0.7

    accuracy = row.scores["classification"]["accuracy"]
    assert accuracy.mean == pytest.approx(0.6)
    assert accuracy.sd == pytest.approx(0.1)  # sqrt((0.01 + 0 + 0.01) / 2)
    assert (accuracy.n, row.n_runs, row.n_failed) == (3, 3, 0)
    assert str(accuracy) == "0.600 ± 0.100"
    assert row.skipped == {"regression": "regression needs labels:number"}


def test_a_single_run_has_no_deviation() -> None:
    [row] = summarise([record(2)])

    assert row.scores["classification"]["accuracy"].sd is None
    assert str(row.scores["classification"]["accuracy"]) == "0.700"


def test_runs_of_other_settings_are_not_mixed_in() -> None:
    others = [record(1), record(1)]
    others[0]["model"]["parameters"] = {"max_epochs": 2}
    others[1]["model"]["revision"] = 2

    assert [row.n_runs for row in summarise([record(0), *others, record(2)])] == [2, 1, 1]


def test_failed_runs_and_scores_that_are_no_number_are_left_out() -> None:
    rows = summarise(
        [record(0), record(1, "failed", scores={}), record(2, scores={"classification": {"accuracy": None}})]
    )

    assert (rows[0].n_runs, rows[0].n_failed) == (3, 1)
    assert rows[0].scores["classification"]["accuracy"].n == 1
