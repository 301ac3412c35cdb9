"""The tree of topics: which of them are near, what they have in common, and how large they are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kate.plot.label_places import Box
from kate.plot.sheet import (
    FAINT,
    GREY,
    INK,
    PALETTE,
    StrPath,
    clean,
    darker,
    drawing,
    new_figure,
    require_format,
    save,
    shortened,
    write_around,
)
from kate.topics.topic_nodes import TopicNode

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["tree"]

_ROW = 0.34  # inches
_LEFT, _BRANCHES, _RIGHT = 0.25, 4.9, 4.45  # inches: a margin, the branches, the names of the topics
_THICKEST = 9.0  # points: the line of half of all documents


@dataclass
class _Branch:
    """A node where it is drawn: x from 0 (all documents) to 1 (topics), y in rows."""

    node: TopicNode
    x: float
    y: float
    color: str
    children: list[_Branch]


def tree(
    node: TopicNode, path: StrPath | None = None, *, title: str | None = None, source: str = ""
) -> Figure:
    """The tree over the topics (``model.topic_tree(20)``): names and shares of topics, and of what joins them.

    A line is as thick as its share of the documents. What joins topics is named where there is room. ``path`` ends in
    .png, .svg or .pdf.
    """
    require_format(path)
    n_topics = _n_leaves(node)
    title = f"How {n_topics:,} topics join" if title is None else title
    root = _placed(node, n_topics, iter(range(n_topics)))
    branches = list(_all(root))
    texts = [text for branch in branches for text in (_shown(branch.node), *_other_words(branch.node))]
    height = 0.95 + _ROW * n_topics + (0.3 if source else 0.1)
    width = _LEFT + _BRANCHES + _RIGHT
    with drawing([*texts, title, source]):
        figure = new_figure(width, height)
        bottom = (0.35 if source else 0.15) / height
        axes = figure.add_axes((_LEFT / width, bottom, _BRANCHES / width, _ROW * n_topics / height))
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(n_topics - 0.5, -0.5)
        axes.set_axis_off()
        for branch in branches:
            _draw_branch(axes, branch)
        figure.canvas.draw()  # text has no size before it is drawn
        _name_topics(figure, axes, [branch for branch in branches if not branch.children])
        _name_joins(axes, branches)
        subtitle = "Topics with their shares of all documents, and what those that are near have in common"
        write_around(figure, clean(title), subtitle, clean(source))
        save(figure, path)
    return figure


def _n_leaves(node: TopicNode) -> int:
    return sum(map(_n_leaves, node.children)) if node.children else 1


def _placed(node: TopicNode, n_topics: int, rows: Iterator[int]) -> _Branch:
    """Topics in rows, joins between them; the more topics a join has, the further left it is."""
    children = [_placed(child, n_topics, rows) for child in node.children]
    if not children:
        row = next(rows)
        return _Branch(node, 1.0, float(row), PALETTE[(node.number or 0) % len(PALETTE)], [])
    x = 1 - np.log(_n_leaves(node)) / np.log(max(n_topics, 2))
    x = min(float(x), *(child.x - 0.035 for child in children))
    largest = max(children, key=lambda child: child.node.share)
    return _Branch(node, x, float(np.mean([child.y for child in children])), largest.color, children)


def _all(branch: _Branch) -> list[_Branch]:
    return [branch, *(below for child in branch.children for below in _all(child))]


def _shown(node: TopicNode) -> str:
    name = shortened(node.name, 30)
    return name if node.number is None else f"{node.number}: {name}"


def _other_words(node: TopicNode) -> list[str]:
    """The words after those of the name."""
    named = {word.strip() for word in node.name.split(",")}
    return [shortened(word, 24) for word in node.words if word not in named][:6]


def _thickness(share: float) -> float:
    return max(0.8, _THICKEST * (share / 0.5) ** 0.5) if share < 0.5 else _THICKEST


def _draw_branch(axes: Axes, branch: _Branch) -> None:
    for child in branch.children:
        axes.plot(
            *([branch.x, branch.x, child.x], [branch.y, child.y, child.y]),
            color=child.color,
            linewidth=_thickness(child.node.share),
            alpha=0.8,
            solid_joinstyle="round",
            solid_capstyle="butt",
        )


def _name_topics(figure: Figure, axes: Axes, topics: list[_Branch]) -> None:
    """Share, name and as many of the other words as the sheet has room for."""
    style: dict[str, Any] = {"textcoords": "offset points", "va": "center", "annotation_clip": False}
    edge = figure.bbox.x1 - 14
    for branch in topics:
        at = (1.0, branch.y)
        share = f"{branch.node.share:.1%}"
        axes.annotate(share, at, xytext=(38, 0), ha="right", fontsize=9.5, color=GREY, **style)
        name = axes.annotate(
            _shown(branch.node),
            at,
            xytext=(44, 0),
            fontsize=10.5,
            fontweight="bold",
            color=darker(branch.color),
            **style,
        )
        start = 44 + name.get_window_extent().width * 72 / figure.dpi + 7
        words = _other_words(branch.node)
        while words:
            label = axes.annotate(", ".join(words), at, xytext=(start, 0), fontsize=8.5, color=FAINT, **style)
            if label.get_window_extent().x1 <= edge:
                break
            label.remove()
            words = words[:-1]


def _name_joins(axes: Axes, branches: list[_Branch]) -> None:
    """Names of joins, the largest first; one that would stand on another or on a line is left out."""
    taken = [box for branch in branches for box in _line_boxes(axes, branch)]
    edge = axes.get_window_extent().x1
    joins = [branch for branch in branches if branch.children]
    for branch in sorted(joins, key=lambda branch: -branch.node.share):
        # beside the join, or on the line that leads to it
        half = _thickness(branch.node.share) / 2
        for offset, align, vertical in (((6, 0), "left", "center"), ((-3, half + 1), "right", "bottom")):
            label = axes.annotate(
                f"{shortened(branch.node.name, 30)}  {branch.node.share:.0%}",
                (branch.x, branch.y),
                xytext=offset,
                textcoords="offset points",
                ha=align,
                va=vertical,
                fontsize=8.5,
                color=INK,
                zorder=10,
            )
            extent = label.get_window_extent()
            box = Box(extent.x0, extent.y0 + 1, extent.x1, extent.y1 - 1)
            if box.left >= 6 and box.right <= edge and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            label.remove()


def _line_boxes(axes: Axes, branch: _Branch) -> list[Box]:
    """The lines from a join to what it joins, in pixels."""
    found = []
    for child in branch.children:
        half = _thickness(child.node.share) / 2 * axes.figure.dpi / 72
        corners = axes.transData.transform([(branch.x, branch.y), (branch.x, child.y), (child.x, child.y)])
        for start, end in itertools.pairwise(corners):
            low, high = np.minimum(start, end) - half, np.maximum(start, end) + half
            found.append(Box(float(low[0]), float(low[1]), float(high[0]), float(high[1])))
    return found
