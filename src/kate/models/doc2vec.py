"""Doc2Vec: a vector of its own for every document, which helps to foretell the document's words."""

from __future__ import annotations

import zlib
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kate.models.base import Counts, Floats, SequenceEstimator, require_whole_numbers, seed_of
from kate.models.word2vec import named_documents
from kate.text.sequences import Sequences

__all__ = ["Doc2Vec"]

Method = Literal["dm", "dm-concat", "dbow"]
_METHODS: dict[Method, dict[str, int]] = {
    "dm": {"dm": 1, "dm_concat": 0},
    "dm-concat": {"dm": 1, "dm_concat": 1},
    "dbow": {"dm": 0, "dm_concat": 0},
}
_LOWEST_RATE = 1e-4


class Doc2Vec(SequenceEstimator):
    """Paragraph vectors (Le & Mikolov 2014) by gensim: sequences of words in, document vectors out.

        dm         the mean of the document's vector and those of the neighbours foretells a word
        dm-concat  the same with all of them side by side
        dbow       the document's vector alone foretells its words

    Every document, of the training set or not, gets the vector that fits the trained network best: it starts from
    numbers drawn from the seed and the document's words, and is trained while the rest is held fixed. So the same
    document has the same vector wherever it stands. A document without a known word is 0.

    Parameters
    ----------
    n_topics : the length of the vectors
    method : "dm", "dm-concat" (PV-DM) or "dbow" (PV-DBOW)
    window : neighbours on either side
    negative : words of noise for each word
    epochs : passes over the documents
    inference_epochs : passes over a document whose vector is sought
    learning_rate : at the start; it falls in a line to 0.0001
    subsample : words more frequent than this share are passed over at times; 0 for never
    random_state : seed; one thread trains, or it would not repeat itself

    Attributes
    ----------
    frequencies_ : (n_words,), occurrences in the training documents
    inner_, outer_ : (n_words + 1, …), vectors of words as context, and as what is foretold; the last row is for
        what stands beyond the ends of a document
    word_vectors_ : (n_words, n_topics), of the words as context; not with "dbow", which learns none
    settings_ : the parameters as they were used

    Examples
    --------
    >>> documents = Sequences.of([[0, 1, 0], [2, 3, 2], []], n_words=4)
    >>> Doc2Vec(n_topics=2, random_state=0).fit_transform(documents).shape
    (3, 2)
    """

    frequencies_: NDArray[np.int64]
    inner_: Floats
    outer_: Floats

    def __init__(
        self,
        n_topics: int = 128,
        *,
        method: Method = "dm",
        window: int = 5,
        negative: int = 5,
        epochs: int = 20,
        inference_epochs: int = 20,
        learning_rate: float = 0.025,
        subsample: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.n_topics = n_topics
        self.method = method
        self.window = window
        self.negative = negative
        self.epochs = epochs
        self.inference_epochs = inference_epochs
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.random_state = random_state

    @classmethod
    def paper(cls, n_topics: int = 128, **changes: Any) -> Self:
        """PV-DM, as the paper has it; with the vectors side by side and five passes, as the code released with it."""
        settings: dict[str, Any] = {"method": "dm-concat", "epochs": 5, "inference_epochs": 5}
        return cls(n_topics, **(settings | changes))

    def fit(self, X: Sequences | Counts, y: None = None) -> Self:
        """Train the network on sequences (or, their order lost, on counts)."""
        from gensim.models.doc2vec import TaggedDocument

        documents = self._sequences(X, reset=True)
        require_whole_numbers(self, "n_topics", "window", "negative", "epochs", "inference_epochs")
        if self.method not in _METHODS:
            raise ValueError(f"method={self.method!r} is not known; choose one of {', '.join(_METHODS)}")
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

    def transform(self, X: Sequences | Counts) -> Floats:
        """The vectors (n_docs, n_topics) of documents, found with the network held fixed."""
        check_is_fitted(self)
        documents = self._sequences(X, reset=False)
        model = self._trained_network()
        names = [str(column) for column in range(documents.n_words)]
        vectors = np.zeros((len(documents), self.n_topics), dtype=np.float32)
        for row, document in enumerate(documents):
            known = [names[column] for column in document if self.frequencies_[column]]
            if known:
                vectors[row] = self._infer(model, known, zlib.crc32(document.tobytes()))
        return vectors

    @property
    def word_vectors_(self) -> Floats:
        """(n_words, n_topics), of the words as context; "dbow" has none."""
        check_is_fitted(self)
        if self.method == "dbow":
            raise AttributeError("Doc2Vec with method='dbow' learns no vectors of words; use 'dm'")
        return self.inner_[:-1]

    def _network(self) -> Any:
        """gensim's model, which knows no word yet."""
        from gensim.models import Doc2Vec as Gensim

        return Gensim(
            **_METHODS[self.method],
            vector_size=self.n_topics,
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

    def _infer(self, model: Any, words: list[str], fingerprint: int) -> Floats:
        """What gensim's ``infer_vector`` does, from a start that does not change from one process to the next."""
        from gensim.models import doc2vec as gensim

        seed = self.settings_["random_state"]
        start = np.random.default_rng([seed, fingerprint]).random(self.n_topics)
        vector = ((start - 0.5) / self.n_topics).astype(np.float32).reshape(1, -1)
        model.random.seed((seed + fingerprint) % 2**32)
        work, neurons = (np.zeros(model.layer1_size, dtype=np.float32) for _ in range(2))
        fixed: dict[str, Any] = {"learn_words": False, "learn_hidden": False}
        fixed |= {"doctag_vectors": vector, "doctags_lockf": np.ones(1, dtype=np.float32)}
        for rate in np.linspace(self.learning_rate, _LOWEST_RATE, self.inference_epochs):
            if self.method == "dbow":
                gensim.train_document_dbow(model, words, [0], rate, work, **fixed)
            elif self.method == "dm":
                gensim.train_document_dm(model, words, [0], rate, work, neurons, **fixed)
            else:
                gensim.train_document_dm_concat(model, words, [0], rate, work, neurons, **fixed)
        return np.asarray(vector[0], dtype=np.float32)


def _columns_of(model: Any, n_words: int) -> NDArray[np.int64]:
    """The column of each of gensim's words; one more for what stands beyond the ends of a document (dm-concat)."""
    return np.array(
        [n_words if name == "\0" else int(name) for name in model.wv.index_to_key], dtype=np.int64
    )
