"""The command: what it writes, what it answers, what it refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from kate.cli import app
from kate.cli.reproduce import Lines, live_table
from kate.research.evaluation.results import append_result
from kate.research.reproduce.jobs import Standing, missing_jobs
from kate.research.reproduce.plan import RunPlan
from kate.research.reproduce.spec import read_grid
from research.reproduce.toys import invented, write_grid


def call(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        app([str(argument) for argument in arguments])
    return int(end.value.code or 0)


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    return write_grid(tmp_path)


def test_the_page_is_made_of_what_is_there(
    tmp_path: Path, grid: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    plan = RunPlan(read_grid(grid), only=["table6", "table5"])
    for record in invented(plan).values():
        append_result(out / "results.jsonl", record)
    assert (
        call("reproduce", "--no-runs", "--only", "table5", "table6", "--grid", grid, "-o", out, "--json") == 0
    )
    said = json.loads(capsys.readouterr().out)
    assert said["done"] == said["runs"] == len(plan.demands)
    assert "Table 6: accuracy" in (out / "report.md").read_text("utf-8")
    assert "Table 9" not in (out / "report.md").read_text("utf-8")


def test_check_answers_without_running(
    tmp_path: Path, grid: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("reproduce", "--check", "--grid", grid, "-o", tmp_path / "none") == 0
    said = capsys.readouterr().out
    assert "Amplification lowers the MSCD" in said
    assert said.count("not known yet") == 6
    assert not (tmp_path / "none").exists()
    assert call("reproduce", "--check", "--grid", grid, "-o", tmp_path / "none", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["paper"]["answer"] == "not known yet"


def test_check_finds_the_runs_of_a_quick_look(
    tmp_path: Path, grid: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for record in invented(RunPlan(read_grid(grid).made_quick())).values():
        append_result(tmp_path / "results.jsonl", record)
    assert call("reproduce", "--check", "--grid", grid, "-o", tmp_path) == 0
    said = capsys.readouterr()
    assert f"no whole runs are there, but those of a quick look in {tmp_path}" in said.err
    assert said.out.count("not known yet") < 6


def test_without_data_the_reason_is_told_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KATE_DATA", str(tmp_path))
    monkeypatch.setenv("KATE_CACHE", str(tmp_path))
    assert call("reproduce", "--no-runs", "--only", "table6", "-o", tmp_path / "out") == 0
    said = capsys.readouterr()
    assert "0 of 0 runs done" in said.out
    assert "No run can be made, since no data set is here. 20news: " in said.err
    assert "kate datasets" in said.err
    assert "No run can be made" in (tmp_path / "out" / "index.html").read_text("utf-8")


def test_a_failed_run_shows_in_the_exit_code(tmp_path: Path, grid: Path) -> None:
    plan = RunPlan(read_grid(grid), only=["table6"])
    records = invented(plan)
    first = next(iter(records.values()))
    first |= {"status": "failed", "errors": {"fit": {"type": "ValueError", "message": "no"}}}
    for record in records.values():
        append_result(tmp_path / "results.jsonl", record)
    assert call("reproduce", "--no-runs", "--only", "table6", "--grid", grid, "-o", tmp_path) == 1


def test_an_unknown_row_is_refused(tmp_path: Path, grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("reproduce", "--model", "lsa,bert", "--grid", grid, "-o", tmp_path / "out") == 2
    assert "no row 'bert' can run here; there are kate, kate-noamp, lsa" in capsys.readouterr().err


def test_an_unknown_output_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("reproduce", "--only", "table66", "-o", tmp_path) == 1
    assert "did you mean table6" in capsys.readouterr().err


def test_a_terminal_sees_what_is_done_running_and_left(grid: Path) -> None:
    plan = RunPlan(read_grid(grid))
    records, jobs = list(invented(plan).values()), missing_jobs(plan, {})
    records[1] |= {"status": "failed", "errors": {"fit": {"type": "ValueError", "message": "no such thing"}}}
    standing = Standing(3, records[:2], [(jobs[2], "fit", 12.0)], jobs[3:], 400.0)
    console = Console(record=True, width=160, file=io.StringIO())
    console.print(live_table(standing))
    shown = console.export_text()
    assert f"5 of {3 + len(jobs)} runs done, 1 failed · 7 min left" in shown
    assert "running" in shown
    assert jobs[2].title in shown
    assert "FAILED in fit: no such thing" in shown
    assert "table9" in shown


def test_elsewhere_every_run_that_is_over_is_a_line(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = RunPlan(read_grid(grid))
    records, jobs = list(invented(plan).values()), missing_jobs(plan, {})
    tell = Lines()
    tell(Standing(0, records[:1], [], jobs[1:], None))
    tell(Standing(0, records[:2], [], jobs[2:], None))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"kate: 1/{len(jobs)} toy, kate")
