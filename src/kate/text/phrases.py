"""Phrases: neighbouring words that occur together far more often than by chance, such as "new york".

A phrase is a word of its own beside its parts. It is written with a space, which no other word has: so a saved
vocabulary needs no list of phrases. Between its parts there is no other word, no stop word and no punctuation.

Phrases are not on by default, because nothing speaks for a gain: on held-out training documents (KATE(128), mean of two
seeds) BBC has a probe of .985 with and without them and P@1 % .956 instead of .952, movie reviews (in four classes by
rating) .587 instead of .600 and .371 instead of .386. Differences of this size are within the noise of one split.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from kate.sparse_arrays import sparse

__all__ = ["Neighbours", "PhraseBook", "Phrases", "find_phrases", "phrase_parts"]

Codes = npt.NDArray[np.int32]
Keys = npt.NDArray[np.int64]

# How much more often than by chance, from -1 to 1, and how often at all.
THRESHOLD = 0.5
FEWEST = 10


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The first and the last word of each chunk, as codes; -1 for a chunk without words, which ends a phrase."""

    first: Codes
    last: Codes

    @classmethod
    def of(cls, chunks: npt.NDArray[np.integer], codes: Codes, n_chunks: int) -> Neighbours:
        """From pairs (chunk, code of a word); the pairs of a chunk are in the order of its words.

        >>> Neighbours.of(np.array([0, 2, 2]), np.array([5, 6, 7], np.int32), 3).last.tolist()
        [5, -1, 7]
        """
        first, last = np.full(n_chunks, -1, dtype=np.int32), np.full(n_chunks, -1, dtype=np.int32)
        last[chunks] = codes
        first[chunks[::-1]] = codes[::-1]
        return cls(first, last)

    def pairs(
        self, codes: Codes, starts: npt.NDArray[np.int64]
    ) -> tuple[Codes, Codes, npt.NDArray[np.int64]]:
        """Neighbouring words (left, right) of documents of chunks, and where the left one stands."""
        left, right = self.last[codes[:-1]], self.first[codes[1:]]
        together = (left >= 0) & (right >= 0)
        # the last chunk of a document has no neighbour
        ends = starts[1:-1] - 1
        together[ends[(ends >= 0) & (ends < len(together))]] = False
        places = np.flatnonzero(together)
        return left[places], right[places], places


def find_phrases(
    pairs: Sequence[tuple[Codes, Codes]], totals: npt.NDArray[np.int64], fewest: int = FEWEST
) -> tuple[Codes, Codes, npt.NDArray[np.int64]]:
    """(left, right, occurrences) of the phrases among neighbouring words, by their NPMI.

    ``totals`` are the occurrences of each word.

    >>> rare = (np.array([0, 0, 0, 2], np.int32), np.array([1, 1, 1, 0], np.int32))
    >>> [part.tolist() for part in find_phrases([rare], np.array([4, 3, 90]), fewest=2)]
    [[0], [1], [3]]
    """
    often = totals >= fewest
    keys = np.concatenate(
        [np.zeros(0, np.int64), *(_keys(*_where(often, *pair), len(totals)) for pair in pairs)]
    )
    keys.sort()
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
    counts = np.diff(np.concatenate([first, [len(keys)]]))
    found, counts = keys[first][counts >= fewest], counts[counts >= fewest]
    left, right = np.divmod(found, max(1, len(totals)))
    n_words = max(2, int(totals.sum()))
    together = np.log(counts / n_words)
    npmi = (together - np.log(totals[left] / n_words) - np.log(totals[right] / n_words)) / -together
    kept = (npmi >= THRESHOLD) & (left != right)
    return left[kept].astype(np.int32), right[kept].astype(np.int32), counts[kept]


def phrase_parts(words: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """For the column of each phrase among the words of a vocabulary, the columns of its parts.

    >>> phrase_parts(["new york", "york", "new", "times"])
    {0: (2, 1)}
    """
    phrases = {column: word.split(" ") for column, word in enumerate(words) if " " in word}
    columns = {word: column for column, word in enumerate(words)} if phrases else {}
    return {
        column: tuple(columns[part] for part in parts if part in columns) for column, parts in phrases.items()
    }


def _where(often: npt.NDArray[np.bool_], left: Codes, right: Codes) -> tuple[Codes, Codes]:
    both = often[left] & often[right]
    return left[both], right[both]


def _keys(left: Codes, right: Codes, n_words: int) -> Keys:
    return left.astype(np.int64) * n_words + right


@dataclass(frozen=True, eq=False)
class Phrases:
    """Phrases that have a column: finds them in documents of chunks.

    ``keys`` (sorted) are pairs of codes of words, as one number: ``left * n_codes + right``.
    """

    keys: Keys
    columns: Codes
    n_codes: int
    n_words: int
    neighbours: Neighbours

    @classmethod
    def of_codes(
        cls, left: Codes, right: Codes, columns: Codes, neighbours: Neighbours, n_codes: int, n_words: int
    ) -> Phrases:
        """Pairs of codes with their columns; a column of -1 is none."""
        known = columns >= 0
        keys = _keys(left[known], right[known], n_codes)
        order = np.argsort(keys)
        return cls(keys[order], columns[known][order], n_codes, n_words, neighbours)

    def places(self, codes: Codes, starts: npt.NDArray[np.int64]) -> tuple[Codes, npt.NDArray[np.int64]]:
        """The column of each phrase in documents of chunks, and where its first word stands."""
        if len(self.keys) == 0 or len(codes) == 0:
            return np.zeros(0, np.int32), np.zeros(0, np.int64)
        left, right, places = self.neighbours.pairs(codes, starts)
        keys = _keys(left, right, self.n_codes)
        where = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = self.keys[where] == keys
        return self.columns[where[known]], places[known]

    def count(self, codes: Codes, starts: npt.NDArray[np.int64]) -> sparse.csr_array:
        """How often each document has each phrase (n_docs, n_words)."""
        columns, places = self.places(codes, starts)
        rows = np.searchsorted(starts, places, side="right") - 1
        ones = np.ones(len(rows), dtype=np.int32)
        shape = (len(starts) - 1, self.n_words)
        return sparse.csr_array((ones, (rows.astype(np.int32), columns)), shape=shape)


@dataclass(frozen=True, eq=False)
class PhraseBook:
    """The phrases of a vocabulary. ``parts`` numbers the stems that they are made of.

    >>> book = PhraseBook.of(["new", "york", "new york"])
    >>> book.parts, book.columns.tolist()
    ({'new': 0, 'york': 1}, [2])
    """

    parts: Mapping[str, int]
    left: Codes
    right: Codes
    columns: Codes
    n_words: int

    @classmethod
    def of(cls, words: Sequence[str]) -> PhraseBook:
        """Those among the words: they have a space."""
        split = ((column, word.partition(" ")) for column, word in enumerate(words))
        found = [(column, left, right) for column, (left, space, right) in split if space]
        stems = dict.fromkeys(stem for _, left, right in found for stem in (left, right))
        parts = {stem: number for number, stem in enumerate(stems)}
        rows = np.array(
            [(parts[left], parts[right], column) for column, left, right in found], dtype=np.int32
        )
        lefts, rights, columns = rows.reshape(-1, 3).T
        return cls(parts, lefts, rights, columns, len(words))

    def __len__(self) -> int:
        return len(self.columns)

    def phrases(self, resolved: pl.DataFrame, n_chunks: int) -> Phrases:
        """What finds them among chunks; ``resolved`` as the tokenizer gives it."""
        number_of = self.parts.get
        # a word that is no part of a phrase has no number, and ends one like punctuation does
        numbers = np.array([number_of(stem, -1) for stem in resolved["stem"].to_list()], dtype=np.int32)
        neighbours = Neighbours.of(resolved["chunk"].to_numpy(), numbers, n_chunks)
        return Phrases.of_codes(
            self.left, self.right, self.columns, neighbours, max(1, len(self.parts)), self.n_words
        )
