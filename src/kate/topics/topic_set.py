"""Topics: the topics of one cut, as a table; what they say about documents; and how a user changes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.errors import quoted
from kate.notebook_html import bar, table_html
from kate.sparse_arrays import sparse
from kate.text.documents import Documents
from kate.text.frames import as_documents, given_columns, in_kind, with_added
from kate.topics.coherence import N_CORE
from kate.topics.over_time import OverTime, topics_over
from kate.topics.periods import column_of, find_periods
from kate.topics.topic import Topic
from kate.topics.topic_cut import TopicCut
from kate.topics.topic_edits import TopicEdit, TopicEdits, require_topics, topic_number
from kate.topics.topic_space import TopicSpace

__all__ = ["ReadCorpus", "Reader", "SortKey", "Topics"]

SortKey = Literal["topic", "share", "coherence", "coverage"]
Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


class ReadCorpus(NamedTuple):
    """Documents as topics need them."""

    vectors: Floats  # of length 1; of a document without a known word: 0
    counts: sparse.csr_matrix  # (n_docs, n_words)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether a document has a word that the model knows."""
        return np.asarray(np.diff(self.counts.indptr) > 0)


Reader = Callable[[Documents], ReadCorpus]
"""What the model does for its topics."""


class Topics:
    """The topics of a model, by their numbers: ``topics[3]`` is topic 3.

    ``print`` shows them as a table, the largest first; ``reason`` says why there are so many, where no number was asked
    for. Changes (``rename``, ``merge``, ``split``, ``drop``, ``undo``) are those of the model: it answers with the
    changed topics from then on, and ``save`` keeps them.

    >>> from kate import TextModel
    >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    >>> topics = TextModel(n_components=2, random_state=0).fit(texts).topics(2)
    >>> [topic.name for topic in topics]
    ['peace, treaty', 'gold, silver']
    >>> topics.rename(1, "money")[1].name
    'money'
    >>> topics.label(["a coin of gold"])["topic_name"].to_list()
    ['money']
    """

    def __init__(
        self, space: TopicSpace, read: Reader, n_topics: int | None, *, changed: bool = True
    ) -> None:
        """Use ``model.topics(n)``; without ``changed`` the topics are as the tree has them, with the names that fit."""
        self._space, self._read = space, read
        self._make(n_topics, changed)

    def _make(self, n_topics: int | None, changed: bool = True) -> None:
        edited, suggestion = self._space.current(n_topics, changed)
        self._cut = edited.cut
        self.reason = None if suggestion is None else suggestion.reason
        self._topics = {topic.number: replace(topic, _topics=self) for topic in self._space.describe(edited)}

    def __getitem__(self, number: int) -> Topic:
        return self._topics[self._present(number)]

    def _present(self, number: Any) -> int:
        found = topic_number(number)
        require_topics([found], self.numbers)
        return found

    def __iter__(self) -> Iterator[Topic]:
        """By number."""
        return iter(self._topics.values())

    def __len__(self) -> int:
        return len(self._topics)

    def __contains__(self, number: object) -> bool:
        return number in self._topics

    @property
    def numbers(self) -> list[int]:
        return list(self._topics)

    @property
    def cut(self) -> TopicCut:
        """The centres of the topics, and how documents belong to them."""
        return self._cut

    @property
    def coherence(self) -> float | None:
        """The mean over the topics that have a coherence; None where none has."""
        measured = [topic.coherence for topic in self if topic.coherence is not None]
        return float(np.mean(measured)) if measured else None

    @property
    def coverage(self) -> float:
        """The share of documents that hold one of the first ten words of their topic."""
        return float(sum(topic.share * topic.coverage for topic in self))

    @property
    def diversity(self) -> float | None:
        """The share of distinct words among the first ten of all topics; None where there are none."""
        words = [word for topic in self for word in topic.words[:N_CORE]]
        return len(set(words)) / len(words) if words else None

    def sorted_by(self, key: SortKey) -> list[Topic]:
        """By number ("topic"), or by share, coherence or coverage with the highest first."""
        if key == "topic":
            return list(self)
        if key not in ("share", "coherence", "coverage"):
            raise ValueError(
                f"cannot sort topics by {quoted(key)}; choose topic, share, coherence or coverage"
            )
        return sorted(self, key=lambda topic: np.inf if (value := getattr(topic, key)) is None else -value)

    def to_frame(self, top: int = 10) -> pl.DataFrame:
        """One row per topic, the largest first: topic, name, share, coherence, coverage, words, weights."""
        rows = [topic.as_dict() for topic in self.sorted_by("share")]
        for row in rows:
            row["words"], row["weights"] = row["words"][:top], row["weights"][:top]
        schema: dict[str, Any] = {"topic": pl.Int64, "name": pl.String}
        schema |= dict.fromkeys(("share", "coherence", "coverage"), pl.Float64)
        schema |= {"words": pl.List(pl.String), "weights": pl.List(pl.Float64)}
        return pl.DataFrame(rows, schema=schema)

    def shares(self, corpus: Any, *, text: str | None = None) -> Floats:
        """How much each document belongs to each topic (n_docs, n_topics), by number; rows sum to 1.

        A document without a known word belongs to none: its row is zeros.
        """
        return self._shares(self._read(as_documents(corpus, text)))

    def label(self, corpus: Any, *, text: str | None = None) -> Any:
        """The columns of the corpus and ``topic``, ``topic_name``, ``topic_share``; null where no word is known.

        A pandas frame comes back as one, anything else as a Polars frame. A column of the corpus that has one of these
        names already is kept under another, with a warning.
        """
        documents = as_documents(corpus, text)
        read = self._read(documents)
        return with_added(corpus, documents, self.label_columns(read.vectors, read.known))

    def over(
        self, corpus: Any, by: str = "date", every: str | None = None, *, text: str | None = None
    ) -> Any:
        """The topics through time, or by group: one row per period and topic.

        Parameters
        ----------
        by : str, default 'date'
            a column of dates (also as text: 1999-03-01, 1999-03, 1 March 1999, 1999; whole numbers that look like
            years), or any other, whose values are groups
        every : str, optional
            the length of a period: "day", "week", "month", "quarter", "year", "decade"; None takes one that suits
            the dates

        Notes
        -----
        Columns: ``period`` (its first day; for groups ``group``, the value), ``topic``, ``topic_name``, ``documents``,
        ``share`` (of the period's documents that have a topic) and ``words``: those of the topic that are more frequent
        in this period than in the topic as a whole. Periods without documents are there, too; their shares are null.

        Examples
        --------
        >>> from kate import TextModel
        >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
        >>> topics = TextModel(n_components=2, random_state=0).fit(texts).topics(2)
        >>> frame = pl.DataFrame({"text": texts[:3], "year": [1801, 1801, 1803]})
        >>> topics.over(frame, by="year").select("period", "topic", "documents").rows()[0]
        (datetime.date(1801, 1, 1), 0, 2)
        """
        return in_kind(corpus, self.over_time(corpus, by, every, text=text).frame)

    def over_time(
        self, corpus: Any, by: str = "date", every: str | None = None, *, text: str | None = None
    ) -> OverTime:
        """What :meth:`over` gives, with the length of its periods."""
        documents = as_documents(corpus, text)
        column = column_of(by, [given_columns(corpus, documents), documents.frame])
        periods = find_periods(column, every, documents.frame["id"])
        read = self._read(documents)
        places = np.where(read.known, self._cut.nearest(read.vectors), -1)
        return topics_over(periods, list(self), places, read.counts, self._space.readable)

    def label_columns(self, vectors: Floats, known: NDArray[np.bool_]) -> list[pl.Series]:
        """Topic, its name and its share, of documents by their unit vectors; null where no word is ``known``."""
        places = self._cut.nearest(vectors)
        strongest = np.take_along_axis(self._cut.shares(vectors), places[:, None], axis=1)[:, 0]
        names, unknown = [topic.name for topic in self], pl.Series(~known)
        return [
            _masked("topic", self._cut.topics[places], unknown, pl.Int64),
            _masked("topic_name", [names[place] for place in places], unknown, pl.String),
            _masked("topic_share", strongest.astype(np.float64), unknown, pl.Float64),
        ]

    def documents(self, number: int, corpus: Any, top: int = 10, *, text: str | None = None) -> Any:
        """The documents of a topic, the most typical first; see :meth:`Topic.documents`."""
        if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
            raise ValueError(f"top is {quoted(top)}; expected a whole number, one document at least")
        number = self._present(number)
        documents = as_documents(corpus, text)
        read = self._read(documents)
        place = int(np.searchsorted(self._cut.topics, number))
        own = np.flatnonzero(read.known & (self._cut.nearest(read.vectors) == place))
        centres = self._cut.centres[self._cut.numbers == number]
        centrality = (read.vectors[own] @ centres.T).max(axis=1, initial=-1)
        share = self._shares(read)[own, place]
        order = np.lexsort((-centrality, -share.round(3)))[:top]
        added = [
            pl.Series("topic_share", share[order].astype(np.float64)),
            pl.Series("centrality", centrality[order].astype(np.float64)),
        ]
        return with_added(corpus, documents, added, own[order].tolist())

    def rename(self, number: int, name: str) -> Self:
        """Give a topic a name of your own."""
        number = self._present(number)
        if not isinstance(name, str):
            raise ValueError(f"{quoted(name)} cannot be the name of a topic; give it a word or two")
        others = [topic.number for topic in self if topic.name == name.strip() and topic.number != number]
        if others:
            raise ValueError(
                f"topic {others[0]} is named {quoted(name.strip())} already; choose another name, or merge the two"
            )
        return self._change("rename", (number,), name)

    def merge(self, *numbers: int) -> Self:
        """Make one topic of several; it has the number, and the name if you gave it one, of the first."""
        return self._change("merge", numbers)

    def split(self, number: int) -> Self:
        """Make two topics of one: the larger half keeps the number, the other gets a new one."""
        return self._change("split", (number,))

    def drop(self, number: int) -> Self:
        """Leave a topic out; its documents go to the topics that are nearest to them then."""
        return self._change("drop", (number,))

    def undo(self) -> Self:
        """Take the last change back."""
        return self._use((self._space.edits or TopicEdits(self._cut.n_base)).undone())

    def apply(self, edits: Any) -> Self:
        """Make the changes that ``edits()`` gave (or a file of that form) instead of those made so far."""
        return self._use(TopicEdits.from_dict(edits))

    def edits(self) -> dict[str, Any]:
        """The changes as JSON can hold them: {"n_topics": 20, "edits": [{"kind": "rename", …}]}."""
        return (self._space.edits or TopicEdits(self._cut.n_base)).as_dict()

    def _change(self, kind: str, numbers: tuple[Any, ...], name: str | None = None) -> Self:
        edit, edits = TopicEdit(kind, tuple(map(topic_number, numbers)), name), self._space.edits
        if edits is not None and edits.n_topics != self._cut.n_base:
            raise ValueError(
                f"the topics of this model were changed in a cut at {edits.n_topics} topics, and these are another "
                f"cut, at {self._cut.n_base}: ask for topics without a number and change those, or undo the changes "
                "first"
            )
        return self._use((edits or TopicEdits(self._cut.n_base)).and_then(edit))

    def _use(self, edits: TopicEdits) -> Self:
        """Take over changes, if they can be made."""
        self._space.require_changes(edits)
        self._space.edits = edits if edits.steps else None
        self._make(edits.n_topics)
        return self

    def _shares(self, read: ReadCorpus) -> Floats:
        shares = self._cut.shares(read.vectors)
        shares[~read.known] = 0
        return shares

    def __str__(self) -> str:
        width = max([len("name"), *(min(len(topic.name), 40) for topic in self)])
        lines = [f"topic  share  coherence  {'name':<{width}}  words"]
        for topic in self.sorted_by("share"):
            coherence = "–" if topic.coherence is None else f"{topic.coherence:.3f}"
            words = ", ".join(topic.words[:N_CORE]) or "–"
            lines.append(
                f"{topic.number:>5} {topic.share:>6.1%} {coherence:>10}  {topic.name[:40]:<{width}}  {words}"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows = [
            [str(topic.number), escape(topic.name), bar(topic.share), escape(", ".join(topic.words[:N_CORE]))]
            for topic in self.sorted_by("share")
        ]
        return table_html(["topic", "name", "share", "words"], rows)


def _masked(name: str, values: Any, unknown: pl.Series, kind: Any) -> pl.Series:
    return pl.Series(name, values, dtype=kind).set(unknown, None)
