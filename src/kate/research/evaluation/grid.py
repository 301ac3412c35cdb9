"""A grid of runs: corpora × models × sizes × seeds, of which only what is missing is run."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import kate
from kate.research.datasets.corpus import Corpus
from kate.research.evaluation.corpora import CorpusSource
from kate.research.evaluation.found_topics import N_TOPICS
from kate.research.evaluation.results import LINE_FORMAT, Record, append_result, preferred, read_results
from kate.research.evaluation.run import (
    TOPIC_TASKS,
    Run,
    describe_error,
    evaluate,
    require_tasks,
    warm_up,
)
from kate.research.evaluation.run_keys import RunKeys, key_of, keys_of, model_identity
from kate.research.evaluation.scoring import Scorer
from kate.research.registry import Model, find_entry, make_model, variant_of
from kate.storage.files import only_writer
from kate.storage.json_values import as_json

__all__ = [
    "GridProgress",
    "PlannedRun",
    "SharedWork",
    "has_tasks",
    "make_record",
    "plan_runs",
    "quiet",
    "run_grid",
]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class PlannedRun:
    """One run of a grid, before it is made; ``n_topics`` where tasks are asked for that need such a number."""

    source: CorpusSource
    model: str
    n_components: int
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    n_topics: int | None = None

    def make_model(self) -> Model:
        return make_model(self.model, self.n_components, self.settings, random_state=self.seed)

    def identity(self) -> dict[str, Any]:
        """All that the result depends on; a default that changes with the version of Kate is among it."""
        return {
            "dataset": {"name": self.source.name, "settings": as_json(self.source.settings, strict=False)},
            "model": model_identity(self.model, self.n_components, self.make_model()),
            "seed": self.seed,
            **({} if self.n_topics is None else {"n_topics": self.n_topics}),
        }

    def keys(self) -> RunKeys:
        """The key by which a kept run is found, and the one that it has on every device."""
        return keys_of(self.identity())

    def key(self) -> str:
        """The identity in one short name: the same run on the same kind of device has the same key, whenever made."""
        return self.keys().own

    def __str__(self) -> str:
        return f"{self.source.name}, {self.model}, {self.n_components} dimensions, seed {self.seed}"


class GridProgress(NamedTuple):
    """Where a grid stands: ``record`` is None while the run is at ``stage``, and its line once it is over."""

    n_over: int
    n_missing: int
    run: PlannedRun
    stage: str
    record: Record | None


def plan_runs(
    sources: Iterable[CorpusSource],
    models: Sequence[str],
    dimensions: Sequence[int],
    seeds: Iterable[int],
    settings: Mapping[str, Any] | None = None,
    n_topics: int | None = None,
) -> list[PlannedRun]:
    """All combinations, corpus by corpus; ``settings`` override parameters of every model, or of the one they name.

    ``n_topics`` is for the tasks that need a number of topics (``run.TOPIC_TASKS``).

    ``models`` are names of the registry, with or without ``:tuned``. An unknown model or setting, or a device that is
    not there, is refused here, before anything is run.

    >>> runs = plan_runs([CorpusSource.dataset("20news")], ["kate"], [32, 128], seeds=range(2))
    >>> [str(run) for run in runs][:2]
    ['20news, kate, 32 dimensions, seed 0', '20news, kate, 32 dimensions, seed 1']
    """
    sizes = [
        (model, n_components) for model in dict.fromkeys(models) for n_components in dict.fromkeys(dimensions)
    ]
    seeds = list(dict.fromkeys(seeds))
    runs = [
        PlannedRun(source, model, n_components, seed, dict(settings or {}), n_topics)
        for source in sources
        for model, n_components in sizes
        for seed in seeds
    ]
    for run in runs:
        run.identity()
    return runs


def run_grid(
    runs: Sequence[PlannedRun],
    path: str | os.PathLike[str],
    *,
    tasks: Sequence[str] | None = None,
    progress: Callable[[GridProgress], None] | None = None,
) -> list[Record]:
    """Make the runs that the file of results does not have yet; the lines of all, in the order of ``runs``.

    A run that failed is recorded with its error and the others go on; it is made again next time. So is a run
    that lacks one of the ``tasks``, which then keeps the tasks that it had. Ctrl-C leaves what is finished in
    the file.
    """
    wanted = require_tasks(tasks)
    if set(wanted) & set(TOPIC_TASKS) and any(run.n_topics is None for run in runs):
        raise ValueError(f"{' and '.join(TOPIC_TASKS)} need a number of topics; plan the runs with n_topics")
    results = Path(path)
    results.parent.mkdir(parents=True, exist_ok=True)
    keys = [run.key() for run in runs]
    with only_writer(results):
        found: dict[str, Record] = {record["key"]: record for record in read_results(results)}
        missing = [
            (run, key) for run, key in zip(runs, keys, strict=True) if not has_tasks(found.get(key), wanted)
        ]
        shared = SharedWork()
        for n_over, (run, key) in enumerate(missing):
            tell = _teller(progress, n_over, len(missing), run)
            before = found.get(key)
            record = make_record(run, require_tasks([*wanted, *_tasks_of(before)]), shared, tell)
            append_result(results, record)
            found[key] = preferred(before, record)
            if progress is not None:
                progress(GridProgress(n_over + 1, len(missing), run, "over", record))
    return [found[key] for key in keys]


def make_record(
    run: PlannedRun,
    tasks: Sequence[str],
    shared: SharedWork,
    tell: Callable[[str], None],
    extra: Mapping[str, Scorer] | None = None,
) -> Record:
    """The line of a run, whatever becomes of it."""
    result, corpus, stage = Run(), None, "load"

    def at(name: str) -> None:
        nonlocal stage
        stage = name
        tell(name)

    with warnings.catch_warnings(record=True) as caught:
        try:
            at("load")
            corpus = shared.load(run.source, texts=find_entry(run.model).inputs == "texts")
            shared.warm_up(run, corpus)
            result = evaluate(
                corpus,
                quiet(run.make_model()),
                tasks,
                random_state=run.seed,
                n_topics=N_TOPICS if run.n_topics is None else run.n_topics,
                on_stage=at,
                extra=extra,
            )
        except Exception as error:  # the failure of one run is recorded, and the others go on
            result.errors[stage] = describe_error(error)
    return _record(run, result, corpus, [str(warning.message) for warning in caught])


def _record(run: PlannedRun, result: Run, corpus: Corpus | None, warned: list[str]) -> Record:
    identity, measured = run.identity(), asdict(result)
    used = {
        "variant": variant_of(run.model),
        "settings": measured.pop("settings"),
        "training": measured.pop("training"),
    }
    line = {
        "format": LINE_FORMAT,
        "key": key_of(identity),
        "status": "failed" if result.errors else "done",
        "dataset": identity["dataset"] | ({} if corpus is None else _facts(corpus)),
        "model": identity["model"] | used,
        "seed": run.seed,
        **({} if run.n_topics is None else {"n_topics": run.n_topics}),
        **measured,
        "warnings": list(dict.fromkeys(warned)),
        "versions": _versions(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    as_written: Record = as_json(line, strict=False)
    return as_written


def _facts(corpus: Corpus) -> dict[str, Any]:
    return {
        "description": corpus.description,
        "documents": {
            "fitting": corpus.fitting.size,
            "validation": corpus.validation.size,
            "test": corpus.test.size,
        },
        "words": corpus.n_words,
        "average_length": corpus.X.sum() / max(1, corpus.n_docs),
        "label_kind": corpus.label_kind,
        "classes": len(corpus.classes),
    }


def has_tasks(record: Record | None, tasks: Iterable[str]) -> bool:
    """Whether a run is done, and with these tasks."""
    return record is not None and record["status"] == "done" and set(tasks) <= _tasks_of(record)


def _tasks_of(record: Record | None) -> set[str]:
    return set() if record is None else {*record["scores"], *record["skipped"]}


def quiet(model: Model) -> Model:
    """A grid shows its own progress; a second bar would write over it."""
    if "verbose" in model.get_params(deep=False):
        model.set_params(verbose=False)  # type: ignore[attr-defined]  # as every scikit-learn estimator
    return model


def _teller(
    progress: Callable[[GridProgress], None] | None, n_over: int, n_missing: int, run: PlannedRun
) -> Callable[[str], None]:
    def tell(stage: str) -> None:
        if progress is not None:
            progress(GridProgress(n_over, n_missing, run, stage, None))

    return tell


class SharedWork:
    """What the runs of a process share: the corpus, loaded once for all its runs, and which models are warm.

    Only one corpus is in memory. A failure to load is remembered too: a download that failed is not tried again for
    every seed.
    """

    def __init__(self) -> None:
        self._source: CorpusSource | None = None
        self._texts = False
        self._loaded: Corpus | Exception | None = None
        self._warm: set[str] = set()

    def load(self, source: CorpusSource, *, texts: bool = False) -> Corpus:
        if source is not self._source or texts > self._texts:
            self._source, self._texts, self._loaded = source, texts, None
            try:
                self._loaded = source.loaded(texts=texts)
            except Exception as error:
                self._loaded = error
        if isinstance(self._loaded, Corpus):
            return self._loaded
        assert self._loaded is not None
        raise self._loaded

    def warm_up(self, run: PlannedRun, corpus: Corpus) -> None:
        if run.model not in self._warm:
            self._warm.add(run.model)
            warm_up(quiet(run.make_model()), corpus)


@cache
def _versions() -> dict[str, str]:
    return {
        "kate": kate.__version__,
        **{name: metadata.version(name) for name in _PACKAGES},
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
