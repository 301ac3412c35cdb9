"""Topic: a set of documents, described by words."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from kate.notebook_html import bar, table_html

if TYPE_CHECKING:
    from kate.topics.topic_set import Topics

__all__ = ["Topic"]

_SHOWN = 10  # words in a notebook


@dataclass(frozen=True)
class Topic:
    """A set of documents that are near to one another, and the words that tell them from the others.

    Attributes
    ----------
    number : int
        stays the same when the same model is cut again, at the same number of topics or at another
    name : str
        two or three of its words, or the name that you gave it; no two topics have the same
    words : tuple[str, ...]
        the most telling first
    weights : tuple[float, ...]
        for each word the share of the topic's documents that hold it
    share : float
        of all documents
    coherence : float or None
        NPMI of the pairs of its first ten words, None where it has no two words
    coverage : float
        share of its documents that hold one of its first ten words

    Examples
    --------
    >>> import kate
    >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    >>> topic = kate.TextModel(n_components=2, max_epochs=5).fit(texts).topics(2)[0]
    >>> topic.name, topic.share, topic.words[:2]
    ('peace, treaty', 0.5, ('peace', 'treaty'))
    >>> topic.documents(texts, top=1).shape
    (1, 6)
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

    def _repr_html_(self) -> str:
        """For notebooks: its words, each with the share of its documents that hold it."""
        pairs = list(zip(self.words, self.weights, strict=True))[:_SHOWN]
        words = table_html(["word", "documents"], [[escape(word), bar(weight)] for word, weight in pairs])
        title = f"topic {self.number}: {self.name}, {self.share:.1%} of the documents"
        return f"<div><strong>{escape(title)}</strong>{words}</div>"

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
