"""The command evaluate: data sets × models × sizes × seeds, what is missing is run, mean ± sd is shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kate.cli.evaluation_tables import print_tables
from kate.cli.options import (
    AsJson,
    DataSetOption,
    Encoding,
    Format,
    IdField,
    LabelField,
    OnError,
    OnErrorOption,
    Quiet,
    TextField,
    VocabularySize,
    read_documents,
)
from kate.cli.output import print_json
from kate.research.registry import MODELS, choose_models

if TYPE_CHECKING:
    from kate.research.evaluation import GridProgress, PlannedRun
    from kate.research.evaluation.results import Record

__all__ = ["add_to", "parse_assignments"]

RESULTS = "results.jsonl"
_FAILED = 1


class LabelKind(StrEnum):
    CLASSES = "classes"
    SETS = "sets"
    NUMBER = "number"


def add_to(app: typer.Typer) -> None:
    app.command()(evaluate)


def evaluate(
    dataset: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A data set (see kate datasets); repeatable.")
    ] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Your own documents instead, with --label; repeatable."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"One of {', '.join(MODELS)}; NAME:tuned for its tuned settings; all for every one that can run "
            "here, tuned too; kate by default; repeatable.",
        ),
    ] = None,
    dimensions: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=1, help="Neurons, 128 by default; repeatable."),
    ] = None,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="Runs with the seeds 0 to N - 1.")] = 3,
    tasks: Annotated[
        list[str] | None, typer.Option(metavar="NAME,…", help="Only these tasks; all that fit by default.")
    ] = None,
    vocabulary_size: VocabularySize = None,
    option: DataSetOption = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Of all models, such as max_epochs=5, or of one: lda.passes=5; repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help=f"The folder of {RESULTS}.")
    ] = Path("results"),
    test_share: Annotated[
        float, typer.Option(metavar="X", help="Of your own documents, the share to test on.")
    ] = 0.2,
    label: LabelField = None,
    label_kind: Annotated[
        LabelKind | None, typer.Option(help="Of your own labels; guessed by default.")
    ] = None,
    label_separator: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Parts the labels of a document that has several.")
    ] = None,
    language: Annotated[
        str, typer.Option(help='Of your own documents, for stems and stop words; "none" for neither.')
    ] = "english",
    text: TextField = None,
    id: IdField = None,  # noqa: A002 - the name of the option
    format: Format = None,  # noqa: A002 - the name of the option
    encoding: Encoding = "utf-8",
    on_error: OnErrorOption = OnError.RAISE,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure models on data sets, on all tasks that fit, and keep the scores.

    Runs every model in every size with every seed, appends a line a run to DIR/results.jsonl and shows means and
    standard deviations. What is in the file already is not run again; what failed is.

    \b
    Examples:
      kate evaluate --dataset 20news --model kate --model kate-paper --dimensions 128 --seeds 3
      kate evaluate --dataset 20news --model all --dimensions 128
      kate evaluate --corpus reviews.csv --label stars --seeds 1
    """
    from kate.research.evaluation import CorpusSource, corpus_of, plan_runs

    if not dataset and not corpus:
        raise typer.BadParameter("give a data set or files of your own", param_hint="--dataset or --corpus")
    options = parse_assignments(option or [], "--option")
    try:
        sources = [
            CorpusSource.dataset(name, vocabulary_size, options) for name in dict.fromkeys(dataset or [])
        ]
    except TypeError as error:  # an option that the data set does not have, or of another type
        raise typer.BadParameter(str(error), param_hint="--option") from None
    if corpus:
        documents = read_documents(
            corpus,
            text=text,
            id=id,
            label=label,
            title=None,
            format=format,
            encoding=encoding,
            on_error=on_error,
        )
        own = corpus_of(
            documents,
            ", ".join(Path(file).name or file for file in corpus),
            test_share=test_share,
            vocabulary_size=vocabulary_size or 20_000,
            language=None if language == "none" else language,
            label_kind=None if label_kind is None else label_kind.value,
            label_separator=label_separator,
        )
        if own.n_docs < len(documents):
            _say(f"warning: left out {len(documents) - own.n_docs:,} documents without a label")
        sources.append(CorpusSource.of(own))
    settings = parse_assignments(setting or [], "--setting")
    models, left_out = choose_models(model or ["kate"], settings)
    for reason in left_out.values():
        _say(f"left out: {reason}")
    runs = plan_runs(sources, models, dimensions or [128], range(seeds), settings)
    _run_and_show(runs, output / RESULTS, _task_names(tasks), as_json, quiet)


def parse_assignments(assignments: Sequence[str], param_hint: str) -> dict[str, Any]:
    """Values by name: what reads as JSON is that (5, 0.5, true, null), anything else a string.

    >>> parse_assignments(["max_epochs=5", "center=false", "loss=softmax"], "--setting")
    {'max_epochs': 5, 'center': False, 'loss': 'softmax'}
    """
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{assignment!r} is not of the form name=value", param_hint=param_hint)
        try:
            values[name] = json.loads(value.lower() if value in {"True", "False"} else value)
        except ValueError:
            values[name] = value
    return values


def _task_names(given: Sequence[str] | None) -> list[str] | None:
    """Tasks as they were given: one by one, or several parted by commas."""
    from kate.research.evaluation import TASKS

    if not given:
        return None
    names = [name.strip() for one in given for name in one.split(",")]
    for name in names:
        if name not in TASKS:
            raise typer.BadParameter(f"no task {name!r}; there are {', '.join(TASKS)}", param_hint="--tasks")
    return names


def _run_and_show(
    runs: Sequence[PlannedRun], path: Path, tasks: list[str] | None, as_json: bool, quiet: bool
) -> None:
    from kate.research.evaluation import run_grid, summarise

    made: list[tuple[PlannedRun, Record]] = []
    try:
        with _progress_bar(quiet) as show:

            def follow(progress: GridProgress) -> None:
                if progress.record is not None:
                    made.append((progress.run, progress.record))
                show(progress)

            records = run_grid(runs, path, tasks=tasks, progress=follow)
    except KeyboardInterrupt:  # told after the bar has gone, or it would go with it
        _say(
            f"what is finished is kept in {path} ({len(made):,} made now); the same command goes on from there"
        )
        raise
    rows = summarise(records)
    if as_json:
        print_json([row.as_dict() for row in rows])
    else:
        print_tables(rows)
    if not quiet:
        _say(f"{len(made):,} runs made, {len(runs) - len(made):,} were there → {path}")
    for message in dict.fromkeys(warning for _, record in made for warning in record["warnings"]):
        _say(f"warning: {message}")
    errors = _errors(made)
    for message, failed in errors.items():
        others = f" (and {len(failed) - 1:,} more)" if len(failed) > 1 else ""
        _say(f"failed: {failed[0]}{others}: {message}")
    if errors:
        raise typer.Exit(_FAILED)


def _errors(made: Sequence[tuple[PlannedRun, Record]]) -> dict[str, list[PlannedRun]]:
    """What went wrong, and in which runs: the same for every seed is told once."""
    runs: dict[str, list[PlannedRun]] = {}
    for run, record in made:
        for stage, error in record["errors"].items():
            message = " ".join(error["message"].split())
            runs.setdefault(f"{stage}: {error['type']}: {message}", []).append(run)
    return runs


@contextmanager
def _progress_bar(quiet: bool) -> Iterator[Callable[[GridProgress], None]]:
    """A bar on standard error, where that is a terminal: runs that are over, and what is going on."""
    if quiet or not sys.stderr.isatty():
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading results", total=None)

        def show(progress: GridProgress) -> None:
            bar.update(
                task,
                total=progress.n_missing,
                completed=progress.n_over,
                description=f"{progress.run}: {progress.stage}",
            )

        yield show


def _say(message: str) -> None:
    typer.echo(f"kate: {message}", err=True)
