"""The commands that show what was made (words, info) and languages. None loads scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import kate
from kate.cli.options import AsJson, ModelFolder, Top
from kate.cli.output import print_json, print_pairs, print_table
from kate.extras import install_command

if TYPE_CHECKING:
    from kate.model.text_model import TextModel

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    for command in (words, info, languages):
        app.command()(command)


def words(
    model: ModelFolder,
    word: Annotated[list[str], typer.Argument(metavar="WORD", help="One word or several.")],
    top: Top = 5,
    as_json: AsJson = False,
) -> None:
    """Show the words that are used like a word.

    \b
    Example:
      kate words model price doctor
    """
    loaded = kate.load(model)
    found = {one: loaded.similar_words(one, top=top) for one in word}
    if as_json:
        print_json(
            {
                one: [{"word": other, "similarity": float(cosine)} for other, cosine in similar]
                for one, similar in found.items()
            }
        )
        return
    rows = [
        (one, ", ".join(f"{other} {cosine:.2f}" for other, cosine in similar))
        for one, similar in found.items()
    ]
    print_table(("word", "similar words, with their cosine"), rows)


def info(model: ModelFolder, as_json: AsJson = False) -> None:
    """Show the size, the training and the settings of a model.

    \b
    Example:
      kate info model
    """
    facts = _facts(kate.load(model), model)
    if as_json:
        print_json(facts)
        return
    settings = facts.pop("settings")
    print_pairs((name.replace("_", " "), _shown(value)) for name, value in facts.items())
    typer.echo("settings")
    print_pairs((f"  {name}", _shown(value)) for name, value in settings.items())


def languages(as_json: AsJson = False) -> None:
    """List the languages that words can be read as: stems, stop words, and what has to be installed.

    \b
    Example:
      kate languages --json
    """
    from kate.text.languages import known_languages

    rows = known_languages()
    if as_json:
        print_json([row._asdict() for row in rows])
        return
    shown = [
        (row.name, row.code, "yes" if row.stems else "no", str(row.n_stop_words), _needed(row.needs))
        for row in rows
    ]
    print_table(("language", "code", "stems", "stop words", "needs"), shown, right=("stop words",))


def _needed(extra: str) -> str:
    return install_command(extra) if extra else ""


def _facts(loaded: TextModel, folder: Path) -> dict[str, Any]:
    last: dict[str, Any] = dict(loaded.history_[-1]) if loaded.history_ else {}
    found = loaded.topics()
    return {
        "model": str(folder),
        "documents": loaded.n_documents_,
        "words": len(loaded.vocabulary_),
        "dimensions": loaded.encoder_.n_components,
        "epochs": len(loaded.history_),
        "loss": last.get("loss"),
        "validation_loss": last.get("validation_loss"),
        "training_seconds": sum(row["seconds"] or 0.0 for row in loaded.history_),
        "topics": len(found),
        "coherence": found.coherence,
        "coverage": found.coverage,
        "diversity": found.diversity,
        "bytes": sum(file.stat().st_size for file in folder.iterdir()),
        "settings": dict(loaded.settings_),
    }


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
