"""A map of documents: neighbours in the model's space are neighbours in the plane, coloured and named by topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kate.extras import require
from kate.plot.label_places import Box, densest_place, place_labels
from kate.plot.sheet import (
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
from kate.text.documents import Documents
from kate.text.frames import as_documents
from kate.topics.topic_set import Topics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MapGroup", "draw_map", "in_the_plane", "map_of"]

AnyFloats = NDArray[np.floating[Any]]

_REST = "#DDDDDD"
_LINE = 15  # letters of a name's line: longer names take two
_MARGIN = 0.09  # of the sheet on each side: names that find no place among the points go there


@dataclass(frozen=True, eq=False)
class MapGroup:
    """Points of a map that belong together."""

    name: str
    members: NDArray[np.bool_]
    color: str


def map_of(
    topics: Topics,
    corpus: Any,
    path: StrPath | None = None,
    *,
    top: int = len(PALETTE),
    most: int = 3_000,
    n_iterations: int = 500,
    text: str | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    source: str = "",
) -> Figure:
    """A map of the documents: each is a dot, near those that speak of the same, in the colour of its topic.

    Parameters
    ----------
    topics : Topics
        ``model.topics(n)``
    corpus
        texts, Documents, or a pandas or Polars frame
    path : str or path, optional
        where to write it: .png, .svg or .pdf
    top : int, default len(PALETTE)
        so many topics have a colour and a name, the largest; the others are grey
    most : int, default 3000
        so many documents are drawn; of more, a sample that is always the same
    n_iterations : int, default 500
        of t-SNE, which lays the map out

    Notes
    -----
    Documents without a word that the model knows are left out.
    """
    require_format(path)
    if not 1 <= top <= len(PALETTE):
        raise ValueError(f"top is {top}; a map has colours for 1 to {len(PALETTE)} topics")
    if most < 1:
        raise ValueError(f"most is {most}; expected one document at least")
    documents = as_documents(corpus, text)
    rows = np.sort(np.random.default_rng(0).permutation(len(documents))[:most])
    read = topics._read(Documents(documents.frame[rows]))
    numbers = topics.label_columns(read.vectors, read.known)[0].filter(read.known).to_numpy()
    if not len(numbers):
        raise ValueError("there is nothing to draw: no document has a word that the model knows")
    named = [topic for topic in topics.sorted_by("share") if (numbers == topic.number).any()][:top]
    groups = [
        MapGroup(topic.name, numbers == topic.number, color)
        for topic, color in zip(named, PALETTE, strict=False)
    ]
    if title is None:
        title = f"A map of {len(numbers):,} documents"
        title += f" of {len(documents):,}" if len(documents) > most else ""
    if subtitle is None:
        rest = "; grey: smaller topics" if len(set(numbers.tolist())) > len(groups) else ""
        subtitle = f"Each dot is a document, near those that speak of the same; coloured by topic{rest}"
    places = in_the_plane(read.vectors[read.known], n_iterations)
    return draw_map(places, groups, path, title=title, subtitle=subtitle, source=source)


def in_the_plane(vectors: AnyFloats, n_iterations: int = 500) -> NDArray[np.float64]:
    """Two coordinates for each vector of length 1, so that neighbours are neighbours: t-SNE, started from PCA."""
    if len(vectors) < 4:  # too few for neighbours: side by side
        return np.column_stack([np.arange(len(vectors)), np.zeros(len(vectors))]).astype(float)
    require("a map of documents", "sklearn", "plot")
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    # documents that are alike to the last bit have no directions to start from
    spread = vectors + np.random.default_rng(0).normal(0, 1e-6, vectors.shape)
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    start = "pca" if min(vectors.shape) >= 2 else "random"
    layout = TSNE(perplexity=perplexity, init=start, max_iter=n_iterations, random_state=0)
    # by one thread: the same map on every machine, and threads that wait for one another take longer where others work
    with threadpool_limits(1):
        return np.asarray(layout.fit_transform(spread), dtype=float)


def draw_map(
    points: AnyFloats,
    groups: Sequence[MapGroup],
    path: StrPath | None = None,
    *,
    title: str,
    subtitle: str,
    source: str = "",
) -> Figure:
    """Points (n, 2), grey if they are in no group; the name of a group is where it is densest, or a line leads there.

    A point is in one group at the most.
    """
    names = [_in_lines(group.name) for group in groups]
    with drawing([*names, title, subtitle, source]):
        figure = new_figure(9.6, 9.4)
        axes = figure.add_axes((0.01, 0.03, 0.98, 0.89))
        in_a_group = np.zeros(len(points), dtype=bool)
        for group in groups:
            in_a_group |= group.members
        rest = points[~in_a_group]
        size = float(np.clip(45_000 / max(len(points), 1), 11, 60))
        style: dict[str, Any] = {"linewidths": 0, "rasterized": True}
        axes.scatter(rest[:, 0], rest[:, 1], s=0.6 * size, color=_REST, **style)
        for group in groups:
            members = points[group.members]
            axes.scatter(members[:, 0], members[:, 1], s=size, color=group.color, alpha=0.75, **style)
        axes.set_axis_off()
        _set_limits(axes, points)
        _name_groups(figure, axes, points, groups, names)
        write_around(figure, clean(title), clean(subtitle), clean(source))
        save(figure, path)
    return figure


def _in_lines(name: str) -> str:
    """A name in one or two lines.

    >>> _in_lines("manufactures, tariff")
    'manufactures,\\ntariff'
    """
    name = shortened(name, 2 * _LINE + 8)
    if len(name) <= _LINE or " " not in name:
        return name
    middle = min(
        (at for at, letter in enumerate(name) if letter == " "), key=lambda at: abs(at - len(name) / 2)
    )
    return f"{name[:middle]}\n{name[middle + 1 :]}"


def _set_limits(axes: Axes, points: AnyFloats) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, 1e-9)
    across = max(float(span.max()) * 1e-3, 1e-6)  # points on one line
    pad = span * _MARGIN + across
    axes.set_xlim(low[0] - pad[0], high[0] + pad[0])
    axes.set_ylim(low[1] - pad[1] / 2, high[1] + pad[1] / 2)


def _name_groups(
    figure: Figure, axes: Axes, points: AnyFloats, groups: Sequence[MapGroup], names: Sequence[str]
) -> None:
    shown = [(group, name) for group, name in zip(groups, names, strict=True) if group.members.any()]
    labels = [
        axes.text(
            *(0, 0, name),
            ha="center",
            va="center",
            fontsize=10.5,
            fontweight="bold",
            linespacing=1.0,
            color=darker(group.color),
            path_effects=halo(4),
            transform=None,
            zorder=10,
        )
        for group, name in shown
    ]
    figure.canvas.draw()  # text has no size before it is drawn
    on_screen = np.asarray(axes.transData.transform(points))  # (n, 2), in pixels
    of_group = np.full(len(points), -1)
    for row, (group, _) in enumerate(shown):
        of_group[group.members] = row
    anchors = [densest_place(on_screen[of_group == row]) for row in range(len(shown))]
    sizes = [(box.width, box.height) for box in (label.get_window_extent() for label in labels)]
    edges = axes.get_window_extent()
    area = Box(edges.x0, edges.y0, edges.x1, edges.y1)
    boxes = place_labels(on_screen, of_group, anchors, sizes, area)
    to_data = axes.transData.inverted()
    for label, box, anchor, (group, _) in zip(labels, boxes, anchors, shown, strict=True):
        middle = ((box.left + box.right) / 2, (box.bottom + box.top) / 2)
        label.set_transform(axes.transData)
        label.set_position(tuple(to_data.transform(middle)))
        ends = to_data.transform([box.nearest(*anchor), anchor])
        if np.hypot(*np.subtract(box.nearest(*anchor), anchor)) > 12:
            axes.plot(*ends.T, color="white", linewidth=3, zorder=8, solid_capstyle="round")
            axes.plot(*ends.T, color=darker(group.color), linewidth=1.1, zorder=9)
            axes.plot(*ends[1:].T, "o", color=darker(group.color), markersize=4.5, zorder=9)
