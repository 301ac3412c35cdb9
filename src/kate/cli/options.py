"""Arguments and options that several commands share, and the corpus that they describe."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kate.text.documents import Documents

__all__ = [
    "AsJson",
    "Corpus",
    "DataSetOption",
    "Encoding",
    "Format",
    "IdField",
    "LabelField",
    "ModelFolder",
    "OnError",
    "OnErrorOption",
    "Quiet",
    "TextField",
    "TitleField",
    "Top",
    "VocabularySize",
    "read_documents",
]


class OnError(StrEnum):
    RAISE = "raise"
    SKIP = "skip"


Corpus = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
        help="Files (.jsonl, .csv, .tsv, .parquet, .txt; also .gz or .zst), folders of text files, "
        'or "-" for standard input.',
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
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no summary.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Top = Annotated[int, typer.Option("--top", "-n", min=1, metavar="N", help="How many to show.")]


def read_documents(
    corpus: list[str],
    text: str | None,
    id: str | None,  # noqa: A002 - the name of the field
    label: str | None,
    title: str | None,
    format: str | None,  # noqa: A002 - the name of the option
    encoding: str,
    on_error: OnError,
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
    )
    if documents.n_skipped:
        typer.echo(
            f"kate: warning: left out {documents.n_skipped:,} malformed rows, first {documents.skipped[0]}",
            err=True,
        )
    return documents
