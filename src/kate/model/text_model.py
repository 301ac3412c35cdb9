"""TextModel: text in; vectors, topics and similar words out. What a user fits, saves and loads.

A fitted model is plain arrays and a vocabulary. scikit-learn and the compiler are imported by fitting only, so a saved
model answers in a fraction of a second.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, Never, Self

import numpy as np
from numpy.typing import NDArray

from kate.engines.devices import Device, Precision, require_engine
from kate.model.encoder import Output, Scaling, comparison_shift, warn_about_empty
from kate.model.model_folder import Trained, read_model, write_model
from kate.model.plain_estimator import PlainEstimator
from kate.model.settings import (
    MACHINE_PARAMETERS,
    check_settings,
    checked_counts,
    paper_settings,
    require_held_out,
)
from kate.model.text_answers import TextAnswers, Texts, UnknownWordError, as_counts, strings_of
from kate.model.update_report import UpdateReport
from kate.notebook_html import facts_html
from kate.progress import Report, report_nothing
from kate.sparse_arrays import sparse
from kate.storage.folders import FolderError, StrPath
from kate.storage.json_values import as_json
from kate.text.own_tokenizer import OwnTokenizer, TokenFunction
from kate.text.phrases import phrase_parts
from kate.text.vocabulary import Vocabulary
from kate.text.word_choice import DocumentLimit
from kate.text.word_parameters import WordParameters
from kate.topics.document_sketch import DocumentSketch
from kate.topics.topic_space import TopicSpace

if TYPE_CHECKING:
    from kate.model.fitting import FittedNetwork, ShareOut
    from kate.model.kate import KATE
    from kate.streaming.work_folder import WorkFolder
    from kate.text.corpus_batches import CorpusBatches
    from kate.text.text_stream import TextStream

__all__ = ["TextModel", "Texts", "UnknownWordError", "load"]

_logger = logging.getLogger(__name__)

_FREQUENT = 8  # words of a model in a notebook

Floats = NDArray[np.float32]


class TextModel(TextAnswers, PlainEstimator):
    """A vocabulary and a K-competitive autoencoder in one: from texts to vectors, topics, similar words.

    An estimator by scikit-learn's rules. Parameters that are None follow ``n_components`` and the number of documents;
    ``settings_`` says what they came to. What a fitted model knows: :class:`~kate.model.text_answers.TextAnswers`.

    Parameters
    ----------
    n_components : int, default 128
        the length of a document vector
    vocabulary_size : int or None, default 20000
        the number of words to keep, the most frequent ones; None keeps all
    min_df : int or float or {'auto'}, default 'auto'
        leave out words in fewer documents than this (int), or than this share of the documents (float); "auto"
        is 1 below 500 documents, 2 up to 20,000, and grows slowly from there
    max_df : int or float, default 1.0
        leave out words in more documents than this (int), or than this share of the documents (float)
    language : str or None, default 'auto'
        stemmer and stop words, by name or ISO code (see :func:`kate.languages`); "auto" finds the language from the
        first texts, English where none stands out; "porter" is the original Porter algorithm; None means neither.
        Chinese, Japanese and Thai are cut into words by the extra ``cjk``
    stem : bool, default True
        False keeps the words as they are written
    stop_words : list of str, optional
        used instead of the language's list; ``()`` for none
    phrases : bool, default False
        True makes words of neighbours that often stand together, such as "new york", beside their parts
    tokenizer : callable, optional
        a function that makes a list of words of a text, instead of language, stem, stop_words and what
        follows; a saved model does not hold it: ``kate.load(folder, tokenizer=...)``
    strip_html : bool, default True
        take tags and comments out of the texts before words are counted; "&eacute;" becomes "é"
    strip_urls : bool, default True
        take addresses of pages out
    strip_emails : bool, default True
        take addresses of people out
    strip_handles : bool, default True
        take "@somebody" out
    cut_runs : bool, default True
        "soooo" is "soo", and words of more than 60 characters go
    n_neurons : int, optional
        hidden neurons, of which vectors are made; None takes 256, or ``n_components`` where that is more
    n_winners : int, optional
        k, how many neurons win a document in training, half of them of either sign; 0 is no competition
    amplification : float, optional
        alpha, how much of the losers' energy each winner takes
    loss : {'softmax', 'cross-entropy'}, default 'softmax'
        "softmax" (multinomial) or "cross-entropy" (one sigmoid per word, the paper's)
    activation : {'tanh', 'sigmoid'}, default 'tanh'
        "tanh" or "sigmoid"
    scaling : {'root', 'l2', 'max'}, default 'root'
        "root": roots of the counts over their Euclidean norm, so that a repeated text has the same vector; or log
        counts over their "l2" norm or their "max" in the document (the paper's)
    weighting : {'idf', 'none'}, default 'idf'
        "idf" gives rare words more weight in what the encoder reads, not in what is reconstructed. Or "none"
    start : {'svd', 'random'}, default 'svd'
        W starts at the leading directions of the documents, as LSA has them ("svd"), or at "random" (the paper's)
    start_share : float, default 0.35
        how far vectors go back from the trained W to the start; 0 takes W as it is
    dropout : float, default 0.5
        share of a document's words that the encoder does not see in a step
    reconstruction_sampling : int or {'auto'} or None, default 'auto'
        reconstruct only the words of a batch and so many of the others, drawn anew in every step
        (on the CPU only); None reconstructs all words; "auto" draws 1,000 where the vocabulary is large
    output_bias : {'frequency', 'zero'}, default 'frequency'
        c starts at the word "frequency" (log or log-odds of its mean) or at "zero" (the paper's)
    optimizer : {'adam', 'adadelta'}, default 'adam'
        "adam" or "adadelta"
    learning_rate : float, optional
        its highest value, after the warm-up
    epsilon : float, default 1e-08
        what the optimizer adds to its running squares; Adadelta's first steps are about its square root
    warmup : float, default 0.05
        share of all steps in which the learning rate rises from zero
    decay : {'linear', 'none'}, default 'linear'
        "linear" to zero over the rest of the steps, or "none"
    max_epochs : int, optional
        passes over the documents; None takes 5, and at most 500 steps
    max_steps : int, optional
        batches to learn from at most; the last epoch ends early
    batch_size : int, optional
        documents per step; None follows the number of documents
    validation_fraction : float, default 0.0
        share of the documents held out to follow the validation loss (without competition)
    patience : int, optional
        stop after so many epochs without a better validation loss and keep the best; None keeps the last
    output : {'projection', 'preactivation', 'activation'}, default 'projection'
        vectors are a "projection" of the neurons: one linear map, components ordered by what they carry; or the
        neurons themselves, their "preactivation" Wᵀ x + b or their "activation" (the paper's)
    mean : {'project', 'subtract', 'keep'}, default 'project'
        of the training documents' vectors: "project" its direction out (for "projection"), "subtract" it (for the
        others), or "keep" it (the paper's)
    random_state : int or np.random.RandomState or None, default 0
        seed; the same seed on the same machine gives the same model. None draws a seed, which
        ``settings_`` tells
    n_jobs : int, optional
        threads; None takes all cores, or OMP_NUM_THREADS
    device : {'auto', 'cpu', 'cuda'}, default 'auto'
        "cpu", "cuda" (extra ``gpu``), or "auto": uses a GPU if PyTorch is installed and sees one
    precision : {'float32', 'tf32', 'bf16'}, default 'float32'
        products on a GPU in "float32", "tf32" or "bf16"; the CPU computes in float32
    n_devices : int, default 1
        GPUs of this machine that ``fit`` trains on, each on its part of every batch (docs/scale.md)
    verbose : bool, optional
        show a progress bar; None shows it if standard error is a terminal

    Examples
    --------
    >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    >>> model = TextModel(n_components=2, max_epochs=5).fit(texts)
    >>> model.encode(["a coin of gold"]).shape
    (1, 2)
    >>> [topic.name for topic in model.topics(2)]
    ['peace, treaty', 'gold, silver']
    """

    def __init__(
        self,
        n_components: int = 128,
        *,
        vocabulary_size: int | None = 20_000,
        min_df: DocumentLimit = "auto",
        max_df: int | float = 1.0,
        language: str | None = "auto",
        stem: bool = True,
        stop_words: Collection[str] | None = None,
        phrases: bool = False,
        tokenizer: TokenFunction | None = None,
        strip_html: bool = True,
        strip_urls: bool = True,
        strip_emails: bool = True,
        strip_handles: bool = True,
        cut_runs: bool = True,
        n_neurons: int | None = None,
        n_winners: int | None = None,
        amplification: float | None = None,
        loss: Literal["softmax", "cross-entropy"] = "softmax",
        activation: Literal["tanh", "sigmoid"] = "tanh",
        scaling: Scaling = "root",
        weighting: Literal["idf", "none"] = "idf",
        start: Literal["svd", "random"] = "svd",
        start_share: float = 0.35,
        dropout: float = 0.5,
        reconstruction_sampling: int | Literal["auto"] | None = "auto",
        output_bias: Literal["frequency", "zero"] = "frequency",
        optimizer: Literal["adam", "adadelta"] = "adam",
        learning_rate: float | None = None,
        epsilon: float = 1e-8,
        warmup: float = 0.05,
        decay: Literal["linear", "none"] = "linear",
        max_epochs: int | None = None,
        max_steps: int | None = None,
        batch_size: int | None = None,
        validation_fraction: float = 0.0,
        patience: int | None = None,
        output: Output = "projection",
        mean: Literal["project", "subtract", "keep"] = "project",
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        device: Device = "auto",
        precision: Precision = "float32",
        n_devices: int = 1,
        verbose: bool | None = None,
        **unknown: Never,
    ) -> None:
        self._refuse(unknown)
        self.n_components = n_components
        self.vocabulary_size = vocabulary_size
        self.min_df = min_df
        self.max_df = max_df
        self.language = language
        self.stem = stem
        self.stop_words = stop_words
        self.phrases = phrases
        self.tokenizer = tokenizer
        self.strip_html = strip_html
        self.strip_urls = strip_urls
        self.strip_emails = strip_emails
        self.strip_handles = strip_handles
        self.cut_runs = cut_runs
        self.n_neurons = n_neurons
        self.n_winners = n_winners
        self.amplification = amplification
        self.loss = loss
        self.activation = activation
        self.scaling = scaling
        self.weighting = weighting
        self.start = start
        self.start_share = start_share
        self.dropout = dropout
        self.reconstruction_sampling = reconstruction_sampling
        self.output_bias = output_bias
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.epsilon = epsilon
        self.warmup = warmup
        self.decay = decay
        self.max_epochs = max_epochs
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.output = output
        self.mean = mean
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.precision = precision
        self.n_devices = n_devices
        self.verbose = verbose

    @classmethod
    def paper(cls, n_components: int = 128, **changes: Any) -> Self:
        """The settings of the paper (Chen & Zaki 2017), those of ``KATE.paper``; ``changes`` override single ones."""
        return cls(n_components, **(paper_settings(n_components) | changes))

    @classmethod
    def from_trained(cls, trained: Trained) -> Self:
        """A fitted model from its parts."""
        given = trained.settings if trained.given is None else trained.given
        own = trained.vocabulary.tokenizer
        # a folder holds its name, not the function
        function = own.function if isinstance(own, OwnTokenizer) else None
        model = cls(**(given | {"tokenizer": function}))
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

        Parameters
        ----------
        validation : texts, optional
            held-out texts whose loss is followed (and decides when ``patience`` is set)
        keep_on_interrupt : bool, default False
            let Ctrl-C end the training and keep the best epoch so far (without ``patience``: the last
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
        counts = self._learn(texts, validation, keep_on_interrupt)
        warn_about_empty(counts, stacklevel=3)
        return self.encoder_.vectors(counts, self.n_jobs)

    fit_encode = fit_transform

    def fit_counts(
        self, X: Any, words: Iterable[str], *, validation: Any = None, keep_on_interrupt: bool = False
    ) -> Self:
        """Learn from counts (n_docs, n_words) that you made; ``words`` names the columns, and all of them are kept.

        Texts that the model reads later are cut at white space, or by ``tokenizer``: for counts of scikit-learn's
        CountVectorizer that is ``vectorizer.build_analyzer()``. Vectors of other counts: ``encoder_.encode(X)``.

        Parameters
        ----------
        validation : default None
            counts of held-out documents

        Examples
        --------
        >>> X = [[2, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 2, 1]]
        >>> model = TextModel(n_components=2).fit_counts(X, ["gold", "coin", "peace", "treaty"])
        >>> model.encode("a treaty").shape
        (2,)
        """
        from kate.model.fitting import fit_network

        require_held_out(self, has_validation=validation is not None)
        parameters = self._word_parameters()
        own = None if self.tokenizer is None else parameters.make_tokenizer()
        network = self._network()
        counts = checked_counts(network, X, reset=True)
        vocabulary = Vocabulary.of_counts(counts, words, own)
        held_out = None if validation is None else checked_counts(network, validation, reset=False)
        fitted = fit_network(self, counts, held_out, keep_on_interrupt=keep_on_interrupt)
        used = {name: getattr(self, name) for name in parameters.names()}
        used |= {"language": vocabulary.tokenizer.language}
        self._become(used, vocabulary, fitted, counts)
        return self

    def fit_stream(
        self,
        texts: Texts | TextStream | CorpusBatches,
        *,
        memory: str | int | None = None,
        work: WorkFolder | None = None,
        keep_on_interrupt: bool = False,
        report: Report = report_nothing,
        stop: Callable[[], bool] = lambda: False,
    ) -> Self:
        """The same from texts that are larger than memory: they are read once, and their counts stay on disk.

        The vocabulary is that of ``fit``; W starts from a sample of the documents, and every epoch sees all of them in
        an order drawn anew (docs/scale.md). If it fails or is interrupted, the model stays what it was before.

        Parameters
        ----------
        texts : texts or TextStream or CorpusBatches
            ``kate.iter_corpus(files)``, or anything that gives texts one by one; after an interruption it must
            give the same texts again
        memory : str or int, optional
            what the process may use, such as "2GB"; None takes half of the machine. The same limit and seed give
            the same model
        work : WorkFolder, optional
            a folder in which it goes on after an interruption; None takes a temporary one
        report : callable, optional
            is told how far it is, see :class:`kate.progress.Report`
        stop : callable, optional
            whether somebody asks to stop; then :class:`kate.streaming.work_folder.WorkStopped` is raised

        Examples
        --------
        >>> texts = (f"{word} coin" if word == "gold" else f"{word} treaty" for word in ["gold", "peace"] * 20)
        >>> model = TextModel(n_components=2).fit_stream(texts, memory="1GB")
        >>> model.n_documents_, model.vocabulary_.words
        (40, ['coin', 'gold', 'peac', 'treati'])
        """
        from kate.model.streamed_fitting import fit_streamed
        from kate.streaming.memory_limit import MemoryLimit
        from kate.streaming.work_folder import WorkFolder
        from kate.text.text_stream import stream_of

        words = self._word_parameters()
        with ExitStack() as stack:
            if work is None:
                parent = stack.enter_context(TemporaryDirectory(prefix="kate-"))
                work = stack.enter_context(WorkFolder(f"{parent}/fit.work"))
            limit = MemoryLimit.of(work.begun_with.get("memory") if memory is None else memory)
            found = fit_streamed(
                self,
                words,
                stream_of(texts),
                limit,
                work,
                keep_on_interrupt=keep_on_interrupt,
                report=report,
                stop=stop,
            )
        vocabulary, fitted, sample = found
        self._become(words.used_for(vocabulary), vocabulary, fitted, sample)
        return self

    def fit_counted(
        self, vocabulary: Vocabulary, counts: sparse.csr_matrix, *, share_out: ShareOut | None = None
    ) -> Self:
        """Learn from the counts (n_docs, n_words) of texts that a vocabulary has counted elsewhere, as on a cluster.

        share_out : makes a team of workers that does the training
        """
        from kate.model.fitting import fit_network

        parameters = self._word_parameters()
        _require_two(counts)
        fitted = fit_network(self, counts, None, share_out=share_out)
        self._become(parameters.used_for(vocabulary), vocabulary, fitted, counts)
        return self

    def partial_fit(self, texts: Texts, y: Any = None) -> Self:
        """Go on with new documents, as :meth:`update` does; the first call, if there was no ``fit``, is a fit.

        After ``save`` and ``kate.load`` it goes on exactly where it was. If it fails or is interrupted, the model
        stays what it was before.
        """
        if self._trained is None:
            return self.fit(texts)
        self.update(texts)
        return self

    def update(self, texts: Texts, n_topics: int | None = None) -> UpdateReport:
        """Learn from new documents without beginning anew; the report says what moved.

        Words that have become frequent enter the vocabulary, others fade; the network is trained on from where it was,
        and vectors and topics are those of all documents seen. Topics keep their numbers, their names and your
        changes (which can not be undone afterwards); documents that fit none make new ones. Give each document once:
        what was seen before is kept as a sample of at most 20,000 documents. If it fails or is interrupted, the
        model stays what it was before. docs/updates.md says how near it comes to one fit on everything.

        Parameters
        ----------
        n_topics : int, optional
            the topics that are kept, where you use another number of them than ``topics()`` gives

        Examples
        --------
        >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
        >>> model = TextModel(n_components=2).fit(texts)
        >>> report = model.update(["a treaty about gold", "gold and peace", "a new coin"])
        >>> report.n_new, report.n_documents, report.entered
        (3, 23, ('new',))
        """
        from kate.model.text_update import update_trained

        self._trained, report = update_trained(self, self._fitted(), strings_of(texts), n_topics)
        return report

    def save(self, folder: StrPath, *, resumable: bool = True) -> None:
        """Write the model to a folder, whole or not at all; an existing model there is replaced.

        Parameters
        ----------
        resumable : bool, default True
            keep what an update needs: half the size of the weights after a fit, three times that size after an
            update, and the words of the sketch, those that wait for a column too
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

    def _repr_html_(self) -> str:
        """For notebooks: what was learned from how much."""
        if not self.__sklearn_is_fitted__():
            return facts_html(repr(self), [])
        vocabulary, settings = self.vocabulary_, self.settings_
        order = np.argsort(-vocabulary.document_frequencies, kind="stable")[:_FREQUENT]
        facts = [
            ("documents", f"{self.n_documents_:,}"),
            ("words", f"{len(vocabulary):,}, most often {', '.join(vocabulary.readable[i] for i in order)}"),
            ("dimensions", f"{self.encoder_.n_components:,}"),
            ("language", settings["language"] or "none"),
            ("epochs", len(self.history_)),
            ("seed", settings["random_state"]),
        ]
        return facts_html("TextModel", facts)

    def _learn(self, texts: Texts, validation: Texts | None, keep_on_interrupt: bool) -> sparse.csr_matrix:
        """Fit everything; the counts of the texts."""
        from kate.model.fitting import fit_network

        require_engine(self.device)
        require_held_out(self, has_validation=validation is not None)
        parameters = self._word_parameters()
        vocabulary, found, waiting = parameters.learn_all(strings_of(texts))
        counts = as_counts(found)
        _logger.info("counted %s documents, %s words", f"{counts.shape[0]:,}", f"{counts.shape[1]:,}")
        _require_two(counts)
        held_out = (
            None if validation is None else as_counts(vocabulary.count(strings_of(validation), self.n_jobs))
        )
        if held_out is not None and held_out.shape[0] == 0:
            raise ValueError("validation holds no documents; pass some, or leave it out")
        fitted = fit_network(self, counts, held_out, keep_on_interrupt=keep_on_interrupt)
        self._become(parameters.used_for(vocabulary), vocabulary, fitted, counts, waiting)
        return counts

    def _word_parameters(self) -> WordParameters:
        """How texts are counted. A parameter that makes no sense is refused before any text is read."""
        check_settings(self)
        if isinstance(self.stop_words, Iterator):
            raise TypeError("stop_words is an iterator, which a second fit would find empty; give a list")
        return WordParameters.of(self)

    def _network(self) -> KATE:
        """The network as scikit-learn's checks of counts want it: those of a user need them."""
        from kate.model.kate import KATE

        return KATE(self.n_components)

    def _become(
        self,
        settings: dict[str, Any],
        vocabulary: Vocabulary,
        fitted: FittedNetwork,
        counts: sparse.csr_matrix,
        waiting: sparse.csr_array | None = None,
    ) -> None:
        """Be what was fitted. A sketch of the documents is kept: topics are found from it when they are asked for."""
        neurons, encoder, responses = fitted.finished
        shift = comparison_shift(encoder, responses.mean)
        sketch = DocumentSketch.take(
            counts,
            lambda X: encoder.vectors(X, self.n_jobs) - shift,
            fitted.coarse_encode(self.n_jobs),
            vocabulary.n_documents,
            waiting,
        )
        self._trained = Trained(
            settings=_as_saved(settings | fitted.settings),
            vocabulary=vocabulary,
            neurons=neurons,
            encoder=encoder,
            output_bias=fitted.output_bias,
            responses=responses,
            topics=TopicSpace(sketch, vocabulary.readable, phrases=phrase_parts(vocabulary.words)),
            history=fitted.history,
            n_documents_seen=fitted.n_documents_seen,
            training=fitted.state,
        )


def load(folder: StrPath, tokenizer: TokenFunction | None = None) -> TextModel:
    """The model that ``TextModel.save`` wrote to a folder; its vectors are the same to the last bit.

    Parameters
    ----------
    tokenizer : callable, optional
        the function that the model was fitted with, if it was given one

    Examples
    --------
    >>> load("no/such/model")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    FileNotFoundError: there is no model folder no/such/model; make one with `kate fit CORPUS -o MODEL` or ...
    """
    trained = read_model(folder)
    words = trained.vocabulary.with_tokenizer(tokenizer, f"the model in {folder}")
    trained = replace(trained, vocabulary=words)
    _logger.info("loaded the model %s: %s words", folder, f"{len(words):,}")
    try:
        return TextModel.from_trained(trained)
    except TypeError as error:
        raise FolderError(f"{folder} was saved by a newer Kate: {error}; pip install -U kate-text") from error


def _as_saved(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters as JSON can hold them, without those of the machine; a generator has no seed to write down."""
    stop_words, random_state = parameters["stop_words"], parameters["random_state"]
    function = parameters["tokenizer"]
    plain = parameters | {
        "tokenizer": None if function is None else OwnTokenizer(function).name,
        "stop_words": None if stop_words is None else sorted(set(stop_words)),
        "random_state": None if isinstance(random_state, np.random.RandomState) else random_state,
    }
    return {name: as_json(value) for name, value in plain.items() if name not in MACHINE_PARAMETERS}


def _require_two(counts: sparse.csr_matrix) -> None:
    if counts.shape[0] < 2:
        raise ValueError("one document is not enough to learn from; give two at least, better thousands")
