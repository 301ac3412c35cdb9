"""One run: fit a model on a corpus, encode, score every task that fits."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from kate.errors import quoted
from kate.research.datasets.corpus import Corpus, PartName
from kate.research.evaluation.fitted_model import Fitted, NotScored, available
from kate.research.evaluation.found_topics import N_TOPICS, with_n_topics
from kate.research.evaluation.model_inputs import encode_parts, fit_on_corpus
from kate.research.evaluation.scoring import SCORERS, Scorer
from kate.research.metrics import NEEDS, why_skipped
from kate.research.registry import make_model

if TYPE_CHECKING:
    from kate.research.registry import Model

__all__ = [
    "TASKS",
    "TOPIC_TASKS",
    "Run",
    "StageListener",
    "describe_error",
    "evaluate",
    "require_tasks",
    "warm_up",
]

TASKS = (*NEEDS, "time")
"""All tasks: those of ``kate.research.metrics``, and the seconds that fitting and encoding take."""

TOPIC_TASKS = ("clusters", "topics")
"""Tasks that depend on a number of topics: they are asked for by name, and the number is part of a run's key."""

_FEW = 64  # documents to warm up on

StageListener = Callable[[str], None]


@dataclass
class Run:
    """What one model did on one corpus.

    ``scores``    task → name → number
    ``details``   task → what else is kept: chosen strengths, the confusion matrix, words
    ``skipped``   task → why it does not fit the labels or the model
    ``errors``    task → type and message of what went wrong in it; the other tasks are scored all the same
    ``settings``  the model's parameters as they were used
    ``training``  epochs, seconds and last losses, where the model keeps a history
    ``seconds``   of the fit, of the encoding of all documents, and of every task
    """

    settings: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    errors: dict[str, dict[str, str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def evaluate(
    corpus: Corpus,
    model: str | Model = "kate",
    tasks: Sequence[str] | None = None,
    *,
    random_state: int = 0,
    n_topics: int = N_TOPICS,
    on_stage: StageListener | None = None,
    extra: Mapping[str, Scorer] | None = None,
) -> Run:
    """Fit a model on the corpus and score it; afterwards a model that was given as an object is fitted.

    ``model``         a name of :data:`kate.research.registry.MODELS`, or any estimator with fit and transform
    ``tasks``         names of :data:`TASKS`; None for all but :data:`TOPIC_TASKS`
    ``random_state``  seeds a model given by name, and the probes that start at random
    ``n_topics``      for :data:`TOPIC_TASKS`, the same for every model: one whose components are topics is fitted with
                      so many for them (and with no other number where nothing else is asked for)
    ``on_stage``      called with what happens now: fit, encode, then the tasks by name
    ``extra``         the caller's own scorers, by name, used after the tasks and kept like them

    What fails in a task is kept in ``errors``; what fails before, in fitting or encoding, is raised.

    >>> run = evaluate(corpus, KATE(n_components=64), ["classification"])  # doctest: +SKIP
    >>> run.scores["classification"]["accuracy"]                       # doctest: +SKIP
    0.79
    """
    wanted = require_tasks(tasks)
    _require_parts(corpus)
    estimator = make_model(model, random_state=random_state) if isinstance(model, str) else model
    if set(wanted) & set(TOPIC_TASKS) and set(wanted) <= {*TOPIC_TASKS, "time"}:
        estimator = with_n_topics(estimator, n_topics)
    run = Run()
    clock = _Clock(run.seconds, on_stage)
    with clock("fit"):
        fit_on_corpus(estimator, corpus)
    with clock("encode"):
        vectors = encode_parts(estimator, corpus)
    run.settings = dict(getattr(estimator, "settings_", None) or estimator.get_params(deep=False))
    run.training = _training(estimator)
    fitted = Fitted(corpus, estimator, vectors, random_state, n_topics=n_topics)
    for task in wanted:
        _score(task, fitted, run, clock)
    for name, scorer in (extra or {}).items():
        _score_by(scorer, name, fitted, run, clock)
    return run


def require_tasks(tasks: Sequence[str] | None) -> tuple[str, ...]:
    """The tasks in their fixed order, for None all but :data:`TOPIC_TASKS`; an unknown name is refused.

    >>> require_tasks(["time", "classification"])
    ('classification', 'time')
    """
    for task in tasks or ():
        if task not in TASKS:
            raise ValueError(f"there is no task {quoted(task)}; choose from {', '.join(TASKS)}")
    if tasks is None:
        return tuple(task for task in TASKS if task not in TOPIC_TASKS)
    return tuple(task for task in TASKS if task in tasks)


def describe_error(error: BaseException) -> dict[str, str]:
    """Type and message, as they are kept in a line of results."""
    return {"type": type(error).__name__, "message": str(error)}


def _require_parts(corpus: Corpus) -> None:
    # all documents are fitted on and searched, the questions are what is scored
    if corpus.questions is not None:
        return
    for part in get_args(PartName):
        if corpus.rows(part).size == 0:
            raise ValueError(
                f"the corpus {quoted(corpus.name)} has no {part} documents; evaluation needs documents to fit on, "
                "to choose on (validation) and to score on (test)"
            )


def warm_up(model: Model, corpus: Corpus) -> None:
    """Fit a model on a few documents and throw it away, so that compiled code is loaded before time is measured."""
    few = corpus.fitting[:_FEW]
    # an error of the model shows again in the run itself, where it is recorded
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_on_corpus(model, corpus, few, few)


def _score(task: str, fitted: Fitted, run: Run, clock: _Clock) -> None:
    if task == "time":
        run.scores[task] = {f"{stage}_seconds": run.seconds[stage] for stage in ("fit", "encode")}
        return
    reason = why_skipped(task, available(fitted))
    if reason is not None:
        run.skipped[task] = reason
        return
    _score_by(SCORERS[task], task, fitted, run, clock)


def _score_by(scorer: Scorer, task: str, fitted: Fitted, run: Run, clock: _Clock) -> None:
    try:
        with clock(task):
            outcome = scorer(fitted)
    except NotScored as nothing:
        run.skipped[task] = str(nothing)
    except Exception as error:  # the fit and the other tasks must not be lost to it
        run.errors[task] = describe_error(error)
    else:
        run.scores[task] = outcome.scores
        run.details[task] = outcome.details


def _training(model: Any) -> dict[str, Any]:
    history = getattr(model, "history_", None)
    if not history:
        return {}
    losses = {name: history[-1].get(name) for name in ("loss", "validation_loss")}
    return {"epochs": len(history), "seconds": sum(row["seconds"] for row in history), **losses}


class _Clock:
    """Announces each stage and measures its seconds."""

    def __init__(self, seconds: dict[str, float], on_stage: StageListener | None) -> None:
        self._seconds, self._on_stage = seconds, on_stage

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        if self._on_stage is not None:
            self._on_stage(stage)
        start = time.perf_counter()
        yield
        self._seconds[stage] = time.perf_counter() - start
