"""The command tune: searches the settings of models on validation documents, with the same budget for each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kate.cli.options import (
    AsJson,
    DataSetOption,
    Quiet,
    VocabularySize,
    parse_assignments,
    split_at_commas,
)
from kate.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from kate.research.evaluation.tuning import TrialDone
    from kate.research.registry import Tuned

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    app.command()(tune)


def tune(
    model: Annotated[
        list[str],
        typer.Option(
            metavar="NAME,…",
            help="Models, separated by commas, or all for every one that can run here; repeatable.",
        ),
    ],
    dataset: Annotated[str, typer.Option(metavar="NAME", help="A data set (see kate datasets).")],
    trials: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Trials per model; the first has the settings it starts from."),
    ] = 20,
    dimensions: Annotated[
        int, typer.Option(metavar="N", min=1, help="The length of a document vector.")
    ] = 128,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="Fits per trial; their mean counts.")] = 1,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The seed of the search.")] = 0,
    vocabulary_size: VocabularySize = None,
    option: DataSetOption = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A setting that all trials have: max_epochs=20, or of one model: lda.passes=5.",
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="The folder for the histories of the trials."),
    ] = Path("tuning"),
    update: Annotated[
        bool,
        typer.Option(
            "--update", help="Make the settings that are found those of NAME:tuned, in a file of your own."
        ),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Search the settings of models on validation documents; test documents are never used.

    Every trial is one line of DIR/DATASET-MODEL-DIMENSIONS.jsonl as soon as it is over; after an interruption the same
    command goes on from there. The best settings are written to DIR/DATASET-MODEL-DIMENSIONS.toml; with --update they
    become those of NAME:tuned: in kate/tuned.toml where your settings are (~/.config), or where KATE_TUNED says.

    \b
    Examples:
      kate tune --model lda,nmf --dataset 20news --trials 20
      kate tune --model all --dataset 20news --trials 20 --update
    """
    from kate.research.evaluation.corpora import CorpusSource
    from kate.research.evaluation.tuning import Search
    from kate.research.evaluation.tuning import tune as search_settings
    from kate.research.registry import TUNED, choose_models, settings_of
    from kate.research.registry.tuned import as_toml, own_file, update_tuned
    from kate.storage.files import whole_file

    fixed = parse_assignments(setting or [], "--setting")
    chosen, left_out = choose_models(split_at_commas(model), fixed)
    for reason in left_out.values():
        say(f"left out: {reason}")
    source = CorpusSource.dataset(dataset, vocabulary_size, parse_assignments(option or [], "--option"))
    searches = [
        Search(source, name, dimensions, trials, seeds, seed, settings_of(name, fixed))
        for name in chosen
        if not name.endswith(TUNED)
    ]
    for search in searches:
        search.key()  # an unknown setting is refused before the first search starts
    found: dict[str, Tuned] = {}
    for search in searches:
        place = output / f"{dataset}-{search.model}-{dimensions}"
        found[search.model] = search_settings(search, place.with_suffix(".jsonl"), None if quiet else _show)
        with whole_file(place.with_suffix(".toml")) as part:
            part.write_text(as_toml(search.model, found[search.model]), encoding="utf-8")
        if update:
            update_tuned(own_file(), search.model, found[search.model])
    if as_json:
        print_json({name: vars(tuned) for name, tuned in found.items()})
    else:
        _print_found(found)
    if not quiet and not update:
        say(f"the settings found are in {output}; --update makes them those of NAME:tuned")


def _show(done: TrialDone) -> None:
    record = done.record
    score = "failed" if record["score"] is None else f"{record['objective']} {record['score']:.4f}"
    told = "there already" if done.was_there else f"{record['seconds']:.0f} s"
    settings = ", ".join(f"{name}={value}" for name, value in record["settings"].items()) or "start"
    say(f"{record['model']}, trial {record['trial'] + 1} of {done.n_trials}: {score} ({told}), {settings}")


def _print_found(found: dict[str, Tuned]) -> None:
    rows = [
        (
            name,
            str(tuned.trials),
            f"{tuned.score:.4f}",
            ", ".join(f"{setting}={value}" for setting, value in tuned.settings.items())
            or "those it starts from",
        )
        for name, tuned in found.items()
    ]
    print_table(("model", "trials", "score", "best settings"), rows, right=("trials", "score"))
