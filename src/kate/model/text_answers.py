"""What a fitted text model answers: vectors, similar words; topics are in topic_answers.py.

Needs neither scikit-learn nor a compiler.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from kate.errors import KateError, quoted
from kate.model.encoder import Encoder, count_empty, warn_of_empty
from kate.model.loop import HistoryRow
from kate.model.model_folder import Trained
from kate.model.settings import require_whole
from kate.model.similar_words import nearest
from kate.model.topic_answers import TopicAnswers
from kate.sparse_arrays import sparse
from kate.text.documents import Documents
from kate.text.text_batches import text_batches
from kate.text.vocabulary import Vocabulary
from kate.topics.neuron_poles import Responses
from kate.topics.topic_space import TopicSpace
from kate.unit_rows import unit_rows

__all__ = ["TextAnswers", "Texts", "UnknownWordError", "as_counts", "strings_of", "unknown_word"]

Texts: TypeAlias = Iterable[str] | Iterable[Sequence[str]] | Documents
Floats = NDArray[np.float32]


class UnknownWordError(KateError, ValueError):
    """A word, or all words of a query, are not in the vocabulary.

    >>> import kate
    >>> model = kate.TextModel(2, max_epochs=1).fit(["a treaty of peace", "gold and silver"] * 5)
    >>> try:
    ...     model.similar_words("traety")
    ... except kate.UnknownWordError as error:
    ...     print(error)
    'traety' is not among the 4 words of the model; did you mean treaty?
    """


class TextAnswers(TopicAnswers):
    """The questions to a fitted :class:`~kate.model.text_model.TextModel`, and what it was fitted to.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        :class:`~kate.text.vocabulary.Vocabulary`, the words and their readable forms
    encoder_ : Encoder
        :class:`~kate.model.encoder.Encoder`, all that encoding needs
    neurons_ : Encoder
        the same for the neurons themselves, see :meth:`neurons`
    output_bias_ : array
        (n_words,), with which the network predicts words; encoding does not need it
    responses_ : Responses
        mean and standard deviation of each neuron's response over the training documents
    topic_space_ : TopicSpace
        :class:`~kate.topics.topic_space.TopicSpace`, what topics are cut from
    settings_ : dict[str, Any]
        the parameters as they were used, None filled in, without those of the machine (n_jobs, device, verbose)
    history_ : list of HistoryRow
        one row per epoch: loss, validation_loss, seconds, documents_per_second
    n_documents_ : int
        how many documents the model was given to learn from
    """

    n_jobs: int | None = None
    _trained: Trained | None = None

    def transform(self, texts: Texts) -> Floats:
        """Vectors (n_docs, n_components); a text without a known word gets the empty document's, and a warning."""
        return self.encoder_.encode(self._count(texts), self.n_jobs)

    def encode(
        self,
        texts: str | Texts,
        *,
        normalize: bool = False,
        batch_size: int | None = None,
        truncate_dim: int | None = None,
    ) -> Floats:
        """Vectors (n_docs, n_components) of texts; of a single string its vector (n_components,).

        Parameters
        ----------
        normalize : bool, default False
            divide each vector by its length; that of a text without a known word stays zero
        batch_size : int, optional
            texts that are counted and encoded together, to bound memory; the vectors are the same
        truncate_dim : int, optional
            keep the first components only. They are ordered by what they carry, so that every prefix of a
            vector is a good shorter vector; other outputs than "projection" have no such order

        Examples
        --------
        >>> from kate import TextModel
        >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
        >>> model = TextModel(n_components=3).fit(texts)
        >>> model.encode("a coin of gold").shape, model.encode(["a coin of gold"], truncate_dim=2).shape
        ((3,), (1, 2))
        """
        kept = self.kept_components(truncate_dim)
        if batch_size is not None:
            require_whole("batch_size", batch_size)
        strings = [texts] if isinstance(texts, str) else strings_of(texts)
        parts, n_empty = [np.empty((0, kept), dtype=np.float32)], 0
        for batch in [strings] if batch_size is None else _batches(strings, batch_size):
            vectors, without = self._encoded(batch, kept, normalize)
            parts.append(vectors)
            n_empty += without
        vectors = parts[1] if len(parts) == 2 else np.concatenate(parts)
        warn_of_empty(n_empty, len(vectors), stacklevel=3)
        vectors = np.ascontiguousarray(vectors)
        return vectors[0] if isinstance(texts, str) else vectors

    def encode_batches(
        self, batches: Iterable[Texts], *, normalize: bool = False, truncate_dim: int | None = None
    ) -> Iterator[Floats]:
        """The vectors of each of many batches of texts, as :meth:`encode` gives them; only one batch is held.

        For corpora that are larger than memory: ``model.encode_batches(kate.iter_corpus("news/*.parquet"))``.

        >>> from kate import TextModel
        >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
        >>> model = TextModel(n_components=3).fit(texts)
        >>> [vectors.shape for vectors in model.encode_batches([["a coin", "gold"], ["a treaty"]])]
        [(2, 3), (1, 3)]
        """
        kept = self.kept_components(truncate_dim)
        n_texts = n_empty = 0
        for batch in batches:
            vectors, without = self._encoded(strings_of(batch), kept, normalize)
            n_texts, n_empty = n_texts + len(vectors), n_empty + without
            yield np.ascontiguousarray(vectors)
        warn_of_empty(n_empty, n_texts, stacklevel=2)

    def _encoded(self, texts: Any, kept: int, normalize: bool) -> tuple[Floats, int]:
        """Vectors of texts, and how many of the texts have no known word."""
        counts = self._count(texts)
        vectors = self.encoder_.vectors(counts, self.n_jobs)[:, :kept]
        return unit_rows(vectors) if normalize else vectors, count_empty(counts)

    def similarity(self, a: str | Texts | ArrayLike, b: str | Texts | ArrayLike) -> Floats:
        """The cosine of each of ``a`` with each of ``b``, (n_a, n_b): vectors as ``encode`` gives them, or texts.

        A single vector or string counts as one row. A zero vector has the cosine 0 to all.

        >>> from kate import TextModel
        >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
        >>> model = TextModel(n_components=2).fit(texts)
        >>> model.similarity("gold", ["a coin", "silver", "peace"]).shape
        (1, 3)
        """
        rows, columns = self._unit_vectors(a), self._unit_vectors(b)
        if rows.shape[1] != columns.shape[1]:
            raise ValueError(
                f"vectors of {rows.shape[1]} and of {columns.shape[1]} numbers cannot be compared; encode both with "
                "the same model and the same truncate_dim"
            )
        return np.asarray(rows @ columns.T, dtype=np.float32)

    def similar_words(self, word: str, top: int = 5) -> list[tuple[str, float]]:
        """The words nearest to a word by the cosine of their weights, as people write them.

        ``word`` is any of its forms ("companies", "company") or its stem.
        """
        vocabulary = self.vocabulary_
        column = vocabulary.find(word)
        if column is None and len(word.split()) > 1:
            raise UnknownWordError(
                f"{quoted(word)} is several words; similar words are found for one at a time"
            )
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
    def neurons_(self) -> Encoder:
        return self._fitted().neurons

    @property
    def output_bias_(self) -> Floats:
        return self._fitted().output_bias

    @property
    def responses_(self) -> Responses:
        return self._fitted().responses

    @property
    def topic_space_(self) -> TopicSpace:
        return self._fitted().topics

    @property
    def settings_(self) -> dict[str, Any]:
        return dict(self._fitted().settings)

    @property
    def history_(self) -> list[HistoryRow]:
        return self._fitted().history

    @property
    def n_documents_(self) -> int:
        return self.vocabulary_.n_documents

    def kept_components(self, truncate_dim: int | None) -> int:
        """How many components of a vector are asked for."""
        encoder = self.encoder_
        if truncate_dim is None:
            return encoder.n_components
        require_whole("truncate_dim", truncate_dim)
        if encoder.output != "projection":
            raise ValueError(
                f"truncate_dim={truncate_dim}: the components of this model are its neurons "
                f"(output={quoted(encoder.output)}), which have no order; leave truncate_dim out, or fit with "
                "output='projection'"
            )
        if truncate_dim > encoder.n_components:
            raise ValueError(
                f"truncate_dim={truncate_dim} is more than the {encoder.n_components} components of the model"
            )
        return int(truncate_dim)

    def _unit_vectors(self, given: str | Texts | ArrayLike) -> Floats:
        """Rows of length 1, or 0, of vectors or of texts."""
        if isinstance(given, str | Documents) or _are_texts(given):
            return np.atleast_2d(self.encode(given, normalize=True))
        vectors = np.asarray(given, dtype=np.float32)
        if vectors.ndim not in (1, 2):
            raise ValueError(f"expected one vector or rows of vectors, got an array of shape {vectors.shape}")
        if not np.isfinite(vectors).all():
            raise ValueError("the vectors hold NaN or infinity; expected vectors as encode gives them")
        return unit_rows(np.atleast_2d(vectors))

    def _count(self, texts: Texts) -> sparse.csr_matrix:
        return as_counts(self.vocabulary_.count(strings_of(texts), self.n_jobs))

    def _fitted(self) -> Trained:
        if self._trained is None:
            from kate.model.not_fitted import NotFittedError

            raise NotFittedError(
                "this TextModel has not learned anything yet; call fit(texts), or kate.load(folder)"
            )
        return self._trained


def unknown_word(query: str, vocabulary: Vocabulary) -> UnknownWordError:
    """The error for a word, or a query, of which the vocabulary has nothing, with what may be meant."""
    close = vocabulary.suggest(query)
    hint = f"did you mean {', '.join(close)}?" if close else "try a word of the texts that is no stop word"
    shown = quoted(query)
    found = f"{shown} is not" if len(query.split()) == 1 else f"no word of {shown} is"
    return UnknownWordError(f"{found} among the {len(vocabulary):,} words of the model; {hint}")


def _batches(texts: Iterable[str] | Iterable[Sequence[str]] | pl.Series, n_texts: int) -> Iterator[pl.Series]:
    """At most so many texts at a time, each checked to be a string."""
    for some in text_batches(texts):
        for start in range(0, len(some), n_texts):
            yield some.slice(start, n_texts)


def _are_texts(given: Any) -> TypeGuard[Sequence[str]]:
    """Strings, or lists of words, rather than numbers: a list, a column of a table or an array of them."""
    if not isinstance(given, Sequence | pl.Series | np.ndarray) or len(given) == 0:
        return False
    first = given[0]
    is_words = isinstance(first, list | tuple) and len(first) > 0 and isinstance(first[0], str)
    return isinstance(first, str) or is_words


def strings_of(texts: Texts) -> Iterable[str] | Iterable[Sequence[str]] | pl.Series:
    return texts.texts if isinstance(texts, Documents) else texts


def as_counts(counts: Any) -> sparse.csr_matrix:
    """Counts as the network reads them."""
    return sparse.csr_matrix(counts, dtype=np.float32)
