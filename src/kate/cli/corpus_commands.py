"""The commands that learn from documents and encode them: fit, encode."""

from __future__ import annotations

import time
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import kate
from kate.cli.options import (
    Corpus,
    Encoding,
    Format,
    IdField,
    KeepEmails,
    KeepHandles,
    KeepHtml,
    KeepRuns,
    KeepUrls,
    LabelField,
    MaxDf,
    MinDf,
    ModelFolder,
    OnError,
    OnErrorOption,
    Phrases,
    Quiet,
    TextField,
    TitleField,
    document_limit,
    read_documents,
)
from kate.storage.files import whole_file, whole_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kate.text.documents import Documents

__all__ = ["add_to", "require_writable"]


class DeviceName(StrEnum):
    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"


def add_to(app: typer.Typer) -> None:
    for command in (fit, encode):
        app.command()(command)


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
        str, typer.Option(help='Name or ISO code, see kate languages; "none": no stems, no stop words.')
    ] = "english",
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
    text: TextField = None,
    id: IdField = None,  # noqa: A002 - the name of the option
    label: LabelField = None,
    title: TitleField = None,
    format: Format = None,  # noqa: A002 - the name of the option
    encoding: Encoding = "utf-8",
    on_error: OnErrorOption = OnError.RAISE,
    quiet: Quiet = False,
) -> None:
    """Learn a model from documents.

    After Ctrl-C nothing is written, and a model that was in the folder stays there.

    \b
    Example:
      kate fit reviews.csv --text review --dimensions 64 -o model
    """
    from kate.engines.devices import choose_device
    from kate.model.model_folder import MODEL_FOLDER

    # before the documents are read, which may take long
    choose_device(device.value)
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
    documents = read_documents(corpus, text, id, label, title, format, encoding, on_error)
    _fit_and_save(documents, output, dimensions, paper, settings, keep_on_interrupt, quiet)


def _read_words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").split()
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8 ({error}); save the stop words as UTF-8") from None


def _fit_and_save(
    documents: Documents,
    output: Path,
    dimensions: int,
    paper: bool,
    settings: dict[str, Any],
    keep_on_interrupt: bool,
    quiet: bool,
) -> None:
    from kate.model.text_model import TextModel

    start = time.perf_counter()
    make = TextModel.paper if paper else TextModel
    model = make(dimensions, **settings).fit(documents, keep_on_interrupt=keep_on_interrupt)
    seconds = time.perf_counter() - start
    model.save(output)
    if not quiet:
        typer.echo(
            f"{len(documents):,} documents, {len(model.vocabulary_):,} words, {model.n_components} dimensions, "
            f"{len(model.history_)} epochs in {seconds:.1f} s → {output}"
        )
        typer.echo(f"next: kate topics {output}")


def encode(
    model: ModelFolder,
    corpus: Corpus,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="vectors.parquet or vectors.npy")
    ],
    dimensions: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Keep the first N numbers of a vector, which say most."),
    ] = None,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Divide every vector by its length.")
    ] = False,
    text: TextField = None,
    id: IdField = None,  # noqa: A002 - the name of the option
    label: LabelField = None,
    title: TitleField = None,
    format: Format = None,  # noqa: A002 - the name of the option
    encoding: Encoding = "utf-8",
    on_error: OnErrorOption = OnError.RAISE,
    quiet: Quiet = False,
) -> None:
    """Turn documents into vectors.

    A .parquet file has the columns id, label (if there are labels) and vector. A .npy file has only the vectors, one
    row per document. The first numbers of a vector are a good shorter vector. With --normalize the product of two
    vectors is their cosine.

    \b
    Example:
      kate encode model new.jsonl -o vectors.parquet
      kate encode model new.jsonl -o short.npy --dimensions 16 --normalize
    """
    if output.suffix not in {".parquet", ".npy"}:
        raise typer.BadParameter(f"{output} ends in neither .parquet nor .npy", param_hint="--output")
    with whole_file(output) as part:
        loaded = kate.load(model)
        n_components = loaded.encoder_.n_components
        if dimensions is not None and dimensions > n_components:
            raise typer.BadParameter(
                f"{dimensions} is more than the {n_components} numbers of a vector of this model",
                param_hint="--dimensions",
            )
        documents = read_documents(corpus, text, id, label, title, format, encoding, on_error)
        vectors = loaded.encode(documents.texts, normalize=normalize, truncate_dim=dimensions)
        _write_vectors(part, documents, vectors)
    if not quiet:
        typer.echo(f"{vectors.shape[0]:,} vectors of {vectors.shape[1]} numbers → {output}")


def _write_vectors(path: Path, documents: Documents, vectors: NDArray[np.float32]) -> None:
    import numpy as np
    import polars as pl

    if path.suffix == ".npy":
        # a file and not a path: np.save would add a suffix to the name
        with path.open("wb") as file:
            np.save(file, vectors)
        return
    columns = [documents.frame["id"]]
    if documents.labels is not None:
        columns.append(documents.frame["label"])
    # a list and not a fixed-size array: every reader of parquet understands lists
    column = pl.Series("vector", vectors, dtype=pl.Array(pl.Float32, vectors.shape[1]))
    pl.DataFrame([*columns, column.cast(pl.List(pl.Float32))]).write_parquet(path)


class _CanBeWrittenError(Exception):
    """Ends the attempt of :func:`require_writable`: what was begun is removed again."""


def require_writable(folder: Path, marker: str) -> None:
    """Begin to write the folder and remove what was begun: it is better to fail before the training than after it."""
    with suppress(_CanBeWrittenError), whole_folder(folder, replaces=marker):
        raise _CanBeWrittenError
