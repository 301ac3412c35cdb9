"""BM25: ranks documents for a query, without vectors, as search engines do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.utils.validation import check_is_fitted

from kate.research.rivals.base import CountMatrix, CountsReader, Floats
from kate.text.sequences import Sequences

__all__ = ["BM25"]


@dataclass(kw_only=True, eq=False, repr=False)
class BM25(CountsReader):
    """Okapi BM25 by bm25s: ``fit`` on the documents to search, then :meth:`similarities` of queries to them.

        score(q, d) = Σ_w q_w · idf_w · d_w / (d_w + k1 (1 - b + b |d| / mean |d|))

    Parameters
    ----------
    n_components : not used; there are no vectors
    k1 : how much a repeated word of a document counts
    b : how much the score of long documents is lowered, from 0 to 1
    method : the variant of bm25s: "lucene", "robertson", "atire", "bm25l" or "bm25+"
    repeat : whether a word that occurs several times in a query counts as often, or once
    random_state : not used; nothing is drawn

    Attributes
    ----------
    weights_, words_, starts_ : CSR matrix (n_docs, n_words), what each word adds to the score of each document
    settings_ : the parameters as they were used

    Examples
    --------
    >>> X = np.array([[3, 2, 0, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]])
    >>> BM25().fit(X).similarities(np.array([[0, 0, 1, 0]])).argmax()
    np.int64(3)
    """

    k1: float = 1.5
    b: float = 0.75
    method: Literal["lucene", "robertson", "atire", "bm25l", "bm25+"] = "lucene"
    repeat: bool = True

    weights_: Floats = field(init=False)

    def fit(self, X: CountMatrix, y: None = None) -> Self:
        """Index the documents to search, counts (n_docs, n_words)."""
        import bm25s

        X = self._checked(X, reset=True)
        engine = bm25s.BM25(k1=self.k1, b=self.b, method=self.method)
        documents = [document.tolist() for document in Sequences.of_counts(X)]
        words = {str(column): column for column in range(X.shape[1])}
        engine.index((documents, words), create_empty_token=False, show_progress=False)
        scores = engine.scores  # one column per word, one row per document
        indexed = csr_matrix(
            csc_matrix((scores["data"], scores["indices"], scores["indptr"]), shape=X.shape), dtype=np.float32
        )
        self.weights_, self.words_, self.starts_ = indexed.data, indexed.indices, indexed.indptr
        self.settings_ = self.get_params(deep=False)
        return self

    def similarities(self, X: CountMatrix) -> Floats:
        """The scores (n_queries, n_docs) of queries, given as counts, with the indexed documents."""
        check_is_fitted(self)
        queries = self._checked(X, reset=False)
        if not self.repeat:
            queries = queries.sign()
        shape = (len(self.starts_) - 1, self.n_features_in_)
        documents = csr_matrix((self.weights_, self.words_, self.starts_), shape=shape)
        return np.asarray((queries @ documents.T).toarray(), dtype=np.float32)
