"""Neurons → topics: each neuron has two poles, and each pole is described by the documents that it wins.

A neuron's strongest weights (the paper's way) name rare words; the words that set the documents it wins apart
from all others read far better. Both are here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, csr_matrix

from kate.models.encoder import Encoder

__all__ = [
    "N_WORDS",
    "Pole",
    "Responses",
    "Topic",
    "Topics",
    "Wins",
    "count_wins",
    "describe_by_weights",
    "describe_by_wins",
    "winning_poles",
]

N_WORDS = 30  # words kept for a topic
_N_CORE = 10  # of them, the coherent core that comes first
_BLOCK = 8192  # documents at a time

Pole = Literal["+", "-"]
SortKey = Literal["neuron", "share", "coherence"]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Columns = NDArray[np.int64]


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


class Responses(NamedTuple):
    """The mean and standard deviation of every neuron's response over the training documents."""

    mean: Floats  # (n_topics,)
    deviation: Floats  # (n_topics,)

    @classmethod
    def of(cls, encoder: Encoder, X: csr_matrix) -> Self:
        count, mean, squares = 0, np.zeros(encoder.n_topics), np.zeros(encoder.n_topics)
        for block in _blocks(X):
            responses = encoder.respond(block).astype(np.float64)
            # Moments of blocks are merged (Chan et al. 1983): squares less squared mean would lose digits.
            shift = responses.mean(axis=0) - mean
            total = count + len(responses)
            squares += responses.var(axis=0) * len(responses) + shift**2 * (count * len(responses) / total)
            mean += shift * (len(responses) / total)
            count = total
        deviation = np.sqrt(squares / max(count, 1))
        deviation[deviation <= 1e-6 * np.abs(mean)] = 0  # rounding only: the neuron says the same of all
        return cls(mean.astype(np.float32), deviation.astype(np.float32))

    def standardise(self, responses: Floats) -> Floats:
        """z-scores (n_docs, n_topics); 0 throughout for a neuron that answers all documents alike."""
        safe = np.where(self.deviation > 0, self.deviation, np.float32(np.inf))
        return np.asarray((responses - self.mean) / safe, dtype=np.float32)


class Wins(NamedTuple):
    """What the poles won of the training documents. Pole 2j is neuron j's "+", pole 2j + 1 its "-"."""

    n_documents: Columns  # (n_poles,) documents won
    strength: Doubles  # (n_poles,) the sum of their |z|
    words: Floats  # (n_poles, n_words) the sum of |z| over the won documents that hold the word


def winning_poles(z: Floats) -> tuple[Columns, Floats]:
    """For each document the poles that win it and their strengths |z|, the strongest first.

    A tenth of the neurons wins, rounded up: those whose response is furthest from their mean, on either side.

    >>> poles, strengths = winning_poles(np.array([[0.5, -2.0], [1.0, 0.0]], dtype=np.float32))
    >>> poles.tolist(), strengths.tolist()
    ([[3], [0]], [[2.0], [1.0]])
    """
    n_topics = z.shape[1]
    n_wins = -(-n_topics // 10)
    strengths = np.abs(z)
    neurons = np.argpartition(strengths, n_topics - n_wins, axis=1)[:, n_topics - n_wins :]
    neurons.sort(axis=1)  # of equal strengths the lower neuron comes first
    order = np.argsort(-np.take_along_axis(strengths, neurons, axis=1), axis=1, kind="stable")
    neurons = np.take_along_axis(neurons, order, axis=1)
    negative = np.take_along_axis(z, neurons, axis=1) < 0
    return 2 * neurons + negative, np.take_along_axis(strengths, neurons, axis=1)


def count_wins(X: csr_matrix, encoder: Encoder, responses: Responses) -> Wins:
    """Let the poles compete for every document; one without a word is won by none."""
    n_poles, n_words = 2 * encoder.n_topics, X.shape[1]
    n_documents = np.zeros(n_poles, dtype=np.int64)
    strength = np.zeros(n_poles)
    words = np.zeros((n_poles, n_words), dtype=np.float32)
    for block in _blocks(X):
        poles, strengths = winning_poles(responses.standardise(encoder.respond(block)))
        strengths[np.diff(block.indptr) == 0] = 0
        n_documents += np.bincount(poles[strengths > 0], minlength=n_poles)
        strength += np.bincount(poles.ravel(), strengths.ravel(), minlength=n_poles)
        starts = np.arange(0, poles.size + 1, poles.shape[1])
        won = csr_array((strengths.ravel(), poles.ravel(), starts), shape=(len(poles), n_poles))
        gained = (won.T @ _presence(block)).tocoo()
        words[gained.row, gained.col] += gained.data
    return Wins(n_documents, strength, words)


def describe_by_wins(X: csr_matrix, wins: Wins, readable: Sequence[str]) -> Topics:
    """Each pole by the words that set the documents it wins apart from all documents.

    A word's score is p(w | wins) · log(p(w | wins) / p(w)): frequent in what the pole wins, and more so than
    elsewhere. Of the best-scored words the ones that keep company come first, see :func:`coherent_order`.
    """
    present = csc_array(_presence(X))
    frequency = np.diff(present.indptr) / X.shape[0]
    topics = []
    for pole, share in enumerate(wins.n_documents / X.shape[0]):
        candidates = _best(_scores(wins.words[pole], wins.strength[pole], frequency))
        npmi = _pair_npmi(present, candidates)
        order = coherent_order(npmi)
        words = [readable[column] for column in candidates[order]]
        topics.append(_topic(pole, words, share, npmi[np.ix_(order, order)]))
    return Topics(topics)


def describe_by_weights(X: csr_matrix, W: Floats, wins: Wins, readable: Sequence[str]) -> Topics:
    """Each pole by its strongest weights, the paper's way: "+" by the largest, "-" by the most negative."""
    present = csc_array(_presence(X))
    topics = []
    for pole, share in enumerate(wins.n_documents / X.shape[0]):
        columns = _best(W[:, pole // 2] * (-1.0 if pole % 2 else 1.0))
        words = [readable[column] for column in columns]
        topics.append(_topic(pole, words, share, _pair_npmi(present, columns[:_N_CORE])))
    return Topics(topics)


def coherent_order(npmi: Doubles) -> Columns:
    """The order in which candidate words, given best first, describe a topic: its core, then the others.

    The word with the lowest sum of NPMI to the others is dropped until ten remain. These ten come first, as
    they are ranked, then the dropped ones, the last dropped first. In documents that had no part in
    choosing them, such words keep together better than the best-ranked ten (docs/defaults.md has the figures).
    """
    remaining, dropped = np.arange(len(npmi)), []
    while len(remaining) > _N_CORE:
        fits = npmi[np.ix_(remaining, remaining)].sum(axis=1)
        loser = len(fits) - 1 - int(np.argmin(fits[::-1]))  # of equals the one that is ranked lower goes
        dropped.append(remaining[loser])
        remaining = np.delete(remaining, loser)
    return np.array([*remaining, *dropped[::-1]], dtype=np.int64)


def _scores(mass: Floats, strength: float, frequency: Doubles) -> Doubles:
    share = mass / strength if strength > 0 else np.zeros(len(mass))
    lift = np.divide(share, frequency, out=np.ones(len(mass)), where=(share > 0) & (frequency > 0))
    return np.asarray(share * np.log(lift), dtype=np.float64)


def _best(scores: NDArray[np.floating[Any]]) -> Columns:
    """Columns of the highest scores above 0, best first; of equals the lower column (the frequenter word)."""
    columns = np.flatnonzero(scores > 0)
    if len(columns) > N_WORDS:
        least = np.partition(scores[columns], -N_WORDS)[-N_WORDS]
        columns = columns[scores[columns] >= least]
    return columns[np.argsort(-scores[columns], kind="stable")[:N_WORDS]]


def _pair_npmi(present: csc_array, words: Columns) -> Doubles:
    """Document NPMI of any two words: -1 if they never meet, 0 if both are everywhere or it is one word."""
    occurs, n_documents = present[:, words], present.shape[0]
    joint = (occurs.T @ occurs).toarray().astype(np.float64) / n_documents
    single = joint.diagonal()
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(joint / np.outer(single, single)) / -np.log(joint)
    npmi[joint == 0] = -1
    npmi[joint == 1] = 0
    np.fill_diagonal(npmi, 0)
    return np.asarray(npmi)


def _topic(pole: int, words: Sequence[str], share: float, npmi: Doubles) -> Topic:
    """A topic whose coherence is the mean NPMI of the pairs of its first words."""
    pairs = np.triu_indices(min(len(npmi), _N_CORE), k=1)
    coherence = float(npmi[pairs].mean()) if len(pairs[0]) else None
    return Topic(pole // 2, "-" if pole % 2 else "+", tuple(words), float(share), coherence)


def _presence(X: csr_matrix) -> csr_array:
    """1 where a document holds a word."""
    return csr_array(((X.data > 0).astype(np.float32), X.indices, X.indptr), shape=X.shape)


def _blocks(X: csr_matrix) -> Iterator[csr_matrix]:
    for start in range(0, X.shape[0], _BLOCK):
        yield X[start : start + _BLOCK]
