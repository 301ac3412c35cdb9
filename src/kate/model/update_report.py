"""What an update changed: documents, words, topics, vectors. For people and, as JSON, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["MovedTopic", "UpdateReport"]

_SHOWN = 8  # words
_MOVED = 0.01  # a share that changed by less did not move


@dataclass(frozen=True)
class MovedTopic:
    """A topic before and after.

    before, after : its share of the documents seen; None where it was not there
    of_new : its share of the new documents
    """

    number: int
    name: str
    before: float | None
    after: float | None
    of_new: float

    @property
    def is_new(self) -> bool:
        return self.before is None

    @property
    def vanished(self) -> bool:
        return self.after is None

    @property
    def moved(self) -> bool:
        """Whether it is new, has vanished, or its share changed by one in a hundred or more."""
        return self.before is None or self.after is None or abs(self.after - self.before) >= _MOVED


@dataclass(frozen=True)
class UpdateReport:
    """The report of ``TextModel.update``; ``print`` shows it, ``as_dict`` is for JSON.

    Attributes
    ----------
    n_new, n_documents : int
        the new documents; all that were seen
    n_unknown : int
        new documents that have no word of the vocabulary
    entered, faded : tuple[str, ...]
        words that got a column, and that lost theirs, the most frequent first
    n_words : int
        that have a column now
    topics : tuple[MovedTopic, ...]
        all of them, by number; those that vanished too
    cosine : float
        of the vectors of documents seen before, with what they are now, on average
    neighbours_kept : float
        share of their ten nearest documents that are still among the ten nearest
    seconds : float
        how long it took

    Examples
    --------
    >>> import kate
    >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    >>> report = kate.TextModel(2).fit(texts).update(["a treaty about gold", "gold and peace", "a new coin"])
    >>> report.n_new, report.n_documents, report.entered
    (3, 23, ('new',))
    """

    n_new: int
    n_documents: int
    n_unknown: int
    entered: tuple[str, ...]
    faded: tuple[str, ...]
    n_words: int
    topics: tuple[MovedTopic, ...]
    cosine: float
    neighbours_kept: float
    seconds: float

    @property
    def new_topics(self) -> list[MovedTopic]:
        return [topic for topic in self.topics if topic.is_new]

    @property
    def vanished_topics(self) -> list[MovedTopic]:
        return [topic for topic in self.topics if topic.vanished]

    @property
    def moved_topics(self) -> list[MovedTopic]:
        """Those whose share changed most first; new ones and those that vanished among them."""
        moved = [topic for topic in self.topics if topic.moved]
        return sorted(moved, key=lambda topic: -abs((topic.after or 0.0) - (topic.before or 0.0)))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {
            "entered": list(self.entered),
            "faded": list(self.faded),
            "topics": [asdict(topic) | {"is_new": topic.is_new} for topic in self.topics],
        }

    def lines(self) -> list[str]:
        n_kept = sum(not (topic.is_new or topic.vanished) for topic in self.topics)
        unknown = f", {self.n_unknown:,} of them without a known word" if self.n_unknown else ""
        lines = [
            f"documents  {self.n_new:,} new{unknown}; {self.n_documents:,} seen",
            f"words      {self.n_words:,}; {_listed('entered', self.entered)}; {_listed('faded', self.faded)}",
            f"topics     {n_kept} kept, {len(self.new_topics)} new, {len(self.vanished_topics)} vanished",
        ]
        for topic in self.moved_topics:
            before, after = _percent(topic.before), _percent(topic.after)
            lines.append(f"{topic.number:>9}  {before:>6} → {after:>6}  {topic.name}")
        lines.append(
            f"vectors    cosine of old and new {self.cosine:.2f}, {self.neighbours_kept:.0%} of nearest documents "
            "kept; vectors\n           and indexes made before do not go with these: make them anew"
        )
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _listed(what: str, words: Sequence[str]) -> str:
    if not words:
        return f"none {what}"
    shown = ", ".join(words[:3])
    return f"{len(words):,} {what} ({shown}{', …' if len(words) > 3 else ''})"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
