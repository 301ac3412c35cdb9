"""TextModel: text in; vectors, topics and similar words out. What a user fits, saves and loads.

A fitted model is plain arrays and a vocabulary. scikit-learn and the compiler are imported by ``fit`` alone,
so that a saved model answers in a fraction of a second.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Self, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.model.encoder import Encoder
from kate.model.loop import HistoryRow
from kate.model.model_folder import By, Trained, read_model, write_model
from kate.model.settings import check_settings
from kate.model.similar_words import nearest
from kate.storage.folders import StrPath
from kate.text.documents import Documents
from kate.text.vocabulary import Vocabulary
from kate.topics.poles import (
    N_WORDS,
    Responses,
    count_wins,
    describe_by_weights,
    describe_by_wins,
    winning_poles,
)
from kate.topics.topic import Topic, Topics

__all__ = ["NotFittedError", "TextModel", "Texts", "UnknownWordError", "load"]

Texts: TypeAlias = Iterable[str] | Documents
Floats = NDArray[np.float32]

_OF_COUNTS = ("vocabulary_size", "min_df", "language", "stem", "stop_words")
_OF_BOTH = ("n_jobs",)
_OF_THE_MACHINE = (
    "n_jobs",
    "device",
    "precision",
    "verbose",
)  # how it is computed, not what: no part of a model


class NotFittedError(RuntimeError):
    """A model is asked before it has been fitted."""


class UnknownWordError(ValueError):
    """A word, or all words of a query, are not in the vocabulary."""


class TextModel:
    """A vocabulary and a K-competitive autoencoder in one: from texts to vectors, topics, similar words.

    Parameters
    ----------
    n_components : neurons, the length of a document vector; each has two poles, so there are twice as many topics
    settings : any parameter of :class:`kate.Counts` (vocabulary_size, min_df, language, stem, stop_words) or
        of :class:`kate.KATE` (max_epochs, random_state, verbose, …)

    >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    >>> model = TextModel(n_components=2, random_state=0, max_epochs=5).fit(texts)
    >>> model.encode(["a coin of gold"]).shape
    (1, 2)
    >>> len(model.topics())
    4
    """

    def __init__(self, n_components: int = 128, **settings: Any) -> None:
        _require_known(settings)
        if not isinstance(settings.get("stop_words"), str | None):
            settings["stop_words"] = tuple(settings["stop_words"])  # it may be an iterator, good for one fit
        self._given: dict[str, Any] = {"n_components": n_components, **settings}
        self._trained: Trained | None = None

    @classmethod
    def from_trained(cls, trained: Trained) -> Self:
        """A fitted model from its parts."""
        model = cls()
        model._given, model._trained = dict(trained.settings), trained
        return model

    def fit(self, texts: Texts, *, validation: Texts | None = None) -> Self:
        """Learn the vocabulary, the network and the topics from texts.

        ``validation`` are held-out texts whose loss is followed (and decides when ``patience`` is set).
        """
        self._learn(texts, validation)
        return self

    def fit_encode(self, texts: Texts, *, validation: Texts | None = None) -> Floats:
        """``fit``, and the vectors (n_docs, n_components) of the same texts, which are counted only once."""
        counts = self._learn(texts, validation)
        return self.encoder.encode(counts)

    def encode(self, texts: Texts) -> Floats:
        """Vectors (n_docs, n_components); one without a known word gets the empty document's, and a warning."""
        return self.encoder.encode(self._count(texts))

    def topics(self, top: int = 10, by: By = "wins") -> Topics:
        """Both poles of every neuron with ``top`` words (30 at most), by neuron.

        by : "wins" describes a pole by the documents that it wins, "weights" by its strongest weights, as the
            paper does
        """
        if by not in ("wins", "weights"):
            raise ValueError(f"by={by!r} is not known; topics are described by 'wins' or by 'weights'")
        if not 1 <= top <= N_WORDS:
            raise ValueError(f"top is {top}; a topic has 1 to {N_WORDS} words")
        return self._state().topics[by].shortened(top)

    def document_topics(self, texts: Texts, top: int = 3) -> list[list[tuple[Topic, float]]]:
        """The topics that win each text, at most ``top``, the strongest first; none where no word is known.

        A tenth of the neurons (rounded up) wins a text. The strength says by how many standard deviations the
        neuron's response differs from its mean over the training documents.
        """
        if top < 1:
            raise ValueError(f"top is {top}; expected one topic at least")
        counts = self._count(texts)
        responses = self.encoder.encode(counts) + self.encoder.mean
        poles, strengths = winning_poles(self._state().responses.standardise(responses))
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
        vocabulary = self.vocabulary
        column = vocabulary.find(word)
        if column is None and len(word.split()) > 1:
            raise UnknownWordError(f"{word!r} is several words; similar words are found for one at a time")
        if column is None:
            raise unknown_word(word, vocabulary)
        if len(vocabulary) == 1:
            return []
        columns, cosines = nearest(self.encoder.W, column, top)
        return [(vocabulary.readable[i], float(cosine)) for i, cosine in zip(columns, cosines, strict=True)]

    def save(self, folder: StrPath) -> None:
        """Write the model to a folder, whole or not at all; an existing model there is replaced."""
        write_model(folder, self._state())

    @property
    def n_components(self) -> int:
        """The number of neurons, the length of a vector."""
        return self._trained.encoder.n_components if self._trained else int(self._given["n_components"])

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting as JSON can hold it; once fitted, with what the ones left to Kate became."""
        return _as_json(self._given) if self._trained is None else dict(self._trained.settings)

    @property
    def vocabulary(self) -> Vocabulary:
        return self._state().vocabulary

    @property
    def encoder(self) -> Encoder:
        return self._state().encoder

    @property
    def output_bias(self) -> Floats:
        """c (n_words,), with which the network predicts words; encoding does not need it."""
        return self._state().output_bias

    @property
    def responses(self) -> Responses:
        """The mean and standard deviation of every neuron's response over the training documents."""
        return self._state().responses

    @property
    def history(self) -> list[HistoryRow]:
        """A row an epoch: loss, validation_loss, seconds, documents_per_second."""
        return self._state().history

    @property
    def n_documents(self) -> int:
        """How many documents the model was fitted on."""
        return self.vocabulary.n_documents

    def __repr__(self) -> str:
        if self._trained is None:
            return f"TextModel(n_components={self.n_components}), not fitted"
        return (
            f"TextModel(n_components={self.n_components}), fitted on {self.n_documents:,} documents, "
            f"{len(self.vocabulary):,} words"
        )

    def _learn(self, texts: Texts, validation: Texts | None) -> csr_matrix:
        """Fit everything; the counts of the texts."""
        # both import scikit-learn, which takes longer than a search
        from kate.model.kate import KATE
        from kate.text.counts import Counts

        model = KATE(**{name: value for name, value in self._given.items() if name not in _OF_COUNTS})
        check_settings(model)  # now, not after a million texts have been counted
        of_counts = (*_OF_COUNTS, *_OF_BOTH)
        counter = Counts(**{name: value for name, value in self._given.items() if name in of_counts})
        counts = _as_floats(counter.fit_transform(_strings(texts)))
        if counts.shape[0] < 2:
            raise ValueError("one document is not enough to learn from; give two at least, better thousands")
        vocabulary = counter.lexicon_
        held_out = None if validation is None else _as_floats(vocabulary.count(_strings(validation)))
        if held_out is not None and held_out.shape[0] == 0:
            raise ValueError("validation holds no documents; pass some, or leave it out")
        model.fit(counts, validation=held_out)

        settings = _as_json(counter.get_params() | model.settings_ | {"random_state": model.random_state})
        responses, topics = _described(model.encoder_, counts, vocabulary.readable)
        self._trained = Trained(
            settings, vocabulary, model.encoder_, model.output_bias_, responses, topics, model.history_
        )
        return counts

    def _count(self, texts: Texts) -> csr_matrix:
        vocabulary = self.vocabulary
        return _as_floats(vocabulary.count(_strings(texts), self._given.get("n_jobs")))

    def _state(self) -> Trained:
        if self._trained is None:
            raise NotFittedError(
                "this TextModel has not learned anything yet; call fit(texts), or kate.load(folder)"
            )
        return self._trained


def load(folder: StrPath) -> TextModel:
    """The model that ``TextModel.save`` wrote to a folder; its vectors are the same to the last bit.

    >>> load("no/such/model")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    FileNotFoundError: there is no model folder no/such/model; make one with `kate fit CORPUS -o MODEL` or ...
    """
    return TextModel.from_trained(read_model(folder))


def unknown_word(query: str, vocabulary: Vocabulary) -> UnknownWordError:
    """The error for a word, or a query, of which the vocabulary has nothing, with what may be meant."""
    close = vocabulary.suggest(query)
    hint = f"did you mean {', '.join(close)}?" if close else "try a word of the texts that is no stop word"
    shown = repr(query if len(query) <= 100 else f"{query[:100]}…")
    found = f"{shown} is not" if len(query.split()) == 1 else f"no word of {shown} is"
    return UnknownWordError(f"{found} among the {len(vocabulary):,} words of the model; {hint}")


def _described(
    encoder: Encoder, counts: csr_matrix, readable: list[str]
) -> tuple[Responses, dict[By, Topics]]:
    responses = Responses.of(encoder.respond, counts)
    wins = count_wins(counts, encoder.respond, responses)
    return responses, {
        "wins": describe_by_wins(counts, wins, readable),
        "weights": describe_by_weights(counts, encoder.W, wins, readable),
    }


def _strings(texts: Texts) -> Iterable[str] | pl.Series:
    return texts.texts if isinstance(texts, Documents) else texts


def _as_floats(counts: Any) -> csr_matrix:
    return csr_matrix(counts, dtype=np.float32)


def _require_known(settings: dict[str, Any]) -> None:
    """Refuse a setting that neither Counts nor KATE has, with the ones it may have been meant to be."""
    if not settings:
        return
    from kate.model.kate import KATE
    from kate.text.counts import Counts

    known = {*Counts().get_params(), *KATE().get_params()}
    for name in settings:
        if name not in known:
            close = difflib.get_close_matches(name, known, cutoff=0.5)
            hint = (
                f"did you mean {' or '.join(close)}?" if close else f"choose from {', '.join(sorted(known))}"
            )
            raise TypeError(f"TextModel has no setting {name!r}; {hint}")


def _as_json(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as JSON can hold them, less those that say how to compute rather than what."""
    return {name: _plain(value) for name, value in settings.items() if name not in _OF_THE_MACHINE}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Iterable):
        return sorted(set(value))  # stop words
    return None  # a random generator cannot be written down
