"""The command line: a thin layer over the Python API.

    app.py              the application: how errors, warnings, Ctrl-C and closed pipes end a command
    options.py          arguments and options that several commands share
    output.py           tables for people, JSON for programs
    corpus_commands.py  fit, encode: they read documents
    model_commands.py   words, info: they show what was made; languages
    index_commands.py   index; index add, update, remove, compact
    search_commands.py  search, similar, duplicates
    topic_commands.py   topics, neurons
    label_commands.py   label, trends (topic_tables.py: what they print and write)
    plot_commands.py    plot trends, plot map, plot tree, plot words
    serve_command.py    serve
    demo.py             demo
    datasets.py         datasets, datasets prepare
    evaluate.py         evaluate (evaluation_tables.py: the tables that it prints)
    tune.py             tune
    reproduce.py        reproduce

Heavy packages are imported inside the command that needs them: ``kate topics`` must not wait for scikit-learn.
"""

from kate.cli import (
    corpus_commands,
    datasets,
    demo,
    evaluate,
    index_commands,
    label_commands,
    model_commands,
    plot_commands,
    reproduce,
    search_commands,
    serve_command,
    topic_commands,
    tune,
)
from kate.cli.app import app

__all__ = ["app", "main"]

for _commands in (
    *(corpus_commands, model_commands, index_commands, search_commands),
    *(
        topic_commands,
        label_commands,
        plot_commands,
        serve_command,
        datasets,
        evaluate,
        tune,
        reproduce,
        demo,
    ),
):
    _commands.add_to(app)


def main() -> None:
    """The entry point of the command ``kate``."""
    app()
