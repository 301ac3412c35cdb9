"""The command index, which makes an index; and index add, update, remove, compact, which change one (store lance)."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import kate
from kate.cli.cluster_options import on_cluster, require_engine_options
from kate.cli.corpus_arguments import AS_THEY_COME, Corpus, CorpusArguments, say_skipped, with_corpus_options
from kate.cli.corpus_commands import require_writable
from kate.cli.options import Address, ModelFolder, OnCluster, Quiet, Workers
from kate.cli.output import counted
from kate.cli.progress_lines import progress_lines
from kate.cli.search_commands import IndexFolder

__all__ = ["add_to"]

_DEFAULT = "make"


class Store(StrEnum):
    FILES = "files"
    LANCE = "lance"


class IndexCommands(TyperGroup):
    """``kate index MODEL CORPUS -o INDEX`` makes an index: what is not the name of another command is for ``make``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help of making an index, and then the other commands."""
        make = self.commands[_DEFAULT]
        make.format_help(type(ctx)(make, info_name=ctx.info_name, parent=ctx.parent), formatter)
        self.format_commands(ctx, formatter)


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(
        cls=IndexCommands,
        rich_markup_mode=None,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    group.callback()(index)
    group.command(_DEFAULT, hidden=True)(make)
    for command in (add, update, remove, compact):
        group.command()(command)
    app.add_typer(group, name="index")


def index() -> None:
    """Encode documents and keep them for searching.

    \b
    Example:
      kate index model reviews.csv -o index
    """


@with_corpus_options
def make(
    model: ModelFolder,
    corpus: Corpus,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="INDEX", help="The folder to write.")],
    store: Annotated[
        Store, typer.Option(help="Files that do not change, or a table of LanceDB that can.")
    ] = Store.FILES,
    ann: Annotated[
        bool,
        typer.Option("--ann", help="Also build a graph of neighbours: faster, nearly exact search."),
    ] = False,
    int8: Annotated[
        bool, typer.Option("--int8", help="Keep vectors in eight bits: a quarter of the memory.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Threads; all cores by default.")
    ] = None,
    on: OnCluster = None,
    address: Address = None,
    workers: Workers = None,
    reading: CorpusArguments = AS_THEY_COME,
    quiet: Quiet = False,
) -> None:
    """Encode documents and keep them for searching.

    A search compares the query with all documents, which is fast up to some millions. With --ann (pip install
    'kate-text[ann]') it follows a graph of neighbours instead; the share of the ten nearest documents that it finds is
    measured and shown, and that of --int8 too. With --jobs 1 the graph is the same every time. With --store lance (pip
    install 'kate-text[lance]') documents can be added, updated and removed later; --ann is then LanceDB's own index.
    The corpus may be larger than memory: some thousand documents and the distinct words are held.

    \b
    Example:
      kate index model reviews.csv -o index
      kate index model 'news/*.parquet' -o index
      kate index model reviews.csv -o index --store lance
      kate index add index more.csv
    """
    require_engine_options(on, address, workers)
    _require_extras(store, ann, int8)
    require_writable(output, "index.json")
    loaded = kate.load(model)
    if on is not None:
        from kate.cluster.cluster_encoding import index_on_cluster

        read, how = reading.pieces(corpus), {"ann": ann and store == Store.FILES, "int8": int8}
        with on_cluster(address, workers) as cluster:
            documents, made = index_on_cluster(cluster, loaded, read, n_jobs=jobs, n_workers=workers, **how)
        n_documents = len(documents)
        made.save(output, store=store.value, ann=ann and store == Store.LANCE)
        say_skipped(read)
    else:
        batches = reading.batches(corpus)
        with progress_lines(quiet) as report:
            made = kate.Index.write(
                loaded, batches, output, store=store.value, ann=ann, int8=int8, n_jobs=jobs, report=report
            )
        n_documents = batches.n_documents
        say_skipped(batches)
    if not quiet:
        typer.echo(f"{counted(n_documents, 'document')} → {output}")
        for what, facts in (
            ("", getattr(made.graph, "facts", None)),
            ("int8 ", getattr(made.vectors, "facts", None) if store == Store.FILES else None),
        ):
            if facts is not None:
                typer.echo(
                    f"{what}recall@10 {facts.recall_at_10:.3f} against exact search, {facts.n_queries} documents as "
                    "queries"
                )
        typer.echo(f'next: kate search {output} "some words"')


def _require_extras(store: Store, ann: bool, int8: bool) -> None:
    """Before the documents are read, which may take long."""
    if store == Store.LANCE:
        from kate.search.lance_store import require_lancedb

        if int8:
            raise typer.BadParameter("the store lance keeps whole vectors; leave it out", param_hint="--int8")
        require_lancedb()
    elif ann:
        from kate.search.neighbour_graph import require_usearch

        require_usearch()


@with_corpus_options
def add(
    index: IndexFolder,
    corpus: Corpus,
    reading: CorpusArguments = AS_THEY_COME,
    quiet: Quiet = False,
) -> None:
    """Add documents with new ids to an index in the store lance.

    \b
    Example:
      kate index add index more.csv
    """
    loaded = kate.Index.load(index)
    documents = reading.documents(corpus)
    n_added = loaded.add(documents)
    if not quiet:
        typer.echo(f"{counted(n_added, 'document')} added, now {len(loaded):,} → {index}")


@with_corpus_options
def update(
    index: IndexFolder,
    corpus: Corpus,
    reading: CorpusArguments = AS_THEY_COME,
    quiet: Quiet = False,
) -> None:
    """Replace documents by their ids, and add those with new ids (store lance).

    \b
    Example:
      kate index update index corrected.csv --id key
    """
    loaded = kate.Index.load(index)
    documents = reading.documents(corpus)
    n_replaced, n_added = loaded.update(documents)
    if not quiet:
        typer.echo(
            f"{counted(n_replaced, 'document')} replaced, {n_added:,} added, now {len(loaded):,} → {index}"
        )


def remove(
    index: IndexFolder,
    id: Annotated[  # noqa: A002 - the name of the option
        list[str] | None, typer.Option("--id", metavar="ID", help="A document to remove; repeatable.")
    ] = None,
    where: Annotated[
        str | None, typer.Option(metavar="SQL", help="Remove the documents that meet a condition.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Remove documents from an index in the store lance.

    \b
    Example:
      kate index remove index --id 17 --id 18
      kate index remove index --where "year < 1900"
    """
    if (id is None) == (where is None):
        raise typer.BadParameter("give ids or a condition, one of the two", param_hint="--id, --where")
    loaded = kate.Index.load(index)
    n_removed = loaded.remove(id or (), where=where)
    if not quiet:
        typer.echo(f"{counted(n_removed, 'document')} removed, now {len(loaded):,} → {index}")


def compact(index: IndexFolder, quiet: Quiet = False) -> None:
    """Put the files of many additions together and bring the indexes up to date (store lance).

    \b
    Example:
      kate index compact index
    """
    loaded = kate.Index.load(index)
    loaded.compact()
    if not quiet:
        typer.echo(f"compacted, {counted(len(loaded), 'document')} → {index}")
