"""Keys of runs: whatever changes a result is in them, whatever only says how to compute is not."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from kate.research.datasets.corpus import Corpus
from kate.research.evaluation import CorpusSource, plan_runs, read_results, run_grid, run_keys
from kate.research.evaluation.grid import PlannedRun
from kate.research.evaluation.run_keys import KeptRuns, key_of, keys_of
from kate.research.registry import MODELS, find_entry, models
from research.evaluation.toys import Topicless

SOURCE = CorpusSource.dataset("20news")


def planned(name: str = "kate", **settings: Any) -> PlannedRun:
    return PlannedRun(SOURCE, name, 128, 0, settings)


def test_precision_makes_another_run() -> None:
    keys = {planned(precision=precision).key() for precision in ("float32", "tf32", "bf16")}
    assert len(keys) == 3


def test_what_says_only_how_to_compute_makes_no_other_run() -> None:
    key = planned(device="cpu").key()
    assert planned(device="cpu", n_jobs=1, verbose=True).key() == key
    assert "device" not in planned().identity()["model"]["parameters"]


def test_the_device_that_auto_became_is_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {}
    for device in ("cpu", "cuda"):
        monkeypatch.setattr(run_keys, "choose_device", lambda setting, device=device: device)
        for name in ("kate", "ae"):
            keys[name, device] = planned(name).keys()
        keys["lsa", device] = planned("lsa").keys()
    for name in ("kate", "ae"):
        assert keys[name, "cpu"].own != keys[name, "cuda"].own
        assert keys[name, "cpu"].any_device == keys[name, "cuda"].any_device
    assert keys["lsa", "cpu"] == keys["lsa", "cuda"]  # it knows no device


def test_a_device_that_is_not_there_is_refused_before_anything_is_run() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match="finds no CUDA GPU here"):
        plan_runs([SOURCE], ["kate"], [4], [0], {"device": "cuda"})


def test_another_revision_of_the_code_is_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    before = planned("lsa").keys()
    raised = dataclasses.replace(MODELS["lsa"], revision=2)
    monkeypatch.setattr(models, "MODELS", {**MODELS, "lsa": raised})
    after = planned("lsa").keys()
    assert before.own != after.own
    assert before.any_device != after.any_device
    assert planned("lsa").identity()["model"]["revision"] == 2


def line(run: PlannedRun, device: str, status: str = "done") -> dict[str, Any]:
    record = {**run.identity(), "status": status}
    record["model"] = record["model"] | {"device": device}
    return record | {"key": key_of(record)}


def test_a_kept_run_is_found_by_its_key_or_else_on_another_device() -> None:
    run = planned(device="cpu")
    here, there = line(run, "cpu"), line(run, "cuda")
    assert KeptRuns({there["key"]: there}).find(run.keys()) is there
    assert KeptRuns({one["key"]: one for one in (here, there)}).find(run.keys()) is here
    assert KeptRuns({there["key"]: there}).find(planned(device="cpu", dropout=0.1).keys()) is None
    assert KeptRuns({there["key"]: there}).find(None) is None
    broken = line(run, "mps", "failed")
    assert KeptRuns({one["key"]: one for one in (there, broken)}).find(run.keys()) is there


def test_a_line_has_the_key_of_what_it_says(
    corpus: Corpus, quick_model: type[Topicless], tmp_path: Path
) -> None:
    runs = plan_runs([CorpusSource.of(corpus)], ["quick", "kate"], [3], range(2), {"kate.max_epochs": 1})
    records = run_grid(runs, tmp_path / "results.jsonl", tasks=["time"])
    assert [record["key"] for record in records] == [run.key() for run in runs]
    for record in read_results(tmp_path / "results.jsonl"):
        assert key_of(record) == record["key"]
        assert record["model"]["revision"] == find_entry(record["model"]["name"]).revision
        assert record["model"]["device"] == (None if record["model"]["name"] == "quick" else "cpu")


def test_a_run_of_another_device_is_made_anew(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "results.jsonl"
    runs = plan_runs([CorpusSource.of(corpus)], ["kate"], [3], [0], {"max_epochs": 1, "device": "cpu"})
    run_grid(runs, path, tasks=["time"])
    monkeypatch.setattr(run_keys, "choose_device", lambda setting: "cuda")
    run_grid(runs, path, tasks=["time"])
    lines = read_results(path)
    assert [record["model"]["device"] for record in lines] == ["cpu", "cuda"]
    assert len({keys_of(record).any_device for record in lines}) == 1
