"""How texts become counts, as parameters: what Counts and TextModel have in common. Needs no scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from kate.sparse_arrays import sparse
from kate.text.cleaning import Cleaning
from kate.text.languages import AUTO
from kate.text.own_tokenizer import OwnTokenizer, TokenFunction
from kate.text.text_batches import PlainTexts
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary
from kate.text.word_choice import DocumentLimit, least_documents

__all__ = ["WordParameters"]


@dataclass(kw_only=True, eq=False, repr=False)
class WordParameters:
    """The parameters of :class:`~kate.text.counts.Counts`, which says what each of them is."""

    vocabulary_size: int | None = field(default=20_000, kw_only=False)
    min_df: DocumentLimit = "auto"
    max_df: int | float = 1.0
    language: str | None = AUTO
    stem: bool = True
    stop_words: Iterable[str] | None = None
    phrases: bool = False
    tokenizer: TokenFunction | None = None
    strip_html: bool = True
    strip_urls: bool = True
    strip_emails: bool = True
    strip_handles: bool = True
    cut_runs: bool = True
    n_jobs: int | None = None

    @classmethod
    def of(cls, holder: Any) -> WordParameters:
        """Those of an object that has them all, and others."""
        return WordParameters(**{name: getattr(holder, name) for name in cls.names()})

    @classmethod
    def names(cls) -> list[str]:
        return [one.name for one in fields(WordParameters)]

    def make_tokenizer(self) -> Tokenizer:
        """What the parameters ask for; texts without spaces and lists of words choose their own."""
        if self.tokenizer is not None:
            return OwnTokenizer(self.tokenizer)
        cleaning = Cleaning(
            self.strip_html, self.strip_urls, self.strip_emails, self.strip_handles, self.cut_runs
        )
        return Tokenizer(self.language, self.stem, self.stop_words, cleaning)

    def learn(self, texts: PlainTexts) -> tuple[Vocabulary, sparse.csr_array]:
        """The vocabulary of texts and their counts (n_docs, n_words), in one pass."""
        return self.learn_all(texts)[:2]

    def learn_all(self, texts: PlainTexts) -> tuple[Vocabulary, sparse.csr_array, sparse.csr_array]:
        """The same, and the counts (n_docs, n_waiting) of the words that wait for a column."""
        return Vocabulary.learn_all(
            texts,
            self.make_tokenizer(),
            self.vocabulary_size,
            self.min_df,
            self.max_df,
            self.phrases,
            self.n_jobs,
        )

    def used_for(self, vocabulary: Vocabulary) -> dict[str, Any]:
        """The parameters as they were used: the language and the least number of documents that were found."""
        given = {name: getattr(self, name) for name in self.names()}
        fewest = least_documents(self.min_df, vocabulary.n_documents)
        return given | {"min_df": fewest, "language": vocabulary.tokenizer.language}
