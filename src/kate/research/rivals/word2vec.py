"""Word2Vec: a document is the mean of the vectors of its words, learned from the documents themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np
from scipy.sparse import csr_matrix, diags_array
from sklearn.utils.validation import check_is_fitted

from kate.errors import quoted
from kate.research.rivals.base import CountMatrix, Floats, SequenceEstimator, require_whole_numbers, seed_of
from kate.research.rivals.weighting import inverse_document_frequencies
from kate.text.sequences import Sequences

__all__ = ["Weighting", "Word2Vec", "mean_vectors", "named_documents"]

Weighting = Literal["mean", "idf"]

_LONGEST = 10_000  # gensim ignores words of a document beyond this


@dataclass(kw_only=True, eq=False, repr=False)
class Word2Vec(SequenceEstimator):
    """Word2Vec by gensim: sequences of words in, the mean of the words' vectors out.

        word vectors u, v     maximise Σ ln σ(uᵢ·vⱼ) + Σ_noise ln σ(-uᵢ·vₙ)     i, j neighbours in a window
        v(document) = Σ_w weight_w u_w / Σ_w weight_w                            (n_components,)

    A document without a known word is 0.

    Parameters
    ----------
    n_components : the length of the vectors
    algorithm : "skip-gram" (a word predicts its neighbours) or "cbow" (the neighbours predict the word)
    window : neighbours on either side
    negative : noise words per neighbour
    epochs : passes over the documents
    learning_rate : at the start; it falls linearly to 0.0001
    subsample : words more frequent than this share are skipped at random; 0 for never
    weighting : "mean", or "idf": rare words have a higher weight in the mean
    random_state : seed; one thread trains, so that a seed gives the same result

    Attributes
    ----------
    word_vectors_ : (n_words, n_components)
    idf_ : (n_words,)
    settings_ : the parameters as they were used

    Examples
    --------
    >>> documents = Sequences.of([[0, 1, 0], [2, 3, 2], []], n_words=4)
    >>> Word2Vec(n_components=2, random_state=0).fit_transform(documents).shape
    (3, 2)
    """

    algorithm: Literal["skip-gram", "cbow"] = "skip-gram"
    window: int = 5
    negative: int = 5
    epochs: int = 5
    learning_rate: float = 0.025
    subsample: float = 1e-3
    weighting: Weighting = "mean"

    word_vectors_: Floats = field(init=False)
    idf_: Floats = field(init=False)

    def fit(self, X: Sequences | CountMatrix, y: None = None) -> Self:
        """Learn the vectors of the words from sequences (or from counts, in random order)."""
        from gensim.models import Word2Vec as Gensim

        documents = self._sequences(X, reset=True)
        require_whole_numbers(self, "n_components", "window", "negative", "epochs")
        if self.algorithm not in ("skip-gram", "cbow"):
            raise ValueError(f"algorithm={quoted(self.algorithm)} is not known; choose 'skip-gram' or 'cbow'")
        self.idf_ = inverse_document_frequencies(csr_matrix(documents.counts()))
        self.word_vectors_ = np.zeros((documents.n_words, self.n_components), dtype=np.float32)
        if len(documents.codes):
            model = Gensim(
                named_documents(documents),
                vector_size=self.n_components,
                sg=int(self.algorithm == "skip-gram"),
                window=self.window,
                negative=self.negative,
                epochs=self.epochs,
                alpha=self.learning_rate,
                sample=self.subsample,
                min_count=1,
                seed=seed_of(self.random_state),
                workers=1,
            )
            self.word_vectors_[[int(name) for name in model.wv.index_to_key]] = model.wv.vectors
        self.settings_ = self.get_params(deep=False)
        return self

    def transform(self, X: Sequences | CountMatrix) -> Floats:
        """The vectors (n_docs, n_components) of documents, given as sequences or as counts."""
        check_is_fitted(self)
        return mean_vectors(self._counts(X), self.word_vectors_, self.idf_, self.weighting)


class named_documents:  # noqa: N801  used like a function: an iterable that can be iterated several times
    """Documents as lists of strings for gensim: a word is the number of its column; no empty documents."""

    def __init__(self, documents: Sequences) -> None:
        self._documents = documents
        self._names = [str(column) for column in range(documents.n_words)]

    def __iter__(self) -> Iterator[list[str]]:
        for document in self._documents:
            for start in range(0, len(document), _LONGEST):
                yield [self._names[column] for column in document[start : start + _LONGEST]]


def mean_vectors(X: csr_matrix, word_vectors: Floats, idf: Floats, weighting: Weighting) -> Floats:
    """The mean (n_docs, n_dimensions) of the vectors of the words of each document; 0 for one without words.

    >>> vectors = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    >>> mean_vectors(csr_matrix([[3, 1], [0, 0]]), vectors, np.ones(2, np.float32), "mean").tolist()
    [[0.75, 0.25], [0.0, 0.0]]
    """
    if weighting not in ("mean", "idf"):
        raise ValueError(f"weighting={quoted(weighting)} is not known; choose 'mean' or 'idf'")
    weights = csr_matrix(X, dtype=np.float32)
    if weighting == "idf":
        weights = csr_matrix(weights @ diags_array(idf))
    totals = np.asarray(weights.sum(axis=1)).ravel()
    sums = weights @ word_vectors
    return np.asarray(sums / np.where(totals > 0, totals, 1)[:, None], dtype=np.float32)
