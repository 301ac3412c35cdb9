"""Arguments and options that several commands share; those of a corpus are in corpus_arguments.py."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kate.errors import quoted

__all__ = [
    "Address",
    "AsJson",
    "ClusterEngine",
    "DataSetOption",
    "KeepEmails",
    "KeepHandles",
    "KeepHtml",
    "KeepRuns",
    "KeepUrls",
    "MaxDf",
    "MinDf",
    "ModelFolder",
    "OnCluster",
    "Phrases",
    "Quiet",
    "Top",
    "VocabularySize",
    "Workers",
    "document_limit",
    "parse_assignments",
    "parse_dimensions",
    "split_at_commas",
]


class ClusterEngine(StrEnum):
    RAY = "ray"


ModelFolder = Annotated[Path, typer.Argument(metavar="MODEL", help="A folder that kate fit wrote.")]
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
