"""Pre-trained word vectors: a document is the mean of the vectors of its words, read from a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from sklearn.utils.validation import check_is_fitted

from kate.research.rivals.base import CountMatrix, CountsEstimator, Floats
from kate.research.rivals.vector_files import read_vectors
from kate.research.rivals.weighting import inverse_document_frequencies
from kate.research.rivals.word2vec import Weighting, mean_vectors

if TYPE_CHECKING:
    from kate.text.vocabulary import Vocabulary

__all__ = ["PretrainedWord2Vec", "match_vectors"]


@dataclass(kw_only=True, eq=False, repr=False)
class PretrainedWord2Vec(CountsEstimator):
    """Document counts in, the mean of the pre-trained vectors of their words out.

        v(document) = Σ_w weight_w u_w / Σ_w weight_w      over the words that have a vector

    Words of the file are stemmed like those of the vocabulary; vectors of words with the same stem are averaged. The
    file is read once, and only vectors of known words are kept. A document without a known word is 0.

    Parameters
    ----------
    n_components : not used; the vectors are as long as those of the file
    vectors : the file: word2vec's binary or text format, GloVe's text format (all of them also .gz), or gensim's
        .kv, which is a pickle: only use one from a source that you trust
    weighting : "mean", or "idf": rare words have a higher weight in the mean
    random_state : not used; nothing is drawn

    Attributes
    ----------
    word_vectors_ : (n_words, n_dimensions), 0 for a word that is not in the file
    is_known_ : (n_words,), whether it is
    idf_ : (n_words,)
    settings_ : the parameters as they were used, and the dimensions of the file
    """

    vectors: str | None = None
    weighting: Weighting = "mean"

    word_vectors_: Floats = field(init=False)
    idf_: Floats = field(init=False)

    def fit(self, X: CountMatrix, y: None = None, *, vocabulary: Vocabulary | None = None) -> Self:
        """Look up the words of ``vocabulary``, which are those of the columns of X, in the file."""
        X = self._checked(X, reset=True)
        if self.vectors is None:
            raise ValueError("vectors=None: give the file of the pre-trained vectors, vectors='….bin'")
        if vocabulary is None or len(vocabulary) != X.shape[1]:
            found = "none" if vocabulary is None else f"one of {len(vocabulary):,} words"
            raise ValueError(
                f"the words of the {X.shape[1]:,} columns are needed to look them up: pass vocabulary=, not {found}"
            )
        self.word_vectors_, self.is_known_ = match_vectors(Path(self.vectors), vocabulary)
        if not self.is_known_.any():
            raise ValueError(
                f"{self.vectors} has no vector for any of the {len(vocabulary):,} words, such as "
                f"{', '.join(vocabulary.readable[:3])}; is it of another language?"
            )
        self.idf_ = inverse_document_frequencies(X)
        dimensions = self.word_vectors_.shape[1]
        self.settings_ = self.get_params(deep=False) | {"n_components": dimensions}
        return self

    def transform(self, X: CountMatrix) -> Floats:
        """The vectors (n_docs, n_dimensions) of documents."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return mean_vectors(X.multiply(self.is_known_), self.word_vectors_, self.idf_, self.weighting)


def match_vectors(path: Path, vocabulary: Vocabulary) -> tuple[Floats, np.ndarray[Any, np.dtype[np.bool_]]]:
    """The mean vector (n_words, n_dimensions) of all words of a file that have the same stem; which have any."""
    column_of = vocabulary.columns.get
    sums, n_found = np.zeros((len(vocabulary), 0)), np.zeros(len(vocabulary), dtype=np.int64)
    for words, vectors in read_vectors(path):
        meanings = vocabulary.tokenizer.resolve(pl.Series(words, dtype=pl.String))
        # what is split into several words is a phrase, and is skipped
        meanings = meanings.filter(pl.len().over("chunk") == 1)
        columns = np.array([column_of(stem, -1) for stem in meanings["stem"].to_list()], dtype=np.int64)
        rows = meanings["chunk"].to_numpy()
        if not sums.shape[1]:
            sums = np.zeros((len(vocabulary), vectors.shape[1]))
        np.add.at(sums, columns[columns >= 0], vectors[rows[columns >= 0]])
        n_found += np.bincount(columns[columns >= 0], minlength=len(vocabulary))
    return (sums / np.maximum(n_found, 1)[:, None]).astype(np.float32), n_found > 0
