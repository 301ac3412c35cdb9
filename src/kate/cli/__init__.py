"""The command line: a thin layer over the Python API.

    app.py      the application, and what becomes of errors, warnings, Ctrl-C and closed pipes
    options.py  arguments and options that several commands share
    output.py   tables for people, JSON for programs
    corpus.py   commands that read documents: fit, encode, index
    model.py    commands that show what was made: topics, words, search, info
    datasets.py the commands datasets and datasets prepare
    evaluate.py the command evaluate (tables.py: what it prints)
    tune.py     the command tune
    reproduce.py the command reproduce
    showcase.py the command demo

Everything heavy is imported inside the command that needs it: ``kate topics`` must not wait for scikit-learn.
"""

from kate.cli import ask as model
from kate.cli import datasets, evaluate, reproduce, tune
from kate.cli import demo as showcase
from kate.cli import make as corpus
from kate.cli.app import app

__all__ = ["app", "main"]

for _commands in (corpus, model, datasets, evaluate, tune, reproduce, showcase):
    _commands.add_to(app)


def main() -> None:
    """The entry point of the command ``kate``."""
    app()
