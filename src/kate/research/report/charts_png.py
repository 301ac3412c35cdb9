"""Charts → PNG, by matplotlib, which is imported only when something is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kate.research.report.charts import Chart, LineChart, ScatterChart, number
from kate.research.report.charts_svg import COLORS
from kate.storage.files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_png"]

_DASHES = ("-", "--", ":")
_NAMES_IN_A_LINE = 8  # of the legend
_FEW = 8  # charts that are drawn large


def draw_png(path: Path, charts: Sequence[Chart], columns: int) -> None:
    """All charts of a figure and their legend in one picture."""
    from matplotlib.figure import Figure

    columns = min(columns, len(charts))
    rows = -(-len(charts) // columns)
    is_map = isinstance(charts[0], ScatterChart)
    width, height = (2.9, 3.1) if is_map else (4.6, 3.4) if len(charts) <= _FEW else (2.6, 2.2)
    figure = Figure(dpi=130, facecolor="white")
    handles: dict[str, Any] = {}
    for index, chart in enumerate(charts):
        axes = figure.add_subplot(rows, columns, index + 1)
        axes.set_title(chart.title, fontsize=10, loc="left")
        if isinstance(chart, LineChart):
            _draw_lines(axes, chart, handles)
        else:
            _draw_dots(axes, chart, handles)
    # inches below the charts, for the lines of the legend
    strip = 0.2 + 0.16 * -(-len(handles) // _NAMES_IN_A_LINE) if handles else 0.0
    figure.set_size_inches(columns * width, rows * height + strip)
    if handles:
        figure.legend(
            list(handles.values()),
            list(handles),
            loc="lower center",
            ncols=min(_NAMES_IN_A_LINE, len(handles)),
            fontsize=7.5,
            frameon=False,
        )
    figure.tight_layout(rect=(0, strip / (rows * height + strip), 1, 1))
    with whole_file(path) as part:
        figure.savefig(part, format="png")


def _draw_lines(axes: Axes, chart: LineChart, handles: dict[str, Any]) -> None:
    for line in chart.lines:
        color = COLORS[line.style % len(COLORS)][0]
        if line.is_faint:
            x, y = [point.x for point in line.points], [point.y for point in line.points]
            [drawn] = axes.plot(x, y, color=color, linewidth=0.8, alpha=0.35, zorder=1)
            handles.setdefault(line.name, drawn)
            continue
        bars = axes.errorbar(
            [point.x for point in line.points],
            [point.y for point in line.points],
            yerr=[point.spread or 0 for point in line.points],
            color=color,
            marker="+" if line.mark == "cross" else "o",
            markersize=7 if line.mark == "cross" else 3.5,
            linestyle=_DASHES[line.style // len(COLORS) % len(_DASHES)] if line.is_joined else "none",
            linewidth=2.4 if line.is_main else 1.2,
            elinewidth=0.8,
            zorder=3 if line.is_main else 2,
        )
        handles.setdefault(line.name, bars)
    if chart.x_scale == "log":
        axes.set_xscale("log")
        axes.minorticks_off()
    if chart.x_scale == "names":
        axes.set_xticks(range(len(chart.x_names)), chart.x_names)
        axes.set_xlim(-0.5, len(chart.x_names) - 0.5)
    elif chart.x_ticks:
        axes.set_xticks([value for value, _ in chart.x_ticks], [name for _, name in chart.x_ticks])
    axes.yaxis.set_major_formatter(lambda value, _: number(value))
    axes.set_xlabel(chart.x_title, fontsize=9)
    axes.set_ylabel(chart.y_title, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(axis="y", color="#E5E5E5", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _draw_dots(axes: Axes, chart: ScatterChart, handles: dict[str, Any]) -> None:
    for dots in chart.dots:
        color = COLORS[dots.style % len(COLORS)][0]
        x, y = [point[0] for point in dots.points], [point[1] for point in dots.points]
        handles.setdefault(dots.name, axes.scatter(x, y, s=6, color=color, alpha=0.75, linewidths=0))
    if not chart.dots:
        axes.text(
            0.5,
            0.5,
            chart.note or "no runs yet",
            ha="center",
            va="center",
            fontsize=8,
            color="#777",
            wrap=True,
        )
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_color("#DDDDDD")
