"""Counts: texts → word counts as a scikit-learn transformer, a thin layer over :class:`Vocabulary`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary

__all__ = ["Counts"]


class Counts(TransformerMixin, BaseEstimator):
    """Count the words of texts, as CountVectorizer does: several times as fast, with stems and readable names.

    Parameters
    ----------
    vocabulary_size : the number of words to keep, the most frequent ones; None keeps all.
    min_df : leave out words in fewer documents than this (int), or than this share of the documents (float).
    language : stemmer and stop words, see :func:`kate.text.tokenizer.languages`; "porter" is the original Porter
        algorithm; None means neither stems nor stop words.
    stem : False keeps the words as they are written.
    stop_words : used instead of the language's list; ``()`` for none.
    n_jobs : threads; None takes all cores (see :func:`kate.threads.thread_count`). The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict, the column of each stem.
    readable_names_ : for each column the word to show to people ("company" for "compani").
    lexicon_ : the :class:`Vocabulary` with document frequencies, ``find`` and ``suggest``.

    >>> counts = Counts()
    >>> counts.fit_transform(["Two companies merged.", "The company is a company."]).toarray()
    array([[1, 1, 1],
           [2, 0, 0]], dtype=int32)
    >>> counts.get_feature_names_out(), counts.readable_names_
    (array(['compani', 'merg', 'two'], dtype=object), array(['company', 'merged', 'two'], dtype=object))
    """

    lexicon_: Vocabulary

    def __init__(
        self,
        vocabulary_size: int | None = 20_000,
        *,
        min_df: int | float = 1,
        language: str | None = "english",
        stem: bool = True,
        stop_words: Iterable[str] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.vocabulary_size = vocabulary_size
        self.min_df = min_df
        self.language = language
        self.stem = stem
        self.stop_words = stop_words
        self.n_jobs = n_jobs

    def fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Learn the vocabulary of texts (a list, an iterable, an array or a series of str)."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Iterable[str], y: Any = None, **_: Any) -> sparse.csr_array:
        """Learn the vocabulary and return the counts (n_docs, n_words) in the same pass."""
        tokenizer = Tokenizer(self.language, self.stem, self.stop_words)
        self.lexicon_, counts = Vocabulary.learn(X, tokenizer, self.vocabulary_size, self.min_df, self.n_jobs)
        return counts

    def transform(self, X: Iterable[str]) -> sparse.csr_array:
        """Counts (n_docs, n_words) of texts; words that were not learned are left out."""
        check_is_fitted(self)
        return self.lexicon_.count(X, self.n_jobs)

    @property
    def vocabulary_(self) -> dict[str, int]:
        check_is_fitted(self)
        return dict(self.lexicon_.columns)

    @property
    def readable_names_(self) -> npt.NDArray[np.object_]:
        check_is_fitted(self)
        return np.asarray(self.lexicon_.readable, dtype=object)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The stems, one per column."""
        check_is_fitted(self)
        return np.asarray(self.lexicon_.words, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags
