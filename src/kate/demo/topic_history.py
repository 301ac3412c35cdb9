"""Topics through time: the share of the paragraphs that each topic wins in each year, and which topics to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kate.model.text_model import TextModel
from kate.text.documents import Documents
from kate.topics.topic import Topic

__all__ = ["TopicHistory", "choose_for_map", "choose_for_timeline", "topic_histories"]

Floats = NDArray[np.float64]

# Years: there is about one address per year, too few to draw a line through.
_SMOOTHING = 4.0


@dataclass(frozen=True, eq=False)
class TopicHistory:
    """A topic, how strongly it wins each paragraph (0: it does not), and its share of the paragraphs by year."""

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
        """The mean year, weighted by the topic's share."""
        return float((self.years * self.shares).sum() / max(self.shares.sum(), 1e-12))

    @property
    def concentration(self) -> float:
        """How far the shares are from being the same in all years, in nats (Kullback-Leibler divergence)."""
        p = self.shares / max(self.shares.sum(), 1e-12)
        return float((p * np.log(np.maximum(p * len(p), 1e-12))).sum())

    @property
    def interest(self) -> float:
        """What is worth showing: above all coherent words, then a time of its own."""
        return (self.topic.coherence or 0.0) * float(max(self.concentration, 0.0) ** 0.25)

    def label(self, length: int = 26) -> str:
        """As many of its first words as fit into ``length`` characters, at least one."""
        label = self.topic.words[0] if self.topic.words else self.topic.name
        for word in self.topic.words[1:]:
            if len(label) + 2 + len(word) > length:
                break
            label += f", {word}"
        return label

    def sparkline(self, n_bars: int = 24) -> str:
        """The shares as small bars; the highest bar is full."""
        means = np.array([part.mean() for part in np.array_split(self.shares, n_bars)])
        levels = np.ceil(means / max(means.max(), 1e-12) * 8).astype(int)
        return "".join("▁▁▂▃▄▅▆▇█"[level] for level in levels)


def topic_histories(model: TextModel, documents: Documents, years: NDArray[np.int64]) -> list[TopicHistory]:
    """The history of every topic, from documents and the year of each."""
    topics = model.topics()
    strengths = np.zeros((len(topics), len(documents)), dtype=np.float32)
    row_of = {topic.name: row for row, topic in enumerate(topics)}
    for column, won in enumerate(model.document_topics(documents, top=model.n_components)):
        for topic, strength in won:
            strengths[row_of[topic.name], column] = strength
    shares = YearlyShares.of(years)
    return [
        TopicHistory(topic, row, shares.years, shares.of_documents(row > 0))
        for topic, row in zip(topics, strengths, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class YearlyShares:
    """The share of some documents in each year, smoothed by a bell curve over the years around it."""

    years: Floats  # every year from the first to the last
    weights: Floats  # (n_years, n_years_with_documents)
    columns: NDArray[np.int64]  # for each document: the column of its year

    @classmethod
    def of(cls, years: NDArray[np.int64]) -> YearlyShares:
        """From the year of each document."""
        with_documents, columns = np.unique(years, return_inverse=True)
        every = np.arange(with_documents[0], with_documents[-1] + 1, dtype=float)
        distance = (every[:, None] - with_documents[None, :]) / _SMOOTHING
        return cls(every, np.exp(-0.5 * distance**2), columns)

    def of_documents(self, chosen: NDArray[np.bool_]) -> Floats:
        n_years = self.weights.shape[1]
        part = np.bincount(self.columns[chosen], minlength=n_years)
        whole = np.bincount(self.columns, minlength=n_years)
        return np.asarray((self.weights @ part) / (self.weights @ whole))


def choose_for_timeline(histories: Sequence[TopicHistory], n: int = 12) -> list[TopicHistory]:
    """Coherent topics with a time of their own, no two alike; the earliest first."""
    good = [
        history
        for history in histories
        if history.topic.share >= 0.02 and (history.topic.coherence or 0) >= 0.25
    ]
    ranked = sorted(good or histories, key=lambda history: -history.interest)
    return sorted(_first_distinct(ranked, n), key=lambda history: history.middle)


def choose_for_map(histories: Sequence[TopicHistory], n: int = 14) -> list[TopicHistory]:
    """Large and coherent topics, no two alike: they name most of the paragraphs."""
    ranked = sorted(histories, key=lambda history: -history.topic.share * (history.topic.coherence or 0))
    return _first_distinct(ranked, n)


def _first_distinct(ranked: Sequence[TopicHistory], n: int) -> list[TopicHistory]:
    chosen: list[TopicHistory] = []
    for history in ranked:
        if len(chosen) < n and not any(_alike(history, other) for other in chosen):
            chosen.append(history)
    return chosen


def _alike(one: TopicHistory, other: TopicHistory) -> bool:
    """Whether two topics share words or paragraphs, so that they would look like one topic shown twice."""
    words = len(set(one.topic.words) & set(other.topic.words))
    wins, others = one.strengths > 0, other.strengths > 0
    both = (wins & others).sum()
    fewer = max(min(wins.sum(), others.sum()), 1)
    return bool(words >= 2 or both / fewer > 0.5)
