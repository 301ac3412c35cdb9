"""The command line: a thin layer over the Python API.

    app.py              the application: how errors, warnings, Ctrl-C and closed pipes end a command
    options.py          arguments and options that several commands share
    corpus_arguments.py the options of a corpus, and how it is read; cluster_options.py: what --on ray changes
    output.py           tables for people, JSON for programs
    progress_lines.py   how far long work is: a line for each phase, on a terminal
    corpus_commands.py  fit
    encode_command.py   encode
    update_command.py   update
    model_commands.py   words, info: they show what was made; languages
    index_commands.py   index; index add, update, remove, compact
    search_commands.py  search, similar, duplicates
    topic_commands.py   topics, neurons
    label_commands.py   label, trends (topic_tables.py: what they print and write)
    plot_commands.py    plot trends, plot map, plot tree, plot words
    explore_command.py  explore
    serve_command.py    serve
    doctor.py           doctor (checkup.py: what it looks at)
    log_lines.py        -v and -vv: what the library logs, on standard error
    demo.py             demo
    datasets.py         datasets, datasets prepare
    evaluate.py         evaluate (evaluation_tables.py: the tables that it prints)
    tune.py             tune
    reproduce.py        reproduce

Heavy packages are imported inside the command that needs them: ``kate topics`` must not wait for scikit-learn. The
modules here are imported when one of their commands is asked for: ``kate search`` must not wait for ``kate evaluate``.
"""

import gc

from kate.cli.app import app

__all__ = ["app", "main"]


def main() -> None:
    """The entry point of the command ``kate``."""
    # a command makes many objects that stay, classes above all: to look through them again and again takes time
    gc.set_threshold(100_000, 30, 30)
    app()
