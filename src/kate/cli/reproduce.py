"""The command reproduce: run what is missing of the paper's tables and figures, and make the page."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kate.cli.options import AsJson, Quiet, split_at_commas
from kate.cli.output import print_json, say
from kate.errors import quoted

if TYPE_CHECKING:
    from kate.research.evaluation.results import Record
    from kate.research.reproduce.claims import Claim
    from kate.research.reproduce.jobs import Standing, Watcher
    from kate.research.reproduce.plan import RunPlan

__all__ = ["Lines", "add_to", "live_table"]

RESULTS = "results.jsonl"
_FAILED = 1
_MOST_NAMED = 8  # runs at work that the live table names


def add_to(app: typer.Typer) -> None:
    app.command()(reproduce)


def reproduce(
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME …", help="Make only these outputs, such as table5 or figure4; repeatable."
        ),
    ] = None,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]…", help="More names for --only.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,…", help="Run only these rows of the tables now, such as kate,lsa; repeatable."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look in minutes: everything, but on few documents.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Run each model with the seeds 0 to N - 1; 5 by default."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="The folder for the results and the page."),
    ] = None,
    grid: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your own grid instead of the paper's (experiments/paper.toml)."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Answer the paper's claims from the runs made so far; run nothing."),
    ] = False,
    no_runs: Annotated[
        bool, typer.Option("--no-runs", help="Make the page from the runs made so far; run nothing.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="How many runs at a time; as many as there are cores by default."
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make every table and figure of the paper again, our numbers beside the paper's.

    Runs what is missing, several runs at a time, and writes DIR/index.html (one page, no network), report.md, figures/
    and results.jsonl. If it is stopped, the next call goes on from there.

    \b
    Examples:
      kate reproduce --quick                    the whole page in minutes, on few documents
      kate reproduce --only table5 --seeds 3 -o paper
      kate reproduce --check -o paper
    """
    from kate.research.evaluation.results import read_results
    from kate.research.reproduce.plan import RunPlan
    from kate.research.reproduce.spec import read_grid

    said = read_grid(grid)
    plan = RunPlan(said.made_quick() if quick else said, seeds, [*(only or []), *(names or [])] or None)
    folder = output or Path("reproduction-quick" if quick else "reproduction")
    results = folder / RESULTS
    if check:
        records = {record["key"]: record for record in read_results(results)}
        if not quick and not plan.found_in(records):
            # without results of the whole grid, those of --quick are shown
            folders = [folder] if output else [folder, Path("reproduction-quick")]
            for place in folders:
                looked = RunPlan(said.made_quick(), seeds, [*(only or []), *(names or [])] or None)
                found = {record["key"]: record for record in read_results(place / RESULTS)}
                if looked.found_in(found):
                    say(f"no whole runs are there, but those of a quick look in {place}")
                    plan, records = looked, found
                    break
        _show_claims(plan, records, as_json)
        return
    if no_runs:
        folder.mkdir(parents=True, exist_ok=True)
        records = {record["key"]: record for record in read_results(results)}
    else:
        records = _run(plan, results, _rows(plan, split_at_commas(model)), jobs, quiet)
    _finish(plan, records, folder, as_json)


def _rows(plan: RunPlan, models: list[str]) -> list[str] | None:
    known = {name for demand in plan.demands.values() for name in demand.models}
    for name in models:
        if name not in known:
            raise typer.BadParameter(
                f"no row {quoted(name)} can run here; there are {', '.join(sorted(known))}",
                param_hint="--model",
            )
    return models or None


def _run(
    plan: RunPlan, results: Path, models: list[str] | None, jobs: int | None, quiet: bool
) -> dict[str, Record]:
    from kate.research.reproduce.jobs import run_jobs

    with _watching(quiet) as watch:
        return run_jobs(plan, results, models=models, n_workers=jobs, watch=watch)


def _finish(plan: RunPlan, records: dict[str, Record], folder: Path, as_json: bool) -> None:
    from kate.research.reproduce.opening import why_no_runs
    from kate.research.reproduce.reproduction_report import write_report

    written = write_report(plan, records, folder)
    mine = plan.found_in(records).values()
    failed = [record for record in mine if record["status"] == "failed"]
    if as_json:
        print_json(
            {
                "runs": len(plan.demands),
                "done": len(mine) - len(failed),
                "failed": len(failed),
                "files": [str(path) for path in written],
            }
        )
    else:
        typer.echo(f"{len(mine) - len(failed):,} of {len(plan.demands):,} runs done, {len(failed):,} failed")
        if reason := why_no_runs(plan):
            say(reason)
        typer.echo(f"{folder / 'index.html'}")
    if failed:
        raise typer.Exit(_FAILED)


def _show_claims(plan: RunPlan, records: dict[str, Record], as_json: bool) -> None:
    from kate.research.reproduce.claims import check_claims
    from kate.research.reproduce.lookup import PROTOCOL_NAMES, Results

    claims: list[Claim] = check_claims(Results(plan, records))
    if as_json:
        print_json([claim.as_dict() for claim in claims])
        return
    if plan.grid.quick is not None:
        say("a quick look: these numbers say nothing about the models")
    for claim in claims:
        typer.echo(claim.text)
        for protocol, answer in claim.answers.items():
            typer.echo(f"  {PROTOCOL_NAMES[protocol]}: {answer.word}")
            for comparison in answer.comparisons:
                typer.echo(f"    {comparison}")


@contextmanager
def _watching(quiet: bool) -> Iterator[Watcher | None]:
    """A live table on a terminal, one line per run elsewhere, nothing when quiet."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield Lines()
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=4, transient=True) as live:
        yield lambda standing: live.update(live_table(standing))


class Lines:
    """Prints one line for every run that is over."""

    def __init__(self) -> None:
        self._n_told = 0

    def __call__(self, standing: Standing) -> None:
        for record in standing.over[self._n_told :]:
            self._n_told += 1
            seconds = sum(record["seconds"].values())
            total = len(standing.over) + len(standing.running) + len(standing.left)
            left = f", {_duration(standing.seconds_left)} left" if standing.seconds_left else ""
            say(f"{self._n_told}/{total} {_told(record)} ({seconds:.0f} s{left})")


def _told(record: Record) -> str:
    model = record["model"]
    title = f"{record['dataset']['name']}, {model['name']}, {model['n_components']} dimensions, seed {record['seed']}"
    if record["status"] == "done":
        return title
    stage, error = next(iter(record["errors"].items()))
    return f"{title}: FAILED in {stage}: {error['message']}"


def live_table(standing: Standing) -> Any:
    """How many runs are done, running and left, the runs at work, and what is left of each output."""
    from rich.table import Table
    from rich.text import Text

    n_failed = sum(record["status"] == "failed" for record in standing.over)
    n_done = standing.n_before + len(standing.over)
    n_all = n_done + len(standing.running) + len(standing.left)
    title = f"{n_done:,} of {n_all:,} runs done" + (f", {n_failed} failed" if n_failed else "")
    title += f" · {_duration(standing.seconds_left)} left" if standing.seconds_left is not None else ""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "run", "at", "time"):
        table.add_column(name, no_wrap=True)
    for job, stage, seconds in standing.running[:_MOST_NAMED]:
        table.add_row("running", Text(job.title), stage, _duration(seconds))
    for record in standing.over[-3:]:
        table.add_row(
            "done" if record["status"] == "done" else "failed",
            Text(_told(record)),
            "",
            _duration(sum(record["seconds"].values())),
        )
    left = Counter(name for job in standing.left for name in job.outputs)
    for name, count in sorted(left.items()):
        table.add_row("left", f"{name}: {count} runs", "", "")
    return table


def _duration(seconds: float | None) -> str:
    """Seconds, minutes or hours, as they are read best.

    >>> _duration(42), _duration(400), _duration(9000)
    ('42 s', '7 min', '2.5 h')
    """
    if seconds is None:
        return ""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
