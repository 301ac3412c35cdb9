"""Vocabulary: the words that have a column, and texts → counts of them.

Plain NumPy, SciPy and Polars: a fitted model counts a query without importing scikit-learn.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from kate.errors import quoted
from kate.sparse_arrays import sparse
from kate.spelling import close_names
from kate.text.counting import ChunkedTexts, chunk_word_counts, chunk_word_order, stack_rows
from kate.text.few_texts import FewTexts
from kate.text.learning import learn_words
from kate.text.own_tokenizer import OwnTokenizer, TokenFunction, tokenizer_from_config, with_function
from kate.text.phrases import PhraseBook
from kate.text.sequences import Sequences
from kate.text.text_batches import PlainTexts
from kate.text.tokenizer import Tokenizer
from kate.text.waiting_words import WaitingWords
from kate.text.word_choice import DocumentLimit
from kate.threads import require_own_threads

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
    words : list of str
        the stems that are counted.
    readable : list of str
        for each stem its most frequent word: "company" for "compani".
    document_frequencies, totals : array
        documents of the training set with the word, and its occurrences in them.
    n_documents : int
        the size of that training set.
    tokenizer : Tokenizer
        how texts become words.
    waiting : optional
        words that were seen and have no column, for an update; None where they are not known.
    is_fixed : bool
        the user named the columns: no word enters, none fades.

    Examples
    --------
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
    waiting: WaitingWords | None = None
    is_fixed: bool = False

    @classmethod
    def learn(
        cls,
        texts: PlainTexts,
        tokenizer: Tokenizer | None = None,
        vocabulary_size: int | None = 20_000,
        min_df: DocumentLimit = "auto",
        max_df: int | float = 1.0,
        phrases: bool = False,
        n_jobs: int | None = None,
    ) -> tuple[Vocabulary, sparse.csr_array]:
        """The vocabulary of texts and their counts (n_docs, n_words), in one pass over the texts.

        Parameters
        ----------
        texts : list of str
            strings; or lists of words, which are taken as they are, without stems and stop words.
        vocabulary_size : int or None, default 20000
            keep the most frequent words; None keeps all.
        min_df : int or float or {'auto'}, default 'auto'
            leave out words in fewer documents than this (an int), or than this share of them (a float); "auto"
            follows the number of documents, see :func:`~kate.text.word_choice.least_documents`.
        max_df : int or float, default 1.0
            leave out words in more documents than this (an int), or than this share of them (a float).
        phrases : bool, default False
            words that often stand together, such as "new york", are words of their own beside their parts, see
            :mod:`kate.text.phrases`.
        """
        vocabulary, counts, _ = cls.learn_all(
            texts, tokenizer or Tokenizer(), vocabulary_size, min_df, max_df, phrases, n_jobs
        )
        return vocabulary, counts

    @classmethod
    def learn_all(
        cls,
        texts: PlainTexts,
        tokenizer: Tokenizer,
        vocabulary_size: int | None,
        min_df: DocumentLimit,
        max_df: int | float,
        phrases: bool,
        n_jobs: int | None,
    ) -> tuple[Vocabulary, sparse.csr_array, sparse.csr_array]:
        """The same, and behind them the counts (n_docs, n_waiting) of the words that wait for a column."""
        if vocabulary_size is not None and vocabulary_size < 1:
            raise ValueError(f"vocabulary_size is {vocabulary_size}; give a number of words, or None for all")
        found, counts, of_waiting = learn_words(
            texts, tokenizer, vocabulary_size, min_df, max_df, phrases, n_jobs
        )
        return cls(*found), counts, of_waiting

    def count(self, texts: PlainTexts, n_jobs: int | None = None) -> sparse.csr_array:
        """Counts (n_docs, n_words), int32, columns sorted; words without a column are left out."""
        require_own_threads()
        book = self._phrase_book
        if len(book) == 0 and FewTexts.are_few(texts):
            return self._few_texts.count(texts)
        parts = ChunkedTexts.parts(texts, self.tokenizer, n_jobs, breaks=len(book) > 0)
        return stack_rows((self._count_part(part, n_jobs) for part in parts), len(self))

    def count_one(self, text: str) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The columns of the words of one text, sorted, and how often each is there: without SciPy for a short one.

        >>> vocabulary, _ = Vocabulary.learn(["companies and offices"])
        >>> [part.tolist() for part in vocabulary.count_one("The office of the company, a new office")]
        [[0, 1], [1, 2]]
        """
        require_own_threads()
        if len(self._phrase_book) == 0 and FewTexts.are_few([text]):
            [row] = self._few_texts.rows([text])
            pairs = np.array(row, np.int32).reshape(-1, 2)
            return pairs[:, 0], pairs[:, 1]
        counts = self.count([text])
        return counts.indices, counts.data

    def _count_part(self, part: ChunkedTexts, n_jobs: int | None) -> sparse.csr_array:
        resolved = self.tokenizer.resolve(part.chunks)
        words = chunk_word_counts(*self._words_of(part, resolved))
        book = self._phrase_book
        return part.count(words, n_jobs, book.phrases(resolved, len(part.chunks)) if len(book) else None)

    def sequences(self, texts: Iterable[str], n_jobs: int | None = None) -> Sequences:
        """The words of texts in their order, as columns; phrases and words without a column are left out.

        >>> vocabulary, _ = Vocabulary.learn(["companies and offices"])
        >>> vocabulary.sequences(["The office of the company, a new office", ""])[0]
        array([1, 0, 1], dtype=int32)
        """
        parts = ChunkedTexts.parts(texts, self.tokenizer, n_jobs)
        sequences = [
            part.sequences(chunk_word_order(*self._words_of(part, self.tokenizer.resolve(part.chunks))))
            for part in parts
        ]
        return Sequences.concatenate(sequences, len(self))

    def _words_of(
        self, texts: ChunkedTexts, resolved: pl.DataFrame
    ) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.int32], tuple[int, int]]:
        """The words of all chunks: pairs (chunk, column; -1 if it has none), and (n_chunks, n_words)."""
        column_of = self.columns.get
        columns = np.array([column_of(stem, -1) for stem in resolved["stem"].to_list()], dtype=np.int32)
        return resolved["chunk"].to_numpy(), columns, (len(texts.chunks), len(self))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def columns(self) -> dict[str, int]:
        """Column of each stem."""
        return {word: column for column, word in enumerate(self.words)}

    @cached_property
    def _few_texts(self) -> FewTexts:
        return FewTexts(self.tokenizer, self.columns)

    @cached_property
    def _phrase_book(self) -> PhraseBook:
        """The words with a space; words that the user made may have one too, and are no phrases."""
        return PhraseBook.of([] if isinstance(self.tokenizer, OwnTokenizer) else self.words)

    def find(self, word: str) -> int | None:
        """The column that counts a word or a phrase, as people write it or as its stem; None when there is none.

        >>> vocabulary, _ = Vocabulary.learn(["companies and offices"])
        >>> vocabulary.find("Company"), vocabulary.find("compani"), vocabulary.find("zebra")
        (0, 0, None)
        """
        # an argument of the shell may hold bytes that are not UTF-8
        word = word.encode("utf-8", "replace").decode("utf-8")
        stems = self.tokenizer.words(word)
        if stems and (joined := " ".join(stems)) in self.columns:
            return self.columns[joined]
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

    def with_tokenizer(self, function: TokenFunction | None, shown: str = "the vocabulary") -> Vocabulary:
        """The same words with the function that makes words of texts, which a saved vocabulary does not hold.

        ``shown`` names the vocabulary in the errors: for a function that is missing, or not wanted.
        """
        return replace(self, tokenizer=with_function(self.tokenizer, function, shown))

    @classmethod
    def of_counts(cls, X: Any, words: Iterable[str], tokenizer: Tokenizer | None = None) -> Vocabulary:
        """The vocabulary of counts (n_docs, n_words) that the user made; ``words`` names the columns.

        >>> Vocabulary.of_counts([[2, 0], [1, 3]], ["gold", "coin"]).totals.tolist()
        [3, 3]
        """
        names = [*words]
        if isinstance(X, sparse.csr_matrix | sparse.csr_array | sparse.csc_matrix | sparse.csc_array):
            X.check_format(full_check=True)  # arrays that do not belong together would end the process
        counts = sparse.csr_array(X)
        if counts.shape[1] != len(names):
            raise ValueError(
                f"{len(names):,} words for {counts.shape[1]:,} columns of counts; give one for each"
            )
        if strange := next((name for name in names if not isinstance(name, str) or not name.strip()), None):
            raise ValueError(f"words holds {quoted(strange, 40)}; every word must be a str that is not empty")
        tokenizer = tokenizer or OwnTokenizer()
        names = tokenizer.fold(pl.Series(names, dtype=pl.String)).to_list()
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(
                f"the word {quoted(twice)} names several columns; every column needs a word of its own"
            )
        return cls(
            words=names,
            readable=list(names),
            document_frequencies=np.asarray((counts > 0).sum(axis=0), dtype=np.int64).ravel(),
            totals=np.asarray(counts.sum(axis=0), dtype=np.int64).ravel(),
            n_documents=counts.shape[0],
            tokenizer=tokenizer,
            is_fixed=True,
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
        fixed = {"is_fixed": True} if self.is_fixed else {}
        return {"n_documents": self.n_documents, "tokens": self.tokenizer.config()} | fixed

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
                    f"separated by tabs, found {quoted(line, 60)}; the file is damaged, save the model again"
                )
            rows.append(row)
        words, readable, frequencies, totals = zip(*rows, strict=True) if rows else ((), (), (), ())
        if len(set(words)) < len(words):
            raise ValueError("the vocabulary has a word twice; the file is damaged, save the model again")
        tokenizer = tokenizer_from_config(config["tokens"])
        _warn_of_other_stems(words, readable, tokenizer, config["tokens"])
        return cls(
            list(words),
            list(readable),
            np.array(frequencies, dtype=np.int64),
            np.array(totals, dtype=np.int64),
            int(config["n_documents"]),
            tokenizer,
            is_fixed=bool(config.get("is_fixed", False)),
        )


def _warn_of_other_stems(
    stems: Sequence[str], words: Sequence[str], tokenizer: Tokenizer, config: Mapping[str, Any]
) -> None:
    """Say so if the stemmer installed here is not the one that the vocabulary was learned with."""
    parts = [word.split(" ") for word in words]
    known = iter(tokenizer.stems(pl.Series(list(chain.from_iterable(parts)), dtype=pl.String)).to_list())
    # the stem of a phrase is that of both its words
    found = [" ".join(islice(known, len(part))) for part in parts]
    changed = [row for row in zip(words, stems, found, strict=True) if row[1] != row[2]]
    if changed:
        word, then, now = changed[0]
        warnings.warn(
            f"{len(changed):,} of {len(words):,} words of the vocabulary have another stem than when it was learned "
            f"({quoted(word)}: {quoted(now)}, was {quoted(then)}), and are not counted in new texts; install "
            f"{config.get('stemmer', 'the PyStemmer of that time')} again, or fit the model anew",
            stacklevel=3,
        )
