"""The command doctor: what is here, what is missing, and how to get it."""

from __future__ import annotations

import typer

from kate.cli.options import AsJson
from kate.cli.output import print_json, print_pairs, print_table

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    app.command()(doctor)


def doctor(as_json: AsJson = False) -> None:
    """Show what Kate finds on this machine: versions, cores, folders, GPU, extras, data sets.

    The exit code is 1 if something that every command needs is missing. Please send the output with a report of a bug.

    \b
    Example:
      kate doctor --json
    """
    from kate.cli.checkup import examine

    found = examine()
    if as_json:
        print_json(found)
    else:
        print_pairs([*found["machine"].items(), *found["folders"].items()])
        typer.echo()
        rows = [(name, version or "missing") for name, version in found["packages"].items()]
        print_table(["package", "version"], rows)
        typer.echo()
        extras = [
            (
                one["extra"] or "(fit)",
                "yes" if one["installed"] else "no",
                one["purpose"],
                "" if one["installed"] else one["install"],
            )
            for one in found["extras"]
        ]
        print_table(["extra", "here", "for", "to install"], extras)
        typer.echo()
        sets = [(one["name"], "yes" if one["here"] else "no", one["how"]) for one in found["datasets"]]
        print_table(["data set", "here", "how to get it"], sets)
        typer.echo()
        for problem in found["problems"]:
            typer.echo(f"problem: {problem}")
        if not found["problems"]:
            typer.echo("nothing that the commands need is missing")
    raise typer.Exit(1 if found["problems"] else 0)
