"""The command evaluate: data sets × models × dimensions × seeds; runs what is missing and shows mean ± sd."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kate.cli.corpus_arguments import AS_THEY_COME, CorpusArguments, LabelField, with_corpus_options
from kate.cli.evaluation_tables import print_tables
from kate.cli.options import (
    AsJson,
    DataSetOption,
    Quiet,
    VocabularySize,
    parse_assignments,
    parse_dimensions,
    split_at_commas,
)
from kate.cli.output import print_json, say
from kate.errors import quoted
from kate.research.registry import MODELS, choose_models

if TYPE_CHECKING:
    from kate.research.evaluation import GridProgress, PlannedRun
    from kate.research.evaluation.results import Record

__all__ = ["add_to"]

RESULTS = "results.jsonl"
_FAILED = 1


class LabelKind(StrEnum):
    CLASSES = "classes"
    SETS = "sets"
    NUMBER = "number"


def add_to(app: typer.Typer) -> None:
    app.command()(evaluate)


@with_corpus_options
def evaluate(
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,…", help="Data sets (see kate datasets), separated by commas; repeatable."
        ),
    ] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Your own documents instead, with --label; repeatable."),
    ] = None,
    questions: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Documents and questions with judgements (.jsonl, .jsonl.gz): rows with kind document (id, text) or "
            "query (text, relevant: ids of documents); repeatable.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,…",
            help=f"Models, separated by commas, of {', '.join(MODELS)}; NAME:tuned for a model with its tuned "
            "settings; all for every model that can run here, also tuned; kate by default; repeatable.",
        ),
    ] = None,
    dimensions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N,…",
            help="The length of a document vector, 128 by default; several are compared; repeatable.",
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Run each model with the seeds 0 to N - 1.")
    ] = 3,
    tasks: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,…",
            help="Only these tasks; by default all that fit the labels and the model, but clusters and topics, which "
            "need a number of topics and are asked for by name.",
        ),
    ] = None,
    topics: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=2,
            help="How many topics every model is asked for, in the tasks clusters and topics.",
        ),
    ] = 20,
    vocabulary_size: VocabularySize = None,
    option: DataSetOption = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A setting of all models, such as max_epochs=5, or of one model: lda.passes=5; repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help=f"The folder that holds {RESULTS}.")
    ] = Path("results"),
    test_share: Annotated[
        float, typer.Option(metavar="X", help="The share of your own documents to test on.")
    ] = 0.2,
    label: LabelField = None,
    label_kind: Annotated[
        LabelKind | None, typer.Option(help="The kind of your own labels; guessed by default.")
    ] = None,
    label_separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="What separates the labels of a document that has several, such as ;."
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option(
            help='The language of your own documents, for stems and stop words; "auto" finds it, "none" for neither.'
        ),
    ] = "auto",
    reading: Annotated[CorpusArguments, "text", "id", "format", "encoding", "on_error"] = AS_THEY_COME,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure models on data sets, on all tasks that fit, and keep the scores.

    Fits every model with every number of dimensions and every seed, appends one line per run to DIR/results.jsonl and
    shows means and standard deviations. Runs that are in the file already are not made again; failed runs are.

    \b
    Examples:
      kate evaluate --dataset 20news --model kate,kate-paper --dimensions 32,128 --seeds 3
      kate evaluate --dataset 20news --model all --dimensions 128
      kate evaluate --corpus reviews.csv --label stars --seeds 1
      kate evaluate --dataset 20news --model kate,nmf,lda-tomotopy,lsa --tasks clusters,topics --topics 20
      kate evaluate --questions cranfield.jsonl.gz --model kate,lsa,bm25
    """
    from kate.research.evaluation import TOPIC_TASKS, CorpusSource, corpus_of, plan_runs, question_corpus
    from kate.text.readers import read_rows

    names, sizes = split_at_commas(dataset), parse_dimensions(dimensions)
    if not names and not corpus and not questions:
        raise typer.BadParameter(
            "give a data set or files of your own", param_hint="--dataset, --corpus or --questions"
        )
    options = parse_assignments(option or [], "--option")
    try:
        sources = [CorpusSource.dataset(name, vocabulary_size, options) for name in dict.fromkeys(names)]
    except TypeError as error:  # an option that the data set does not have, or of another type
        raise typer.BadParameter(str(error), param_hint="--option") from None
    own_size, own_language = vocabulary_size or 20_000, None if language == "none" else language
    if corpus:
        documents = replace(reading, label=label).documents(corpus)
        own = corpus_of(
            documents,
            ", ".join(Path(file).name or file for file in corpus),
            test_share=test_share,
            vocabulary_size=own_size,
            language=own_language,
            label_kind=None if label_kind is None else label_kind.value,
            label_separator=label_separator,
        )
        if own.n_docs < len(documents):
            say(f"warning: left out {len(documents) - own.n_docs:,} documents without a label")
        sources.append(CorpusSource.of(own))
    for file in questions or []:
        asked = question_corpus(
            read_rows(file),
            file.name,
            vocabulary_size=own_size,
            language=own_language,
        )
        sources.append(CorpusSource.of(asked))
    settings = parse_assignments(setting or [], "--setting")
    models, left_out = choose_models(split_at_commas(model) or ["kate"], settings)
    for reason in left_out.values():
        say(f"left out: {reason}")
    task_names = _task_names(tasks)
    n_topics = topics if set(task_names or ()) & set(TOPIC_TASKS) else None
    runs = plan_runs(sources, models, sizes or [128], range(seeds), settings, n_topics)
    _run_and_show(runs, output / RESULTS, task_names, as_json, quiet)


def _task_names(given: Sequence[str] | None) -> list[str] | None:
    from kate.research.evaluation import TASKS

    names = split_at_commas(given)
    if not names:
        return None
    for name in names:
        if name not in TASKS:
            raise typer.BadParameter(
                f"no task {quoted(name)}; there are {', '.join(TASKS)}", param_hint="--tasks"
            )
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
    except KeyboardInterrupt:  # said after the bar has gone, which would take the message with it
        say(f"finished runs are kept in {path} ({len(made):,} made now); the same command goes on from there")
        raise
    rows = summarise(records)
    if as_json:
        print_json([row.as_dict() for row in rows])
    else:
        print_tables(rows)
    if not quiet:
        say(f"{len(made):,} runs made, {len(runs) - len(made):,} were there → {path}")
    for message in dict.fromkeys(warning for _, record in made for warning in record["warnings"]):
        say(f"warning: {message}")
    errors = _errors(made)
    for message, failed in errors.items():
        others = f" (and {len(failed) - 1:,} more)" if len(failed) > 1 else ""
        say(f"failed: {failed[0]}{others}: {message}")
    if errors:
        raise typer.Exit(_FAILED)


def _errors(made: Sequence[tuple[PlannedRun, Record]]) -> dict[str, list[PlannedRun]]:
    """What went wrong, and in which runs: an error that every seed has is told once."""
    runs: dict[str, list[PlannedRun]] = {}
    for run, record in made:
        for stage, error in record["errors"].items():
            message = " ".join(error["message"].split())
            runs.setdefault(f"{stage}: {error['type']}: {message}", []).append(run)
    return runs


@contextmanager
def _progress_bar(quiet: bool) -> Iterator[Callable[[GridProgress], None]]:
    """A progress bar on standard error if that is a terminal: how many runs are over, and what is running."""
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
