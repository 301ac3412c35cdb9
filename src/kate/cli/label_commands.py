"""The commands that tell the topics of documents: label writes them, trends follows them through time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import kate
from kate.cli.cluster_options import on_cluster, require_engine_options
from kate.cli.corpus_arguments import AS_THEY_COME, Corpus, CorpusArguments, say_skipped, with_corpus_options
from kate.cli.corpus_commands import require_writable_file
from kate.cli.options import Address, AsJson, ModelFolder, OnCluster, Quiet, Workers
from kate.cli.output import counted, print_json
from kate.cli.progress_lines import progress_lines
from kate.cli.topic_commands import NumberOfTopics
from kate.cli.topic_tables import print_over_time, require_table_name
from kate.errors import quoted
from kate.storage.files import scratch_folder, whole_file

__all__ = ["add_to"]


class PeriodLength(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"


def add_to(app: typer.Typer) -> None:
    for command in (label, trends):
        app.command()(command)


@with_corpus_options
def label(
    model: ModelFolder,
    corpus: Corpus,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="labelled.csv, labelled.parquet or labelled.jsonl"
        ),
    ],
    number: NumberOfTopics = None,
    own: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            metavar='"NAME: WORDS"',
            help='A topic of your own by a few words, such as "health: doctor hospital"; repeatable.',
        ),
    ] = None,
    on: OnCluster = None,
    address: Address = None,
    workers: Workers = None,
    reading: CorpusArguments = AS_THEY_COME,
    quiet: Quiet = False,
) -> None:
    """Write documents with their topics: all their columns, and topic, topic_name and topic_share.

    A document without a known word has no topic. A column of the corpus that has one of these names is kept under
    another, with a warning. With --as only topic_name and topic_share are added, and a document that is near to none of
    your topics has none. The corpus may be larger than memory: only some thousand documents are held.

    \b
    Example:
      kate label model reviews.csv --text review -n 2 -o labelled.csv
      kate label model 'news/*.parquet' -o labelled.parquet
      kate label model new.jsonl --as "health: doctor hospital" -o own.csv
    """
    from kate.model.corpus_outputs import label_corpus

    require_engine_options(on, address, workers)
    require_table_name(output)
    own_topics = None if not own else _own_topics(own)
    if own_topics is not None and number is not None:
        raise typer.BadParameter("your own topics are as many as you name: leave -n out", param_hint="--as")
    require_writable_file(output)
    loaded = kate.load(model)
    n_topics = len(own_topics) if own_topics is not None else len(loaded.topics(number))
    if on is not None:
        from kate.cluster.cluster_encoding import label_on_cluster

        pieces = reading.pieces(corpus)
        how: dict[str, Any] = {"topics": own_topics, "n_workers": workers}
        with on_cluster(address, workers) as cluster, progress_lines(quiet) as report:
            done = label_on_cluster(cluster, loaded, pieces, output, number, report=report, **how)
        say_skipped(pieces)
    else:
        batches = reading.batches(corpus, keep_nested=True)
        with progress_lines(quiet) as report:
            done = label_corpus(loaded, batches, output, number, topics=own_topics, report=report)
        say_skipped(batches)
    if not quiet:
        without = f"; {done.n_without:,} documents have none of them" if done.n_without else ""
        typer.echo(
            f"{counted(done.n_documents, 'document')}, {counted(n_topics, 'topic')} → {output}{without}"
        )


def _own_topics(given: Sequence[str]) -> dict[str, str]:
    topics: dict[str, str] = {}
    for one in given:
        name, colon, words = one.partition(":")
        if not colon or not name.strip() or not words.strip():
            raise typer.BadParameter(
                f'{quoted(one)} is not of the form "health: doctor hospital"', param_hint="--as"
            )
        if name.strip() in topics:
            raise typer.BadParameter(f"{quoted(name.strip())} is given twice", param_hint="--as")
        topics[name.strip()] = words.replace(",", " ")
    return topics


@with_corpus_options
def trends(
    model: ModelFolder,
    corpus: Corpus,
    by: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="A column of dates or years; the values of any other are groups."
        ),
    ] = "date",
    every: Annotated[
        PeriodLength | None, typer.Option(help="The length of a period; by default one that suits the dates.")
    ] = None,
    number: NumberOfTopics = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write trends.csv, trends.parquet or trends.jsonl."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw them: a .png, .svg or .pdf file.")
    ] = None,
    as_json: AsJson = False,
    reading: CorpusArguments = AS_THEY_COME,
    quiet: Quiet = False,
) -> None:
    """Show the topics of documents through time, or by the values of a column.

    For every period and topic: its documents, its share of the period's documents, and words that are more frequent in
    this period than in the topic as a whole. The table shows the shares as small bars, the peak, and its words. The
    corpus may be larger than memory.

    \b
    Example:
      kate trends model reviews.csv --text review --by stars -n 2
      kate trends model news.parquet --every month -o trends.csv
      kate trends model news.parquet --by date --plot trends.png
    """
    from kate.model.corpus_trends import topics_of_corpus
    from kate.text.table_files import write_table

    if output is not None:
        require_table_name(output)
    loaded = kate.load(model)
    topics = loaded.topics(number)
    length = None if every is None else every.value
    batches = reading.batches(corpus)
    with _room_for_waiting(output) as scratch, progress_lines(quiet) as report:
        found = topics_of_corpus(loaded, topics, batches, by, length, scratch=scratch, report=report)
    say_skipped(batches)
    if plot is not None:
        kate.plot.trends(topics, found, plot, by=by, every=length)
    if output is not None:
        with whole_file(output) as part:
            write_table(found.frame, part)
        if not quiet and not as_json:
            n_periods = found.frame[found.frame.columns[0]].n_unique()
            shown = "groups" if found.every is None else f"periods of a {found.every}"
            typer.echo(
                f"{counted(batches.n_documents, 'document')}, {n_periods:,} {shown}, "
                f"{counted(len(topics), 'topic')} → {output}"
            )
    if as_json:
        print_json(
            [
                row | {found.frame.columns[0]: str(row[found.frame.columns[0]])}
                for row in found.frame.to_dicts()
            ]
        )
    elif output is None:
        print_over_time(found, topics.sorted_by("share"))


def _room_for_waiting(output: Path | None) -> AbstractContextManager[Path]:
    """A folder for what waits for the last document: beside the result, or where temporary files go."""
    return _temporary_folder() if output is None else scratch_folder(output)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="kate-") as folder:
        yield Path(folder)
