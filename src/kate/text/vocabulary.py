"""Vocabulary: the words that have a column, and texts → counts of them.

Plain NumPy, SciPy and Polars: a fitted model counts a query without importing scikit-learn.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from kate.spelling import close_names
from kate.text.counting import ChunkedTexts, chunk_word_counts, chunk_word_order, factorize, stack_rows
from kate.text.sequences import Sequences
from kate.text.tokenizer import Tokenizer

__all__ = ["Vocabulary"]

# Close spellings are looked for among so many words, the most frequent ones, and for so many words of a text:
# a long query of unknown words must be answered in less than a second.
_SUGGESTED_AMONG = 50_000
_SUGGESTED_FOR = 5


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words in the order of their columns: the most frequent first, ties in the order of the alphabet.

    Attributes
    ----------
    words : the stems that are counted.
    readable : for each stem its most frequent word: "company" for "compani".
    document_frequencies, totals : documents of the training set with the word, and its occurrences in them.
    n_documents : the size of that training set.
    tokenizer : how texts become words.

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
    tokenizer: Tokenizer = field(default_factory=Tokenizer)

    @classmethod
    def learn(
        cls,
        texts: Iterable[str],
        tokenizer: Tokenizer | None = None,
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
        tokenizer = tokenizer or Tokenizer()
        texts_read = ChunkedTexts.of(texts, tokenizer, n_jobs)
        if texts_read.n_documents == 0:
            raise ValueError("no documents to learn a vocabulary from; pass at least one text")
        fewest = _documents_needed(min_df, texts_read.n_documents)
        resolved = tokenizer.resolve(texts_read.chunks)
        chunks = resolved["chunk"].to_numpy()
        occurrences = texts_read.occurrences()[chunks]
        codes, stems = factorize(resolved["stem"])
        totals = np.bincount(codes, occurrences, len(stems)).astype(np.int64)
        # If no word can fall out for being rare, the words beyond vocabulary_size need not be counted.
        order = _frequent_first(stems, totals, vocabulary_size if fewest == 1 else None)

        columns = _positions(order, len(stems))[codes]
        shape = (len(texts_read.chunks), len(order))
        counts = texts_read.count(chunk_word_counts(chunks, columns, shape), n_jobs)
        frequencies = np.bincount(counts.indices, minlength=len(order))
        kept = np.flatnonzero(frequencies >= fewest)[:vocabulary_size]
        if len(kept) == 0:
            raise ValueError(_nothing_left(texts_read.n_documents, len(stems), fewest, tokenizer))
        if len(kept) < len(order):
            counts = stack_rows([counts[:, kept]], len(kept))
            columns = _positions(order[kept], len(stems))[codes]
        vocabulary = cls(
            words=stems.gather(order[kept]).to_list(),
            readable=_readable(resolved["word"], columns, occurrences),
            document_frequencies=frequencies[kept],
            totals=totals[order[kept]],
            n_documents=texts_read.n_documents,
            tokenizer=tokenizer,
        )
        return vocabulary, counts

    def count(self, texts: Iterable[str], n_jobs: int | None = None) -> sparse.csr_array:
        """Counts (n_docs, n_words), int32, columns sorted; words without a column are left out."""
        parts = ChunkedTexts.parts(texts, self.tokenizer, n_jobs)
        blocks = (part.count(chunk_word_counts(*self._words_of(part)), n_jobs) for part in parts)
        return stack_rows(blocks, len(self))

    def sequences(self, texts: Iterable[str], n_jobs: int | None = None) -> Sequences:
        """The words of texts in their order, as columns; words without a column are left out.

        >>> vocabulary, _ = Vocabulary.learn(["companies and offices"])
        >>> vocabulary.sequences(["The office of the company, a new office", ""])[0]
        array([1, 0, 1], dtype=int32)
        """
        parts = ChunkedTexts.parts(texts, self.tokenizer, n_jobs)
        sequences = [part.sequences(chunk_word_order(*self._words_of(part))) for part in parts]
        return Sequences.concatenate(sequences, len(self))

    def _words_of(
        self, texts: ChunkedTexts
    ) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.int32], tuple[int, int]]:
        """The words of all chunks: pairs (chunk, column; -1 if it has none), and (n_chunks, n_words)."""
        resolved = self.tokenizer.resolve(texts.chunks)
        column_of = self.columns.get
        columns = np.array([column_of(stem, -1) for stem in resolved["stem"].to_list()], dtype=np.int32)
        return resolved["chunk"].to_numpy(), columns, (len(texts.chunks), len(self))

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
        # an argument of the shell may hold bytes that are not UTF-8
        word = word.encode("utf-8", "replace").decode("utf-8")
        stems = self.tokenizer.words(word)
        if len(stems) == 1 and stems[0] in self.columns:
            return self.columns[stems[0]]
        folded = self.tokenizer.fold(pl.Series([word.strip()], dtype=pl.String))[0]
        return self.columns.get(folded)

    def suggest(self, text: str, n: int = 3) -> list[str]:
        """Words of the vocabulary spelled like those of a text, ``n`` for each word: for "did you mean …?".

        Only the first few words of the text are looked at.

        >>> vocabulary, _ = Vocabulary.learn(["companies and offices"])
        >>> vocabulary.suggest("compnies, ofices")
        ['companies', 'offices']
        """
        words = dict.fromkeys(text.lower().split())
        frequent = self.readable[:_SUGGESTED_AMONG]
        close = (close_names(word, frequent, n, cutoff=0.6) for word in islice(words, _SUGGESTED_FOR))
        return list(dict.fromkeys(chain.from_iterable(close)))

    def with_documents(self, counts: sparse.csr_array | sparse.csr_matrix) -> Vocabulary:
        """The same words, with the frequencies that they have once these documents (n_docs, n_words) are added.

        >>> vocabulary, counts = Vocabulary.learn(["gold and silver", "gold"])
        >>> vocabulary.with_documents(counts).document_frequencies.tolist()
        [4, 2]
        """
        return replace(
            self,
            document_frequencies=self.document_frequencies + np.bincount(counts.indices, minlength=len(self)),
            totals=self.totals + np.asarray(counts.sum(axis=0), dtype=np.int64).ravel(),
            n_documents=self.n_documents + counts.shape[0],
        )

    def to_lines(self) -> Iterator[str]:
        """One line per word: stem, readable form, document frequency, occurrences, separated by tabs.

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
        return {"n_documents": self.n_documents, "tokens": self.tokenizer.config()}

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
        tokenizer = Tokenizer.from_config(config["tokens"])
        _warn_of_other_stems(words, readable, tokenizer, config["tokens"])
        return cls(
            list(words),
            list(readable),
            np.array(frequencies, dtype=np.int64),
            np.array(totals, dtype=np.int64),
            int(config["n_documents"]),
            tokenizer,
        )


def _warn_of_other_stems(
    stems: Sequence[str], words: Sequence[str], tokenizer: Tokenizer, config: Mapping[str, Any]
) -> None:
    """Say so if the stemmer installed here is not the one that the vocabulary was learned with."""
    found = tokenizer.stems(pl.Series(words, dtype=pl.String)).to_list()
    changed = [row for row in zip(words, stems, found, strict=True) if row[1] != row[2]]
    if changed:
        word, then, now = changed[0]
        warnings.warn(
            f"{len(changed):,} of {len(words):,} words of the vocabulary have another stem than when it was learned "
            f"({word!r}: {now!r}, was {then!r}), and are not counted in new texts; install "
            f"{config.get('stemmer', 'the PyStemmer of that time')} again, or fit the model anew",
            stacklevel=3,
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
    return ranking["code"].head(len(stems) if most is None else min(most, len(stems))).to_numpy()


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


def _nothing_left(n_documents: int, n_words: int, fewest: int, tokenizer: Tokenizer) -> str:
    if n_words:
        return (
            f"empty vocabulary: none of the {n_words:,} words occurs in {fewest:,} of the {n_documents:,} "
            "documents; lower min_df"
        )
    return (
        f"empty vocabulary: the {n_documents:,} documents hold no words once digits, single letters and "
        f"{len(tokenizer.stop_list):,} stop words (language={tokenizer.language!r}) are left out; "
        "check the texts, or pass stop_words=()"
    )
