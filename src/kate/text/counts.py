"""Counts: texts → word counts as a scikit-learn transformer, a thin layer over :class:`Vocabulary`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kate.text.text_batches import PlainTexts
from kate.text.vocabulary import Vocabulary
from kate.text.word_parameters import WordParameters

__all__ = ["Counts"]


@dataclass(kw_only=True, eq=False, repr=False)
class Counts(WordParameters, TransformerMixin, BaseEstimator):
    """Count the words of texts, as CountVectorizer does: several times as fast, with stems and readable names.

    Parameters
    ----------
    vocabulary_size : int or None, default 20000
        the number of words to keep, the most frequent ones; None keeps all.
    min_df : int or float or {'auto'}, default 'auto'
        leave out words in fewer documents than this (int), or than this share of the documents (float); "auto"
        is 1 below 500 documents, 2 up to 20,000, and grows slowly from there.
    max_df : int or float, default 1.0
        leave out words in more documents than this (int), or than this share of the documents (float).
    language : str or None, default 'auto'
        stemmer and stop words, by name or ISO code, see :func:`kate.languages`; "auto" finds the language from the
        first texts, English where none stands out; "porter" is the original Porter algorithm; None means neither
        stems nor stop words.
    stem : bool, default True
        False keeps the words as they are written.
    stop_words : list of str, optional
        used instead of the language's list; ``()`` for none.
    phrases : bool, default False
        True makes words of neighbours that often stand together, such as "new york", beside their parts.
    tokenizer : callable, optional
        a function that makes a list of words of a text; there are no stems, stop words and cleaning then.
    strip_html : bool, default True
        take tags and comments out of the texts before words are counted; "&eacute;" becomes "é".
    strip_urls : bool, default True
        take addresses of pages out.
    strip_emails : bool, default True
        take addresses of people out.
    strip_handles : bool, default True
        take "@somebody" out.
    cut_runs : bool, default True
        "soooo" is "soo", and words of more than 60 characters go.
    n_jobs : int, optional
        threads; None takes all cores (see :func:`kate.threads.thread_count`). The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict[str, int]
        dict, the column of each stem.
    readable_names_ : array
        for each column the word to show to people ("company" for "compani").
    lexicon_ : Vocabulary
        the :class:`Vocabulary` with document frequencies, ``find`` and ``suggest``.

    Examples
    --------
    >>> counts = Counts()
    >>> counts.fit_transform(["Two companies merged.", "The company is a company."]).toarray()
    array([[1, 1, 1],
           [2, 0, 0]], dtype=int32)
    >>> counts.get_feature_names_out(), counts.readable_names_
    (array(['compani', 'merg', 'two'], dtype=object), array(['company', 'merged', 'two'], dtype=object))
    """

    lexicon_: Vocabulary = field(init=False)

    def fit(self, X: PlainTexts, y: Any = None) -> Self:
        """Learn the vocabulary of texts: a list, an iterable, an array or a series of str.

        Every text may also be a list of words. They are taken as they are: no stems, no stop words.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: PlainTexts, y: Any = None, **_: Any) -> sparse.csr_array:
        """Learn the vocabulary and return the counts (n_docs, n_words) in the same pass."""
        self.lexicon_, counts = self.learn(X)
        return counts

    def transform(self, X: PlainTexts) -> sparse.csr_array:
        """Counts (n_docs, n_words) of texts; words that were not learned are left out."""
        check_is_fitted(self)
        return self.lexicon_.count(X, self.n_jobs)

    @property
    def settings_(self) -> dict[str, Any]:
        """The parameters as they were used: the language and the least number of documents that were found."""
        check_is_fitted(self)
        return self.used_for(self.lexicon_)

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
