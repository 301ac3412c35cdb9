"""Topics through time, or by group: one ridge per topic, on a scale of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.plot.sheet import (
    FAINT,
    INK,
    PALETTE,
    StrPath,
    clean,
    darker,
    drawing,
    halo,
    new_figure,
    require_format,
    save,
    shortened,
    write_around,
)
from kate.topics.over_time import OverTime
from kate.topics.periods import Every, period_name
from kate.topics.topic_set import Topics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["TopicCurve", "choose_curves", "draw_curves", "topic_curves", "trends"]

Doubles = NDArray[np.float64]

_WIDTH, _ROW = 9.6, 0.6  # inches
_RIDGE = 0.7  # the height of a ridge in rows: the words on its peak stay below the row above
# a line through more of them is noise: the bell curve that smooths it is this part of all
_PERIODS_PER_WIDTH = 60
_MOST_GROUPS = 40


@dataclass(frozen=True, eq=False)
class TopicCurve:
    """A topic and its share of the documents in every period.

    periods : the first day of each, or the values of groups
    shares : smoothed over the periods around; those of groups are as they are
    """

    number: int
    name: str
    periods: tuple[Any, ...]
    shares: Doubles
    every: Every | None

    @property
    def peak(self) -> int:
        """The place of the period in which the share is highest."""
        return int(np.argmax(self.shares))

    @property
    def middle(self) -> float:
        """The mean place, weighted by the share."""
        return float(np.arange(len(self.shares)) @ self.shares / max(self.shares.sum(), 1e-12))

    @property
    def change(self) -> float:
        """How far the shares are from being the same in all periods, in nats (Kullback-Leibler divergence)."""
        parts = self.shares / max(self.shares.sum(), 1e-12)
        return float(max((parts * np.log(np.maximum(parts * len(parts), 1e-12))).sum(), 0.0))

    @property
    def peak_period(self) -> str:
        return clean(period_name(self.periods[self.peak], self.every))

    @property
    def peak_text(self) -> str:
        """Such as "14% in 1856"; of groups the share alone, for the group stands below."""
        share = self.shares[self.peak]
        shown = f"{share:.0%}" if share >= 0.095 or share == 0 else f"{share:.1%}"
        return shown if self.every is None else f"{shown} in {self.peak_period}"


def topic_curves(over: OverTime | pl.DataFrame) -> list[TopicCurve]:
    """What ``topics.over_time`` counted (or its frame) as curves, in the order of the topics."""
    frame, every = (over.frame, over.every) if isinstance(over, OverTime) else (over, None)
    when = "group" if "group" in frame.columns else "period"
    periods = tuple(frame[when].unique(maintain_order=True).to_list())
    topics = frame.select("topic", "topic_name").unique(maintain_order=True)
    documents = frame["documents"].to_numpy().reshape(len(periods), len(topics)).astype(float)
    totals = documents.sum(axis=1)
    if when == "period":
        weights = _bell_curves(len(periods))
        documents, totals = weights @ documents, weights @ totals
    shares = documents / np.maximum(totals, 1e-12)[:, None]
    return [
        TopicCurve(number, name, periods, shares[:, column], every)
        for column, (number, name) in enumerate(topics.iter_rows())
    ]


def _bell_curves(n_periods: int) -> Doubles:
    """How much every period counts for every other, (n_periods, n_periods)."""
    width = max(n_periods / _PERIODS_PER_WIDTH, 1e-3)
    distance = np.subtract.outer(np.arange(n_periods), np.arange(n_periods)) / width
    return np.asarray(np.exp(-0.5 * distance**2))


def choose_curves(curves: Sequence[TopicCurve], topics: Topics, top: int) -> list[TopicCurve]:
    """Topics whose words belong together and whose share changes, large ones before small; the earliest first."""

    def interest(curve: TopicCurve) -> float:
        coherence = max(topics[curve.number].coherence or 0.0, 0.01)
        return float(coherence**1.5 * curve.change**0.5 * curve.shares.mean() ** 0.25)

    chosen = sorted(curves, key=lambda curve: (-interest(curve), curve.number))[:top]
    return sorted(chosen, key=lambda curve: (curve.middle if curve.every else curve.peak, curve.number))


def trends(
    topics: Topics,
    corpus: Any,
    path: StrPath | None = None,
    *,
    by: str = "date",
    every: str | None = None,
    top: int = 12,
    numbers: Sequence[int] | None = None,
    text: str | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    source: str = "",
) -> Figure:
    """Topics through time: one ridge per topic, the earliest first, its name to the left and its peak on top.

    Parameters
    ----------
    topics : Topics
        ``model.topics(n)``
    corpus
        texts with dates: Documents, or a pandas or Polars frame; or what ``topics.over_time`` gave
    path : str or path, optional
        where to write it: .png, .svg or .pdf
    by, every : str, default 'date'
        the column of dates and the length of a period, as in ``topics.over``; a column that holds no dates is
        drawn by its values
    top : int, default 12
        so many topics: those whose words belong together and whose share changes; ``numbers`` names them instead

    Notes
    -----
    Shares are smoothed over the periods around, where there are many. Every ridge has its own scale: its peak says how
    high it is.
    """
    require_format(path)
    if top < 1:
        raise ValueError(f"top is {top}; expected one topic at least")
    over = corpus if isinstance(corpus, OverTime) else topics.over_time(corpus, by, every, text=text)
    curves = topic_curves(over)
    if numbers is None:
        chosen = choose_curves(curves, topics, top)
    else:
        wanted = [topics[number].number for number in numbers]
        chosen = [curve for number in wanted for curve in curves if curve.number == number]
    if title is None:
        title = (
            f"{len(chosen)} of {len(curves)} topics" if len(chosen) < len(curves) else f"{len(chosen)} topics"
        )
        title += f" by {clean(by)}" if over.every is None else " through time"
    if subtitle is None:
        of = clean(by) if over.every is None else over.every
        subtitle = f"Share of the documents of each {of}; each topic on its own scale"
    return draw_curves(chosen, path, title=title, subtitle=subtitle, source=source)


def draw_curves(
    curves: Sequence[TopicCurve],
    path: StrPath | None = None,
    *,
    title: str,
    subtitle: str,
    source: str = "",
) -> Figure:
    """One row per curve, ridges for periods and bars for groups."""
    if not curves or not curves[0].periods:
        raise ValueError("there is nothing to draw: no document has both a topic and a date")
    groups = [shortened(str(group), 24) for group in curves[0].periods] if curves[0].every is None else []
    if len(groups) > _MOST_GROUPS:
        raise ValueError(
            f"there are {len(groups):,} groups, and a picture has room for {_MOST_GROUPS}; choose another column, or "
            "use topics.over for a table"
        )
    names = [shortened(curve.name, 34) for curve in curves]
    left = min(0.36, 0.03 + 0.0095 * max(map(len, names)))
    longest = max(map(len, groups), default=0)
    # names of groups have no room side by side
    upright = 0.09 * longest * len(groups) > (0.95 - left) * _WIDTH
    below = 0.6 + (0.07 * longest if upright else 0)
    height = 0.95 + below + _ROW * len(curves)
    with drawing([*names, *groups, title, subtitle, source, *(curve.peak_text for curve in curves)]):
        figure = new_figure(_WIDTH, height)
        axes = figure.add_axes((left, below / height, 0.955 - left, _ROW * len(curves) / height))
        times = _times(curves[0])
        for row, (curve, name) in enumerate(reversed(list(zip(curves, names, strict=True)))):
            _draw_row(axes, times, curve, name, row, PALETTE[(len(curves) - 1 - row) % len(PALETTE)])
        _set_axes(axes, times, groups, upright, len(curves))
        write_around(figure, clean(title), clean(subtitle), clean(source))
        save(figure, path)
    return figure


def _times(curve: TopicCurve) -> Doubles:
    """Where each period stands: in years, or by its place for groups."""
    if curve.every is None:
        return np.arange(len(curve.periods), dtype=float)
    return np.array([_year(day) for day in curve.periods])


def _year(day: date) -> float:
    start, end = date(day.year, 1, 1).toordinal(), date(day.year, 12, 31).toordinal() + 1
    return day.year + (day.toordinal() - start) / (end - start)


def _draw_row(axes: Axes, times: Doubles, curve: TopicCurve, name: str, row: int, color: str) -> None:
    heights = row + _RIDGE * curve.shares / max(float(curve.shares.max()), 1e-9)
    if curve.every is None:
        axes.bar(times, heights - row, 0.7, bottom=row, color=color, alpha=0.85)
        first, last = times[0] - 0.6, times[-1] + 0.6
    else:
        axes.fill_between(times, row, heights, color=color, alpha=0.85, linewidth=0)
        axes.plot(times, heights, color="white", linewidth=1.4)
        first, last = times[0], times[-1]
    axes.plot([first, last], [row, row], color=color, linewidth=0.8)
    axes.text(
        *(-0.02, row + 0.04, name),
        transform=axes.get_yaxis_transform(),
        ha="right",
        va="bottom",
        fontsize=10.5,
        color=darker(color),
        fontweight="bold",
    )
    along = (times[curve.peak] - first) / max(last - first, 1e-9)
    axes.text(
        *(times[curve.peak], heights[curve.peak] + 0.05, curve.peak_text),
        ha="left" if along < 0.07 else "right" if along > 0.93 else "center",
        va="bottom",
        fontsize=8.5,
        color=INK,
        zorder=100,
        path_effects=halo(),
    )


def _set_axes(axes: Axes, times: Doubles, groups: Sequence[str], upright: bool, n_rows: int) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_ylim(-0.04, n_rows - 0.04)
    axes.set_yticks([])
    axes.tick_params(axis="x", colors=FAINT, length=3, labelsize=9.5)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)
    if groups:
        axes.set_xlim(times[0] - 0.6, times[-1] + 0.6)
        axes.set_xticks(times, groups, rotation=90 if upright else 0)
        return
    middle = 0.5 if times[-1] == times[0] else 0
    axes.set_xlim(times[0] - middle, times[-1] + middle)
    axes.grid(axis="x", color="#EEEEEE", linewidth=0.8)
    first, last = axes.get_xlim()
    years = last - first >= 4
    marks = [
        float(mark)
        for mark in MaxNLocator(8 if years else 6, integer=years).tick_values(first, last)
        if first <= mark <= last
    ]
    axes.set_xticks(marks, [f"{mark:.0f}" if years else _day_text(mark, last - first) for mark in marks])


def _day_text(year: float, span: float) -> str:
    """A place on the axis as a month, or as a day where the axis is short."""
    start = date(int(year), 1, 1).toordinal()
    length = date(int(year), 12, 31).toordinal() + 1 - start
    day = date.fromordinal(start + min(round((year - int(year)) * length), length - 1))
    return day.isoformat() if span < 0.5 else day.strftime("%Y-%m")
