"""The command that writes the vectors of documents: encode."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import kate
from kate.cli.cluster_options import on_cluster, require_engine_options
from kate.cli.corpus_arguments import AS_THEY_COME, Corpus, CorpusArguments, say_skipped, with_corpus_options
from kate.cli.corpus_commands import require_writable_file
from kate.cli.options import Address, ModelFolder, OnCluster, Quiet, Workers
from kate.cli.progress_lines import progress_lines

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    app.command()(encode)


@with_corpus_options
def encode(
    model: ModelFolder,
    corpus: Corpus,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="vectors.parquet, .npy or .jsonl")
    ],
    dimensions: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Keep the first N numbers of a vector, which say most."),
    ] = None,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Divide every vector by its length.")
    ] = False,
    on: OnCluster = None,
    address: Address = None,
    workers: Workers = None,
    reading: CorpusArguments = AS_THEY_COME,
    quiet: Quiet = False,
) -> None:
    """Turn documents into vectors.

    A .parquet or .jsonl file has id, label (if there are labels) and vector of each document. A .npy file has only the
    vectors, one row per document. The first numbers of a vector are a good shorter vector. With --normalize the product
    of two vectors is their cosine. The corpus may be larger than memory: only some thousand documents are held.

    \b
    Example:
      kate encode model new.jsonl -o vectors.parquet
      kate encode model new.jsonl -o short.npy --dimensions 16 --normalize
      kate encode model 's3://bucket/news/*.parquet' -o vectors.parquet
    """
    from kate.model.corpus_outputs import VECTOR_SUFFIXES, encode_corpus

    require_engine_options(on, address, workers)
    if output.suffix not in VECTOR_SUFFIXES:
        raise typer.BadParameter(f"{output} does not end in .parquet, .npy or .jsonl", param_hint="--output")
    require_writable_file(output)
    loaded = kate.load(model)
    n_components = loaded.encoder_.n_components
    if dimensions is not None and dimensions > n_components:
        raise typer.BadParameter(
            f"{dimensions} is more than the {n_components} numbers of a vector of this model",
            param_hint="--dimensions",
        )
    how: dict[str, Any] = {"normalize": normalize, "truncate_dim": dimensions}
    if on is not None:
        from kate.cluster.cluster_encoding import encode_on_cluster

        pieces = reading.pieces(corpus)
        with on_cluster(address, workers) as cluster, progress_lines(quiet) as report:
            how |= {"n_workers": workers, "report": report}
            n_documents, length = encode_on_cluster(cluster, loaded, pieces, output, **how)
        say_skipped(pieces)
    else:
        batches = reading.batches(corpus)
        with progress_lines(quiet) as report:
            n_documents, length = encode_corpus(loaded, batches, output, report=report, **how)
        say_skipped(batches)
    if not quiet:
        typer.echo(f"{n_documents:,} vectors of {length} numbers → {output}")
