"""Figures 2 to 5: maps of documents, retrieval curves, and the effect of KATE's hyper-parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kate.research.evaluation.paper_scores import paper_file
from kate.research.report.blocks import ColumnGroup, Figure, Table, TableCell, TableRow
from kate.research.report.charts import Dots, Line, LineChart, Point, ScatterChart, number
from kate.research.reproduce.lookup import PROTOCOL_NAMES, FoundScore, Results, papers_name, papers_score
from kate.research.reproduce.plan import figure_cell, panel_values
from kate.research.reproduce.score_tables import NOT_IN_THE_PAPER, empty_cell, plain_reasons, size_title
from kate.research.reproduce.spec import PROTOCOLS, MapsOutput, Panel, Protocol, RetrievalOutput, SweepsOutput

__all__ = [
    "map_figure",
    "precision_names",
    "purity_table",
    "retrieval_figure",
    "retrieval_table",
    "sweep_figure",
]

_TABLE_FRACTIONS = (0.001, 0.01, 0.1)


def map_figure(output: MapsOutput, results: Results) -> Figure:
    """One map per model, by the paper's protocol and tuned."""
    charts = []
    reasons: dict[str, list[FoundScore]] = {}
    for protocol in PROTOCOLS:
        for model in output.models:
            details, found = results.details(figure_cell(output, model, protocol, results.plan.grid), "map")
            reasons.setdefault(papers_name(model), []).append(found)
            title = f"{papers_name(model)}, {PROTOCOL_NAMES[protocol]}"
            groups = list(results.plan.grid.main_groups)
            charts.append(ScatterChart(title, _dots(details, output.projection, groups), found.reason))
    how = "PCA" if output.projection == "pca" else "t-SNE"
    caption = (
        f"{how} of the {size_title(output.topics, results).replace('topics', 'dimensions')} of test documents, "
        "coloured by the six main groups of 20 Newsgroups; the same documents in every map; the outermost hundredth of "
        "them is at the edge."
    )
    return Figure(
        output.key, tuple(charts), caption, columns=len(output.models), notes=tuple(plain_reasons(reasons))
    )


def _dots(details: Any, projection: str, groups: Sequence[str]) -> tuple[Dots, ...]:
    if details is None:
        return ()
    rows = list(zip(_spread(details[projection]), details["groups"], details["labels"], strict=True))
    return tuple(
        Dots(group, tuple((x, y, label) for (x, y), own, label in rows if own == group), style)
        for style, group in enumerate(groups)
        if any(own == group for _, own, _ in rows)
    )


def _spread(points: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Points stretched to -1 … 1 on either axis; the outermost hundredth is put at the edge.

    >>> _spread([(0, 10), (1, 10), (2, 30)])
    [(-1.0, -1.0), (0.0, -1.0), (1.0, 1.0)]
    """
    axes = []
    for values in zip(*points, strict=True):
        ordered = sorted(values)
        margin = len(ordered) // 100
        low, high = ordered[margin], ordered[-1 - margin]
        width = (high - low) or 1.0
        axes.append([max(-1.0, min(1.0, 2 * (value - low) / width - 1)) for value in values])
    return list(zip(*axes, strict=True))


def purity_table(output: MapsOutput, results: Results) -> Table:
    """How well the groups stay together on the maps, as a number."""
    score = f"{output.projection}_purity"
    columns = [
        results.column(output, output.models, protocol, "map", score, n_seeds=1) for protocol in PROTOCOLS
    ]
    rows = [
        TableRow(papers_name(model), tuple(_best_cell(column, place) for column in columns))
        for place, model in enumerate(output.models)
    ]
    caption = (
        "Of a document's ten nearest on the map, the share that is of its own group (mean; higher is better)."
    )
    groups = tuple(ColumnGroup(title) for title in ("ours", "tuned"))
    return Table(f"{output.key}-purity", "model", groups, tuple(rows), caption)


def _best_cell(column: Sequence[FoundScore], place: int) -> TableCell:
    found = column[place]
    if found.score is None:
        return empty_cell(found)
    best = max(other.mean for other in column if other.mean is not None)
    sd = found.score.sd
    text = f"{found.score.mean:.3f}"
    detail = "; ".join(part for part in (found.reason, found.where) if part)
    return TableCell(text, "" if sd is None else f"± {sd:.3f}", detail, strong=text == f"{best:.3f}")


def precision_names(fraction: float, protocol: Protocol) -> list[str]:
    """The score by which a protocol retrieves: tuned vectors are centred, for every model.

    >>> precision_names(0.001, "tuned")
    ['centred_precision@0.1%', 'precision@0.1%']
    """
    name = f"precision@{100 * fraction:g}%"
    return [name] if protocol == "paper" else [f"centred_{name}", name]


def retrieval_figure(output: RetrievalOutput, results: Results) -> Figure:
    """Precision over the fraction that is fetched: one chart per model, with all the others faint behind it."""
    models = (*output.models, *output.beside)
    curves = {model: _curves(output, model, results) for model in models}
    # a mark for every power of ten: the charts are small
    powers = [fraction for fraction in output.fractions if math.log10(fraction).is_integer()]
    marks = tuple((fraction, f"{100 * fraction:g}%") for fraction in powers or output.fractions)
    charts = []
    measured = [model for model in models if any(curves[model].values())]
    for model in sorted(measured or models, key=lambda model: _rank(curves[model])):
        others = [
            Line(_THE_OTHERS, points, _GREY, is_faint=True)
            for other in models
            if other != model and (points := curves[other]["tuned"])
        ]
        own = [
            Line(PROTOCOL_NAMES[protocol], points, style, is_main=protocol == "tuned")
            for style, protocol in enumerate(reversed(PROTOCOLS))
            if (points := curves[model][protocol])
        ]
        x_title, y_title = "share of the training set fetched", "precision"
        charts.append(
            LineChart(papers_name(model), x_title, y_title, tuple(own + others), "log", x_ticks=marks)
        )
    caption = (
        "Precision of the training documents nearest to a test document by cosine, "
        f"{size_title(output.topics, results)}; one chart per model, the best first (tuned, 1 % fetched), the others "
        "tuned in grey. Tuned: the vectors minus their mean over the training documents, for every model. The paper "
        "draws the figure without numbers; by its text VAE is best, then DocNADE and KATE."
    )
    return Figure(output.key, tuple(charts), caption, columns=4)


_THE_OTHERS, _GREY = "the other models, tuned", 7
_Curve = tuple[Point, ...]


def _curves(output: RetrievalOutput, model: str, results: Results) -> dict[Protocol, _Curve]:
    """The points of a model by either protocol."""
    curves: dict[Protocol, _Curve] = {}
    for protocol in PROTOCOLS:
        cell = figure_cell(output, model, protocol, results.plan.grid)
        points = []
        for fraction in output.fractions:
            found = results.score(cell, "retrieval", precision_names(fraction, protocol))
            if found.score is not None:
                label = f"{papers_name(model)}, {100 * fraction:g}% fetched: {found.score}"
                points.append(Point(fraction, found.score.mean, label))
        curves[protocol] = tuple(points)
    return curves


def _rank(curves: Mapping[Protocol, _Curve]) -> float:
    """Smallest for the model whose tuned vectors, or else the paper's, are best where about 1 % is fetched."""
    points = curves["tuned"] or curves["paper"]
    return -min(points, key=lambda point: abs(math.log(point.x / 0.01))).y if points else math.inf


def retrieval_table(output: RetrievalOutput, results: Results) -> Table:
    """The curves at three fractions, as numbers."""
    models = (*output.models, *output.beside)
    columns = [
        results.column(output, models, protocol, "retrieval", precision_names(fraction, protocol))
        for fraction in _TABLE_FRACTIONS
        for protocol in PROTOCOLS
    ]
    rows = []
    for place, model in enumerate(models):
        is_first = bool(output.beside) and model == output.beside[0]
        cells = tuple(_best_cell(column, place) for column in columns)
        rows.append(TableRow(papers_name(model), cells, NOT_IN_THE_PAPER if is_first else ""))
    groups = tuple(
        ColumnGroup(f"{100 * fraction:g}% fetched", ("ours", "tuned")) for fraction in _TABLE_FRACTIONS
    )
    reasons = {
        papers_name(model): [column[place] for column in columns] for place, model in enumerate(models)
    }
    caption = f"{output.dataset}, {size_title(output.topics, results)}, precision; higher is better"
    return Table(f"{output.key}-table", "model", groups, tuple(rows), caption, tuple(plain_reasons(reasons)))


def sweep_figure(output: SweepsOutput, results: Results) -> Figure:
    """One chart per hyper-parameter: by the paper's protocol, tuned, and what the paper says."""
    charts = tuple(_sweep_chart(output, panel, results) for panel in output.panels)
    caption = (
        f"{output.score.title.capitalize()} of {papers_name(output.model)} on {output.dataset}, mean and standard "
        f"deviation; {size_title(output.topics, results)} unless it is the number of topics that changes. "
        "Crosses are the numbers that the paper gives in tables or text."
    )
    return Figure(output.key, charts, caption)


def _sweep_chart(output: SweepsOutput, panel: Panel, results: Results) -> LineChart:
    values = panel_values(panel, results.plan.grid)
    is_named = any(isinstance(value, str) for value in values)
    lines = []
    for style, protocol in enumerate(PROTOCOLS):
        points = []
        for place, value in enumerate(values):
            found = results.of_sweep(output, panel, value, protocol)
            if found.score is not None:
                label = f"{PROTOCOL_NAMES[protocol]}, {panel.title} {value}: {found.score}"
                points.append(Point(place if is_named else value, found.score.mean, label, found.score.sd))
        if points:
            lines.append(
                Line(PROTOCOL_NAMES[protocol], tuple(points), style, is_main=True, is_joined=not is_named)
            )
    theirs = [
        Point(
            values.index(value) if is_named else value,
            score,
            f"the paper, {panel.title} {value}: {score:.3f}",
        )
        for value in values
        if (score := _papers_point(output, panel, value)) is not None
    ]
    if theirs:
        lines.append(Line("the paper", tuple(theirs), 3, is_joined=False, mark="cross"))
    if is_named:
        names = tuple(str(value) for value in values)
        return LineChart(panel.title, panel.title, output.score.title, tuple(lines), "names", names)
    marks = tuple((float(value), number(value)) for value in values)
    return LineChart(panel.title, panel.title, output.score.title, tuple(lines), "log", x_ticks=marks)


def _papers_point(output: SweepsOutput, panel: Panel, value: Any) -> float | None:
    if panel.parameter == "n_components":
        return papers_score(output.dataset, output.score.name, value, output.model)
    task, _, score = output.score.name.partition(".")
    known = paper_file()["hyperparameters"].get(output.dataset, {}).get(task, {}).get(score, {})
    point = known.get(panel.parameter, {}).get(str(value))
    return None if point is None else float(point)
