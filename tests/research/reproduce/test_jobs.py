"""Runs side by side in processes: every line kept, what is missing run and nothing else, a dead worker survived."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kate.research.evaluation.results import append_result, read_results
from kate.research.evaluation.run_keys import key_of
from kate.research.reproduce import jobs, resources, workers
from kate.research.reproduce.jobs import Standing, missing_jobs, run_jobs
from kate.research.reproduce.plan import RunPlan
from kate.research.reproduce.spec import read_grid
from kate.storage.files import only_writer
from kate.threads import available_cpus
from research.reproduce.toys import LIGHT, invented, invented_record, write_grid


@pytest.fixture
def light(tmp_path: Path) -> RunPlan:
    return RunPlan(read_grid(write_grid(tmp_path, text=LIGHT)))


def test_a_second_call_on_the_same_results_is_refused(tmp_path: Path, light: RunPlan) -> None:
    pytest.importorskip("fcntl", reason="files are not locked on Windows")
    path = tmp_path / "results.jsonl"
    with only_writer(path), pytest.raises(BlockingIOError, match="written by another program"):
        run_jobs(light, path)
    assert path.read_bytes() == b""


def test_missing_runs_are_made_in_processes_and_kept(tmp_path: Path, light: RunPlan) -> None:
    seen: list[Standing] = []
    path = tmp_path / "out" / "results.jsonl"
    records = run_jobs(light, path, n_workers=2, watch=seen.append)
    assert records.keys() == light.demands.keys()
    for key, record in records.items():
        assert record["status"] == "done", record["errors"]
        assert {*record["scores"], *record["skipped"]} >= light.demands[key].tasks
        assert record["threads"] == max(1, available_cpus() // 2)  # shared by two workers
    assert [record["key"] for record in read_results(path)] == [record["key"] for record in seen[-1].over]
    assert (len(seen[-1].running), len(seen[-1].left)) == (0, 0)
    assert seen[-1].seconds_left == 0
    assert not missing_jobs(light, records)


def test_only_what_is_missing_is_run(plan: RunPlan) -> None:
    records = invented(plan)
    failed, incomplete, absent = list(records)[:3]
    records[failed] = invented_record(plan, failed, 0.5, status="failed")
    del records[incomplete]["scores"]["neurons"]
    del records[incomplete]["scores"]["classification"]
    del records[absent]
    assert {job.key for job in missing_jobs(plan, records)} == {failed, incomplete, absent}


def test_runs_of_another_device_are_not_made_again_but_for_their_seconds(plan: RunPlan) -> None:
    records = invented(plan)
    for record in records.values():
        record["model"] |= {"device": record["model"]["device"] and "cuda"}
        record |= {"key": key_of(record)}
    kept = {record["key"]: record for record in records.values()}
    missing = missing_jobs(plan, kept)
    assert missing
    assert all(job.alone for job in missing)
    # LSA knows no device: its seconds are as good as any
    assert {job.model for job in missing} == {"kate", "kate-paper"}
    assert len(plan.found_in(kept)) == len(plan.demands)


def test_rows_may_be_run_one_by_one(plan: RunPlan) -> None:
    some = missing_jobs(plan, {}, ["lsa"])
    assert {job.model for job in some} == {"lsa"}
    assert {job.model for job in missing_jobs(plan, {}, ["lsa", "kate"])} == {"lsa", "kate", "kate-paper"}
    assert len(missing_jobs(plan, {})) == len(plan.demands)


def test_a_worker_that_dies_costs_its_run_alone(
    tmp_path: Path, light: RunPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[str] = []

    class Mortal(jobs.Worker):
        def hear(self):  # type: ignore[no-untyped-def]
            if not killed and self.job is not None:
                killed.append(self.job.key)
                os.kill(self._process.pid or 0, signal.SIGKILL)
                self._process.join()
                while self.connection.poll():
                    try:
                        self.connection.recv()
                    except EOFError:
                        break
            return super().hear()

    monkeypatch.setattr(jobs, "Worker", Mortal)
    records = run_jobs(light, tmp_path / "results.jsonl", n_workers=1)
    assert records[killed[0]]["status"] == "failed"
    (error,) = records[killed[0]]["errors"].values()
    assert "signal 9" in error["message"]
    assert all(record["status"] == "done" for key, record in records.items() if key != killed[0])


def children_of(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


def ended(pids: list[int], limit: float = 120.0) -> bool:
    """Whether processes are gone, or dead and only not yet collected, within some seconds."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        if not any(is_running(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_a_killed_reproduction_goes_on_where_it_stopped(tmp_path: Path) -> None:
    grid, out = write_grid(tmp_path, text=LIGHT), tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "kate",
        "reproduce",
        "--grid",
        str(grid),
        "-o",
        str(out),
    ]
    process = subprocess.Popen(
        [*command, "--jobs", "1"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    results = out / "results.jsonl"
    limit = time.monotonic() + 180
    while not (results.exists() and read_results(results)) and time.monotonic() < limit:
        time.sleep(0.02)
    children = children_of(process.pid)
    process.kill()
    process.wait()
    assert ended(children)
    before = results.read_bytes()
    assert before.count(b"\n") >= 1
    with results.open("ab") as file:
        file.write(b'{"format": 2, "key": "torn')
    again = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert results.read_bytes().startswith(before)
    plan = RunPlan(read_grid(grid))
    lines = [record["key"] for record in read_results(results)]
    assert sorted(lines) == sorted(plan.demands)
    assert (out / "index.html").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts by signal")
def test_an_interrupt_ends_all_and_says_so(tmp_path: Path) -> None:
    grid, out = write_grid(tmp_path, text=LIGHT), tmp_path / "out"
    command = [sys.executable, "-m", "kate", "reproduce", "--grid", str(grid), "-o", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 180
    while not children_of(process.pid) and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.02)
    children = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=180)
    assert process.returncode == 130
    assert "kate: interrupted" in said
    assert ended(children)


def test_memory_holds_runs_back(tmp_path: Path, plan: RunPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = missing_jobs(plan, {})[:3]
    given: list[str] = []

    class Idle:
        job = None

        def give(self, job: jobs.Job) -> None:
            self.job = job
            given.append(job.key)

    queue = jobs._JobQueue(tmp_path / "results.jsonl", {}, waiting, 0, None)
    monkeypatch.setattr(resources, "available_memory", lambda: int(2.5 * waiting[0].memory))
    queue._hand_out(list(waiting), [Idle(), Idle(), Idle()])
    assert len(given) == 2  # 85 % of what there is
    given.clear()
    monkeypatch.setattr(resources, "available_memory", lambda: 1)
    queue._hand_out(list(waiting), [Idle(), Idle()])
    assert len(given) == 1  # one runs in any case


def test_the_time_left_follows_like_runs(tmp_path: Path, plan: RunPlan) -> None:
    records = invented(plan)
    waiting = missing_jobs(plan, {})
    queue = jobs._JobQueue(tmp_path / "results.jsonl", records, waiting, 0, None)
    expected = [queue._expected(job) for job in waiting if not job.alone]
    alone = [queue._expected(job) for job in waiting if job.alone]
    assert queue._time_left([], waiting, 2) == pytest.approx(sum(expected) / 2 + sum(alone))
    empty = jobs._JobQueue(tmp_path / "results.jsonl", {}, waiting, 0, None)
    assert empty._time_left([], waiting, 2) is None


def test_a_failure_does_not_hide_a_success(tmp_path: Path, plan: RunPlan) -> None:
    path = tmp_path / "results.jsonl"
    key = next(iter(plan.demands))
    append_result(path, invented_record(plan, key, 0.5))
    append_result(path, invented_record(plan, key, 0.1, status="failed"))
    assert read_results(path)[0]["status"] == "done"


def test_a_line_keeps_the_words_of_few_topics_alone(plan: RunPlan) -> None:
    key = next(iter(plan.demands))
    for n_components, has_words in ((20, True), (512, False)):
        record = invented_record(plan, key, 0.5)
        record["model"]["n_components"] = n_components
        record["details"]["neurons"] = {"wins": {"n_topics": n_components, "words": [["a"]]}}
        slim = workers._slimmed(record)["details"]["neurons"]["wins"]
        assert ("words" in slim) is has_words
        assert slim["n_topics"] == n_components
