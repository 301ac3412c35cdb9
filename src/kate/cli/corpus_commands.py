"""The command that learns from documents: fit."""

from __future__ import annotations

import time
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kate.cli.cluster_options import on_cluster, require_engine_options
from kate.cli.corpus_arguments import AS_THEY_COME, Corpus, CorpusArguments, with_corpus_options
from kate.cli.options import (
    Address,
    KeepEmails,
    KeepHandles,
    KeepHtml,
    KeepRuns,
    KeepUrls,
    MaxDf,
    MinDf,
    OnCluster,
    Phrases,
    Quiet,
    Workers,
    document_limit,
)
from kate.cli.output import counted, say
from kate.storage.files import whole_file, whole_folder

if TYPE_CHECKING:
    from kate.cluster.corpus_pieces import CorpusPieces
    from kate.model.text_model import TextModel

__all__ = ["add_to", "require_writable", "require_writable_file"]


class DeviceName(StrEnum):
    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"


def add_to(app: typer.Typer) -> None:
    app.command()(fit)


@with_corpus_options
def fit(
    corpus: Corpus,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="The folder to write.")],
    dimensions: Annotated[int, typer.Option(metavar="N", min=1, help="Length of a document vector.")] = 128,
    vocabulary_size: Annotated[
        int, typer.Option(metavar="N", min=1, help="Keep so many words, the most frequent ones.")
    ] = 20_000,
    min_df: MinDf = "auto",
    max_df: MaxDf = "1.0",
    language: Annotated[
        str,
        typer.Option(
            help='Name or ISO code, see kate languages; "auto": that of the texts; "none": no stems, no stop words.'
        ),
    ] = "auto",
    no_stem: Annotated[bool, typer.Option("--no-stem", help="Count words as they are written.")] = False,
    stop_words: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Stop words, instead of the language's.")
    ] = None,
    phrases: Phrases = False,
    keep_html: KeepHtml = False,
    keep_urls: KeepUrls = False,
    keep_emails: KeepEmails = False,
    keep_handles: KeepHandles = False,
    keep_runs: KeepRuns = False,
    epochs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="At most so many passes over the documents.")
    ] = None,
    paper: Annotated[bool, typer.Option("--paper", help="Use the settings of the paper.")] = False,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed gives the same model.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Threads; all cores by default.")
    ] = None,
    device: Annotated[
        DeviceName, typer.Option(help="Where to train; auto uses a GPU if there is one.")
    ] = DeviceName.AUTO,
    keep_on_interrupt: Annotated[
        bool, typer.Option("--keep-on-interrupt", help="After Ctrl-C save the last complete epoch.")
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Stream: read the documents once and use no more memory than this, such as 2GB.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Stream, and go on where a fit that was killed has left MODEL.work."),
    ] = False,
    on: OnCluster = None,
    address: Address = None,
    workers: Workers = None,
    reading: CorpusArguments = AS_THEY_COME,
    quiet: Quiet = False,
) -> None:
    """Learn a model from documents.

    After Ctrl-C nothing is written, and a model that was in the folder stays there.

    With --memory or --resume, and for documents that surely do not fit into memory, their counts are kept in the folder
    MODEL.work. The vocabulary is the same, and the vectors are as good. After a kill, a full disk or SIGTERM (exit code
    143) the same command with --resume goes on there, and ends at the model that it would have come to. At most five
    minutes of training are lost, or an epoch if that is less.

    With --on ray the machines of a cluster count the words, and the model is the same. With --workers too, so many of
    them also train, each on a part of the documents, and are averaged (docs/scale.md says when that is worth it).

    \b
    Example:
      kate fit reviews.csv --text review --dimensions 64 -o model
      kate fit 'news/*.parquet' --memory 2GB -o model
      kate fit 'news/*.parquet' --memory 2GB -o model --resume
      kate fit 'news/*.parquet' --on ray --address 10.0.0.5:6379 -o model
    """
    from kate.cli.streamed_fit import fit_and_save_streamed, is_too_large, work_folder_of
    from kate.engines.devices import require_engine
    from kate.model.model_folder import MODEL_FOLDER
    from kate.model.text_model import TextModel

    # before the documents are read, which may take long
    require_engine_options(on, address, workers)
    if on is not None and (memory is not None or resume):
        raise typer.BadParameter("leave --memory and --resume out, or --on", param_hint="--on")
    require_engine(device.value)
    MODEL_FOLDER.require_replaceable(output)
    require_writable(output, MODEL_FOLDER.config)
    settings: dict[str, Any] = {
        "vocabulary_size": vocabulary_size,
        "min_df": "auto" if min_df == "auto" else document_limit(min_df, "--min-df"),
        "max_df": document_limit(max_df, "--max-df"),
        "language": None if language == "none" else language,
        "stem": not no_stem,
        "stop_words": None if stop_words is None else _read_words(stop_words),
        "phrases": phrases,
        "strip_html": not keep_html,
        "strip_urls": not keep_urls,
        "strip_emails": not keep_emails,
        "strip_handles": not keep_handles,
        "cut_runs": not keep_runs,
        "random_state": seed,
        "n_jobs": jobs,
        "device": device.value,
        "verbose": False if quiet else None,
    }
    if epochs is not None:
        settings["max_epochs"] = epochs
    model = (TextModel.paper if paper else TextModel)(dimensions, **settings)
    if on is not None:
        seconds = _fit_and_save_on_cluster(model, reading.pieces(corpus), output, address, workers)
        _tell(model, seconds, output, quiet)
        return
    texts = reading.texts(corpus)
    streams = memory is not None or resume
    if not streams and not phrases and is_too_large(texts):
        say(
            f"about {texts.n_characters / 1e9:.1f} GB of text do not fit into memory: streaming, with counts in "
            f"{work_folder_of(output)} (see --memory)"
        )
        streams = True
    if streams:
        seconds = fit_and_save_streamed(model, texts, output, memory, resume, keep_on_interrupt, quiet)
    else:
        start = time.perf_counter()
        model.fit(reading.documents(corpus), keep_on_interrupt=keep_on_interrupt)
        seconds = time.perf_counter() - start
        model.save(output)
    _tell(model, seconds, output, quiet)


def _fit_and_save_on_cluster(
    model: TextModel, pieces: CorpusPieces, output: Path, address: str | None, workers: int | None
) -> float:
    """The seconds of the fit."""
    from kate.cluster.cluster_fit import fit_on_cluster

    with on_cluster(address, workers) as cluster:
        start = time.perf_counter()
        fit_on_cluster(cluster, model, pieces, workers or 1)
        seconds = time.perf_counter() - start
    model.save(output)
    return seconds


def _tell(model: TextModel, seconds: float, output: Path, quiet: bool) -> None:
    from kate.text.languages import AUTO

    if not quiet:
        typer.echo(
            f"{counted(model.n_documents_, 'document')}, {counted(len(model.vocabulary_), 'word')}, "
            f"{counted(model.n_components, 'dimension')}, "
            f"{counted(len(model.history_), 'epoch')} in {seconds:.1f} s → {output}"
        )
        found = model.settings_["language"]
        if model.language == AUTO and found != "english":
            typer.echo(f"the texts are read as {str(found).capitalize()}; if they are not, set --language")
        typer.echo(f"next: kate topics {output}")


def _read_words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").split()
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8 ({error}); save the stop words as UTF-8") from None


class _CanBeWrittenError(Exception):
    """Ends the attempt of :func:`require_writable`: what was begun is removed again."""


def require_writable(folder: Path, marker: str) -> None:
    """Begin to write the folder and remove what was begun: it is better to fail before the training than after it."""
    with suppress(_CanBeWrittenError), whole_folder(folder, replaces=marker):
        raise _CanBeWrittenError


def require_writable_file(path: Path) -> None:
    """The same for a file."""
    with suppress(_CanBeWrittenError), whole_file(path):
        raise _CanBeWrittenError
