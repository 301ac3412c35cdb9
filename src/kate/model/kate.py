"""KATE, the K-competitive autoencoder for text: the scikit-learn estimator. Newcomers start here."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, sparray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kate.engines.devices import Device, Precision
from kate.model.encoder import Encoder, Output, Scaling
from kate.model.finishing import Finished, restored
from kate.model.fitting import FittedNetwork, fit_further, fit_network
from kate.model.loop import HistoryRow
from kate.model.settings import checked_counts, paper_settings
from kate.model.training_state import TrainingState, misfit, unchanged_on_failure
from kate.storage.saving import Arrays, Saveable
from kate.topics.neuron_poles import Responses

__all__ = ["KATE"]

Floats = NDArray[np.float32]
CountMatrix = csr_matrix | sparray | NDArray[Any]


class KATE(Saveable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """K-competitive autoencoder for text (Chen & Zaki, KDD 2017): document counts in, document vectors out.

    ::

        x  = scaled counts of a document, t = the same with IDF               (n_words,)
        z  = tanh(Wᵀ t + b)                         W (n_words, n_neurons)    (n_neurons,)
        ẑ  = compete(z, k, alpha)                   in training only
        x̂  = output(W ẑ + c)                        softmax or sigmoid        (n_words,)
        v  = Qᵀ (I − μ̂μ̂ᵀ) (β W + (1 − β) s W₀)ᵀ t   W₀: W at the start        (n_components,)

    W and the biases b, c minimise the cross-entropy of x and x̂. The competition (:func:`kate.compete`) lets only k
    neurons represent a document; losers learn through the amplification alone. Encoding needs no competition: a vector
    v is one linear map of t, without the direction μ̂ of the mean, turned so that the components that carry most come
    first (``kate.model.vector_map``). The empty document is the zero vector.

    Where a parameter is None it follows ``n_components`` and the number of documents (docs/defaults.md: how that was
    chosen; ``settings_`` what it came to); :meth:`paper` gives the paper's settings to the letter.

    Parameters
    ----------
    n_components : int, default 128
        the length of a document vector
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
        seed; the same seed on the same machine gives bit-identical weights. None draws a seed, which
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

    Attributes
    ----------
    components_ : array
        (n_components, n_words), the weights of each component on the words
    word_vectors_ : array
        (n_words, n_components), the same transposed: the vector of each word
    encoder_ : Encoder
        :class:`~kate.model.encoder.Encoder`, all that encoding needs
    neurons_ : Encoder
        the same for the neurons themselves: W, b
    output_bias_ : array
        (n_words,), c
    responses_ : Responses
        mean and standard deviation of each neuron's response over the training documents
    settings_ : dict[str, Any]
        the parameters as they were used, None filled in; the parameters themselves stay as they were given
    history_ : list of HistoryRow
        one row per epoch: loss, validation_loss, seconds, documents_per_second
    n_documents_seen_ : int
        documents learned from, those of every ``partial_fit`` added

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3, 2, 0, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]])
    >>> vectors = KATE(n_components=2, random_state=0).fit_transform(X)
    >>> vectors.shape
    (4, 2)
    """

    encoder_: Encoder
    neurons_: Encoder
    output_bias_: Floats
    responses_: Responses
    settings_: dict[str, Any]
    history_: list[HistoryRow]
    n_documents_seen_: int
    n_features_in_: int
    _state: TrainingState | None

    def __init__(
        self,
        n_components: int = 128,
        *,
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
    ) -> None:
        self.n_components = n_components
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
        """The paper to the letter: section 4.2 of Chen & Zaki (2017). ``changes`` override single settings.

        >>> KATE.paper(128).n_winners
        32
        """
        return cls(n_components, **(paper_settings(n_components) | changes))

    def fit(
        self,
        X: CountMatrix,
        y: Any = None,
        *,
        validation: CountMatrix | None = None,
        keep_on_interrupt: bool = False,
    ) -> Self:
        """Learn from counts X (n_docs, n_words), sparse or dense.

        If it fails or is interrupted, the model stays what it was before.

        Parameters
        ----------
        validation : array or sparse matrix, optional
            held-out documents; without them ``validation_fraction`` of X is held out
        keep_on_interrupt : bool, default False
            let Ctrl-C end the training and keep the best epoch so far (without ``patience``: the last
            complete one), with a warning; by default Ctrl-C raises KeyboardInterrupt and nothing is kept
        """
        with unchanged_on_failure(self):
            counts = checked_counts(self, X, reset=True)
            held_out = None if validation is None else checked_counts(self, validation, reset=False)
            self._take(fit_network(self, counts, held_out, keep_on_interrupt=keep_on_interrupt))
        return self

    def partial_fit(self, X: CountMatrix, y: Any = None) -> Self:
        """One more pass over documents of the same vocabulary, new or old; the first call starts from nothing.

        The learning rate stays at its highest value and nothing is held out. The map from neurons to vectors
        is made from the documents of this call; the responses of the neurons follow all documents seen. After
        ``save`` and ``load`` it goes on exactly where it was. If it fails or is interrupted, the model stays
        what it was before, and so does what the next call starts from.
        """
        before = self.fitted_network() if hasattr(self, "encoder_") else None
        with unchanged_on_failure(self):
            counts = checked_counts(self, X, reset=before is None)
            self._take(fit_further(self, counts, before))
        return self

    def transform(self, X: CountMatrix) -> Floats:
        """Vectors (n_docs, n_components) of documents; without a known word the empty document's, and a warning."""
        check_is_fitted(self, "encoder_")
        return self.encoder_.encode(checked_counts(self, X, reset=False), self.n_jobs)

    @property
    def components_(self) -> Floats:
        check_is_fitted(self, "encoder_")
        return self.encoder_.W.T

    @property
    def word_vectors_(self) -> Floats:
        check_is_fitted(self, "encoder_")
        return self.encoder_.W

    @property
    def _n_features_out(self) -> int:
        return self.encoder_.n_components

    def fitted_network(self) -> FittedNetwork:
        """What was fitted, in one piece."""
        finished = Finished(self.neurons_, self.encoder_, self.responses_)
        return FittedNetwork(
            finished, self.output_bias_, self.settings_, self.history_, self.n_documents_seen_, self._state
        )

    def _take(self, fitted: FittedNetwork) -> None:
        """Become a fitted model."""
        self.neurons_, self.encoder_, self.responses_ = fitted.finished
        self.output_bias_ = fitted.output_bias
        self.settings_ = fitted.settings
        self.history_ = fitted.history
        self.n_documents_seen_ = fitted.n_documents_seen
        self.n_features_in_ = self.encoder_.n_words
        self._state = fitted.state

    def _fitted_state(self) -> tuple[Arrays, dict[str, Any]]:
        neurons, responses = self.neurons_, self.responses_
        arrays = {"W": neurons.W, "b": neurons.b, "c": self.output_bias_}
        arrays |= {"mean": responses.mean, "deviation": responses.deviation}
        arrays |= self.encoder_.map_arrays()
        arrays |= {} if self._state is None else self._state.to_arrays()
        return arrays, {name: getattr(self, name) for name in ("settings_", "history_", "n_documents_seen_")}

    def _restore_state(self, arrays: Arrays, facts: dict[str, Any]) -> None:
        settings = facts["settings_"]
        n_words, n_neurons = arrays["W"].shape
        if wrong := misfit(arrays, n_words, n_neurons, settings["n_components"]):
            raise ValueError(wrong)
        responses = Responses(arrays["mean"], arrays["deviation"])
        self._take(
            FittedNetwork(
                restored(arrays, responses, settings),
                arrays["c"],
                settings,
                facts["history_"],
                facts["n_documents_seen_"],
                TrainingState.from_arrays(arrays, settings),
            )
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
