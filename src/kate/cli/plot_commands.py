"""The commands plot trends, plot map, plot tree and plot words: pictures of your own corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import kate
from kate.cli.corpus_arguments import AS_THEY_COME, Corpus, CorpusArguments, with_corpus_options
from kate.cli.label_commands import PeriodLength
from kate.cli.options import ModelFolder, Quiet
from kate.cli.output import counted
from kate.cli.topic_commands import NumberOfTopics

__all__ = ["add_to"]

Picture = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The picture to write: .png, .svg or .pdf.")
]
TopicNumbers = Annotated[
    list[int] | None,
    typer.Option("--topic", metavar="NUMBER", help="Draw this topic; repeatable, in the order of the rows."),
]


# Pictures need no ids, labels or titles.
PlainReading = Annotated[CorpusArguments, "text", "format", "encoding", "on_error"]


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(
        rich_markup_mode=None,
        add_completion=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Draw pictures of documents and their topics.",
    )
    group.command("trends")(plot_trends)
    group.command("map")(plot_map)
    group.command("tree")(plot_tree)
    group.command("words")(plot_words)
    app.add_typer(group, name="plot")


@with_corpus_options
def plot_trends(
    model: ModelFolder,
    corpus: Corpus,
    output: Picture,
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
    top: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Draw so many: those whose words belong together and whose share changes.",
        ),
    ] = 12,
    topic: TopicNumbers = None,
    reading: PlainReading = AS_THEY_COME,
    quiet: Quiet = False,
) -> None:
    """Draw topics through time, one ridge each, or by the values of a column.

    \b
    Example:
      kate plot trends model news.parquet --by date --every month -n 40 -o trends.png
    """
    _require_picture(output)
    topics = kate.load(model).topics(number)
    documents = reading.documents(corpus)
    period = None if every is None else every.value
    kate.plot.trends(topics, documents, output, by=by, every=period, top=top, numbers=topic or None)
    _tell(f"{len(topic) if topic else min(top, len(topics))} topics", output, quiet)


@with_corpus_options
def plot_map(
    model: ModelFolder,
    corpus: Corpus,
    output: Picture,
    number: NumberOfTopics = None,
    most: Annotated[
        int, typer.Option(min=1, metavar="N", help="Draw so many documents; of more, a sample.")
    ] = 3_000,
    reading: PlainReading = AS_THEY_COME,
    quiet: Quiet = False,
) -> None:
    """Draw a map of documents, coloured and named by topic (t-SNE).

    \b
    Example:
      kate plot map model reviews.csv --text review -n 20 -o map.png
    """
    _require_picture(output)
    topics = kate.load(model).topics(number)
    documents = reading.documents(corpus)
    kate.plot.map(topics, documents, output, most=most)
    _tell(f"{counted(min(most, len(documents)), 'document')}, {counted(len(topics), 'topic')}", output, quiet)


def plot_tree(
    model: ModelFolder, output: Picture, number: NumberOfTopics = None, quiet: Quiet = False
) -> None:
    """Draw how topics join: the tree over them, with names and shares.

    \b
    Example:
      kate plot tree model -n 20 -o tree.svg
    """
    _require_picture(output)
    kate.plot.tree(kate.load(model).topic_tree(number), output)
    _tell("the tree", output, quiet)


def plot_words(
    model: ModelFolder,
    output: Picture,
    topic: Annotated[
        int, typer.Option("--topic", metavar="NUMBER", help="The topic, as kate topics numbers it.")
    ],
    number: NumberOfTopics = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="How many words.")] = 15,
    quiet: Quiet = False,
) -> None:
    """Draw the words of a topic, and how many of its documents hold each.

    \b
    Example:
      kate plot words model -n 20 --topic 3 -o words.png
    """
    _require_picture(output)
    drawn = kate.load(model).topics(number)[topic]
    kate.plot.words(drawn, output, top=top)
    _tell(f"{min(top, len(drawn.words))} words", output, quiet)


def _require_picture(output: Path) -> None:
    """Before the model and the documents are read, which may take long."""
    from kate.plot.sheet import require_format

    require_format(output)


def _tell(drawn: str, output: Path, quiet: bool) -> None:
    if not quiet:
        typer.echo(f"{drawn} → {output}")
