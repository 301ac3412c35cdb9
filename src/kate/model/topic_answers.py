"""What a fitted text model says about topics: of its own documents, and of any others."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.errors import quoted
from kate.model.encoder import EmptyDocumentsWarning, comparison_shift
from kate.text.documents import Documents
from kate.text.frames import as_documents, with_added
from kate.topics.neuron_poles import N_WORDS, poles_of
from kate.topics.neuron_table import NeuronPoles
from kate.topics.own_topics import OwnTopics
from kate.unit_rows import unit_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from kate.model.model_folder import Trained
    from kate.topics.topic_nodes import TopicNode
    from kate.topics.topic_set import ReadCorpus, Topics

__all__ = ["TopicAnswers", "warn_of_no_topic"]

Floats = NDArray[np.float32]


class TopicAnswers:
    """The questions about topics to a fitted :class:`~kate.model.text_model.TextModel`."""

    n_jobs: int | None = None

    def topics(self, n: int | None = None) -> Topics:
        """The topics of the documents that the model was fitted on: any number of them, from one fit.

        The documents were joined to a tree, and this cuts it: the 20 topics are unions of some of the 40. Every
        document belongs to the topic whose middle is nearest.

        Parameters
        ----------
        n : int, optional
            how many; None takes the topics as you changed them (:meth:`Topics.rename` and the like), or else a number
            that the data suggest, and ``topics.reason`` says why

        Examples
        --------
        >>> from kate import TextModel
        >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
        >>> model = TextModel(n_components=2).fit(texts)
        >>> model.topics(2)[0].words
        ('peace', 'treaty', 'signed')
        """
        from kate.topics.topic_set import Topics

        return Topics(self._fitted().topics, self._read_documents, n)

    def topic_tree(self, n: int | None = None) -> TopicNode:
        """The tree over ``n`` topics (None as in :meth:`topics`); ``print`` draws it, ``as_dict`` is for JSON.

        Topics that you merged, split or dropped are no part of a tree: it shows them as they were, with a warning.
        """
        from kate.topics.topic_nodes import topic_nodes
        from kate.topics.topic_set import Topics

        space = self._fitted().topics
        return topic_nodes(space, Topics(space, self._read_documents, n, changed=False))

    def label(
        self,
        corpus: Any,
        n: int | None = None,
        *,
        topics: Mapping[str, str | Sequence[str]] | None = None,
        text: str | None = None,
    ) -> Any:
        """The corpus with the topic of each document: its columns, and ``topic``, ``topic_name``, ``topic_share``.

        Parameters
        ----------
        corpus
            texts, :class:`~kate.text.documents.Documents` (with the columns of the files that were read), or a
            pandas or Polars frame, which comes back as such
        n : int, optional
            how many topics; None as in :meth:`topics`
        topics : dict of str to words, optional
            your own instead, by a few words each: {"health": "doctor hospital"}. A document that is near to none
            of them gets none
        text : str, optional
            the column of a frame that holds the text, where its name does not tell

        Notes
        -----
        A document without a known word has no topic: null. A column of the corpus that has the name of a new one is
        kept under another, with a warning.

        Examples
        --------
        >>> from kate import TextModel
        >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
        >>> model = TextModel(n_components=2).fit(texts)
        >>> model.label(["gold", "peace"], topics={"money": "coin silver", "war": "treaty"})["topic_name"].to_list()
        ['money', 'war']
        """
        documents = as_documents(corpus, text)
        found = self._found_topics(n, topics)
        read = self._read_documents(documents)
        return with_added(corpus, documents, found.label_columns(read.vectors, read.known))

    def label_batches(
        self,
        batches: Iterable[Any],
        n: int | None = None,
        *,
        topics: Mapping[str, str | Sequence[str]] | None = None,
    ) -> Iterator[pl.DataFrame]:
        """The columns that :meth:`label` adds, for each of many batches of texts; only one batch is held.

        >>> from kate import TextModel
        >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
        >>> model = TextModel(n_components=2).fit(texts)
        >>> [columns["topic"].to_list() for columns in model.label_batches([["a treaty", "gold"], ["peace"]], 2)]
        [[0, 1], [0]]
        """
        found = self._found_topics(n, topics)
        for read in self.read_batches(batches):
            yield pl.DataFrame(found.label_columns(read.vectors, read.known))

    def read_batches(self, batches: Iterable[Any]) -> Iterator[ReadCorpus]:
        """Unit vectors and counts of each of many batches of texts: what topics ask of documents."""
        n_documents = n_empty = 0
        for batch in batches:
            read = self._read_texts(batch)
            n_documents, n_empty = n_documents + len(read.vectors), n_empty + int((~read.known).sum())
            yield read
        warn_of_no_topic(n_empty, n_documents, stacklevel=3)

    def _found_topics(
        self, n: int | None, topics: Mapping[str, str | Sequence[str]] | None
    ) -> Topics | OwnTopics:
        if topics is None:
            return self.topics(n)
        if n is not None:
            raise ValueError("give either n or topics: your own topics are as many as you name")
        return self._own_topics(topics)

    def neurons(self, top: int = 10) -> NeuronPoles:
        """Both poles of every neuron by its strongest weights, as the paper describes topics; ``top`` words each."""
        if not 1 <= top <= N_WORDS:
            raise ValueError(f"top is {top}; a pole has 1 to {N_WORDS} words")
        trained = self._fitted()
        return poles_of(trained.neurons.W, trained.vocabulary.readable, top)

    def _own_topics(self, topics: Mapping[str, str | Sequence[str]]) -> OwnTopics:
        trained = self._fitted()
        if not isinstance(topics, Mapping):
            raise ValueError('topics are names and words, such as {"health": "doctor hospital"}')
        words = [text if isinstance(text, str) else " ".join(text) for text in topics.values()]
        counts = self._count(words)
        empty = [name for name, known in zip(topics, np.diff(counts.indptr) > 0, strict=True) if not known]
        if not words or empty:
            found = f"of {quoted(empty[0])} no word is known to the model" if empty else "no topic was given"
            raise ValueError(f'{found}; describe each by words of the texts: {{"health": "doctor hospital"}}')
        return OwnTopics.of(list(topics), self._unit_vectors_of(counts), trained.topics.sketch)

    def _read_documents(self, documents: Documents) -> ReadCorpus:
        """Vectors and counts of documents, with a warning where no word of one is known."""
        read = self._read_texts(documents)
        warn_of_no_topic(int((~read.known).sum()), len(documents), stacklevel=4)
        return read

    def _read_texts(self, texts: Any) -> ReadCorpus:
        from kate.topics.topic_set import ReadCorpus

        counts = self._count(texts)
        return ReadCorpus(self._unit_vectors_of(counts), counts)

    def _unit_vectors_of(self, counts: csr_matrix) -> Floats:
        """Vectors as they are compared; zeros for a document without words."""
        trained = self._fitted()
        shift = comparison_shift(trained.encoder, trained.responses.mean)
        vectors = trained.encoder.vectors(counts, self.n_jobs) - shift
        vectors[np.diff(counts.indptr) == 0] = 0
        return unit_rows(vectors)

    def _count(self, texts: Any) -> csr_matrix:
        raise NotImplementedError

    def _fitted(self) -> Trained:
        raise NotImplementedError


def warn_of_no_topic(n_empty: int, n_documents: int, stacklevel: int) -> None:
    if n_empty:
        warnings.warn(
            f"{n_empty:,} of {n_documents:,} documents have no word of the vocabulary, and so no topic",
            EmptyDocumentsWarning,
            stacklevel=stacklevel,
        )
