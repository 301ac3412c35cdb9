"""Pictures: topics through time, and a map of documents. Arrays and words in, PNG and SVG files out.

matplotlib is imported when something is drawn and not before; figures are made without its global state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kate.storage.files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PALETTE", "Curve", "Group", "draw_curves", "draw_map"]

Floats = NDArray[np.floating[Any]]

# Paul Tol's muted scheme with a few colours more, light and dark in turn: the colour-blind can tell them apart.
PALETTE = (
    "#332288",
    "#117733",
    "#CC6677",
    "#44AA99",
    "#AA4499",
    "#999933",
    "#0077BB",
    "#882255",
    "#DDAA33",
    "#225555",
    "#EE7733",
    "#88AADD",
    "#661100",
    "#B58A6B",
)
_INK, _FAINT, _REST = "#222222", "#777777", "#DDDDDD"
_DOTS_PER_INCH = 120
# The height of a ridge in rows: it may rise into the row above.
_RIDGE = 1.2


@dataclass(frozen=True)
class Curve:
    """A quantity over time: its name and the share (0 to 1) at each of the times."""

    name: str
    shares: Floats
    color: str


@dataclass(frozen=True)
class Group:
    """Points of a map that belong together."""

    name: str
    members: NDArray[np.bool_]
    color: str


def draw_curves(
    path: Path, times: Floats, curves: Sequence[Curve], *, title: str, subtitle: str, source: str
) -> None:
    """One ridge per curve, each on its own scale, with its name to the left and its peak on top.

    Written to ``path`` (.png) and beside it as .svg.
    """
    height = 1.9 + 0.6 * len(curves)
    figure = _figure(9.6, height)
    axes = figure.add_axes((0.28, 0.62 / height, 0.68, 1 - 1.45 / height))
    for row, curve in enumerate(reversed(curves)):
        _draw_ridge(axes, times, curve, row)
    axes.set_xlim(times[0], times[-1])
    axes.set_ylim(-0.05, len(curves) - 1 + _RIDGE + 0.3)
    axes.set_yticks([])
    axes.tick_params(axis="x", colors=_FAINT, length=3)
    axes.grid(axis="x", color="#EEEEEE", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)
    _write_around(figure, title, subtitle, source)
    _save(figure, path)


def _draw_ridge(axes: Axes, times: Floats, curve: Curve, row: int) -> None:
    highest = int(np.argmax(curve.shares))
    heights = row + _RIDGE * curve.shares / max(float(curve.shares[highest]), 1e-9)
    # lower rows are in front
    order = -row
    axes.fill_between(times, row, heights, color=curve.color, alpha=0.85, linewidth=0, zorder=order)
    axes.plot(times, heights, color="white", linewidth=1.4, zorder=order)
    axes.plot(times[[0, -1]], [row, row], color=curve.color, linewidth=0.8, zorder=order)
    axes.text(
        -0.02,
        row + 0.04,
        curve.name,
        transform=axes.get_yaxis_transform(),
        ha="right",
        va="bottom",
        fontsize=10.5,
        color=_darker(curve.color),
        fontweight="bold",
    )
    along = (times[highest] - times[0]) / max(times[-1] - times[0], 1e-9)
    axes.text(
        times[highest],
        heights[highest] + 0.05,
        f"{curve.shares[highest]:.0%} in {times[highest]:.0f}",
        ha="left" if along < 0.05 else "right" if along > 0.95 else "center",
        va="bottom",
        fontsize=8.5,
        color=_INK,
        zorder=100,
        path_effects=_halo(),
    )


def draw_map(
    path: Path, points: Floats, groups: Sequence[Group], *, title: str, subtitle: str, source: str
) -> None:
    """Points (n, 2), grey if they are in no group; the name of a group is where it is densest."""
    figure = _figure(9.6, 9.2)
    axes = figure.add_axes((0.01, 0.035, 0.98, 0.885))
    in_a_group = np.zeros(len(points), dtype=bool)
    for group in groups:
        in_a_group |= group.members
    rest = points[~in_a_group]
    style: dict[str, Any] = {"linewidths": 0, "rasterized": True}
    axes.scatter(rest[:, 0], rest[:, 1], s=7, color=_REST, **style)
    for group in groups:
        members = points[group.members]
        axes.scatter(members[:, 0], members[:, 1], s=13, color=group.color, alpha=0.8, **style)
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    _name_groups(figure, axes, points, groups)
    _write_around(figure, title, subtitle, source)
    _save(figure, path)


def _name_groups(figure: Figure, axes: Axes, points: Floats, groups: Sequence[Group]) -> None:
    # text has no size before it is drawn
    figure.canvas.draw()
    taken: list[Any] = []
    for group in groups:
        if not group.members.any():
            continue
        x, y = densest_place(points[group.members])
        label = axes.text(
            x,
            y,
            group.name,
            ha="center",
            va="center",
            fontsize=11,
            fontweight="bold",
            color=_darker(group.color),
            path_effects=_halo(4),
            zorder=10,
        )
        taken.append(_move_clear(figure, axes, label, taken))


def _move_clear(figure: Figure, axes: Axes, label: Any, taken: Sequence[Any]) -> Any:
    """Move a label up or down, as little as needed, until it covers no other label; its box."""
    to_data = axes.transData.inverted()
    start = axes.transData.transform(label.get_position())
    box = label.get_window_extent()
    for step in sorted(range(-40, 41), key=abs):
        label.set_position(to_data.transform(start + np.array([0, step * box.height / 4])))
        moved = label.get_window_extent().padded(2)
        if not any(moved.overlaps(other) for other in taken):
            return moved
    return box


def densest_place(points: Floats, n_cells: int = 24) -> tuple[float, float]:
    """The mean of the points in the fullest neighbourhood of a coarse grid.

    >>> densest_place(np.array([[0.0, 0.0], [10.0, 10.0], [10.0, 10.0]]))
    (10.0, 10.0)
    """
    low, high = points.min(axis=0), points.max(axis=0)
    cell = np.maximum((high - low) / n_cells, 1e-9)
    places = np.minimum(((points - low) / cell).astype(int), n_cells - 1)  # (n, 2)
    counts = np.zeros((n_cells + 2, n_cells + 2))
    np.add.at(counts, (places[:, 0] + 1, places[:, 1] + 1), 1)
    around = sum(np.roll(counts, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1))
    best = np.unravel_index(int(np.argmax(around)), counts.shape)
    near = (np.abs(places + 1 - np.array(best)) <= 1).all(axis=1)
    x, y = points[near].mean(axis=0)
    return float(x), float(y)


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=_DOTS_PER_INCH, facecolor="white")


def _darker(color: str) -> Any:
    """A darker shade: text needs more contrast than an area of the same colour."""
    from matplotlib.colors import to_rgb

    return tuple(0.68 * part for part in to_rgb(color))


def _halo(width: float = 2.5) -> list[Any]:
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=width, foreground="white")]


def _write_around(figure: Figure, title: str, subtitle: str, source: str) -> None:
    """Title and subtitle at the top, the source at the bottom; in inches, so that they do not depend on the height."""
    height = figure.get_figheight()
    figure.text(0.025, 1 - 0.14 / height, title, fontsize=16, fontweight="bold", color=_INK, va="top")
    figure.text(0.025, 1 - 0.5 / height, subtitle, fontsize=10.5, color="#555555", va="top")
    figure.text(0.025, 0.1 / height, source, fontsize=8, color=_FAINT, va="bottom")


def _save(figure: Figure, path: Path) -> None:
    from matplotlib import rc_context

    # text as text and no date: the files are small, and the same in every run
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "kate"}):
        for target, metadata in ((path, {}), (path.with_suffix(".svg"), {"Date": None})):
            with whole_file(target) as part:
                figure.savefig(part, metadata=metadata)
