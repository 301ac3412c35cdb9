"""What the page opens with: one picture of all numbers and three sentences."""

from __future__ import annotations

from collections.abc import Iterator

from kate.research.report.blocks import Block, Figure, TextBlock
from kate.research.report.charts import Line, LineChart, Point
from kate.research.reproduce.findings import (
    US,
    ComparedColumn,
    compared_columns,
    gaps_to_paper,
    headlines,
    ranking_of,
)
from kate.research.reproduce.lookup import Results, papers_name
from kate.research.reproduce.plan import RunPlan

__all__ = ["opening", "why_no_runs"]

_GREY = 7
_BLUE = 1


def opening(results: Results) -> list[Block]:
    """The picture and the sentences; nothing where there are no numbers yet."""
    columns = [column for output in results.plan.outputs for column in compared_columns(output, results)]
    sentences = headlines(results)
    charts = tuple(chart for chart in (_reproduced(columns, results), _raced(columns, results)) if chart)
    blocks: list[Block] = []
    if charts:
        caption = (
            "First, every number that the paper prints, and ours by its protocol; on the line both are the same. "
            "Then every column of the tables with all models tuned alike; above the line KATE is better than the "
            "best of the others."
        )
        blocks.append(Figure("opening", charts, caption))
    return blocks + ([TextBlock(" ".join(sentences))] if sentences else [])


def why_no_runs(plan: RunPlan) -> str:
    """Why a plan without runs has none, and what to do; empty where it has some."""
    if plan.demands:
        return ""
    reasons = [f"{name}: {reason}" for name in plan.datasets if (reason := plan.why_no_data(name))]
    if not reasons:
        return "No run can be made: none of the models can run here; `kate doctor` says what is missing."
    return f"No run can be made, since no data set is here. {'; '.join(reasons)}. `kate datasets` lists them."


def _reproduced(columns: list[ComparedColumn], results: Results) -> LineChart | None:
    points: dict[bool, list[Point]] = {True: [], False: []}
    for column in columns:
        for model, what, ours, theirs in gaps_to_paper(column, results):
            points[model == US].append(
                Point(theirs, ours, f"{what}: the paper {theirs:.3f}, ours {ours:.3f}")
            )
    return _beside_each_other(
        "the paper's numbers and ours", "the paper", "ours, by the paper's protocol", points
    )


def _raced(columns: list[ComparedColumn], results: Results) -> LineChart | None:
    points = [point for column in columns for point in _race(column, results)]
    return _beside_each_other(
        "KATE and the best of the others", "the best of the others, tuned", "KATE, tuned", {True: points}
    )


def _race(column: ComparedColumn, results: Results) -> Iterator[Point]:
    ranking = ranking_of(column, "tuned", results)
    own = [one for one in ranking if one.model == US]
    others = [one for one in ranking if one.model != US]
    if own and others and column.table.best == "highest":
        what = f"{column.dataset}, {column.topics} topics, {column.score.title}"
        told = f"{what}: KATE {own[0].told}, {papers_name(others[0].model)} {others[0].told}"
        yield Point(others[0].mean, own[0].mean, told)


def _beside_each_other(title: str, across: str, up: str, points: dict[bool, list[Point]]) -> LineChart | None:
    """Points of KATE and of the others, and the line on which both numbers are the same."""
    everything = [value for some in points.values() for point in some for value in (point.x, point.y)]
    if len(everything) < 4:
        return None
    ends = tuple(Point(value, value, "the same") for value in (min(everything), max(everything)))
    lines = [Line("the same number", ends, _GREY, is_faint=True)]
    names = {False: ("other models", _BLUE), True: ("KATE", 0)}
    for is_ours, (name, style) in names.items():
        if points.get(is_ours):
            lines.append(Line(name, tuple(points[is_ours]), style, is_main=is_ours, is_joined=False))
    return LineChart(title, across, up, tuple(lines))
