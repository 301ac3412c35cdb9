"""NMF: TF-IDF as a product of two matrices without negative numbers, topics and their shares."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numba import njit
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from kate.models.base import Counts, CountsEstimator, Floats, require_whole_numbers, seed_of
from kate.models.weighting import inverse_document_frequencies, weigh

__all__ = ["NMF"]

_ENCODING_ITERATIONS = 50


class NMF(CountsEstimator):
    """Non-negative matrix factorisation: document counts in, shares of topics out.

        T  = TF-IDF of the documents, rows of length 1      (n_docs, n_words)
        T ≈ V H      V (n_docs, n_topics) ≥ 0               H (n_topics, n_words) ≥ 0

    V and H minimise the squared error, by coordinate descent. A new document's row of V is found with H held
    fixed; one without a known word is 0.

    Parameters
    ----------
    n_topics : topics, the length of a document vector
    max_iter : passes of the descent
    sublinear : counts enter TF-IDF as 1 + ln counts, or as they are
    regularisation : of V and H, relative to the numbers of words and documents
    l1_ratio : 0 for squares, 1 for absolute values, or between
    random_state : seed of the start

    Attributes
    ----------
    components_ : (n_topics, n_words), H
    word_vectors_ : (n_words, n_topics), Hᵀ
    idf_ : (n_words,)
    settings_ : the parameters as they were used

    Examples
    --------
    >>> X = np.array([[3, 2, 0, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]])
    >>> (NMF(n_topics=2, random_state=0).fit_transform(X) > 0.1).sum(axis=1).tolist()
    [1, 1, 1, 1]
    """

    components_: Floats
    idf_: Floats

    def __init__(
        self,
        n_topics: int = 128,
        *,
        max_iter: int = 200,
        sublinear: bool = True,
        regularisation: float = 0.0,
        l1_ratio: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_topics = n_topics
        self.max_iter = max_iter
        self.sublinear = sublinear
        self.regularisation = regularisation
        self.l1_ratio = l1_ratio
        self.random_state = random_state

    def fit(self, X: Counts, y: None = None) -> Self:
        """Learn the weights of the words and the topics from counts (n_docs, n_words)."""
        X = self._checked(X, reset=True)
        require_whole_numbers(self, "n_topics", "max_iter")
        self.idf_ = inverse_document_frequencies(X)
        weights = weigh(X, self.idf_, sublinear=self.sublinear)
        # nndsvd starts from a singular value decomposition, which has no more vectors than rows or columns
        start = "nndsvda" if self.n_topics <= min(X.shape) else "random"
        self.components_ = self._factorise(weights, start)
        self.settings_ = self.get_params(deep=False)
        return self

    def transform(self, X: Counts) -> Floats:
        """The shares of topics (n_docs, n_topics) in documents."""
        check_is_fitted(self)
        weights = weigh(self._checked(X, reset=False), self.idf_, sublinear=self.sublinear)
        topics = self.components_
        penalty = self.regularisation * topics.shape[1]
        targets = weights @ topics.T - np.float32(penalty * self.l1_ratio)  # (n_docs, n_topics)
        products = topics @ topics.T  # (n_topics, n_topics)
        products.flat[:: len(products) + 1] += np.float32(penalty * (1 - self.l1_ratio))
        shares = np.zeros_like(targets)
        _descend(targets, products, shares, _ENCODING_ITERATIONS)
        return shares

    @property
    def word_vectors_(self) -> Floats:
        check_is_fitted(self)
        return self.components_.T

    def _factorise(self, weights: csr_matrix, start: str) -> Floats:
        """H by scikit-learn."""
        from sklearn.decomposition import non_negative_factorization
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the number of passes is a parameter
            _, H, _ = non_negative_factorization(
                weights,
                n_components=self.n_topics,
                init=start,
                max_iter=self.max_iter,
                tol=1e-4,
                alpha_W=self.regularisation,
                l1_ratio=self.l1_ratio,
                random_state=seed_of(self.random_state),
            )
        return np.asarray(H, dtype=np.float32)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _descend(targets, products, shares, iterations):
    """Minimise ½ v products vᵀ - targets vᵀ over every row v ≥ 0 of shares, one share at a time.

    Most shares are 0 and stay there: the gradient is kept, and moves with the shares that do. A row ends early when
    none of them moves any more, so it does not hang on the documents beside it.
    """
    n_topics = products.shape[0]
    gradient = np.empty(n_topics, dtype=np.float32)
    for document in range(targets.shape[0]):
        for topic in range(n_topics):
            gradient[topic] = -targets[document, topic]
        for _ in range(iterations):
            moved = False
            for topic in range(n_topics):
                curvature, share = products[topic, topic], shares[document, topic]
                if curvature == 0:
                    continue
                step = max(share - gradient[topic] / curvature, np.float32(0)) - share
                if step == 0:
                    continue
                moved = True
                shares[document, topic] = share + step
                for other in range(n_topics):
                    gradient[other] += step * products[topic, other]
            if not moved:
                break
