"""Vocabulary: the words that have a column, and texts → counts of them.

Plain NumPy, SciPy and Polars: a fitted model counts a query without importing scikit-learn.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from kate.text.reading import Reading, meaning_matrix, meaning_order, stack
from kate.text.sequences import Sequences
from kate.text.slices import encode
from kate.text.tokenizer import Tokenizer

__all__ = ["Vocabulary"]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words in the order of their columns: the most frequent first, ties in the order of the alphabet.

    Attributes
    ----------
    words : the stems that are counted.
    readable : for each stem the word that stands for it most often: "company" for "compani".
    document_frequencies, totals : documents of the training set with the word, and its occurrences in them.
    n_documents : the size of that training set.
    tokens : how texts become words.

    >>> vocabulary, counts = Vocabulary.learn(["Two companies merged.", "The company and the merger"])
    >>> vocabulary.words, vocabulary.readable
    (['compani', 'merg', 'merger', 'two'], ['companies', 'merged', 'merger', 'two'])
    >>> vocabulary.count(["Company, company!"]).toarray()
    array([[2, 0, 0, 0]], dtype=int32)
    """

    words: list[str]
    readable: list[str]
    document_frequencies: npt.NDArray[np.int64]
    totals: npt.NDArray[np.int64]
    n_documents: int
    tokens: Tokenizer = field(default_factory=Tokenizer)

    @classmethod
    def learn(
        cls,
        texts: Iterable[str],
        tokens: Tokenizer | None = None,
        vocabulary_size: int | None = 20_000,
        min_df: int | float = 1,
        n_jobs: int | None = None,
    ) -> tuple[Vocabulary, sparse.csr_array]:
        """The vocabulary of texts and their counts (n_docs, n_words), in one pass over the texts.

        vocabulary_size : keep the most frequent words; None keeps all.
        min_df : leave out words in fewer documents than this (an int), or than this share of them (a float).
        """
        if vocabulary_size is not None and vocabulary_size < 1:
            raise ValueError(f"vocabulary_size is {vocabulary_size}; give a number of words, or None for all")
        tokens = tokens or Tokenizer()
        reading = Reading.of(texts, tokens, n_jobs)
        if reading.n_documents == 0:
            raise ValueError("no documents to learn a vocabulary from; pass at least one text")
        fewest = _documents_needed(min_df, reading.n_documents)
        meanings = tokens.resolve(reading.chunks)
        chunks = meanings["chunk"].to_numpy()
        occurrences = reading.occurrences()[chunks]
        codes, stems = encode(meanings["stem"])
        totals = np.bincount(codes, occurrences, len(stems)).astype(np.int64)
        # When no word can fall out for being rare, the rest need not be counted.
        order = _frequent_first(stems, totals, vocabulary_size if fewest == 1 else None)

        columns = _positions(order, len(stems))[codes]
        counts = reading.count(meaning_matrix(chunks, columns, (len(reading.chunks), len(order))), n_jobs)
        frequencies = np.bincount(counts.indices, minlength=len(order))
        kept = np.flatnonzero(frequencies >= fewest)[:vocabulary_size]
        if len(kept) == 0:
            raise ValueError(_nothing_left(reading.n_documents, len(stems), fewest, tokens))
        if len(kept) < len(order):
            counts = stack([counts[:, kept]], len(kept))
            columns = _positions(order[kept], len(stems))[codes]
        vocabulary = cls(
            words=stems.gather(order[kept]).to_list(),
            readable=_readable(meanings["word"], columns, occurrences),
            document_frequencies=frequencies[kept],
            totals=totals[order[kept]],
            n_documents=reading.n_documents,
            tokens=tokens,
        )
        return vocabulary, counts

    def count(self, texts: Iterable[str], n_jobs: int | None = None) -> sparse.csr_array:
        """Counts (n_docs, n_words), int32, columns sorted; words without a column are passed over."""

        def count_batch(reading: Reading) -> sparse.csr_array:
            return reading.count(meaning_matrix(*self._meanings(reading)), n_jobs)

        return stack(map(count_batch, Reading.batches(texts, self.tokens, n_jobs)), len(self))

    def sequences(self, texts: Iterable[str], n_jobs: int | None = None) -> Sequences:
        """The words of texts in their order, as columns; words without a column are passed over.

        >>> vocabulary, _ = Vocabulary.learn(["companies and offices"])
        >>> vocabulary.sequences(["The office of the company, a new office", ""])[0]
        array([1, 0, 1], dtype=int32)
        """
        batches = Reading.batches(texts, self.tokens, n_jobs)
        parts = [reading.sequences(meaning_order(*self._meanings(reading))) for reading in batches]
        return Sequences.concatenate(parts, len(self))

    def _meanings(
        self, reading: Reading
    ) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.int32], tuple[int, int]]:
        """Pairs (chunk, column), a column of -1 for a word that has none, and the shape of all such pairs."""
        meanings = self.tokens.resolve(reading.chunks)
        column_of = self.columns.get
        columns = np.array([column_of(stem, -1) for stem in meanings["stem"].to_list()], dtype=np.int32)
        return meanings["chunk"].to_numpy(), columns, (len(reading.chunks), len(self))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def columns(self) -> dict[str, int]:
        """Column of each stem."""
        return {word: column for column, word in enumerate(self.words)}

    def find(self, word: str) -> int | None:
        """The column that counts a word, given as people write it or as its stem; None when there is none.

        >>> vocabulary, _ = Vocabulary.learn(["companies and offices"])
        >>> vocabulary.find("Company"), vocabulary.find("compani"), vocabulary.find("zebra")
        (0, 0, None)
        """
        stems = self.tokens.words(word)
        if len(stems) == 1 and stems[0] in self.columns:
            return self.columns[stems[0]]
        folded = self.tokens.fold(pl.Series([word.strip()], dtype=pl.String))[0]
        return self.columns.get(folded)

    def suggest(self, word: str, n: int = 5) -> list[str]:
        """Words of the vocabulary spelled like this one, the closest first: for "did you mean …?".

        >>> vocabulary, _ = Vocabulary.learn(["companies and offices"])
        >>> vocabulary.suggest("compnies")
        ['companies']
        """
        return difflib.get_close_matches(word.strip().lower(), self.readable, n)

    def to_lines(self) -> Iterator[str]:
        """A line a word: stem, readable form, document frequency, occurrences, separated by tabs.

        >>> vocabulary, _ = Vocabulary.learn(["companies and offices"])
        >>> list(vocabulary.to_lines())
        ['compani\\tcompanies\\t1\\t1', 'offic\\toffices\\t1\\t1']
        """
        for word, readable, frequency, total in zip(
            self.words, self.readable, self.document_frequencies, self.totals, strict=True
        ):
            yield f"{word}\t{readable}\t{frequency}\t{total}"

    def config(self) -> dict[str, Any]:
        """What the lines do not hold, as JSON can hold it."""
        return {"n_documents": self.n_documents, "tokens": self.tokens.config()}

    @classmethod
    def from_lines(cls, lines: Iterable[str], config: Mapping[str, Any]) -> Vocabulary:
        """The vocabulary that ``to_lines`` and ``config`` came from.

        >>> vocabulary, _ = Vocabulary.learn(["companies and offices"])
        >>> Vocabulary.from_lines(vocabulary.to_lines(), vocabulary.config()).words
        ['compani', 'offic']
        """
        rows: list[Sequence[str]] = []
        for number, line in enumerate(lines, 1):
            row = line.rstrip("\r\n").split("\t")
            if len(row) != 4 or not (row[2].isdecimal() and row[3].isdecimal()):
                raise ValueError(
                    f"vocabulary, line {number}: expected stem, readable form, document frequency and count "
                    f"separated by tabs, found {line[:60]!r}; the file is damaged, save the model again"
                )
            rows.append(row)
        words, readable, frequencies, totals = zip(*rows, strict=True) if rows else ((), (), (), ())
        return cls(
            list(words),
            list(readable),
            np.array(frequencies, dtype=np.int64),
            np.array(totals, dtype=np.int64),
            int(config["n_documents"]),
            Tokenizer.from_config(config["tokens"]),
        )


def _documents_needed(min_df: int | float, n_documents: int) -> int:
    if isinstance(min_df, float) and 0 <= min_df <= 1:
        # 0.07 * 100 is 7.000000000000001: a share that is whole must not be rounded up
        return max(1, ceil(round(min_df * n_documents, 9)))
    if isinstance(min_df, int | np.integer) and min_df >= 1:
        return int(min_df)
    raise ValueError(
        f"min_df is {min_df!r}; give a number of documents (int from 1 on) or a share (float, 0 to 1)"
    )


def _frequent_first(
    stems: pl.Series, totals: npt.NDArray[np.int64], most: int | None
) -> npt.NDArray[np.int64]:
    """The codes of the stems in the order of their columns, at most so many."""
    codes = np.arange(len(stems))
    if most is not None and most < len(stems):
        codes = np.flatnonzero(totals >= np.partition(totals, -most)[-most])
    ranking = pl.DataFrame({"code": codes, "total": totals[codes], "stem": stems.gather(codes)})
    ranking = ranking.sort("total", "stem", descending=[True, False])
    return ranking["code"].head(len(stems) if most is None else most).to_numpy()


def _positions(order: npt.NDArray[np.int64], n_codes: int) -> npt.NDArray[np.int32]:
    """The column of each code, -1 where it has none."""
    positions = np.full(n_codes, -1, dtype=np.int32)
    positions[order] = np.arange(len(order), dtype=np.int32)
    return positions


def _readable(
    words: pl.Series, columns: npt.NDArray[np.int32], occurrences: npt.NDArray[np.int64]
) -> list[str]:
    """For each column the word that occurs most often in it."""
    return (
        pl.DataFrame({"column": columns, "word": words, "count": occurrences})
        .filter(pl.col("column") >= 0)
        .group_by("column", "word")
        .agg(pl.sum("count"))
        .sort("column", "count", "word", descending=[False, True, False])
        .unique("column", keep="first", maintain_order=True)["word"]
        .to_list()
    )


def _nothing_left(n_documents: int, n_words: int, fewest: int, tokens: Tokenizer) -> str:
    if n_words:
        return (
            f"empty vocabulary: none of the {n_words:,} words occurs in {fewest:,} of the {n_documents:,} "
            "documents; lower min_df"
        )
    return (
        f"empty vocabulary: the {n_documents:,} documents hold no words once digits, single letters and "
        f"{len(tokens.stop_list):,} stop words (language={tokens.language!r}) are left out; "
        "check the texts, or pass stop_words=()"
    )
