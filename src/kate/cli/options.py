"""Arguments and options that several commands share, and the corpus that they describe."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kate.cli.output import say
from kate.errors import quoted

if TYPE_CHECKING:
    from kate.cluster.corpus_pieces import CorpusPieces
    from kate.text.corpus_batches import CorpusBatches
    from kate.text.documents import Documents

__all__ = [
    "Address",
    "AsJson",
    "ClusterEngine",
    "Corpus",
    "DataSetOption",
    "Encoding",
    "Format",
    "IdField",
    "KeepEmails",
    "KeepHandles",
    "KeepHtml",
    "KeepRuns",
    "KeepUrls",
    "LabelField",
    "MaxDf",
    "MinDf",
    "ModelFolder",
    "OnCluster",
    "OnError",
    "OnErrorOption",
    "Phrases",
    "Quiet",
    "TextField",
    "TitleField",
    "Top",
    "VocabularySize",
    "Workers",
    "document_limit",
    "parse_assignments",
    "parse_dimensions",
    "read_batches",
    "read_documents",
    "say_skipped",
    "split_at_commas",
]


class OnError(StrEnum):
    RAISE = "raise"
    SKIP = "skip"


class ClusterEngine(StrEnum):
    RAY = "ray"


Corpus = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
        help="Files (.jsonl, .csv, .tsv, .parquet, .txt; also .gz or .zst), patterns such as 'news/*.parquet', folders "
        'of text files or of data files, addresses such as s3://bucket/news.parquet, or "-" for standard input.',
        show_default=False,
    ),
]
ModelFolder = Annotated[Path, typer.Argument(metavar="MODEL", help="A folder that kate fit wrote.")]
TextField = Annotated[str | None, typer.Option("--text", metavar="FIELD", help="The field with the text.")]
IdField = Annotated[str | None, typer.Option("--id", metavar="FIELD", help="The field with the id.")]
LabelField = Annotated[str | None, typer.Option("--label", metavar="FIELD", help="The field with the label.")]
TitleField = Annotated[str | None, typer.Option("--title", metavar="FIELD", help="The field with the title.")]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="jsonl, csv, tsv, parquet or txt, if the name of the file does not tell."
    ),
]
Encoding = Annotated[str, typer.Option(metavar="NAME", help="The encoding of text files.")]
OnErrorOption = Annotated[
    OnError, typer.Option("--on-error", help="Stop at a malformed row, or skip such rows.")
]
VocabularySize = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Number of words; by default that of the data set.")
]
DataSetOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A setting of the data set, such as headers=false; repeatable."),
]
MinDf = Annotated[
    str,
    typer.Option(
        metavar="N",
        help="Leave out words in fewer documents: a number, a share such as 0.001, or auto (1 to 7, with the size "
        "of the corpus).",
    ),
]
MaxDf = Annotated[
    str,
    typer.Option(metavar="N", help="Leave out words in more documents: a number, or a share such as 0.5."),
]
Phrases = Annotated[
    bool,
    typer.Option(
        "--phrases/--no-phrases", help='Make words such as "new york" of two that often stand together.'
    ),
]
KeepHtml = Annotated[bool, typer.Option("--keep-html", help="Count the words of HTML tags too.")]
KeepUrls = Annotated[bool, typer.Option("--keep-urls", help="Count the words of web addresses too.")]
KeepEmails = Annotated[bool, typer.Option("--keep-emails", help="Count the words of e-mail addresses too.")]
KeepHandles = Annotated[bool, typer.Option("--keep-handles", help="Count names such as @somebody too.")]
KeepRuns = Annotated[
    bool, typer.Option("--keep-runs", help='Leave "soooo" and words of more than 60 characters as they are.')
]
OnCluster = Annotated[
    ClusterEngine | None,
    typer.Option(
        "--on",
        help="Work on a cluster, all of whose machines see the files.",
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT", help="With --on ray: a Ray cluster that runs; else Ray on this machine."
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="With --on ray: so many workers; by default all processors."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no summary.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Top = Annotated[int, typer.Option("--top", "-n", min=1, metavar="N", help="How many to show.")]


def document_limit(given: str, option: str) -> int | float:
    """A number of documents, or (with a point) a share of them."""
    try:
        return float(given) if "." in given else int(given)
    except ValueError:
        raise typer.BadParameter(
            f"{given} is neither a number of documents nor a share such as 0.5", param_hint=option
        ) from None


def read_documents(
    corpus: list[str],
    text: str | None,
    id: str | None,  # noqa: A002 - the name of the field
    label: str | None,
    title: str | None,
    format: str | None,  # noqa: A002 - the name of the option
    encoding: str,
    on_error: OnError,
    keep_nested: bool = False,
) -> Documents:
    """The documents that the arguments name; standard error says how many rows were left out."""
    from kate.text.readers import read_corpus

    documents = read_corpus(
        corpus,
        text=text,
        id=id,
        label=label,
        title=title,
        format=format,
        encoding=encoding,
        on_error=on_error.value,
        stdin=sys.stdin.buffer,
        keep_nested=keep_nested,
    )
    say_skipped(documents)
    return documents


def read_batches(
    corpus: list[str],
    text: str | None,
    id: str | None,  # noqa: A002 - the name of the field
    label: str | None,
    title: str | None,
    format: str | None,  # noqa: A002 - the name of the option
    encoding: str,
    on_error: OnError,
    keep_nested: bool = False,
) -> CorpusBatches:
    """The same documents batch by batch; :func:`say_skipped` is for when they were read."""
    from kate.text.corpus_batches import LARGE_BATCH_SIZE
    from kate.text.readers import iter_corpus

    return iter_corpus(
        corpus,
        text=text,
        id=id,
        label=label,
        title=title,
        format=format,
        encoding=encoding,
        on_error=on_error.value,
        stdin=sys.stdin.buffer,
        keep_nested=keep_nested,
        batch_size=LARGE_BATCH_SIZE,
    )


def say_skipped(read: Documents | CorpusBatches | CorpusPieces) -> None:
    """Say on standard error how many rows were left out."""
    if read.n_skipped:
        say(f"warning: left out {read.n_skipped:,} malformed rows, first {read.skipped[0]}")


def parse_assignments(assignments: Sequence[str], param_hint: str) -> dict[str, Any]:
    """Values by name: JSON where a value is JSON (5, 0.5, true, null), text otherwise.

    >>> parse_assignments(["max_epochs=5", "repeat=false", "loss=softmax"], "--setting")
    {'max_epochs': 5, 'repeat': False, 'loss': 'softmax'}
    """
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise typer.BadParameter(
                f"{quoted(assignment)} is not of the form name=value", param_hint=param_hint
            )
        try:
            values[name] = json.loads(value.lower() if value in {"True", "False"} else value)
        except ValueError:
            values[name] = value
    return values


def split_at_commas(given: Sequence[str] | None) -> list[str]:
    """Values as they were given: one by one, or several separated by commas.

    >>> split_at_commas(["kate, lsa", "lda:tuned"])
    ['kate', 'lsa', 'lda:tuned']
    """
    return [value.strip() for one in given or () for value in one.split(",") if value.strip()]


def parse_dimensions(given: Sequence[str] | None) -> list[int]:
    """The numbers of ``--dimensions``; anything but whole numbers of at least 1 is refused.

    >>> parse_dimensions(["32,128", "512"])
    [32, 128, 512]
    """
    values = split_at_commas(given)
    for value in values:
        if not value.isdecimal() or int(value) < 1:
            raise typer.BadParameter(
                f"{quoted(value)} is not a whole number of at least 1", param_hint="--dimensions"
            )
    return [int(value) for value in values]
