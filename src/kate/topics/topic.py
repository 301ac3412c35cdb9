"""Topic: a set of documents, described by words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kate.topics.topic_set import Topics

__all__ = ["Topic"]


@dataclass(frozen=True)
class Topic:
    """A set of documents that are near to one another, and the words that tell them from the others.

    number : stays the same when the same model is cut again, at the same number of topics or at another
    name : two or three of its words, or the name that you gave it; no two topics have the same
    words : the most telling first
    weights : for each word the share of the topic's documents that hold it
    share : of all documents
    coherence : NPMI of the pairs of its first ten words, None where it has no two words
    coverage : share of its documents that hold one of its first ten words
    """

    number: int
    name: str
    words: tuple[str, ...]
    weights: tuple[float, ...]
    share: float
    coherence: float | None
    coverage: float
    _topics: Topics | None = field(default=None, repr=False, compare=False)

    def documents(self, corpus: Any, top: int = 10, *, text: str | None = None) -> Any:
        """The documents of a corpus that belong to this topic, the most typical ones first: at most ``top``.

        All columns of the corpus, with ``topic_share`` (how surely it belongs here: the order of the rows) and
        ``centrality`` (the cosine to the middle of the topic). A pandas frame comes back as one, anything else as a
        Polars frame; ``text`` names the column of the text where its name does not tell.
        """
        if self._topics is None:
            raise ValueError("this topic stands alone; take it from model.topics()")
        return self._topics.documents(self.number, corpus, top, text=text)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "topic": self.number,
            "name": self.name,
            "share": self.share,
            "coherence": self.coherence,
            "coverage": self.coverage,
            "words": list(self.words),
            "weights": list(self.weights),
        }
