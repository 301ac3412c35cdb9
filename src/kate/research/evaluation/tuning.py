"""Tuning: settings of a model searched on validation documents, with the same budget for every model.

The protocol: only training documents are used. The model is fitted on nine tenths of the documents for fitting and may
follow the last tenth to stop early; the probe chooses its strength on that tenth, too. The validation documents are
scored. The test documents are not touched.

Trial 0 has the settings that the model starts from, the others come from optuna's TPE. Every trial is one JSON line in
a file of history as soon as it is over; a search that is started again goes on from there, and draws what it would
have drawn without the interruption.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kate.extras import install_command
from kate.research.datasets.corpus import Corpus
from kate.research.evaluation.corpora import CorpusSource
from kate.research.evaluation.grid import quiet
from kate.research.evaluation.model_inputs import (
    PARTS,
    collection_rows,
    encode_parts,
    fit_on_corpus,
    is_ranker,
)
from kate.research.evaluation.results import LINE_FORMAT, Record, append_result, read_results
from kate.research.evaluation.run import describe_error
from kate.research.evaluation.run_keys import digest, model_identity
from kate.research.metrics.classification import classify
from kate.research.metrics.multilabel import classify_sets
from kate.research.metrics.regression import regress
from kate.research.metrics.retrieval import retrieve_ranked
from kate.research.registry import ModelEntry, Tuned, find_entry, make_model
from kate.research.registry.search_spaces import Space, could_draw, draw_settings
from kate.storage.files import only_writer
from kate.storage.json_values import as_json

__all__ = ["Search", "TrialDone", "inner_corpus", "tune", "validation_score"]

_INNER_SHARE = 0.1  # of the documents for fitting, held out for the probe and for early stopping
_WARM_UP = 8  # trials at random before TPE has enough to learn from


class TrialDone(NamedTuple):
    """A trial that is over: its line, whether it was in the file already, and how many there will be."""

    record: Record
    was_there: bool
    n_trials: int


@dataclasses.dataclass(frozen=True)
class Search:
    """What is searched: a model on a corpus, with a budget."""

    source: CorpusSource
    model: str
    n_components: int = 128
    n_trials: int = 20
    n_seeds: int = 1
    seed: int = 0
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # held fixed in every trial

    @property
    def entry(self) -> ModelEntry:
        return find_entry(self.model)

    @property
    def space(self) -> Space:
        return {name: values for name, values in self.entry.space.items() if name not in self.settings}

    def model_identity(self) -> dict[str, Any]:
        """The model as it starts: settings, revision of its code, device."""
        start = make_model(self.model, self.n_components, self.settings)
        return model_identity(self.model, self.n_components, start)

    def key(self) -> str:
        """All that a trial depends on but its number and its device: a search may go on on another machine."""
        model = self.model_identity()
        del model["device"]
        return digest(
            {
                "dataset": {
                    "name": self.source.name,
                    "settings": as_json(self.source.settings, strict=False),
                },
                "model": model,
                "seeds": self.n_seeds,
                "seed": self.seed,
                "space": {name: repr(values) for name, values in self.space.items()},
            }
        )


def tune(
    search: Search,
    history: str | os.PathLike[str],
    progress: Callable[[TrialDone], None] | None = None,
) -> Tuned:
    """Search the settings of a model; what is in the file of history already is not run again.

    A trial that fails is recorded with its error and counts as one of the budget. The best of all trials, the
    settings that the model starts from among them; of equals the earlier one.
    """
    path, key = Path(history), search.key()
    path.parent.mkdir(parents=True, exist_ok=True)
    study, corpus = _study(), None
    records: list[Record] = []
    with only_writer(path):
        found = {record["key"]: record for record in read_results(path)}
        for number in range(search.n_trials if search.space else 1):
            trial, settings = _propose(study, search, number)
            record = found.get(f"{key}-{number}")
            was_there = record is not None
            if record is None:
                corpus = corpus or inner_corpus(search.source.loaded(texts=search.entry.inputs == "texts"))
                record = _same(records, settings, number) or _run(search, corpus, number, settings)
                record |= {"key": f"{key}-{number}"}
                append_result(path, record)
            _tell(study, trial, record)
            records.append(record)
            if progress is not None:
                progress(TrialDone(record, was_there, search.n_trials if search.space else 1))
    return _best(search, records)


def inner_corpus(corpus: Corpus) -> Corpus:
    """A corpus of the training documents alone: its test documents are the validation documents."""
    fitting = corpus.fitting
    n_held_out = max(1, round(_INNER_SHARE * len(fitting)))
    held_out = np.random.default_rng(0).permutation(len(fitting))[:n_held_out]
    return dataclasses.replace(
        corpus, train=fitting, validation=np.sort(fitting[held_out]), test=corpus.validation
    )


def validation_score(model: Any, corpus: Corpus, random_state: int = 0) -> tuple[str, float]:
    """The name and value of the main score of a model on the test documents of an inner corpus.

    Accuracy for classes, micro-F1 for sets of labels, r² for a number; mean average precision for a ranker.
    """
    fit_on_corpus(model, corpus)
    if is_ranker(model):
        return "map", _ranked_score(model, corpus)
    vectors = encode_parts(model, corpus)
    arrays: list[Any] = []
    for part in PARTS:
        arrays += [vectors[part], corpus.part(part).y]
    if corpus.label_kind == "classes":
        return "accuracy", classify(*arrays, random_state=random_state).accuracy
    if corpus.label_kind == "sets":
        return "micro_f1", classify_sets(*arrays).micro_f1
    return "r2", regress(*arrays, random_state=random_state).r2


def _ranked_score(model: Any, corpus: Corpus) -> float:
    if corpus.label_kind == "number":
        raise ValueError(
            "a model that ranks documents is scored by classes or sets of labels, not by a number"
        )
    collection, queries = collection_rows(corpus), corpus.X[corpus.test]
    found = retrieve_ranked(
        lambda rows: model.similarities(queries[rows]),
        (len(collection), corpus.labels[collection]),
        (len(corpus.test), corpus.part("test").y),
    )
    assert found.mean_average_precision is not None
    return found.mean_average_precision


def _study() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise ImportError(f"kate tune needs optuna: {install_command('paper')}") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(direction="maximize")


def _propose(study: Any, search: Search, number: int) -> tuple[Any, dict[str, Any]]:
    """A trial of the study and its settings; None for a start that lies outside of what is searched."""
    import optuna

    # a new sampler for each trial, seeded by its number: a search that goes on draws as if it had not stopped
    study.sampler = optuna.samplers.TPESampler(
        seed=search.seed * 100_003 + number,
        n_startup_trials=_WARM_UP,
        multivariate=True,
    )
    if number > 0:
        trial = study.ask()
        return trial, draw_settings(search.space, trial)
    start = make_model(search.model, search.n_components, search.settings).get_params(deep=False)
    values = {name: start[name] for name in search.space}
    if not all(could_draw(search.space[name], value) for name, value in values.items()) or not values:
        return None, {}
    study.enqueue_trial(values)
    trial = study.ask()
    draw_settings(search.space, trial)
    return trial, {}


def _tell(study: Any, trial: Any, record: Record) -> None:
    import optuna

    if trial is None:
        return
    if record["score"] is None:
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
    else:
        study.tell(trial, record["score"])


def _same(records: Sequence[Record], settings: dict[str, Any], number: int) -> Record | None:
    """The line of an earlier trial with the same settings: few settings are drawn more than once."""
    for record in records:
        if record["settings"] == as_json(settings, strict=False) and record["status"] == "done":
            return record | {"trial": number, "same_as": record["trial"], "seconds": 0.0}
    return None


def _run(search: Search, corpus: Corpus, number: int, settings: dict[str, Any]) -> Record:
    """The line of a trial, whatever becomes of it."""
    start = time.perf_counter()
    scores: list[float] = []
    objective, errors = None, {}
    try:
        for seed in range(search.n_seeds):
            model = make_model(
                search.model, search.n_components, {**search.settings, **settings}, random_state=seed
            )
            objective, score = validation_score(quiet(model), corpus, seed)
            scores.append(score)
    except Exception as error:  # the failure of one trial is recorded, and the search goes on
        errors = {"trial": describe_error(error)}
    is_whole = not errors and all(np.isfinite(scores))
    identity = search.model_identity()
    line = {
        "format": LINE_FORMAT,
        "status": "done" if is_whole else "failed",
        "dataset": search.source.name,
        "dataset_settings": search.source.settings,
        "model": search.model,
        "n_components": search.n_components,
        "revision": identity["revision"],
        "device": identity["device"],
        "trial": number,
        "settings": settings,
        "fixed": dict(search.settings),
        "objective": objective,
        "scores": scores,
        "score": float(np.mean(scores)) if is_whole else None,
        "seconds": time.perf_counter() - start,
        "errors": errors,
    }
    record: Record = as_json(line, strict=False)
    return record


def _best(search: Search, records: Sequence[Record]) -> Tuned:
    whole = [record for record in records if record["score"] is not None]
    if not whole:
        message = records[0]["errors"].get("trial", {}).get("message", "no score")
        raise ValueError(f"all {len(records)} trials of {search.model} failed, the first with: {message}")
    best = max(whole, key=lambda record: (record["score"], -record["trial"]))
    return Tuned(
        settings={**search.settings, **best["settings"]},
        dataset=search.source.name,
        n_components=search.n_components,
        trials=len(records),
        seeds=search.n_seeds,
        objective=f"{best['objective']} on validation documents",
        score=round(best["score"], 4),
    )
