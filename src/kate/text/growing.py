"""New documents for a vocabulary: their words are counted, words that have become frequent enter, others fade.

The rule is that of a fit on all documents seen: not too rare, not too frequent, the most frequent first. Of words
without a column the frequencies are known (:mod:`kate.text.waiting_words`), and which documents of the sketch hold
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from kate.errors import quoted
from kate.text.counting import stack_rows
from kate.text.language_checks import another_language
from kate.text.languages import guess_unspaced
from kate.text.learning import CountedWords, count_all_words
from kate.text.own_tokenizer import OwnTokenizer
from kate.text.text_batches import PlainTexts
from kate.text.vocabulary import Vocabulary
from kate.text.waiting_words import WaitingWords, word_rows
from kate.text.word_choice import DocumentLimit, least_documents, most_documents

__all__ = ["GrownVocabulary", "grow", "moved_columns"]

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GrownVocabulary:
    """A vocabulary after new documents.

    before, after : the vocabulary as it was, and as it is now
    all_counts : of the new documents (n_docs, n_words + n_waiting): the words of the new vocabulary, and behind them
        those that wait for a column in it
    """

    before: Vocabulary
    after: Vocabulary
    all_counts: sparse.csr_array

    @cached_property
    def counts(self) -> sparse.csr_array:
        """Of the new documents (n_docs, n_words of the new vocabulary)."""
        n_words = len(self.after)
        return stack_rows([self.all_counts[:, :n_words]], n_words)

    @cached_property
    def all_places(self) -> Numbers:
        """For each column of before, and each word that waited, its place among those of now; -1 where it is forgotten.

        Places are those of :attr:`all_counts`.
        """
        place_of = {word: place for place, word in enumerate(_all_words(self.after))}.get
        return np.array([place_of(word, -1) for word in _all_words(self.before)], dtype=np.int64)

    @cached_property
    def sources(self) -> Numbers:
        """For each column the one that its word had before, -1 for a word that entered."""
        column_of = self.before.columns.get
        return np.array([column_of(word, -1) for word in self.after.words], dtype=np.int64)

    @cached_property
    def places(self) -> Numbers:
        """For each column of before the one that its word has now, -1 for a word that faded."""
        found = np.full(len(self.before), -1, dtype=np.int64)
        known = np.flatnonzero(self.sources >= 0)
        found[self.sources[known]] = known
        return found

    @property
    def entered(self) -> list[str]:
        """As people write them, the most frequent first."""
        return [self.after.readable[column] for column in np.flatnonzero(self.sources < 0)]

    @property
    def faded(self) -> list[str]:
        return [self.before.readable[column] for column in np.flatnonzero(self.places < 0)]


def grow(
    vocabulary: Vocabulary,
    texts: PlainTexts,
    vocabulary_size: int | None,
    min_df: DocumentLimit,
    max_df: int | float,
    n_jobs: int | None = None,
) -> GrownVocabulary:
    """The vocabulary after new texts, which are counted; texts of another language are refused.

    >>> vocabulary, _ = Vocabulary.learn(["gold and silver", "gold coin"], min_df=2)
    >>> grown = grow(vocabulary, ["a silver coin"], None, min_df=2, max_df=1.0)
    >>> grown.after.words, grown.entered, grown.counts.toarray().tolist()
    (['coin', 'gold', 'silver'], ['coin', 'silver'], [[1, 0, 1]])
    """
    given: Any = texts if isinstance(texts, pl.Series | list) else list(texts)
    if vocabulary_size is not None and (type(vocabulary_size) is not int or vocabulary_size < 1):
        raise ValueError(f"vocabulary_size is {quoted(vocabulary_size)}; expected a number of words, or None")
    if len(given) == 0:
        raise ValueError("there are no new documents; give one at least")
    if vocabulary.is_fixed:
        counts = vocabulary.count(given, n_jobs)
        return GrownVocabulary(vocabulary, vocabulary.with_documents(counts), counts)
    _refuse_unspaced(given, vocabulary)
    found = count_all_words(given, vocabulary.tokenizer, n_jobs)
    _refuse_another_language(found, vocabulary)
    phrases, phrase_counts = _phrases(vocabulary, given, n_jobs)
    rows = pl.concat([found.rows, phrases])
    counts = sparse.hstack([found.counts, phrase_counts], format="csr") if len(phrases) else found.counts
    after = _chosen(vocabulary, rows, len(given), vocabulary_size, min_df, max_df)
    every = _all_words(after)
    place_of = {word: place for place, word in enumerate(every)}.get
    places = np.array([place_of(stem, -1) for stem in rows["stem"].to_list()], dtype=np.int64)
    return GrownVocabulary(vocabulary, after, moved_columns(counts, places, len(every)))


def _all_words(vocabulary: Vocabulary) -> list[str]:
    """Those with a column, and behind them those that wait for one."""
    return vocabulary.words + (vocabulary.waiting.stems if vocabulary.waiting else [])


def moved_columns(X: Any, places: Numbers, n_columns: int) -> sparse.csr_array:
    """Rows whose columns have moved: column j is column ``places[j]`` now; where that is -1 its entries are left out.

    >>> moved_columns(sparse.csr_array([[1, 2, 3]]), np.array([2, -1, 0]), 3).toarray().tolist()
    [[3, 0, 1]]
    """
    columns = places[X.indices]
    kept = columns >= 0
    ends = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
    moved = sparse.csr_array((X.data[kept], columns[kept], ends), shape=(X.shape[0], n_columns))
    moved.sort_indices()
    return moved


def _chosen(
    before: Vocabulary,
    rows: pl.DataFrame,
    n_new: int,
    vocabulary_size: int | None,
    min_df: DocumentLimit,
    max_df: int | float,
) -> Vocabulary:
    """Which words have a column after so many new documents, in which ``rows`` were found."""
    waiting = (before.waiting or WaitingWords()).rows
    own = word_rows(before.words, before.readable, before.document_frequencies, before.totals)
    # a word is shown as it was shown before
    every = (
        pl.concat([own, waiting, rows])
        .group_by("stem", maintain_order=True)
        .agg(pl.col("word").first(), pl.sum("documents"), pl.sum("occurrences"))
        .sort("occurrences", "stem", descending=[True, False])
    )
    n_documents = before.n_documents + n_new
    fewest, most = least_documents(min_df, n_documents), most_documents(max_df, n_documents)
    kept = every.filter(pl.col("documents").is_between(fewest, most)).head(vocabulary_size or len(every))
    if len(kept) == 0:
        raise ValueError(
            f"no word would be left: none is in {fewest:,} to {most:,} of the {n_documents:,} documents seen"
        )
    rest = every.join(kept, on="stem", how="anti")
    if not isinstance(before.tokenizer, OwnTokenizer):
        rest = rest.filter(~pl.col("stem").str.contains(" ", literal=True))  # a phrase cannot wait
    return Vocabulary(
        kept["stem"].to_list(),
        kept["word"].to_list(),
        kept["documents"].to_numpy().copy(),
        kept["occurrences"].to_numpy().copy(),
        n_documents,
        before.tokenizer,
        WaitingWords.of(rest),
    )


def _phrases(
    vocabulary: Vocabulary, texts: PlainTexts, n_jobs: int | None
) -> tuple[pl.DataFrame, sparse.csr_array]:
    """The phrases of a vocabulary in new texts. Which words make a phrase is learned by a fit, from many texts."""
    columns: list[int] = []
    if not isinstance(vocabulary.tokenizer, OwnTokenizer):
        columns = [column for column, word in enumerate(vocabulary.words) if " " in word]
    if not columns:
        return word_rows([], [], [], []), sparse.csr_array((0, 0))
    counts = sparse.csr_array(vocabulary.count(texts, n_jobs)[:, columns])
    documents = np.bincount(counts.indices, minlength=len(columns))
    totals = np.asarray(counts.sum(axis=0), dtype=np.int64).ravel()
    stems, words = (
        [names[column] for column in columns] for names in (vocabulary.words, vocabulary.readable)
    )
    return word_rows(stems, words, documents, totals), counts


def _refuse_unspaced(texts: Iterable[Any], vocabulary: Vocabulary) -> None:
    tokenizer = vocabulary.tokenizer
    if tokenizer.language is None or tokenizer.is_unspaced:
        return
    found = guess_unspaced(
        text for text, _ in zip(texts, range(1_000), strict=False) if isinstance(text, str)
    )
    if found is not None:
        raise ValueError(_another_language(found, "", vocabulary))


def _refuse_another_language(found: CountedWords, vocabulary: Vocabulary) -> None:
    """A vocabulary that was learned from such texts, which a fit warns of, may go on with them."""
    other = another_language(found.chunks["word"], found.occurrences, vocabulary.tokenizer)
    if other is None:
        return
    known = sum(vocabulary.find(word) is not None for word in other.words)
    if 2 * known < len(other.words):
        raise ValueError(_another_language(other.language, f" ({other.shown})", vocabulary))


def _another_language(found: str, shown: str, vocabulary: Vocabulary) -> str:
    own = str(vocabulary.tokenizer.language).capitalize()
    return (
        f"the new documents look {found.capitalize()}{shown}, and the model reads {own}: an update of it would learn "
        f"nothing of them; fit a model of their own, with language={found!r}"
    )
