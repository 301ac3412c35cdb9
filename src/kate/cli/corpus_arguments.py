"""Which documents a command reads: its CORPUS, and the options that say where text, id, label and title stand.

A command takes ``reading: CorpusArguments``, and :func:`with_corpus_options` makes options of it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from kate.cli.output import say

if TYPE_CHECKING:
    from kate.cluster.corpus_pieces import CorpusPieces
    from kate.text.corpus_batches import CorpusBatches
    from kate.text.documents import Documents
    from kate.text.text_stream import FileTexts

__all__ = [
    "AS_THEY_COME",
    "Corpus",
    "CorpusArguments",
    "LabelField",
    "OnError",
    "say_skipped",
    "with_corpus_options",
]


class OnError(StrEnum):
    RAISE = "raise"
    SKIP = "skip"


Corpus = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
        help="Files (.jsonl, .csv, .tsv, .parquet, .txt; also .gz or .zst), patterns such as 'news/*.parquet', folders "
        'of text files or of data files, addresses such as s3://bucket/news.parquet, or "-" for standard input.',
        show_default=False,
    ),
]
LabelField = Annotated[str | None, typer.Option("--label", metavar="FIELD", help="The field with the label.")]
_FORMATS = "jsonl, csv, tsv, parquet or txt, if the name of the file does not tell."


@dataclass(frozen=True)
class CorpusArguments:
    """What the options of a command say about its CORPUS; each field is an option."""

    text: Annotated[str | None, typer.Option("--text", metavar="FIELD", help="The field with the text.")] = (
        None
    )
    id: Annotated[str | None, typer.Option("--id", metavar="FIELD", help="The field with the id.")] = None
    label: LabelField = None
    title: Annotated[
        str | None, typer.Option("--title", metavar="FIELD", help="The field with the title.")
    ] = None
    format: Annotated[str | None, typer.Option(metavar="NAME", help=_FORMATS)] = None
    encoding: Annotated[str, typer.Option(metavar="NAME", help="The encoding of text files.")] = "utf-8"
    on_error: Annotated[
        OnError, typer.Option("--on-error", help="Stop at a malformed row, or skip such rows.")
    ] = OnError.RAISE

    def documents(self, corpus: list[str]) -> Documents:
        """All documents; standard error says how many rows were left out."""
        from kate.text.readers import read_corpus

        documents = read_corpus(corpus, stdin=sys.stdin.buffer, **self._how())
        say_skipped(documents)
        return documents

    def batches(self, corpus: list[str], *, keep_nested: bool = False) -> CorpusBatches:
        """The same batch by batch; :func:`say_skipped` is for when they were read."""
        from kate.text.corpus_batches import LARGE_BATCH_SIZE
        from kate.text.readers import iter_corpus

        how = {"keep_nested": keep_nested, "batch_size": LARGE_BATCH_SIZE, **self._how()}
        return iter_corpus(corpus, stdin=sys.stdin.buffer, **how)

    def texts(self, corpus: list[str]) -> FileTexts:
        """Their texts alone; nothing is read yet."""
        from kate.text.readers import iter_corpus
        from kate.text.text_stream import FileTexts

        return FileTexts(iter_corpus(corpus, stdin=sys.stdin.buffer, **self._how()))

    def pieces(self, corpus: list[str]) -> CorpusPieces:
        """The pieces that a cluster works on."""
        from kate.cluster.corpus_pieces import CorpusPieces

        return CorpusPieces.of(corpus, **self._how())

    def _how(self) -> dict[str, Any]:
        return vars(self) | {"on_error": self.on_error.value}


AS_THEY_COME = CorpusArguments()


def say_skipped(read: Documents | CorpusBatches | CorpusPieces) -> None:
    """Say on standard error how many rows were left out."""
    if read.n_skipped:
        say(f"warning: left out {read.n_skipped:,} malformed rows, first {read.skipped[0]}")


def with_corpus_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with one option for each field of its parameter ``reading``, where that parameter stands.

    ``reading: Annotated[CorpusArguments, "text", "id"]`` has these two alone.
    """
    kinds = get_type_hints(command, include_extras=True)
    fields = get_type_hints(CorpusArguments, include_extras=True)
    wanted = get_args(kinds["reading"])[1:] or tuple(fields)
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name != "reading":
            parameters.append(parameter.replace(annotation=kinds[name]))
            continue
        parameters += [
            parameter.replace(name=field, annotation=fields[field], default=getattr(CorpusArguments, field))
            for field in wanted
        ]

    @wraps(command)
    def called(**given: Any) -> None:
        reading = CorpusArguments(**{field: given.pop(field) for field in wanted})
        command(**given, reading=reading)

    vars(called)["__signature__"] = inspect.Signature(parameters, return_annotation=None)
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called
