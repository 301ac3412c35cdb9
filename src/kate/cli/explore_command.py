"""The command explore: a corpus as one HTML page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import kate
from kate.cli.corpus_arguments import AS_THEY_COME, Corpus, CorpusArguments, with_corpus_options
from kate.cli.corpus_commands import require_writable_file
from kate.cli.options import ModelFolder, Quiet
from kate.cli.output import counted, say
from kate.cli.topic_commands import NumberOfTopics

__all__ = ["add_to", "step_bar"]


class TextsKept(StrEnum):
    WHOLE = "whole"
    SNIPPET = "snippet"
    NONE = "none"


def add_to(app: typer.Typer) -> None:
    app.command()(explore)


@with_corpus_options
def explore(
    model: ModelFolder,
    corpus: Corpus,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write: corpus.html")
    ],
    date: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of the dates; by default one that is called so."),
    ] = None,
    number: NumberOfTopics = None,
    texts: Annotated[TextsKept, typer.Option(help="How much of the texts the page holds.")] = TextsKept.WHOLE,
    max_size: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Hold less of the texts until the file keeps to it: 20MB."),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Show so many documents, drawn at random; all up to 200,000."),
    ] = None,
    headline: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The headline; the name of the file by default.")
    ] = None,
    reading: CorpusArguments = AS_THEY_COME,
    quiet: Quiet = False,
) -> None:
    """Write a corpus as one HTML page that needs no network: map, topics, time, search, reading.

    The map is laid out by t-SNE: pip install 'kate-text[explore]'; without it, documents stand by the first two
    numbers of their vectors.

    Names and unions of topics that a reader of the page saves are made the model's by kate topics --apply. Very many
    documents are explored with kate serve INDEX, which gives the same page.

    \b
    Example:
      kate explore model reviews.csv -o reviews.html
      kate explore model news.parquet --date published -n 40 -o news.html
      kate explore model mails.jsonl --texts snippet --max-size 20MB -o mails.html
      kate topics model --apply edits.json
    """
    from kate.explore.page_limits import file_bytes

    loaded = kate.load(model)
    require_writable_file(output)
    if max_size is not None:
        file_bytes(max_size)  # before the documents are read, which may take long
    documents = reading.documents(corpus)
    with step_bar(quiet) as progress:
        written = kate.explore.page(
            loaded,
            documents,
            output,
            date=date,
            n_topics=number,
            texts=texts.value,
            max_size=max_size,
            sample=sample,
            title=headline,
            progress=progress,
            say=say,
        )
    if quiet:
        return
    for note in written.notes:
        say(note)
    typer.echo(f"{counted(written.n_documents, 'document')}, {written.n_bytes / 1e6:.1f} MB → {output}")


@contextmanager
def step_bar(quiet: bool) -> Iterator[Callable[[str, float], None] | None]:
    """A bar that shows the step at hand, where standard error is a terminal."""
    import sys

    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=1.0)

        def tell(what: str, share: float) -> None:
            bar.update(task, description=what, completed=share)

        yield tell
