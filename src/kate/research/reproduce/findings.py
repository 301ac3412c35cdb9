"""What we found, in sentences made from the numbers: which model leads, what is reproduced, what tuning changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from kate.research.report.charts import number
from kate.research.reproduce.figures import precision_names
from kate.research.reproduce.lookup import PROTOCOL_NAMES, Results, papers_name, papers_score
from kate.research.reproduce.plan import panel_values
from kate.research.reproduce.spec import (
    PROTOCOLS,
    MapsOutput,
    Output,
    Protocol,
    RetrievalOutput,
    ScoreColumn,
    ScoresOutput,
    SweepsOutput,
)

__all__ = [
    "ComparedColumn",
    "compared_columns",
    "findings",
    "gaps_to_paper",
    "headlines",
    "missing_numbers",
    "ranking_of",
    "remarks",
]

NEAR = 0.03
"""A score of the paper counts as reproduced if ours differs by no more than this."""

US = "kate"


class ComparedColumn(NamedTuple):
    """Numbers that are compared: one data set, one size and one score of a table."""

    table: ScoresOutput
    dataset: str
    topics: int
    score: ScoreColumn


class _Measured(NamedTuple):
    model: str
    mean: float
    told: str


def findings(results: Results) -> list[str]:
    """Which model leads: one sentence per output, data set and protocol."""
    return [sentence for output in results.plan.outputs for sentence in _leaders(output, results)]


def headlines(results: Results) -> list[str]:
    """The main findings, three sentences at most."""
    columns = [column for output in results.plan.outputs for column in compared_columns(output, results)]
    sentences = list(_reproduced(columns, results)) if results.plan.grid.quick is None else []
    return [*sentences, *_won(columns, results), *_tuned(columns, results)]


def missing_numbers(results: Results) -> str:
    """Which numbers the columns lack: the best of a few models may not be the best of all."""
    lacking: Counter[str] = Counter()
    n_wanted = 0
    for output in results.plan.outputs:
        for column in compared_columns(output, results):
            for protocol in PROTOCOLS:
                models = (*column.table.models, *column.table.beside)
                there = {one.model for one in ranking_of(column, protocol, results)}
                lacking.update(model for model in models if model not in there)
                n_wanted += len(models)
    if not lacking:
        return ""
    names = ", ".join(papers_name(model) for model, _ in lacking.most_common())
    return f"{lacking.total()} of {n_wanted} numbers are missing, of {names}."


def remarks(output: Output, results: Results) -> list[str]:
    """What is said at the start of an output's own section."""
    if isinstance(output, ScoresOutput) and results.plan.grid.quick is None:
        return list(_furthest(output, results))
    if isinstance(output, SweepsOutput):
        return list(_best_values(output, results))
    return []


def compared_columns(output: Output, results: Results) -> list[ComparedColumn]:
    """The columns of a table of scores that have been measured; a table of times has none: speed is not a score."""
    if not isinstance(output, ScoresOutput) or output.multiples_of:
        return []
    return [
        ComparedColumn(output, dataset, topics, score)
        for dataset in output.datasets
        for topics in output.topics
        for score in output.scores
        if any(
            len(ranking_of(ComparedColumn(output, dataset, topics, score), one, results)) > 1
            for one in PROTOCOLS
        )
    ]


def ranking_of(column: ComparedColumn, protocol: Protocol, results: Results) -> list[_Measured]:
    """The models that have a number, best first."""
    table, measured = column.table, []
    for model in (*table.models, *table.beside):
        found = results.of_table(column.dataset, model, column.topics, column.score, protocol)
        if found.score is not None:
            told = f"{found.score.mean:,.1f} s" if table.multiples_of else str(found.score)
            measured.append(_Measured(model, found.score.mean, told))
    return sorted(measured, key=lambda one: one.mean, reverse=table.best == "highest")


def _won(columns: list[ComparedColumn], results: Results) -> Iterator[str]:
    """How many columns KATE leads by either protocol, and who leads the others."""
    parts = []
    for protocol in PROTOCOLS:
        rankings = [ranking_of(column, protocol, results) for column in columns]
        winners = Counter(ranking[0].model for ranking in rankings if len(ranking) > 1)
        if not winners:
            continue
        ours = winners.pop(US, 0)
        others = ", ".join(f"{papers_name(model)} {count}" for model, count in winners.most_common())
        how = "by the paper's protocol" if protocol == "paper" else "with every model tuned alike"
        parts.append(
            f"**{ours} of {ours + winners.total()}** {how}" + (f" (the others: {others})" if others else "")
        )
    if parts:
        yield f"Of the columns of scores KATE leads {' and '.join(parts)}."


def _reproduced(columns: list[ComparedColumn], results: Results) -> Iterator[str]:
    gaps = [gap for column in columns for gap in gaps_to_paper(column, results)]
    if gaps:
        near = sum(abs(ours - theirs) <= NEAR for *_, ours, theirs in gaps)
        above = sum(ours - theirs > NEAR for *_, ours, theirs in gaps)
        yield (
            f"By the paper's protocol **{near} of {len(gaps)}** of its numbers come out within {NEAR} here; {above} "
            f"are higher here, {len(gaps) - near - above} lower."
        )


def gaps_to_paper(column: ComparedColumn, results: Results) -> list[tuple[str, str, float, float]]:
    """(model, what, ours, the paper's) for every number that both have."""
    gaps = []
    for model in column.table.models:
        theirs = papers_score(column.dataset, column.score.name, column.topics, model)
        ours = results.of_table(column.dataset, model, column.topics, column.score, "paper").mean
        if theirs is not None and ours is not None:
            what = f"{papers_name(model)} on {column.dataset}, {column.topics} topics, {column.score.title}"
            gaps.append((model, what, ours, theirs))
    return gaps


def _tuned(columns: list[ComparedColumn], results: Results) -> Iterator[str]:
    """What tuning changes, and which model gains most."""
    gains = []
    for column in columns:
        before, after = (
            {one.model: one for one in ranking_of(column, protocol, results)} for protocol in PROTOCOLS
        )
        sign = 1 if column.table.best == "highest" else -1
        gains += [
            (sign * (after[model].mean - before[model].mean), model, before[model], after[model], column)
            for model in before
            if model in after
        ]
    if len(gains) < 2:
        return
    better = sum(gain > 0 for gain, *_ in gains)
    _, model, first, second, column = max(gains, key=lambda one: one[0])
    yield (
        f"Tuning improves {better} of {len(gains)} scores, most of all {papers_name(model)} on {column.dataset} "
        f"({column.score.title}, {results.plan.grid.size(column.topics)} topics: {first.told} → {second.told})."
    )


def _leaders(output: Output, results: Results) -> Iterator[str]:
    if isinstance(output, ScoresOutput):
        for dataset in output.datasets:
            for score in output.scores:
                for protocol in PROTOCOLS:
                    columns = [ComparedColumn(output, dataset, topics, score) for topics in output.topics]
                    parts = [part for column in columns if (part := _lead(column, protocol, results))]
                    if parts:
                        where = f"{_short(output)}, {dataset}, {score.title}, {PROTOCOL_NAMES[protocol]}"
                        yield f"{where}: {'; '.join(parts)}."
    elif isinstance(output, MapsOutput):
        yield from _purest(output, results)
    elif isinstance(output, RetrievalOutput):
        yield from _best_retrieval(output, results)


def _lead(column: ComparedColumn, protocol: Protocol, results: Results) -> str:
    """Which model leads a column, and the rank of KATE in it."""
    ranking = ranking_of(column, protocol, results)
    if len(ranking) < 2:
        return ""
    first, size = ranking[0], results.plan.grid.size(column.topics)
    lead = f"{size} topics **{papers_name(first.model)}** {first.told}"
    place = next((rank for rank, one in enumerate(ranking, 1) if one.model == US), None)
    if place == 1:
        return f"{lead}, then {papers_name(ranking[1].model)} {ranking[1].told}"
    if place is None:
        return lead
    return f"{lead}, KATE number {place} of {len(ranking)} with {ranking[place - 1].told}"


def _furthest(output: ScoresOutput, results: Results) -> Iterator[str]:
    """How many of the table's numbers come out here, and which are furthest off."""
    gaps = [gap for column in compared_columns(output, results) for gap in gaps_to_paper(column, results)]
    if not gaps:
        return
    near = sum(abs(ours - theirs) <= NEAR for *_, ours, theirs in gaps)
    far = sorted(gaps, key=lambda gap: abs(gap[2] - gap[3]), reverse=True)
    listed = "; ".join(
        f"{what} {ours:.3f} here, {theirs:.3f} there"
        for _, what, ours, theirs in far[:3]
        if abs(ours - theirs) > NEAR
    )
    sentence = f"{near} of {len(gaps)} of the paper's numbers come out within {NEAR} by its own protocol."
    yield f"{sentence} Furthest off: {listed}." if listed else sentence


def _purest(output: MapsOutput, results: Results) -> Iterator[str]:
    for protocol in PROTOCOLS:
        score = f"{output.projection}_purity"
        found = _measured(output, protocol, "map", [score], results, n_seeds=1)
        if len(found) > 1:
            listed = ", ".join(f"{name} {share:.0%}" for share, name, _ in found)
            yield (
                f"{_short(output)}, {PROTOCOL_NAMES[protocol]}: of a document's ten nearest on the map, the share that "
                f"is of its own group: {listed}."
            )


def _best_retrieval(output: RetrievalOutput, results: Results) -> Iterator[str]:
    for protocol in PROTOCOLS:
        parts = []
        for fraction in (0.001, 0.01):
            found = _measured(output, protocol, "retrieval", precision_names(fraction, protocol), results)
            if len(found) > 1:
                listed = ", ".join(f"{name} {told}" for _, name, told in found[:3])
                place = next((rank for rank, one in enumerate(found, 1) if one[1] == papers_name(US)), 0)
                behind = (
                    f" (KATE number {place} of {len(found)}, {found[place - 1].told})" if place > 3 else ""
                )
                parts.append(f"{100 * fraction:g}% fetched: {listed}{behind}")
        if parts:
            yield f"{_short(output)}, {PROTOCOL_NAMES[protocol]}: {'; '.join(parts)}."


class _Placed(NamedTuple):
    mean: float
    name: str
    told: str


def _measured(
    output: MapsOutput | RetrievalOutput,
    protocol: Protocol,
    task: str,
    names: list[str],
    results: Results,
    n_seeds: int | None = None,
) -> list[_Placed]:
    """The models of a figure by a score, best first."""
    models = (*output.models, *getattr(output, "beside", ()))
    found = zip(models, results.column(output, models, protocol, task, names, n_seeds), strict=True)
    placed = [
        _Placed(one.score.mean, papers_name(model), str(one.score))
        for model, one in found
        if one.score is not None
    ]
    return sorted(placed, reverse=True)


def _best_values(output: SweepsOutput, results: Results) -> Iterator[str]:
    for panel in output.panels:
        parts = []
        for protocol in PROTOCOLS:
            points = []
            for value in panel_values(panel, results.plan.grid):
                found = results.of_sweep(output, panel, value, protocol)
                if found.score is not None:
                    told = value if isinstance(value, str) else number(value)
                    points.append(_Placed(found.score.mean, told, str(found.score)))
            if len(points) > 1:
                best, worst = max(points), min(points)
                ends = f"best at {best.name} ({best.told}), worst at {worst.name} ({worst.told})"
                parts.append(f"{PROTOCOL_NAMES[protocol]} {ends}")
        if parts:
            yield f"{_capital(panel.title)}: {'; '.join(parts)}."


def _short(output: Output) -> str:
    return output.title.split(":")[0]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
