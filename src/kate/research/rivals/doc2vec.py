"""Doc2Vec: a vector for every document, trained to predict the document's words."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kate.errors import quoted
from kate.research.rivals.base import CountMatrix, Floats, SequenceEstimator, require_whole_numbers, seed_of
from kate.research.rivals.doc2vec_inference import ParagraphNetwork, infer
from kate.research.rivals.word2vec import named_documents
from kate.text.sequences import Sequences

__all__ = ["Doc2Vec"]

Method = Literal["dm", "dm-concat", "dbow"]
_METHODS: dict[Method, dict[str, int]] = {
    "dm": {"dm": 1, "dm_concat": 0},
    "dm-concat": {"dm": 1, "dm_concat": 1},
    "dbow": {"dm": 0, "dm_concat": 0},
}
_LOWEST_RATE = 1e-4
_BEYOND = "\0"  # gensim's word for places beyond the ends of a document


@dataclass(kw_only=True, eq=False, repr=False)
class Doc2Vec(SequenceEstimator):
    """Paragraph vectors (Le & Mikolov 2014) by gensim: sequences of words in, document vectors out.

        dm         the mean of the document's vector and those of the neighbouring words predicts a word
        dm-concat  the same, with the vectors concatenated
        dbow       the document's vector alone predicts its words

    The vector of a document, of the training set or not, is found with the trained network held fixed: it starts from
    random numbers that depend on the seed and on the document's words, and is trained alone. So the same document has
    the same vector (but for rounding) among any other documents. A document without a known word is 0.

    Parameters
    ----------
    n_components : the length of the vectors
    method : "dm", "dm-concat" (PV-DM) or "dbow" (PV-DBOW)
    window : neighbours on either side
    negative : noise words per word
    epochs : passes over the documents
    inference_epochs : passes over a document to find its vector
    learning_rate : at the start; it falls linearly to 0.0001
    subsample : words more frequent than this share are skipped at random; 0 for never
    random_state : seed; one thread trains, so that a seed gives the same result

    Attributes
    ----------
    frequencies_ : (n_words,), occurrences in the training documents
    inner_, outer_ : (n_words + 1, …), vectors of words as context, and as predicted words; the last row is for
        places beyond the ends of a document
    word_vectors_ : (n_words, n_components), of the words as context; "dbow" learns none
    settings_ : the parameters as they were used

    Examples
    --------
    >>> documents = Sequences.of([[0, 1, 0], [2, 3, 2], []], n_words=4)
    >>> Doc2Vec(n_components=2, random_state=0).fit_transform(documents).shape
    (3, 2)
    """

    method: Method = "dm"
    window: int = 5
    negative: int = 5
    epochs: int = 20
    inference_epochs: int = 20
    learning_rate: float = 0.025
    subsample: float = 1e-3

    frequencies_: NDArray[np.int64] = field(init=False)
    inner_: Floats = field(init=False)
    outer_: Floats = field(init=False)

    @classmethod
    def paper(cls, n_components: int = 128, **changes: Any) -> Self:
        """PV-DM, as the paper has it; with concatenated vectors and five passes, as in the code released with it."""
        settings: dict[str, Any] = {"method": "dm-concat", "epochs": 5, "inference_epochs": 5}
        return cls(n_components, **(settings | changes))

    def fit(self, X: Sequences | CountMatrix, y: None = None) -> Self:
        """Train the network on sequences (or on counts, in random order)."""
        from gensim.models.doc2vec import TaggedDocument

        documents = self._sequences(X, reset=True)
        require_whole_numbers(self, "n_components", "window", "negative", "epochs", "inference_epochs")
        if self.method not in _METHODS:
            raise ValueError(
                f"method={quoted(self.method)} is not known; choose one of {', '.join(_METHODS)}"
            )
        self.frequencies_ = np.bincount(documents.codes, minlength=documents.n_words).astype(np.int64)
        if not self.frequencies_.any():
            raise ValueError(
                f"none of the {len(documents):,} documents holds a word; give documents with words"
            )
        self.settings_ = self.get_params(deep=False) | {"random_state": seed_of(self.random_state)}
        tagged = [TaggedDocument(words, [row]) for row, words in enumerate(named_documents(documents))]
        model = self._network()
        model.build_vocab(tagged)
        model.train(tagged, total_examples=len(tagged), epochs=self.epochs)
        rows = _columns_of(model, documents.n_words)
        self.inner_ = np.zeros((documents.n_words + 1, model.wv.vectors.shape[1]), dtype=np.float32)
        self.outer_ = np.zeros((documents.n_words + 1, model.syn1neg.shape[1]), dtype=np.float32)
        self.inner_[rows], self.outer_[rows] = model.wv.vectors, model.syn1neg
        return self

    def transform(self, X: Sequences | CountMatrix) -> Floats:
        """The vectors (n_docs, n_components) of documents, found with the network held fixed."""
        check_is_fitted(self)
        documents = self._sequences(X, reset=False)
        model = self._trained_network()
        vectors = np.zeros((len(documents), self.n_components), dtype=np.float32)
        known = [document[self.frequencies_[document] > 0] for document in documents]
        rows = [row for row, words in enumerate(known) if len(words)]
        fingerprints = [zlib.crc32(documents[row].tobytes()) for row in rows]
        if rows and self.method != "dm":
            vectors[rows] = self._infer_many(model, [known[row] for row in rows], fingerprints)
        else:
            names = np.array([str(column) for column in range(documents.n_words)], dtype=object)
            for row, fingerprint in zip(rows, fingerprints, strict=True):
                vectors[row] = self._infer(model, names[known[row]].tolist(), fingerprint)
        return vectors

    @property
    def word_vectors_(self) -> Floats:
        """(n_words, n_components), of the words as context; "dbow" has none."""
        check_is_fitted(self)
        if self.method == "dbow":
            raise AttributeError("Doc2Vec with method='dbow' learns no vectors of words; use 'dm'")
        return self.inner_[:-1]

    def _network(self) -> Any:
        """gensim's model, without a vocabulary."""
        from gensim.models import Doc2Vec as Gensim

        return Gensim(
            **_METHODS[self.method],
            vector_size=self.n_components,
            window=self.window,
            negative=self.negative,
            alpha=self.learning_rate,
            min_alpha=_LOWEST_RATE,
            sample=self.subsample,
            min_count=1,
            seed=self.settings_["random_state"],
            workers=1,
        )

    def _trained_network(self) -> Any:
        """gensim's model as it was trained."""
        model, present = self._network(), np.flatnonzero(self.frequencies_)
        frequencies = {str(column): int(self.frequencies_[column]) for column in present}
        model.build_vocab_from_freq(frequencies, corpus_count=1)
        rows = _columns_of(model, len(self.frequencies_))
        model.wv.vectors, model.syn1neg = self.inner_[rows], self.outer_[rows]
        return model

    def _start(self, model: Any, fingerprint: int) -> Floats:
        """The start of a document's vector, the same in every process; gensim's random numbers are seeded, too."""
        seed = self.settings_["random_state"]
        start = np.random.default_rng([seed, fingerprint]).random(self.n_components)
        model.random.seed((seed + fingerprint) % 2**32)
        return np.asarray((start - 0.5) / self.n_components, dtype=np.float32)

    def _rates(self) -> NDArray[np.float64]:
        return np.linspace(self.learning_rate, _LOWEST_RATE, self.inference_epochs)

    def _infer(self, model: Any, words: list[str], fingerprint: int) -> Floats:
        """What gensim's ``infer_vector`` does for "dm", from the document's own start."""
        from gensim.models import doc2vec as gensim

        vector = self._start(model, fingerprint).reshape(1, -1)
        work, neurons = (np.zeros(model.layer1_size, dtype=np.float32) for _ in range(2))
        fixed: dict[str, Any] = {"learn_words": False, "learn_hidden": False}
        fixed |= {"doctag_vectors": vector, "doctags_lockf": np.ones(1, dtype=np.float32)}
        for rate in self._rates():
            gensim.train_document_dm(model, words, [0], rate, work, neurons, **fixed)
        return np.asarray(vector[0], dtype=np.float32)

    def _infer_many(self, model: Any, documents: list[NDArray[np.int32]], fingerprints: list[int]) -> Floats:
        """The same for "dm-concat" and "dbow", compiled for many documents at once."""
        network = ParagraphNetwork(
            inner=model.wv.vectors,
            outer=model.syn1neg.reshape(len(model.wv), -1, self.n_components),
            beyond=model.wv.key_to_index.get(_BEYOND, -1),
            kept=model.wv.expandos["sample_int"] if self.subsample else np.zeros(0, dtype=np.uint32),
            noise=model.cum_table,
            negative=self.negative,
        )
        numbers = np.empty(len(self.frequencies_) + 1, dtype=np.int64)  # gensim's, of the columns
        numbers[_columns_of(model, len(self.frequencies_))] = np.arange(len(model.wv))
        vectors = np.empty((len(documents), self.n_components), dtype=np.float32)
        states = np.empty((len(documents), self.inference_epochs), dtype=np.uint64)
        for row, fingerprint in enumerate(fingerprints):
            vectors[row] = self._start(model, fingerprint)
            halves = model.random.randint(0, 2**24, (self.inference_epochs, 2))
            states[row] = 2**24 * halves[:, 0] + halves[:, 1]
        rates = self._rates().astype(np.float32)
        infer(network, [numbers[document] for document in documents], states, rates, vectors)
        return vectors


def _columns_of(model: Any, n_words: int) -> NDArray[np.int64]:
    """The column of each of gensim's words; one more for places beyond the ends of a document (dm-concat)."""
    return np.array(
        [n_words if name == _BEYOND else int(name) for name in model.wv.index_to_key], dtype=np.int64
    )
