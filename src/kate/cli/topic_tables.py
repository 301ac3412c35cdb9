"""What the commands about topics print, and the files that they write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kate.cli.output import print_table, sparkline
from kate.notebook_html import cut_short

if TYPE_CHECKING:
    import polars as pl

    from kate.topics.over_time import OverTime
    from kate.topics.topic import Topic

__all__ = ["print_documents", "print_over_time", "print_topics", "require_table_name"]

_SNIPPET = 300


def print_topics(topics: Iterable[Topic], top: int) -> None:
    """One row per topic; the words that are its name are not shown twice."""
    rows = [
        (
            str(topic.number),
            f"{topic.share:.1%}",
            "" if topic.coherence is None else f"{topic.coherence:.2f}",
            f"{topic.coverage:.0%}",
            named_words(topic.name, topic.words[:top]),
        )
        for topic in topics
    ]
    columns = ("topic", "share", "coherence", "coverage")
    print_table((*columns, "name: words"), rows, right=columns)


def named_words(name: str, words: Sequence[str]) -> str:
    """A name and the words that it does not hold.

    >>> named_words("gold, silver", ["gold", "silver", "coin", "bank"])
    'gold, silver: coin, bank'
    >>> named_words("money", ["gold", "silver"])
    'money: gold, silver'
    """
    parts = name.split(", ")
    others = [word for word in words if word not in parts]
    return ": ".join(filter(None, (name, ", ".join(others))))


def print_documents(frame: pl.DataFrame, names: Sequence[str], texts: Sequence[str]) -> None:
    """The documents of a topic, as ``Topic.documents`` gives them; what they are called, and their texts."""
    rows = [
        (str(rank), f"{share:.2f}", f"{near:.2f}", cut_short(name, 24), cut_short(text, _SNIPPET))
        for rank, (share, near, name, text) in enumerate(
            zip(frame["topic_share"], frame["centrality"], names, texts, strict=True), 1
        )
    ]
    columns = ("rank", "share", "centrality")
    print_table((*columns, "document", "text"), rows, right=columns)


def print_over_time(found: OverTime, topics: Sequence[Topic]) -> None:
    """Through time: bars, the highest share and when it was. By group: the groups with the highest shares."""
    by_number = {topic: part for (topic,), part in found.frame.group_by("topic", maintain_order=True)}
    if found.every is None:
        groups = [
            (
                str(topic.number),
                str(by_number[topic.number]["documents"].sum()),
                topic.name,
                _highest_groups(by_number[topic.number]),
            )
            for topic in topics
        ]
        print_table(("topic", "documents", "name", "largest shares"), groups, right=("topic", "documents"))
        return
    from kate.topics.periods import period_name

    periods = found.frame["period"].unique(maintain_order=True)
    rows = []
    for topic in topics:
        part = by_number[topic.number]
        shares = part["share"].to_list()
        peak = part["share"].arg_max() or 0
        rows.append(
            (
                str(topic.number),
                sparkline(shares),
                f"{shares[peak] or 0:.0%}",
                period_name(part["period"][peak], found.every),
                named_words(
                    topic.name, [word for word in part["words"][peak] if word not in topic.name.split(", ")]
                ),
            )
        )
    first, last = (period_name(periods[place], found.every) for place in (0, -1))
    n_bars = min(24, len(periods))
    span = (
        first if len(periods) == 1 else f"{first}{'–'.center(max(n_bars - len(first) - len(last), 3))}{last}"
    )
    columns = ("topic", span, "peak", "in", "name: words of the peak")
    print_table(columns, rows, right=("topic", "peak"))


def _highest_groups(part: pl.DataFrame, n_shown: int = 4) -> str:
    ranked = part.filter(part["documents"] > 0).sort("share", descending=True, maintain_order=True)
    shown = [f"{row['group']} {row['share']:.0%}" for row in ranked.head(n_shown).iter_rows(named=True)]
    return ", ".join(shown) + (", …" if len(ranked) > n_shown else "")


def require_table_name(path: Path) -> None:
    from kate.text.table_files import TABLE_SUFFIXES

    if path.suffix.lower() not in TABLE_SUFFIXES:
        raise typer.BadParameter(
            f"{path} does not end in .csv, .parquet or .jsonl, and so says no format", param_hint="--output"
        )
