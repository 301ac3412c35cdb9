"""Topic and Topics: what a topic is to those who read it, and a table of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, overload

import numpy as np

__all__ = ["Pole", "SortKey", "Topic", "Topics"]

Pole = Literal["+", "-"]
SortKey = Literal["neuron", "share", "coherence"]


@dataclass(frozen=True)
class Topic:
    """One pole of one neuron, described by words.

    ``share`` is the share of the training documents that it wins, ``coherence`` the NPMI of its first ten
    words in them, None where it has no two words.

    >>> Topic(17, "+", ("treaty", "peace", "nations"), share=0.12, coherence=0.31).name
    '17+'
    """

    neuron: int
    pole: Pole
    words: tuple[str, ...]
    share: float
    coherence: float | None

    @property
    def name(self) -> str:
        return f"{self.neuron}{self.pole}"

    def shortened(self, top: int) -> Topic:
        """The same topic with its first ``top`` words."""
        return replace(self, words=self.words[:top])

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "neuron": self.neuron,
            "pole": self.pole,
            "share": self.share,
            "coherence": self.coherence,
            "words": list(self.words),
        }

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Topic:
        return cls(row["neuron"], row["pole"], tuple(row["words"]), row["share"], row["coherence"])


class Topics(Sequence[Topic]):
    """Topics in a fixed order, by neuron and pole unless sorted otherwise; ``print`` shows them as a table.

    >>> peace = Topic(0, "+", ("treaty", "peace"), share=0.25, coherence=0.5)
    >>> money = Topic(0, "-", ("silver", "gold"), share=0.75, coherence=0.25)
    >>> topics = Topics([peace, money])
    >>> topics.coherence, topics.diversity
    (0.375, 1.0)
    >>> print(topics.sorted_by("share"))
    topic  share  coherence  words
    0-     75.0%      0.250  silver, gold
    0+     25.0%      0.500  treaty, peace
    """

    def __init__(self, topics: Iterable[Topic]) -> None:
        self._topics = tuple(topics)

    @overload
    def __getitem__(self, index: int) -> Topic: ...
    @overload
    def __getitem__(self, index: slice) -> Topics: ...
    def __getitem__(self, index: int | slice) -> Topic | Topics:
        return Topics(self._topics[index]) if isinstance(index, slice) else self._topics[index]

    def __len__(self) -> int:
        return len(self._topics)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Topics) and self._topics == other._topics

    def __hash__(self) -> int:
        return hash(self._topics)

    @property
    def coherence(self) -> float | None:
        """The mean over the topics that have a coherence; None where none has."""
        measured = [topic.coherence for topic in self if topic.coherence is not None]
        return float(np.mean(measured)) if measured else None

    @property
    def diversity(self) -> float | None:
        """The share of distinct words among all listed words; None where there are none."""
        words = [word for topic in self for word in topic.words]
        return len(set(words)) / len(words) if words else None

    def sorted_by(self, key: SortKey) -> Topics:
        """By neuron and pole, or by share or coherence with the highest first (and the unmeasured last)."""
        if key == "neuron":
            return Topics(sorted(self, key=lambda topic: (topic.neuron, topic.pole)))  # "+" sorts before "-"
        if key not in ("share", "coherence"):
            raise ValueError(f"cannot sort topics by {key!r}; choose neuron, share or coherence")
        values = [-np.inf if (value := getattr(topic, key)) is None else value for topic in self]
        return Topics([self[int(i)] for i in np.argsort(-np.array(values), kind="stable")])

    def shortened(self, top: int) -> Topics:
        """The same topics with their first ``top`` words."""
        return Topics([topic.shortened(top) for topic in self])

    def as_dicts(self) -> list[dict[str, Any]]:
        return [topic.as_dict() for topic in self]

    def __str__(self) -> str:
        lines = ["topic  share  coherence  words"]
        for topic in self:
            coherence = "–" if topic.coherence is None else f"{topic.coherence:.3f}"
            lines.append(
                f"{topic.name:<5} {topic.share:>6.1%} {coherence:>10}  {', '.join(topic.words) or '–'}"
            )
        return "\n".join(lines)

    __repr__ = __str__
