"""What we found, in sentences made of the numbers: who leads, what reproduces, what tuning changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kate.report.charts import number
from kate.reproduce.found import PROTOCOL_NAMES, Results, papers_name, papers_score
from kate.reproduce.plan import Cell, panel_values, sweep_cell
from kate.reproduce.spec import PROTOCOLS, Maps, Output, Protocol, Score, Scores, Sweeps

__all__ = ["findings"]

NEAR = 0.03
"""Two scores nearer than this are counted as reproduced."""


class _Measured(NamedTuple):
    model: str
    mean: float
    told: str


class _Gap(NamedTuple):
    what: str
    ours: float
    theirs: float


def findings(results: Results) -> list[str]:
    """Sentences about all outputs of the plan that have runs."""
    sentences: list[str] = []
    for output in results.plan.outputs:
        sentences += _of(output, results)
    return sentences


def _of(output: Output, results: Results) -> Iterator[str]:
    if isinstance(output, Scores):
        for dataset in output.datasets:
            for topics in output.topics:
                for score in output.scores:
                    yield from _leaders(output, dataset, topics, score, results)
        yield from _reproduced(output, results)
        yield from _gained(output, results)
    elif isinstance(output, Maps):
        yield from _purest(output, results)
    elif isinstance(output, Sweeps):
        yield from _best_values(output, results)


def _ranking(
    output: Scores, dataset: str, topics: int, score: Score, protocol: Protocol, results: Results
) -> list[_Measured]:
    """The models that have a number, best first."""
    measured = []
    for model in (*output.models, *output.beside):
        cell = Cell(dataset, model, protocol, results.plan.grid.size(topics))
        found = results.score(cell, *score.of(protocol))
        if found.score is not None:
            told = f"{found.score.mean:.1f} s" if output.multiples_of else str(found.score)
            measured.append(_Measured(model, found.score.mean, told))
    return sorted(measured, key=lambda one: one.mean, reverse=output.best == "highest")


def _leaders(output: Scores, dataset: str, topics: int, score: Score, results: Results) -> Iterator[str]:
    """Who leads by either protocol, and where KATE stands."""
    parts = []
    for protocol in PROTOCOLS:
        ranking = _ranking(output, dataset, topics, score, protocol, results)
        if len(ranking) < 2:
            continue
        first = ranking[0]
        place = next((rank for rank, one in enumerate(ranking, 1) if one.model == "kate"), None)
        part = f"{PROTOCOL_NAMES[protocol]}: **{papers_name(first.model)}** leads with {first.told}"
        if place == 1:
            part += f", before {papers_name(ranking[1].model)} with {ranking[1].told}"
        elif place is not None:
            part += f"; KATE is number {place} of {len(ranking)} with {ranking[place - 1].told}"
        parts.append(part)
    if parts:
        size = results.plan.grid.size(topics)
        name = output.title.split(":")[0]
        yield f"{name}, {dataset}, {size} topics, {score.title}: {'; '.join(parts)}."


def _reproduced(output: Scores, results: Results) -> Iterator[str]:
    """How many of the paper's numbers come out here by its own protocol, and which are furthest off."""
    if output.multiples_of or results.plan.grid.quick is not None:
        return  # other machines have other times, and a quick look has nothing to compare
    gaps = []
    for dataset in output.datasets:
        for topics in output.topics:
            for score in output.scores:
                for model in output.models:
                    theirs = papers_score(dataset, score.name, topics, model)
                    ours = results.score(Cell(dataset, model, "paper", topics), *score.of("paper")).mean
                    if theirs is not None and ours is not None:
                        what = f"{papers_name(model)} on {dataset} with {topics} topics, {score.title}"
                        gaps.append(_Gap(what, ours, theirs))
    if not gaps:
        return
    near = sum(abs(gap.ours - gap.theirs) <= NEAR for gap in gaps)
    sentence = (
        f"{output.title.split(':')[0]}: by the paper's protocol {near} of {len(gaps)} numbers come out within "
        f"{NEAR} of the paper's"
    )
    far = sorted(gaps, key=lambda gap: abs(gap.ours - gap.theirs), reverse=True)
    listed = "; ".join(
        f"{gap.what}: {gap.ours:.3f} here, {gap.theirs:.3f} there"
        for gap in far[:3]
        if abs(gap.ours - gap.theirs) > NEAR
    )
    yield f"{sentence}. Furthest off: {listed}." if listed else f"{sentence}."


def _gained(output: Scores, results: Results) -> Iterator[str]:
    """Which model tuning helps most."""
    if output.multiples_of:
        return
    gains = []
    for dataset in output.datasets:
        for topics in output.topics:
            for score in output.scores:
                before, after = (
                    {
                        one.model: one.mean
                        for one in _ranking(output, dataset, topics, score, protocol, results)
                    }
                    for protocol in PROTOCOLS
                )
                sign = 1 if output.best == "highest" else -1
                gains += [
                    (sign * (after[model] - before[model]), model, before[model], after[model], topics)
                    for model in before.keys() & after.keys()
                ]
    if len(gains) < 2:
        return
    gain, model, before_score, after_score, topics = max(gains)
    if gain > 0:
        size = results.plan.grid.size(topics)
        yield (
            f"{output.title.split(':')[0]}: tuning helps {papers_name(model)} most, from {before_score:.3f} to "
            f"{after_score:.3f} with {size} topics."
        )


def _purest(output: Maps, results: Results) -> Iterator[str]:
    for protocol in PROTOCOLS:
        measured = []
        for model in output.models:
            cell = Cell(output.dataset, model, protocol, results.plan.grid.size(output.topics))
            found = results.score(cell, "map", f"{output.projection}_purity", n_seeds=1)
            if found.mean is not None:
                measured.append((found.mean, papers_name(model)))
        if len(measured) > 1:
            listed = ", ".join(f"{name} {share:.0%}" for share, name in sorted(measured, reverse=True))
            name = output.title.split(":")[0]
            yield (
                f"{name}, {PROTOCOL_NAMES[protocol]}: of a document's ten nearest on the map, so many are of its own "
                f"group: {listed}."
            )


def _best_values(output: Sweeps, results: Results) -> Iterator[str]:
    for panel in output.panels:
        parts = []
        for protocol in PROTOCOLS:
            points = []
            for value in panel_values(panel, results.plan.grid):
                cell = sweep_cell(output, panel, value, protocol, results.plan.grid)
                found = results.score(cell, *output.score.of(protocol))
                if found.score is not None:
                    told = value if isinstance(value, str) else number(value)
                    points.append((found.score.mean, told, str(found.score)))
            if len(points) > 1:
                (_, best, score), (_, worst, low) = max(points), min(points)
                parts.append(
                    f"{PROTOCOL_NAMES[protocol]}: best at {best} ({score}), worst at {worst} ({low})"
                )
        if parts:
            yield f"Figure 5, {panel.title}: {'; '.join(parts)}."
