"""The raw TF-IDF vector, one number per word: what a linear probe can do without any model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kate.research.rivals.base import CountMatrix, CountsEstimator, Floats
from kate.research.rivals.weighting import inverse_document_frequencies, weigh

__all__ = ["TFIDF"]


@dataclass(kw_only=True, eq=False, repr=False)
class TFIDF(CountsEstimator):
    """TF-IDF: document counts in, as many weights out as there are words.

        t = (1 + ln counts) · idf, scaled to length 1   idf = 1 + ln((1 + n_docs) / (1 + documents of the word))

    Idf is learned on the documents of ``fit`` alone. The vectors are dense: n_docs × n_words × 4 bytes.

    Parameters
    ----------
    n_components : not used; the vectors are as long as the vocabulary
    sublinear : 1 + ln counts, or the counts themselves
    random_state : not used; nothing is drawn

    Attributes
    ----------
    idf_ : (n_words,)
    settings_ : the parameters as they were used

    Examples
    --------
    >>> TFIDF().fit_transform(np.array([[3, 2, 0], [0, 0, 2]])).round(2)
    array([[0.78, 0.63, 0.  ],
           [0.  , 0.  , 1.  ]], dtype=float32)
    """

    sublinear: bool = True

    idf_: Floats = field(init=False)

    def fit(self, X: CountMatrix, y: None = None) -> Self:
        """Learn the weights of the words from counts (n_docs, n_words)."""
        self.idf_ = inverse_document_frequencies(self._checked(X, reset=True))
        self.settings_ = self.get_params(deep=False) | {"n_components": self.n_features_in_}
        return self

    def transform(self, X: CountMatrix) -> Floats:
        """The weights (n_docs, n_words) of the words of documents."""
        check_is_fitted(self)
        weights = weigh(self._checked(X, reset=False), self.idf_, sublinear=self.sublinear)
        return np.asarray(weights.toarray(), dtype=np.float32)
