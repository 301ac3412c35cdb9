"""Texts → the words of a vocabulary and their counts, in one pass over the texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from kate.sparse_arrays import sparse
from kate.text.counting import ChunkedTexts, chunk_word_counts, factorize, stack_rows
from kate.text.language_checks import tokenizer_for, warn_of_another_language
from kate.text.own_tokenizer import OwnTokenizer
from kate.text.phrases import Neighbours, Phrases, find_phrases
from kate.text.text_batches import PlainTexts, text_batches
from kate.text.tokenizer import Tokenizer
from kate.text.waiting_words import MOST_WAITING, WaitingWords, word_rows
from kate.text.word_choice import (
    DocumentLimit,
    frequent_first,
    least_documents,
    most_documents,
    positions,
    readable_forms,
)

__all__ = ["CountedWords", "LearnedWords", "count_all_words", "learn_words", "nothing_left"]

# Words that are counted beyond vocabulary_size, because some of them will be in too few documents.
_SPARE_WORDS = 1.25

Codes = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]


class LearnedWords(NamedTuple):
    """What a vocabulary is made of, in its order."""

    words: list[str]
    readable: list[str]
    document_frequencies: Numbers
    totals: Numbers
    n_documents: int
    tokenizer: Tokenizer
    waiting: WaitingWords  # those without a column


class CountedWords(NamedTuple):
    """All words of some texts: a table of them (see :func:`kate.text.waiting_words.word_rows`), counts in its order."""

    rows: pl.DataFrame
    counts: sparse.csr_array
    chunks: pl.DataFrame  # as the tokenizer gives them: chunk, word, stem
    occurrences: Numbers  # of each chunk


def count_all_words(texts: PlainTexts, tokenizer: Tokenizer, n_jobs: int | None) -> CountedWords:
    """Every word of texts, whatever its frequency; no phrases."""
    read = ChunkedTexts.of_batches(text_batches(texts), tokenizer, n_jobs)
    words = _Words.of(read, tokenizer, phrases=False)
    order = np.arange(len(words.stems))
    counts = words.count(order, n_jobs)
    documents = np.bincount(counts.indices, minlength=len(order))
    rows = word_rows(words.stems.to_list(), words.readable(order), documents, words.totals)
    return CountedWords(rows, counts, words.resolved, words.occurrences)


def learn_words(
    texts: PlainTexts,
    tokenizer: Tokenizer,
    vocabulary_size: int | None,
    min_df: DocumentLimit,
    max_df: int | float,
    phrases: bool,
    n_jobs: int | None,
) -> tuple[LearnedWords, sparse.csr_array, sparse.csr_array]:
    """See :meth:`kate.text.vocabulary.Vocabulary.learn_all`."""
    batches, tokenizer = tokenizer_for(text_batches(texts), tokenizer)
    # words that the user made are taken as they are, and segmenters know compounds
    phrases = phrases and not (isinstance(tokenizer, OwnTokenizer) or tokenizer.is_unspaced)
    texts_read = ChunkedTexts.of_batches(batches, tokenizer, n_jobs, breaks=phrases)
    n_documents = texts_read.n_documents
    if n_documents == 0:
        raise ValueError("no documents to learn a vocabulary from; pass at least one text")
    fewest, most = least_documents(min_df, n_documents), most_documents(max_df, n_documents)
    words = _Words.of(texts_read, tokenizer, phrases)
    warn_of_another_language(words.resolved["word"], words.occurrences, tokenizer)

    # words that are too rare or too many are counted with the others: they wait for a column
    n_possible = int(np.count_nonzero(words.totals >= fewest))
    size = _candidates(vocabulary_size, fewest, most, n_documents)
    order = frequent_first(words.stems, words.totals, min(size or n_possible, n_possible) + MOST_WAITING)
    while True:
        counts = words.count(order, n_jobs)
        frequencies = np.bincount(counts.indices, minlength=len(order))
        kept = np.flatnonzero((frequencies >= fewest) & (frequencies <= most))[:vocabulary_size]
        if len(kept) == vocabulary_size or len(order) >= n_possible:
            break
        # the spare words were too few
        order = frequent_first(words.stems, words.totals, n_possible + MOST_WAITING)
    if len(kept) == 0:
        raise ValueError(nothing_left(n_documents, len(words.stems), fewest, most, tokenizer))
    stems, readable = words.stems.gather(order).to_list(), words.readable(order)
    table = word_rows(stems, readable, frequencies, words.totals[order])
    rest = np.ones(len(order), dtype=bool)
    rest[kept] = False
    rest &= order < words.n_single  # a phrase is found in many texts together, and cannot wait
    waiting, ranked = WaitingWords.ranked(table.filter(rest))
    of_waiting = counts[:, np.flatnonzero(rest)[ranked]]
    if len(kept) < len(order):
        counts = stack_rows([counts[:, kept]], len(kept))
    own = table[kept]
    found = LearnedWords(
        own["stem"].to_list(),
        own["word"].to_list(),
        frequencies[kept],
        words.totals[order[kept]],
        n_documents,
        tokenizer,
        waiting,
    )
    return found, counts, of_waiting


@dataclass(frozen=True, eq=False)
class _Words:
    """All words and phrases of the texts, numbered: the phrases after the words."""

    texts: ChunkedTexts
    resolved: pl.DataFrame  # (chunk, word, stem), as the tokenizer gives it
    occurrences: Numbers  # of the chunk of each row
    codes: Codes  # of the stem of each row
    stems: pl.Series
    totals: Numbers
    n_single: int
    left: Codes
    right: Codes

    @classmethod
    def of(cls, texts: ChunkedTexts, tokenizer: Tokenizer, phrases: bool) -> _Words:
        resolved = tokenizer.resolve(texts.chunks)
        chunks = resolved["chunk"].to_numpy()
        occurrences = texts.occurrences()[chunks]
        codes, stems = factorize(resolved["stem"])
        totals = np.bincount(codes, occurrences, len(stems)).astype(np.int64)
        n_single, nothing = len(stems), np.zeros(0, dtype=np.int32)
        if not phrases:
            return cls(texts, resolved, occurrences, codes, stems, totals, n_single, nothing, nothing)
        neighbours = Neighbours.of(chunks, codes, len(texts.chunks))
        pairs = [
            neighbours.pairs(places[batch.codes], batch.starts)[:2]
            for batch, places in zip(texts.batches, texts.places, strict=True)
        ]
        left, right, together = find_phrases(pairs, totals)
        names = stems.gather(left) + " " + stems.gather(right)
        stems, totals = pl.concat([stems, names]), np.concatenate([totals, together])
        return cls(texts, resolved, occurrences, codes, stems, totals, n_single, left, right)

    def count(self, order: Numbers, n_jobs: int | None) -> sparse.csr_array:
        """Counts (n_docs, n_words) of some of them, in this order."""
        chunks = self.resolved["chunk"].to_numpy()
        shape = (len(self.texts.chunks), len(order))
        columns = positions(order, len(self.stems))
        return self.texts.count(
            chunk_word_counts(chunks, columns[self.codes], shape), n_jobs, self._phrases(order)
        )

    def readable(self, order: Numbers) -> list[str]:
        """The most frequent form of each."""
        columns = positions(order, len(self.stems))[self.codes]
        words, occurrences = self.resolved["word"], self.occurrences
        if (phrases := self._phrases(order)) is None:
            return readable_forms(words, columns, occurrences)
        word_of = np.zeros(len(self.texts.chunks), dtype=np.int64)
        word_of[self.resolved["chunk"].to_numpy()] = np.arange(len(words))
        rows = []
        for batch, places in zip(self.texts.batches, self.texts.places, strict=True):
            chunks = places[batch.codes]
            found, where = phrases.places(chunks, batch.starts)
            rows.append(np.stack([found, word_of[chunks[where]], word_of[chunks[where + 1]]]))
        of_phrases, left, right = np.concatenate(rows, axis=1)
        forms = words.gather(left) + " " + words.gather(right)
        return readable_forms(
            pl.concat([words, forms]),
            np.concatenate([columns, of_phrases.astype(np.int32)]),
            np.concatenate([occurrences, np.ones(len(left), dtype=np.int64)]),
        )

    def _phrases(self, order: Numbers) -> Phrases | None:
        """What finds those phrases that have a column."""
        if len(self.left) == 0:
            return None
        columns = positions(order, len(self.stems))[self.n_single :]
        neighbours = Neighbours.of(self.resolved["chunk"].to_numpy(), self.codes, len(self.texts.chunks))
        return Phrases.of_codes(self.left, self.right, columns, neighbours, len(self.stems), len(order))


def _candidates(size: int | None, fewest: int, most: int, n_documents: int) -> int | None:
    """How many words to count, so that ``size`` are left when those in too few or too many documents have gone."""
    if size is None or most < n_documents:
        return None
    return size if fewest == 1 else int(_SPARE_WORDS * size) + 1


def nothing_left(n_documents: int, n_words: int, fewest: int, most: int, tokenizer: Tokenizer) -> str:
    if n_words:
        limit = f" and in {most:,} at most" if most < n_documents else ""
        return (
            f"empty vocabulary: none of the {n_words:,} words occurs in {fewest:,} of the {n_documents:,} "
            f"documents{limit}; lower min_df{' or raise max_df' if limit else ''}"
        )
    return (
        f"empty vocabulary: the {n_documents:,} documents hold no words once digits, single letters and "
        f"{len(tokenizer.stop_list):,} stop words (language={tokenizer.language!r}) are left out; "
        "check the texts, or pass stop_words=()"
    )
