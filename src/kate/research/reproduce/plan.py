"""Outputs → cells → runs: which runs a table or a figure needs, and what each of them must measure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

from kate.research.evaluation.corpora import CorpusSource
from kate.research.evaluation.grid import PlannedRun
from kate.research.evaluation.results import Record
from kate.research.evaluation.run_keys import KeptRuns, RunKeys
from kate.research.reproduce import grid_corpora, variants
from kate.research.reproduce.spec import (
    PROTOCOLS,
    Grid,
    MapsOutput,
    NeighboursOutput,
    Output,
    Panel,
    Protocol,
    RetrievalOutput,
    ScoresOutput,
    SweepsOutput,
    TopicsOutput,
)

__all__ = [
    "Demand",
    "GridCell",
    "OneSize",
    "PlannedCell",
    "RunPlan",
    "cells_of",
    "figure_cell",
    "panel_values",
    "sweep_cell",
]


@dataclass(frozen=True)
class GridCell:
    """A model on a data set: the runs of a cell differ only in their seed. ``model`` is a row of the tables.

    ``tuned_for`` is the number of topics that the tuned settings were searched with, where it is not ``topics``.
    """

    dataset: str
    model: str
    protocol: Protocol
    topics: int
    changes: tuple[tuple[str, Any], ...] = ()
    tuned_for: int | None = None

    def __str__(self) -> str:
        changed = "".join(f", {name}={value}" for name, value in self.changes)
        return f"{self.model} {self.protocol} · {self.dataset} · {self.topics}{changed}"


@dataclass
class Demand:
    """What outputs ask of one run: tasks, and whether it must run alone because its time is shown."""

    keys: RunKeys
    tasks: set[str] = field(default_factory=set)
    alone: bool = False
    outputs: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)  # rows of the tables


Needed: TypeAlias = tuple[GridCell, set[str], bool]
OneSize: TypeAlias = RetrievalOutput | TopicsOutput | NeighboursOutput | MapsOutput


def cells_of(output: Output, grid: Grid) -> Iterator[Needed]:
    """The cells of an output, the tasks that it needs of them, and whether it needs all seeds or only the first."""
    if isinstance(output, ScoresOutput):
        yield from _cells_of_scores(output, grid)
    elif isinstance(output, SweepsOutput):
        yield from _cells_of_sweeps(output, grid)
    elif isinstance(output, RetrievalOutput):
        for model, protocol in product((*output.models, *output.beside), PROTOCOLS):
            yield figure_cell(output, model, protocol, grid), {"retrieval"}, True
    elif isinstance(output, TopicsOutput | NeighboursOutput | MapsOutput):
        tasks = {TopicsOutput: {"neurons", "class_topics"}, NeighboursOutput: {"words"}, MapsOutput: {"map"}}
        for model, protocol in product(output.models, PROTOCOLS):
            yield figure_cell(output, model, protocol, grid), tasks[type(output)], False


def figure_cell(output: OneSize, model: str, protocol: Protocol, grid: Grid) -> GridCell:
    """The cell of a model in an output of one data set and one size."""
    return GridCell(output.dataset, model, protocol, grid.size(output.topics))


def _cells_of_scores(output: ScoresOutput, grid: Grid) -> Iterator[Needed]:
    rows = (*output.models, *output.beside)
    for dataset, model, topics, protocol in product(output.datasets, rows, output.topics, PROTOCOLS):
        tasks = {score.of(protocol)[0] for score in output.scores}
        yield GridCell(dataset, model, protocol, grid.size(topics)), tasks, True


def _cells_of_sweeps(output: SweepsOutput, grid: Grid) -> Iterator[Needed]:
    for protocol, panel in product(PROTOCOLS, output.panels):
        tasks = {output.score.of(protocol)[0]}
        for value in panel_values(panel, grid):
            yield sweep_cell(output, panel, value, protocol, grid), tasks, True


def panel_values(panel: Panel, grid: Grid) -> tuple[Any, ...]:
    """The values of a panel of figure 5."""
    return panel.quick or panel.values if grid.quick is not None else panel.values


def sweep_cell(output: SweepsOutput, panel: Panel, value: Any, protocol: Protocol, grid: Grid) -> GridCell:
    """The cell of one point of figure 5: one parameter changes, the others are those for the output's size."""
    size = grid.size(output.topics)
    if panel.parameter == "n_components":
        return GridCell(output.dataset, output.model, protocol, value, tuned_for=size)
    changes = ((panel.parameter, value),)
    return GridCell(output.dataset, output.model, protocol, size, changes)


@dataclass(frozen=True)
class PlannedCell:
    """One seed of a cell, as a run with its keys; or the reason why it cannot be run here."""

    cell: GridCell
    seed: int
    run: PlannedRun | None
    keys: RunKeys | None
    why_not: str | None

    @property
    def key(self) -> str | None:
        return None if self.keys is None else self.keys.own


class RunPlan:
    """All runs of a grid: what they measure, and which cannot be made here, and why."""

    def __init__(self, grid: Grid, seeds: int | None = None, only: Sequence[str] | None = None) -> None:
        self.grid = grid
        self.seeds = range(grid.seeds if seeds is None else seeds)
        self.outputs = grid.chosen(only)
        self._sources: dict[str, CorpusSource] = {}
        self._planned: dict[tuple[GridCell, int], PlannedCell] = {}
        self._missing_data = {
            name: grid_corpora.why_missing(name, grid.corpora.get(name)) for name in self.datasets
        }
        everything = self._demands(grid.outputs.values())
        wanted = self._demands(self.outputs)
        # a run that an output asks for measures what all outputs ask of it: nothing is fitted twice
        self.demands: dict[str, Demand] = {key: everything[key] for key in wanted}

    def runs(self) -> dict[str, PlannedRun]:
        """The runs that can be made here, by their keys, data set by data set."""
        runs = {
            one.key: one.run
            for one in self._planned.values()
            if one.key in self.demands and one.key is not None and one.run is not None
        }
        order = {name: place for place, name in enumerate(self.datasets)}
        return dict(sorted(runs.items(), key=lambda item: order[item[1].source.name]))

    def planned(self, cell: GridCell, seed: int) -> PlannedCell:
        """The run of a cell with a seed, or why there can be none here."""
        if (cell, seed) not in self._planned:
            self._planned[cell, seed] = self._plan(cell, seed)
        return self._planned[cell, seed]

    def found_in(self, records: Mapping[str, Record]) -> dict[str, Record]:
        """The lines of the plan's runs by the runs' keys; a run that was made on another device counts, too."""
        kept = KeptRuns(records)
        found = {key: kept.find(demand.keys) for key, demand in self.demands.items()}
        return {key: record for key, record in found.items() if record is not None}

    def why_no_data(self, dataset: str) -> str | None:
        return self._missing_data.get(dataset)

    def source(self, dataset: str) -> CorpusSource:
        if dataset not in self._sources:
            sizes = self.grid.quick.documents if self.grid.quick else None
            self._sources[dataset] = grid_corpora.source_of(dataset, self.grid.corpora.get(dataset), sizes)
        return self._sources[dataset]

    def whole_source(self, dataset: str) -> CorpusSource:
        """All of a data set, in a quick look too."""
        return grid_corpora.source_of(dataset, self.grid.corpora.get(dataset))

    @cached_property
    def datasets(self) -> list[str]:
        """The data sets that the grid names."""
        names: list[str] = []
        for output in self.grid.outputs.values():
            names += getattr(output, "datasets", None) or [getattr(output, "dataset", "")]
        return [name for name in dict.fromkeys(names) if name]

    def _demands(self, outputs: Iterable[Output]) -> dict[str, Demand]:
        demands: dict[str, Demand] = {}
        for output in outputs:
            alone = isinstance(output, ScoresOutput) and output.alone and self.grid.quick is None
            for cell, tasks, all_seeds in cells_of(output, self.grid):
                for seed in self.seeds if all_seeds else self.seeds[:1]:
                    planned = self.planned(cell, seed)
                    if planned.keys is None:
                        continue
                    demand = demands.setdefault(planned.keys.own, Demand(planned.keys))
                    demand.tasks |= tasks | {"time"}
                    demand.alone |= alone
                    demand.outputs.add(output.key)
                    demand.models.add(cell.model)
        return demands

    def _plan(self, cell: GridCell, seed: int) -> PlannedCell:
        why_not = self._missing_data.get(cell.dataset)
        if why_not is None:
            try:
                name, settings = variants.variant(cell, self.grid)
                own = self.grid.models.get(cell.model)
                topics = own.topics if own is not None and own.topics else cell.topics
                run = PlannedRun(self.source(cell.dataset), name, topics, seed, settings)
                return PlannedCell(cell, seed, run, run.keys(), None)
            except variants.NotAvailable as reason:
                why_not = str(reason)
                if why_not != variants.NOT_TUNED:
                    why_not = f"not available here: {why_not}"
        return PlannedCell(cell, seed, None, None, why_not)
