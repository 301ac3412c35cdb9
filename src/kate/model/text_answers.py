"""What a fitted text model answers: vectors, topics, similar words. Needs neither scikit-learn nor a compiler."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.model.encoder import Encoder
from kate.model.loop import HistoryRow
from kate.model.model_folder import Trained
from kate.model.similar_words import nearest
from kate.text.documents import Documents
from kate.text.vocabulary import Vocabulary
from kate.topics.poles import N_WORDS, By, Responses, winning_poles
from kate.topics.topic import Topic, Topics

__all__ = ["TextAnswers", "Texts", "UnknownWordError", "as_counts", "strings_of", "unknown_word"]

Texts: TypeAlias = Iterable[str] | Documents
Floats = NDArray[np.float32]


class UnknownWordError(ValueError):
    """A word, or all words of a query, are not in the vocabulary."""


class TextAnswers:
    """The questions to a fitted :class:`~kate.model.text_model.TextModel`, and what it was fitted to.

    Attributes
    ----------
    vocabulary_ : :class:`~kate.text.vocabulary.Vocabulary`, the words and their readable forms
    encoder_ : :class:`~kate.model.encoder.Encoder`, all that encoding needs
    output_bias_ : (n_words,), with which the network predicts words; encoding does not need it
    responses_ : mean and standard deviation of each neuron's response over the training documents
    settings_ : the parameters as they were used, None filled in, without those of the machine (n_jobs, device, verbose)
    history_ : one row per epoch: loss, validation_loss, seconds, documents_per_second
    n_documents_ : how many documents the model was given to learn from
    """

    n_jobs: int | None = None
    _trained: Trained | None = None

    def transform(self, texts: Texts) -> Floats:
        """Vectors (n_docs, n_components); a text without a known word gets the empty document's, and a warning."""
        return self.encoder_.encode(self._count(texts), self.n_jobs)

    encode = transform

    def topics(self, top: int = 10, by: By = "wins") -> Topics:
        """Both poles of every neuron with ``top`` words (30 at most), by neuron.

        by : "wins" describes a pole by the documents that it wins, "weights" by its strongest weights, as the
            paper does
        """
        if by not in ("wins", "weights"):
            raise ValueError(f"by={by!r} is not known; topics are described by 'wins' or by 'weights'")
        if not 1 <= top <= N_WORDS:
            raise ValueError(f"top is {top}; a topic has 1 to {N_WORDS} words")
        return self._fitted().topics[by].shortened(top)

    def document_topics(self, texts: Texts, top: int = 3) -> list[list[tuple[Topic, float]]]:
        """The topics that win each text, at most ``top``, the strongest first; none if no word is known.

        A tenth of the neurons (rounded up) wins a text. The strength says by how many standard deviations the
        neuron's response differs from its mean over the training documents.
        """
        if top < 1:
            raise ValueError(f"top is {top}; expected one topic at least")
        counts = self._count(texts)
        responses = self.encoder_.encode(counts, self.n_jobs) + self.encoder_.mean
        poles, strengths = winning_poles(self.responses_.standardise(responses))
        strengths[np.diff(counts.indptr) == 0] = 0
        topics = self.topics()
        return [
            [(topics[pole], strength) for pole, strength in zip(*row, strict=True) if strength > 0]
            for row in zip(poles[:, :top].tolist(), strengths[:, :top].tolist(), strict=True)
        ]

    def similar_words(self, word: str, top: int = 5) -> list[tuple[str, float]]:
        """The words nearest to a word by the cosine of their weights, as people write them.

        ``word`` is any of its forms ("companies", "company") or its stem.
        """
        vocabulary = self.vocabulary_
        column = vocabulary.find(word)
        if column is None and len(word.split()) > 1:
            raise UnknownWordError(f"{word!r} is several words; similar words are found for one at a time")
        if column is None:
            raise unknown_word(word, vocabulary)
        if len(vocabulary) == 1:
            return []
        columns, cosines = nearest(self.encoder_.W, column, top)
        return [(vocabulary.readable[i], float(cosine)) for i, cosine in zip(columns, cosines, strict=True)]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """A name for each number of a vector: textmodel0, textmodel1, …"""
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(self.encoder_.n_components)], dtype=object)

    @property
    def vocabulary_(self) -> Vocabulary:
        return self._fitted().vocabulary

    @property
    def encoder_(self) -> Encoder:
        return self._fitted().encoder

    @property
    def output_bias_(self) -> Floats:
        return self._fitted().output_bias

    @property
    def responses_(self) -> Responses:
        return self._fitted().responses

    @property
    def settings_(self) -> dict[str, Any]:
        return dict(self._fitted().settings)

    @property
    def history_(self) -> list[HistoryRow]:
        return self._fitted().history

    @property
    def n_documents_(self) -> int:
        return self.vocabulary_.n_documents

    def _count(self, texts: Texts) -> csr_matrix:
        return as_counts(self.vocabulary_.count(strings_of(texts), self.n_jobs))

    def _fitted(self) -> Trained:
        if self._trained is None:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                "this TextModel has not learned anything yet; call fit(texts), or kate.load(folder)"
            )
        return self._trained


def unknown_word(query: str, vocabulary: Vocabulary) -> UnknownWordError:
    """The error for a word, or a query, of which the vocabulary has nothing, with what may be meant."""
    close = vocabulary.suggest(query)
    hint = f"did you mean {', '.join(close)}?" if close else "try a word of the texts that is no stop word"
    shown = repr(query if len(query) <= 100 else f"{query[:100]}…")
    found = f"{shown} is not" if len(query.split()) == 1 else f"no word of {shown} is"
    return UnknownWordError(f"{found} among the {len(vocabulary):,} words of the model; {hint}")


def strings_of(texts: Texts) -> Iterable[str] | pl.Series:
    return texts.texts if isinstance(texts, Documents) else texts


def as_counts(counts: Any) -> csr_matrix:
    """Counts as the network reads them."""
    return csr_matrix(counts, dtype=np.float32)
