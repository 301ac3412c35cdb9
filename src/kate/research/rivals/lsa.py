"""LSA, latent semantic analysis: TF-IDF and a truncated singular value decomposition."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.utils.validation import check_is_fitted

from kate.errors import quoted
from kate.research.rivals.base import CountMatrix, CountsEstimator, Floats
from kate.research.rivals.weighting import inverse_document_frequencies, weigh

__all__ = ["LSA"]


class LSA(CountsEstimator):
    """Latent semantic analysis: document counts in, document vectors out.

        t  = (1 + ln counts) · idf, scaled to length 1   idf = 1 + ln((1 + n_docs) / (1 + documents of the word))
        T ≈ U S Vᵀ                                       the largest ``n_components`` singular values
        v  = Vᵀ t                                        (n_components,), the vector of a document

    Idf and V are learned on the documents of ``fit`` alone.

    Parameters
    ----------
    n_components : singular values kept, the length of a document vector
    random_state : seed of the randomised decomposition

    Attributes
    ----------
    components_ : (n_components, n_words), Vᵀ: a topic's weights on the words
    word_vectors_ : (n_words, n_components), V S: the weights times the singular values
    singular_values_ : (n_components,), S
    idf_ : (n_words,), the weights of the words
    settings_ : the parameters as they were used

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3, 2, 0, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]])
    >>> LSA(n_components=2, random_state=0).fit_transform(X).shape
    (4, 2)
    """

    components_: Floats
    singular_values_: Floats
    idf_: Floats

    def fit(self, X: CountMatrix, y: None = None) -> Self:
        """Learn the weights of the words and the topics from counts (n_docs, n_words)."""
        X = self._checked(X, reset=True)
        n_docs, n_words = X.shape
        if not 1 <= self.n_components < n_words:
            raise ValueError(
                f"n_components={quoted(self.n_components)} for n_features={n_words} words; "
                "expected at least 1 and fewer than there are words"
            )
        if self.n_components > n_docs:
            raise ValueError(
                f"n_components={self.n_components} for n_samples={n_docs} documents; expected at most one per document"
            )
        self.idf_ = inverse_document_frequencies(X)
        svd = TruncatedSVD(self.n_components, algorithm="randomized", random_state=self.random_state)
        svd.fit(weigh(X, self.idf_))
        self.components_ = svd.components_.astype(np.float32)
        self.singular_values_ = svd.singular_values_.astype(np.float32)
        self.settings_ = self.get_params(deep=False)
        return self

    def transform(self, X: CountMatrix) -> Floats:
        """The vectors (n_docs, n_components) of documents."""
        check_is_fitted(self)
        weights = weigh(self._checked(X, reset=False), self.idf_)
        return np.asarray(weights @ self.components_.T, dtype=np.float32)

    @property
    def word_vectors_(self) -> Floats:
        check_is_fitted(self)
        return self.components_.T * self.singular_values_
