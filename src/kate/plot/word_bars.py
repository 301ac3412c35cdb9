"""A topic's words, and how many of its documents hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kate.plot.sheet import (
    FAINT,
    INK,
    PALETTE,
    StrPath,
    clean,
    drawing,
    new_figure,
    require_format,
    save,
    shortened,
    write_around,
)
from kate.topics.topic import Topic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["words"]


def words(topic: Topic, path: StrPath | None = None, *, top: int = 15) -> Figure:
    """The words of a topic (``topics[3]``) as bars, the most telling first.

    A bar is as long as the share of the topic's documents that hold the word. ``path`` ends in .png, .svg or .pdf.
    """
    require_format(path)
    if top < 1:
        raise ValueError(f"top is {top}; expected one word at least")
    if not topic.words:
        raise ValueError(f"topic {topic.number} has no words to draw")
    shown = [shortened(word, 30) for word in topic.words[:top]]
    weights = topic.weights[: len(shown)]
    title = f"{topic.number}: {shortened(topic.name, 48)}"
    subtitle = f"{topic.share:.1%} of all documents; bars: how many of them hold the word"
    height = 1.15 + 0.3 * len(shown)
    with drawing([*shown, title]):
        figure = new_figure(7.2, height)
        left = min(0.4, 0.06 + 0.0125 * max(map(len, shown)))
        axes = figure.add_axes((left, 0.15 / height, 0.9 - left, 1 - 1.05 / height))
        rows = range(len(shown) - 1, -1, -1)
        axes.barh(list(rows), weights, 0.72, color=PALETTE[topic.number % len(PALETTE)], alpha=0.85)
        longest = max(weights) or 1.0
        for row, weight in zip(rows, weights, strict=True):
            axes.text(weight + 0.012 * longest, row, f"{weight:.0%}", va="center", fontsize=9, color=FAINT)
        axes.set_yticks(list(rows), shown, fontsize=11, color=INK)
        axes.tick_params(axis="y", length=0)
        axes.set_xticks([])
        axes.set_xlim(0, longest * 1.02)
        axes.set_ylim(-0.6, len(shown) - 0.4)
        for side in axes.spines.values():
            side.set_visible(False)
        write_around(figure, clean(title), subtitle, "")
        save(figure, path)
    return figure
