"""The command update: a model goes on with new documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import kate
from kate.cli.corpus_arguments import AS_THEY_COME, Corpus, CorpusArguments, with_corpus_options
from kate.cli.corpus_commands import require_writable
from kate.cli.options import AsJson, ModelFolder, Quiet
from kate.cli.output import harmless, print_json

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    app.command()(update)


@with_corpus_options
def update(
    model: ModelFolder,
    corpus: Corpus,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="MODEL", help="The folder to write; MODEL itself is replaced."
        ),
    ],
    number: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--number",
            min=1,
            metavar="N",
            help="The topics to keep, where you use another number of them than kate topics shows.",
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Threads; all cores by default.")
    ] = None,
    as_json: AsJson = False,
    reading: CorpusArguments = AS_THEY_COME,
    quiet: Quiet = False,
) -> None:
    """Learn from new documents without beginning anew, and say what moved.

    Words that have become frequent enter the vocabulary, others fade. Topics keep their numbers, names and your
    changes; documents that fit none make new ones. Give each document once. Vectors change: encode documents again, and
    make indexes anew. After Ctrl-C or a kill nothing is lost: the folder holds the old model or the new one.

    \b
    Example:
      kate update model january.csv -o model
      kate update model january.csv --text review -o model-2 --json
    """
    from kate.model.model_folder import MODEL_FOLDER

    # before the documents are read, which may take long
    MODEL_FOLDER.require_replaceable(output)
    require_writable(output, MODEL_FOLDER.config)
    loaded = kate.load(model)
    loaded.n_jobs = jobs
    loaded.verbose = False if quiet or as_json else None
    documents = reading.documents(corpus)
    report = loaded.update(documents, number)
    loaded.save(output)
    if as_json:
        print_json(report.as_dict() | {"model": str(output)})
    elif not quiet:
        for line in report.lines():
            typer.echo("  ".join(harmless(part) for part in line.split("  ")))  # columns stay
        typer.echo(f"{report.seconds:.1f} s → {output}")
        typer.echo(f"next: kate topics {output}")
