"""TextModel: text in; vectors, topics and similar words out. What a user fits, saves and loads.

A fitted model is plain arrays and a vocabulary. scikit-learn and the compiler are imported by fitting only, so a saved
model answers in a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Never, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.devices import Device, Precision
from kate.model.encoder import Output, Scaling, warn_about_empty
from kate.model.model_folder import Trained, read_model, write_model
from kate.model.plain_estimator import PlainEstimator
from kate.model.settings import MACHINE_PARAMETERS, check_settings, paper_settings, require_held_out
from kate.model.text_answers import TextAnswers, Texts, UnknownWordError, as_counts, strings_of
from kate.storage.folders import FolderError, StrPath
from kate.storage.json_values import as_json
from kate.text.vocabulary import Vocabulary
from kate.topics.poles import describe

if TYPE_CHECKING:
    from kate.model.kate import KATE
    from kate.text.counts import Counts

__all__ = ["TextModel", "Texts", "UnknownWordError", "load"]

Floats = NDArray[np.float32]


class TextModel(TextAnswers, PlainEstimator):
    """A vocabulary and a K-competitive autoencoder in one: from texts to vectors, topics, similar words.

    An estimator by scikit-learn's rules. Parameters that are None follow ``n_components`` and the number of documents;
    ``settings_`` says what they came to. What a fitted model knows: :class:`~kate.model.text_answers.TextAnswers`.

    Parameters
    ----------
    n_components : neurons, the length of a document vector; each has two poles, so there are twice as many topics
    vocabulary_size : the number of words to keep, the most frequent ones; None keeps all
    min_df : leave out words in fewer documents than this (int), or than this share of the documents (float)
    language : stemmer and stop words; "porter" is the original Porter algorithm; None means neither
    stem : False keeps the words as they are written
    stop_words : used instead of the language's list; ``()`` for none
    n_winners : k, how many neurons win a document in training, half of them of either sign
    amplification : alpha, how much of the losers' energy each winner takes
    loss : "softmax" (multinomial) or "cross-entropy" (one sigmoid per word, the paper's)
    activation : "tanh" or "sigmoid"
    scaling : log counts over their "l2" norm or their "max" in the document (the paper's)
    dropout : share of a document's words that the encoder does not see in a step
    reconstruction_sampling : for large vocabularies: reconstruct only the words of a batch and so many of the others
        (on the CPU only); None reconstructs all words
    output_bias : starts at the word "frequency" or at "zero" (the paper's)
    optimizer : "adam" or "adadelta"
    learning_rate : its highest value, after the warm-up
    epsilon : what the optimizer adds to its running squares
    warmup : share of all steps in which the learning rate rises from zero
    decay : "linear" to zero over the rest of the steps, or "none"
    max_epochs : passes over the documents
    batch_size : documents per step
    validation_fraction : share of the documents held out to follow the validation loss
    patience : stop after so many epochs without a better validation loss and keep the best; None keeps the last
    output : vectors are the "activation" or the "preactivation" of the neurons
    center : subtract the mean of the training documents' vectors
    random_state : seed; the same seed on the same machine gives the same model. None draws a seed, which
        ``settings_`` tells
    n_jobs : threads; None takes all cores, or OMP_NUM_THREADS
    device : "cpu", "cuda" (extra ``gpu``), or "auto": uses a GPU if PyTorch is installed and sees one
    precision : products on a GPU in "float32", "tf32" or "bf16"; the CPU computes in float32
    verbose : show a progress bar; None shows it if standard error is a terminal

    >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    >>> model = TextModel(n_components=2, max_epochs=5).fit(texts)
    >>> model.encode(["a coin of gold"]).shape
    (1, 2)
    >>> len(model.topics())
    4
    """

    def __init__(
        self,
        n_components: int = 128,
        *,
        vocabulary_size: int | None = 20_000,
        min_df: int | float = 1,
        language: str | None = "english",
        stem: bool = True,
        stop_words: Collection[str] | None = None,
        n_winners: int | None = None,
        amplification: float | None = None,
        loss: Literal["softmax", "cross-entropy"] = "softmax",
        activation: Literal["tanh", "sigmoid"] = "tanh",
        scaling: Scaling = "l2",
        dropout: float = 0.7,
        reconstruction_sampling: int | None = None,
        output_bias: Literal["frequency", "zero"] = "frequency",
        optimizer: Literal["adam", "adadelta"] = "adam",
        learning_rate: float | None = None,
        epsilon: float = 1e-8,
        warmup: float = 0.05,
        decay: Literal["linear", "none"] = "linear",
        max_epochs: int | None = None,
        batch_size: int | None = None,
        validation_fraction: float = 0.0,
        patience: int | None = None,
        output: Output = "preactivation",
        center: bool = True,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        device: Device = "auto",
        precision: Precision = "float32",
        verbose: bool | None = None,
        **unknown: Never,
    ) -> None:
        self._refuse(unknown)
        self.n_components = n_components
        self.vocabulary_size = vocabulary_size
        self.min_df = min_df
        self.language = language
        self.stem = stem
        self.stop_words = stop_words
        self.n_winners = n_winners
        self.amplification = amplification
        self.loss = loss
        self.activation = activation
        self.scaling = scaling
        self.dropout = dropout
        self.reconstruction_sampling = reconstruction_sampling
        self.output_bias = output_bias
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.epsilon = epsilon
        self.warmup = warmup
        self.decay = decay
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.output = output
        self.center = center
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.precision = precision
        self.verbose = verbose

    @classmethod
    def paper(cls, n_components: int = 128, **changes: Any) -> Self:
        """The settings of the paper (Chen & Zaki 2017), those of ``KATE.paper``; ``changes`` override single ones."""
        return cls(n_components, **(paper_settings(n_components) | changes))

    @classmethod
    def from_trained(cls, trained: Trained) -> Self:
        """A fitted model from its parts."""
        model = cls(**(trained.settings if trained.given is None else trained.given))
        model._trained = trained
        return model

    def fit(
        self,
        texts: Texts,
        y: Any = None,
        *,
        validation: Texts | None = None,
        keep_on_interrupt: bool = False,
    ) -> Self:
        """Learn the vocabulary, the network and the topics from texts.

        If it fails or is interrupted, the model stays what it was before.

        validation : held-out texts whose loss is followed (and decides when ``patience`` is set)
        keep_on_interrupt : let Ctrl-C end the training and keep the best epoch so far (without ``patience``: the last
            complete one), with a warning; by default Ctrl-C raises KeyboardInterrupt and nothing is kept
        """
        self._learn(texts, validation, keep_on_interrupt)
        return self

    def fit_transform(
        self,
        texts: Texts,
        y: Any = None,
        *,
        validation: Texts | None = None,
        keep_on_interrupt: bool = False,
    ) -> Floats:
        """``fit``, and the vectors (n_docs, n_components) of the same texts, which are read only once."""
        counts, vectors = self._learn(texts, validation, keep_on_interrupt, with_vectors=True)
        warn_about_empty(counts, stacklevel=3)
        return vectors

    fit_encode = fit_transform

    def partial_fit(self, texts: Texts, y: Any = None) -> Self:
        """One more pass over texts, new or old; the first call (if there was no ``fit``) fixes the vocabulary.

        The learning rate stays at its highest value and nothing is held out. Means and word frequencies follow all
        texts seen; the topics describe the texts of the latest call. After ``save`` and ``kate.load`` it goes on
        exactly where it was. If it fails or is interrupted, the model stays what it was before.
        """
        before = self._trained
        if before is None:
            counter, network = self._new_parts()
            counts = as_counts(counter.fit_transform(strings_of(texts)))
            _require_two(counts)
            vocabulary, settings = counter.lexicon_, counter.get_params()
        else:
            counts, network, settings = self._count(texts), self._network_of(before), before.settings
            vocabulary = before.vocabulary.with_documents(counts)
        network.partial_fit(counts)
        self._become(settings, vocabulary, network, counts)
        return self

    def save(self, folder: StrPath, *, resumable: bool = True) -> None:
        """Write the model to a folder, whole or not at all; an existing model there is replaced.

        resumable : keep what ``partial_fit`` needs to go on exactly; after a ``partial_fit`` it is twice the size of
            the weights
        """
        trained = self._fitted()
        training = trained.training if resumable else None
        write_model(folder, replace(trained, given=_as_saved(self.get_params()), training=training))

    def __sklearn_is_fitted__(self) -> bool:
        return self._trained is not None

    def __repr__(self) -> str:
        if self._trained is None:
            return f"TextModel(n_components={self.n_components}), not fitted"
        return (
            f"TextModel(n_components={self.encoder_.n_components}), fitted on {self.n_documents_:,} documents, "
            f"{len(self.vocabulary_):,} words"
        )

    def _learn(
        self, texts: Texts, validation: Texts | None, keep_on_interrupt: bool, with_vectors: bool = False
    ) -> tuple[csr_matrix, Floats]:
        """Fit everything; the counts of the texts, and their vectors where they are asked for (else no rows)."""
        require_held_out(self, has_validation=validation is not None)
        counter, network = self._new_parts()
        counts = as_counts(counter.fit_transform(strings_of(texts)))
        _require_two(counts)
        held_out = None if validation is None else as_counts(counter.transform(strings_of(validation)))
        if held_out is not None and held_out.shape[0] == 0:
            raise ValueError("validation holds no documents; pass some, or leave it out")
        network.fit(counts, validation=held_out, keep_on_interrupt=keep_on_interrupt)
        vectors = np.empty((counts.shape[0] if with_vectors else 0, self.n_components), dtype=np.float32)
        self._become(
            counter.get_params(), counter.lexicon_, network, counts, vectors if with_vectors else None
        )
        vectors -= self.encoder_.mean
        return counts, vectors

    def _new_parts(self) -> tuple[Counts, KATE]:
        """What is to be fitted. A parameter that makes no sense is refused before any text is read."""
        from kate.model.kate import KATE
        from kate.text.counts import Counts

        check_settings(self)
        if isinstance(self.stop_words, Iterator):
            raise TypeError("stop_words is an iterator, which a second fit would find empty; give a list")
        return Counts(**self._parameters_of(Counts())), KATE(**self._parameters_of(KATE()))

    def _network_of(self, trained: Trained) -> KATE:
        """The fitted network as an estimator, to go on with."""
        from kate.model.kate import KATE

        network = KATE(**self._parameters_of(KATE()))
        n_seen = trained.n_documents_seen
        network._take(
            trained.encoder,
            trained.output_bias,
            trained.responses,
            {name: trained.settings[name] for name in network.get_params() if name in trained.settings},
            trained.history,
            trained.vocabulary.n_documents if n_seen is None else n_seen,
            trained.training,
        )
        return network

    def _become(
        self,
        settings: dict[str, Any],
        vocabulary: Vocabulary,
        network: KATE,
        counts: csr_matrix,
        responses: Floats | None = None,
    ) -> None:
        """Be what was fitted, described by the documents; their ``responses`` (n_docs, n_components) are filled in."""
        encoder = network.encoder_
        topics = describe(
            counts, encoder.respond, network.responses_, encoder.W, vocabulary.readable, responses
        )
        self._trained = Trained(
            settings=_as_saved(settings | network.settings_),
            vocabulary=vocabulary,
            encoder=encoder,
            output_bias=network.output_bias_,
            responses=network.responses_,
            topics=topics,
            history=network.history_,
            n_documents_seen=network.n_documents_seen_,
            training=network._state,
        )

    def _parameters_of(self, part: Any) -> dict[str, Any]:
        return {name: getattr(self, name) for name in part.get_params()}


def load(folder: StrPath) -> TextModel:
    """The model that ``TextModel.save`` wrote to a folder; its vectors are the same to the last bit.

    >>> load("no/such/model")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    FileNotFoundError: there is no model folder no/such/model; make one with `kate fit CORPUS -o MODEL` or ...
    """
    trained = read_model(folder)
    try:
        return TextModel.from_trained(trained)
    except TypeError as error:
        raise FolderError(f"{folder} was saved by a newer Kate: {error}; pip install -U kate-text") from error


def _as_saved(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters as JSON can hold them, without those of the machine; a generator has no seed to write down."""
    stop_words, random_state = parameters["stop_words"], parameters["random_state"]
    plain = parameters | {
        "stop_words": None if stop_words is None else sorted(set(stop_words)),
        "random_state": None if isinstance(random_state, np.random.RandomState) else random_state,
    }
    return {name: as_json(value) for name, value in plain.items() if name not in MACHINE_PARAMETERS}


def _require_two(counts: csr_matrix) -> None:
    if counts.shape[0] < 2:
        raise ValueError("one document is not enough to learn from; give two at least, better thousands")
