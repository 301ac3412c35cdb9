"""The commands datasets (the list) and datasets prepare (download and count)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from kate.cli.options import AsJson, DataSetOption, VocabularySize, parse_assignments
from kate.cli.output import print_json, print_table

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(
        rich_markup_mode=None, add_completion=False, context_settings={"help_option_names": ["-h", "--help"]}
    )
    group.callback(invoke_without_command=True)(datasets)
    group.command()(prepare)
    app.add_typer(group, name="datasets")


def datasets(context: typer.Context, as_json: AsJson = False) -> None:
    """List the data sets that Kate can measure itself on, and whether they are here.

    \b
    Example:
      kate datasets --json
      kate datasets prepare 20news
    """
    if context.invoked_subcommand is None:
        _list(as_json)


def _list(as_json: bool) -> None:
    from kate.research.datasets import list_datasets

    found = list_datasets()
    if as_json:
        print_json([asdict(row) for row in found])
        return
    columns = ("name", "train", "validation", "test", "words", "here")
    rows = [
        (
            row.name,
            f"{row.train:,}",
            f"{row.validation:,}",
            f"{row.test:,}",
            f"{row.vocabulary_size:,}",
            "yes" if row.is_here else "no",
        )
        for row in found
    ]
    print_table(columns, rows, right=("train", "validation", "test", "words"))
    for row in found:  # below the table, which must fit into 80 columns
        typer.echo(f"\n{row.name}: {row.title}, for {row.task}; {row.licence}")
        if not row.is_here:
            typer.echo(f"{row.name} is not here: {row.how_to_get_it}")


def prepare(
    name: Annotated[
        list[str], typer.Argument(metavar="NAME", help="Names of data sets, as kate datasets lists them.")
    ],
    vocabulary_size: VocabularySize = None,
    option: DataSetOption = None,
) -> None:
    """Download data sets that are not here yet, and count their words once: later loads take a moment.

    \b
    Example:
      kate datasets prepare 20news movies
    """
    from kate.research.datasets import load_dataset

    options = parse_assignments(option or [], "--option")
    for one in name:
        try:
            corpus = load_dataset(one, vocabulary_size=vocabulary_size, **options)
        except TypeError as error:  # an option that the data set does not have, or of another type
            raise typer.BadParameter(str(error), param_hint="--option") from None
        typer.echo(repr(corpus))
