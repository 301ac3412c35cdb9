"""The words of topics: typical of their documents, in many of them, often together, and each topic's own.

Words are chosen one after another. A word's worth is the sum of
    how typical it is          p² log(p / p₀), p: the share of the topic's documents that hold it, p₀: of all documents
    how it fits those chosen   the mean NPMI with them
    what it adds               the share of the topic's documents that hold it and none of those chosen
less what other topics have already taken it. docs/defaults.md has the figures for each part.

A phrase and its parts are one thing to say: "tony blair" stands for "tony" and "blair" where most documents with one of
these hold the phrase, and is left out where they mostly stand alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kate.sparse_arrays import sparse
from kate.topics.coherence import N_CORE, npmi_of

__all__ = ["N_LISTED", "TopicWords", "choose_words", "distinct_names", "document_frequencies"]

N_LISTED = 30  # words kept for a topic; the first ten are chosen as a set
_CANDIDATES = 25
_FIT, _ADDS, _TAKEN = 1.0, 2.0, 0.2  # weights of the parts
_RAREST = 0.04  # a word that fewer of a topic's documents hold says little about them
_LEAST_LIFT = 1.5  # nor does one that is hardly more frequent in them than elsewhere
_LEAST_STOOD_FOR = 0.5  # share of a word's documents that hold a phrase which is listed in its place
_LEAST_ROOT = 5  # letters: "terror" and "terrorists" are one word in a name, "car" and "care" are two

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Columns = NDArray[np.int64]
Parts = Mapping[int, tuple[int, ...]]  # of phrases: the columns of their words


@dataclass(frozen=True, eq=False)
class TopicWords:
    """The words of one topic, the most telling first."""

    columns: Columns
    shares: Doubles  # of the topic's documents that hold the word
    coherence: float | None  # mean NPMI of the pairs of its first ten words; None where there are no two
    coverage: float  # share of its documents that hold one of its first ten words


def choose_words(
    present: sparse.csr_array,
    by_word: sparse.csc_array,
    topics: Columns,
    n_topics: int,
    phrases: Parts | None = None,
) -> list[TopicWords]:
    """Words for every topic, from the words of documents and the topic of each.

    ``present`` is 1 where a document holds a word (n_docs, n_words); ``by_word`` is the same by columns. ``phrases``
    tells of each column that counts a phrase which columns count its parts.
    """
    frequency = document_frequencies(present, topics, n_topics)
    totals = np.diff(by_word.indptr)
    drafts = [
        _Draft.of(by_word, frequency[topic], totals, np.flatnonzero(topics == topic), phrases or {})
        for topic in range(n_topics)
    ]
    taken = np.zeros(present.shape[1])
    for _ in range(N_CORE):
        for draft in drafts:
            draft.take_one(taken)
    return [draft.finished() for draft in drafts]


def document_frequencies(present: sparse.csr_array, topics: Columns, n_topics: int) -> Floats:
    """In how many documents of each topic a word is, (n_topics, n_words); a topic below 0 is none."""
    known = np.flatnonzero(topics >= 0)
    ones = np.ones(len(known), dtype=np.float32)
    members = sparse.csr_array((ones, (topics[known], known)), shape=(n_topics, len(topics)))
    return np.asarray((members @ present).toarray(), dtype=np.float32)


@dataclass(eq=False)
class _Draft:
    """The words of one topic while they are being chosen."""

    candidates: Columns
    worth: Doubles
    npmi: Doubles
    holds: NDArray[np.bool_]  # (n_documents of the topic, n_candidates)
    shares: Doubles
    rest: Columns
    rest_shares: Doubles
    chosen: list[int] = field(default_factory=list)
    uncovered: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.uncovered = np.ones(len(self.holds), dtype=bool)

    @classmethod
    def of(
        cls, by_word: sparse.csc_array, frequency: Floats, totals: Columns, rows: Columns, phrases: Parts
    ) -> _Draft:
        n_documents = by_word.shape[0]
        share = frequency.astype(np.float64) / max(len(rows), 1)
        lift = np.divide(share * n_documents, totals, out=np.ones(len(share)), where=totals > 0)
        held = (frequency >= min(2, len(rows))) & (share >= _RAREST)
        usable = np.flatnonzero(held & (lift >= _LEAST_LIFT))
        typical = share[usable] ** 2 * np.log(lift[usable])
        if len(rows) == n_documents:  # all documents: there are no others to be told from
            usable = np.flatnonzero(held)
            typical = share[usable]
        order = np.argsort(-typical, kind="stable")[: 2 * N_LISTED if phrases else N_LISTED]
        order = order[_said_once(by_word, rows, usable[order], phrases)][:N_LISTED]
        listed, typical = usable[order], typical[order]
        first, rest = listed[:_CANDIDATES], listed[_CANDIDATES:]
        # sparse: a word stands in few documents, and most pairs of words share none
        holds = by_word[:, first].astype(np.float32)
        npmi = npmi_of((holds.T @ holds).toarray().astype(np.float64) / n_documents)
        np.fill_diagonal(npmi, 0)
        worth = typical[:_CANDIDATES] / max(typical.max(initial=0), 1e-12)
        return cls(first, worth, npmi, holds.tocsr()[rows].toarray() > 0, share[first], rest, share[rest])

    def take_one(self, taken: Doubles) -> None:
        """Choose one more word; ``taken`` counts the topics that have each word, and is told."""
        if len(self.chosen) == len(self.candidates):
            return
        score = self.worth - _TAKEN * taken[self.candidates]
        score = score + _ADDS * self.holds[self.uncovered].sum(axis=0) / max(len(self.holds), 1)
        if self.chosen:
            score += _FIT * self.npmi[:, self.chosen].mean(axis=1)
        score[self.chosen] = -np.inf
        best = int(score.argmax())
        self.chosen.append(best)
        self.uncovered &= ~self.holds[:, best]
        taken[self.candidates[best]] += 1

    def finished(self) -> TopicWords:
        """The chosen words, then the other candidates as typical as they are."""
        others = [number for number in range(len(self.candidates)) if number not in set(self.chosen)]
        order = np.array([*self.chosen, *others], dtype=np.int64)
        core = self.npmi[np.ix_(self.chosen, self.chosen)][np.triu_indices(len(self.chosen), k=1)]
        return TopicWords(
            np.concatenate([self.candidates[order], self.rest]),
            np.concatenate([self.shares[order], self.rest_shares]),
            float(core.mean()) if len(core) else None,
            float(1 - self.uncovered.mean()) if len(self.uncovered) else 0.0,
        )


def _said_once(
    by_word: sparse.csc_array, rows: Columns, listed: Columns, phrases: Parts
) -> NDArray[np.bool_]:
    """Which of the listed words stay when a phrase does not stand beside its parts, in some documents."""
    kept, place_of = (
        np.ones(len(listed), dtype=bool),
        {word: place for place, word in enumerate(listed.tolist())},
    )
    found = [place for word, place in place_of.items() if word in phrases]
    if not found:
        return kept
    holds = by_word[:, listed].tocsr()[rows].toarray() > 0
    for place in sorted(found, key=lambda place: -int(holds[:, place].sum())):
        parts = [place_of[word] for word in phrases[int(listed[place])] if word in place_of]
        stood_for = [
            part for part in parts if kept[part] and holds[holds[:, part], place].mean() >= _LEAST_STOOD_FOR
        ]
        kept[stood_for] = False
        # where its parts mostly stand alone, or another phrase has them, it says nothing new
        kept[place] = bool(stood_for) or not parts
    return kept


def distinct_names(words: list[list[str]], numbers: list[int], taken: set[str]) -> Iterator[str]:
    """A name of two words for each topic, of more where another topic has the same two, in whatever order.

    A word that only goes on where another one ends says nothing new, and is passed over.

    >>> words = [["gold", "silver", "coin"], ["silver", "gold", "bank"], ["america", "american", "world"], []]
    >>> list(distinct_names(words, [0, 1, 2, 3], taken=set()))
    ['gold, silver', 'silver, gold, bank', 'america, world', 'topic 3']
    """
    used, sets = set(taken), set[frozenset[str]]()
    for number, listed in zip(numbers, words, strict=True):
        own = [word for place, word in enumerate(listed) if not _repeats(word, listed[:place])]
        firsts = [own[:length] for length in range(min(2, len(own)), len(own) + 1) if own]
        free = [first for first in firsts if frozenset(first) not in sets and ", ".join(first) not in used]
        if free:
            sets.add(frozenset(free[0]))
        name = ", ".join(free[0]) if free else f"topic {number}"
        used.add(name)
        yield name


def _repeats(word: str, earlier: list[str]) -> bool:
    return any(
        min(len(word), len(other)) >= _LEAST_ROOT and (word.startswith(other) or other.startswith(word))
        for other in earlier
    )
