"""Cells → numbers: what the runs of a cell found, or the reason why there is no number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kate.research.evaluation.paper_scores import paper_file
from kate.research.evaluation.results import Record, Score
from kate.research.evaluation.run_keys import KeptRuns
from kate.research.reproduce.plan import GridCell, OneSize, PlannedCell, RunPlan, figure_cell, sweep_cell
from kate.research.reproduce.spec import Panel, Protocol, ScoreColumn, SweepsOutput
from kate.research.reproduce.variants import NOT_TUNED

__all__ = ["FoundScore", "Results", "papers_name", "papers_score"]

State = Literal["value", "not run", "no data", "not available", "not tuned", "failed", "skipped"]


@dataclass(frozen=True)
class FoundScore:
    """A score with its mean and deviation over the seeds; if there is none, state and reason say why."""

    state: State
    score: Score | None = None
    reason: str = ""
    keys: tuple[str, ...] = ()  # of the runs
    where: str = ""  # "run on cuda", of runs that were made on another device than this machine's

    @property
    def mean(self) -> float | None:
        return None if self.score is None else self.score.mean


class Results:
    """The lines of results.jsonl, asked by the cells of a plan."""

    def __init__(self, plan: RunPlan, records: Mapping[str, Record]) -> None:
        self.plan, self.records = plan, records
        self._kept = KeptRuns(records)

    def score(
        self, cell: GridCell, task: str, names: str | Sequence[str], n_seeds: int | None = None
    ) -> FoundScore:
        """A score over all seeds, or the first ``n_seeds``; of several ``names`` the first that a run has."""
        asked = [names] if isinstance(names, str) else list(names)
        planned = [self.plan.planned(cell, seed) for seed in self.plan.seeds[:n_seeds]]
        if planned[0].why_not is not None:
            return FoundScore(_state_of(planned[0].why_not), reason=planned[0].why_not)
        found = [(one, self._kept.find(one.keys)) for one in planned]
        runs = [run for _, run in found if run is not None]
        values, keys = [], []
        for run in runs:
            scores = run["scores"].get(task, {})
            value = next((scores[name] for name in asked if scores.get(name) is not None), None)
            if value is not None:
                values.append(float(value))
                keys.append(run["key"])
        if not values:
            return _nothing(runs, task)
        failed = _error_of(runs, task)
        note = f"{len(values)} of {len(planned)} seeds" if len(values) < len(planned) else ""
        reason = "; ".join(part for part in (note, failed and f"one failed: {failed}") if part)
        return FoundScore("value", Score.of(values), reason, tuple(keys), _where(found))

    def column(
        self,
        output: OneSize,
        models: Sequence[str],
        protocol: Protocol,
        task: str,
        names: str | Sequence[str],
        n_seeds: int | None = None,
    ) -> list[FoundScore]:
        """A score of several models of an output, see :meth:`score`."""
        cells = [figure_cell(output, model, protocol, self.plan.grid) for model in models]
        return [self.score(cell, task, names, n_seeds) for cell in cells]

    def of_table(
        self, dataset: str, model: str, topics: int, score: ScoreColumn, protocol: Protocol
    ) -> FoundScore:
        """The number of a table of scores."""
        cell = GridCell(dataset, model, protocol, self.plan.grid.size(topics))
        return self.score(cell, *score.of(protocol))

    def of_sweep(self, output: SweepsOutput, panel: Panel, value: Any, protocol: Protocol) -> FoundScore:
        """The number at one value of a hyper-parameter."""
        cell = sweep_cell(output, panel, value, protocol, self.plan.grid)
        return self.score(cell, *output.score.of(protocol))

    def details(self, cell: GridCell, task: str) -> tuple[Any, FoundScore]:
        """What else the run of the first seed kept of a task, and whether there is anything."""
        planned = self.plan.planned(cell, self.plan.seeds[0])
        if planned.why_not is not None:
            return None, FoundScore(_state_of(planned.why_not), reason=planned.why_not)
        run = self._kept.find(planned.keys)
        if run is None or task not in run["details"]:
            return None, _nothing([] if run is None else [run], task)
        where = _where([(planned, run)])
        return run["details"][task], FoundScore("value", keys=(run["key"],), where=where)

    def seconds_were_alone(self, cell: GridCell) -> bool:
        """Whether nothing else ran while the runs of a cell did."""
        runs = [self._kept.find(self.plan.planned(cell, seed).keys) for seed in self.plan.seeds]
        return all(run.get("alone", False) for run in runs if run is not None)


def _nothing(runs: Sequence[Record], task: str) -> FoundScore:
    """Why runs have nothing to show of a task."""
    if failed := _error_of(runs, task):
        return FoundScore("failed", reason=failed, keys=tuple(run["key"] for run in runs))
    skipped = [run["skipped"][task] for run in runs if task in run["skipped"]]
    return (
        FoundScore("skipped", reason=skipped[0]) if skipped else FoundScore("not run", reason="not run yet")
    )


def _where(found: Sequence[tuple[PlannedCell, Record | None]]) -> str:
    """On which other devices runs were made; nothing where all of them were made on this machine's."""
    devices = {run["model"]["device"] for one, run in found if run is not None and run["key"] != one.key}
    named = sorted(device or "a device that was not kept" for device in devices)
    return f"run on {' and '.join(named)}" if named else ""


def _state_of(why_not: str) -> State:
    if why_not == NOT_TUNED:
        return "not tuned"
    return "no data" if why_not.startswith("no data") else "not available"


def _error_of(runs: Sequence[Record], task: str) -> str:
    """What went wrong in a task or before it."""
    for run in runs:
        stages = [stage for stage in (task, "start", "load", "fit", "encode") if stage in run["errors"]]
        if run["status"] == "failed" and task not in run["scores"] and task not in run["skipped"]:
            stages += run["errors"]
        if stages:
            error = run["errors"][stages[0]]
            return f"{error['type']} in {stages[0]}: {error['message']}"
    return ""


def papers_score(dataset: str, name: str, topics: int, model: str) -> float | None:
    """The number that the paper prints; None if it has none.

    >>> papers_score("20news", "classification.accuracy", 128, "vae")
    0.724
    """
    task, _, score = name.partition(".")
    of_task = paper_file()["scores"].get(dataset, {}).get(task, {})
    value = of_task.get(score, {}).get(str(topics), {}).get(model)
    return None if value is None else float(value)


def papers_name(model: str) -> str:
    """A model as the paper writes it, or by its own name.

    >>> papers_name("word2vec-pre"), papers_name("lsa")
    ('Word2Vec_pre', 'LSA')
    """
    names = {"lda-tomotopy": "LDA (tomotopy)", "lda-sklearn": "LDA (scikit-learn)", "prodlda": "ProdLDA"}
    names |= {
        "kate-network": "KATE",
        "tfidf": "TF-IDF",
        "lsa": "LSA",
        "nmf": "NMF",
        "etm": "ETM",
        "bm25": "BM25",
    }
    return paper_file()["names"].get(model) or names.get(model, model)


PROTOCOL_NAMES: Mapping[Protocol, str] = {"paper": "paper's protocol", "tuned": "tuned"}
