"""NMF: TF-IDF as a product of two matrices without negative numbers, shares of topics and topics."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from kate.engines.cpu.machine_code import compiled_once
from kate.research.rivals.base import CountMatrix, CountsEstimator, Floats, require_whole_numbers, seed_of
from kate.research.rivals.weighting import inverse_document_frequencies, weigh

__all__ = ["NMF"]

_kernel: Any = partial(compiled_once, fastmath={"contract"})
_ENCODING_ITERATIONS = 50
_TOLERANCE = 1e-4  # fitting ends when the gradients are so small, relative to those of the first pass


@dataclass(kw_only=True, eq=False, repr=False)
class NMF(CountsEstimator):
    """Non-negative matrix factorisation: document counts in, shares of topics out.

        T  = TF-IDF of the documents, rows of length 1      (n_docs, n_words)
        T ≈ V H      V (n_docs, n_components) ≥ 0               H (n_components, n_words) ≥ 0

    V and H minimise the squared error, by coordinate descent. A new document's row of V is found with H held
    fixed; one without a known word is 0.

    Parameters
    ----------
    n_components : topics, the length of a document vector
    max_iter : passes of the descent
    sublinear : counts enter TF-IDF as 1 + ln counts, or as they are
    regularisation : of V and H, times the number of words or documents
    l1_ratio : 0 for squares, 1 for absolute values, or a mixture
    random_state : seed of the start

    Attributes
    ----------
    components_ : (n_components, n_words), H
    word_vectors_ : (n_words, n_components), Hᵀ
    idf_ : (n_words,)
    settings_ : the parameters as they were used

    Examples
    --------
    >>> X = np.array([[3, 2, 0, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]])
    >>> (NMF(n_components=2, random_state=0).fit_transform(X) > 0.1).sum(axis=1).tolist()
    [1, 1, 1, 1]
    """

    components_are_topics: ClassVar[bool] = True

    max_iter: int = 200
    sublinear: bool = True
    regularisation: float = 0.0
    l1_ratio: float = 0.0

    components_: Floats = field(init=False)
    idf_: Floats = field(init=False)

    def fit(self, X: CountMatrix, y: None = None) -> Self:
        """Learn the weights of the words and the topics from counts (n_docs, n_words)."""
        X = self._checked(X, reset=True)
        require_whole_numbers(self, "n_components", "max_iter")
        self.idf_ = inverse_document_frequencies(X)
        weights = weigh(X, self.idf_, sublinear=self.sublinear)
        # nndsvd starts from a singular value decomposition, which has at most as many vectors as rows and columns
        start = "nndsvda" if self.n_components <= min(X.shape) else "random"
        self.components_ = self._factorise(weights, start)
        self.settings_ = self.get_params(deep=False)
        return self

    def transform(self, X: CountMatrix) -> Floats:
        """The shares of topics (n_docs, n_components) in documents."""
        check_is_fitted(self)
        weights = weigh(self._checked(X, reset=False), self.idf_, sublinear=self.sublinear)
        shares = np.zeros((weights.shape[0], self.components_.shape[0]), dtype=np.float32)
        self._improve(shares, weights, self.components_.T, _ENCODING_ITERATIONS)
        return shares

    @property
    def word_vectors_(self) -> Floats:
        check_is_fitted(self)
        return self.components_.T

    def _factorise(self, weights: csr_matrix, start: str) -> Floats:
        """H, with the start, the order of steps and the stopping rule of scikit-learn's coordinate descent."""
        # private: pyproject.toml bounds the version of scikit-learn in the extra paper
        from sklearn.decomposition._nmf import _initialize_nmf

        V, H = _initialize_nmf(
            weights, self.n_components, init=start, random_state=seed_of(self.random_state)
        )
        shares, words = (np.ascontiguousarray(factor, dtype=np.float32) for factor in (V, H.T))
        transposed = weights.T.tocsr()
        first = 0.0
        for _ in range(self.max_iter):
            violation = self._improve(shares, weights, words, 1) + self._improve(words, transposed, shares, 1)
            first = first or violation
            if violation <= _TOLERANCE * first:
                break
        return np.ascontiguousarray(words.T)

    def _improve(self, factor: Floats, weights: csr_matrix, other: Floats, passes: int) -> float:
        """Move a factor, in place, towards weights ≈ factor otherᵀ, with the other held fixed."""
        penalty = self.regularisation * weights.shape[1]
        targets = weights @ other - np.float32(penalty * self.l1_ratio)  # the shape of the factor
        products = other.T @ other  # (n_components, n_components)
        products.flat[:: len(products) + 1] += np.float32(penalty * (1 - self.l1_ratio))
        return float(_descend(targets, products, factor, passes))


@_kernel
def _descend(targets, products, shares, iterations):
    """Minimise ½ v products vᵀ - targets vᵀ over every row v ≥ 0 of shares, one share at a time.

    Most shares are 0 and stay 0: so the gradient is kept, and updated only when a share changes. A row is finished
    early when no share changes any more; so it does not depend on the other rows. Returns the sum of the gradients,
    without those that would make a share of 0 negative.
    """
    n_components = products.shape[0]
    gradient = np.empty(n_components, dtype=np.float32)
    violation = 0.0
    for row in range(targets.shape[0]):
        for topic in range(n_components):
            gradient[topic] = -targets[row, topic]
        for topic in range(n_components):
            if shares[row, topic] != 0:
                _add(gradient, shares[row, topic], products[topic])
        for _ in range(iterations):
            moved = False
            for topic in range(n_components):
                curvature, share, slope = products[topic, topic], shares[row, topic], gradient[topic]
                violation += abs(slope) if share != 0 or slope < 0 else 0.0
                if curvature == 0:
                    continue
                step = max(share - slope / curvature, np.float32(0)) - share
                if step == 0:
                    continue
                moved = True
                shares[row, topic] = share + step
                _add(gradient, step, products[topic])
            if not moved:
                break
    return violation


@_kernel
def _add(gradient, step, products):
    for topic in range(len(gradient)):
        gradient[topic] += step * products[topic]
