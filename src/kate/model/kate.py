"""KATE, the K-competitive autoencoder for text: the scikit-learn estimator. Newcomers start here."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, sparray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kate.engines.devices import Device, Precision
from kate.engines.network import Network, Optimizer
from kate.model.encoder import Encoder, Output, Scaling, scale_counts
from kate.model.loop import HistoryRow, progress_bar, train
from kate.model.settings import check_settings, checked_counts, paper_training, settings_for
from kate.model.training import KATETraining, Machine, hold_out, initial_network
from kate.storage.saving import Arrays, Saveable

__all__ = ["KATE"]

Floats = NDArray[np.float32]
CountMatrix = csr_matrix | sparray | NDArray[Any]


class KATE(Saveable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """K-competitive autoencoder for text (Chen & Zaki, KDD 2017): document counts in, document vectors out.

        x  = scaled log counts of a document                                  (n_words,)
        z  = tanh(Wᵀ x + b)                         W (n_words, n_components)     (n_components,)
        ẑ  = compete(z, k, alpha)                   in training only
        x̂  = output(W ẑ + c)                        softmax or sigmoid        (n_words,)

    W and the biases b, c minimise the cross-entropy of x and x̂. The competition (:func:`kate.compete`) lets only k
    neurons speak for a document; losers learn through the amplification alone. Encoding needs no competition:
    ``transform`` gives Wᵀ x + b (or z), minus its mean over the training documents.

    Where a parameter is None it follows ``n_components`` and the number of documents (docs/defaults.md: how that was
    chosen; ``settings_`` what it came to); :meth:`paper` gives the paper's settings to the letter.

    Parameters
    ----------
    n_components : hidden neurons, the length of a document vector
    n_winners : k, how many neurons win a document in training, half of them on either side
    amplification : alpha, how much of the losers' energy each winner takes
    loss : "softmax" (multinomial) or "cross-entropy" (a sigmoid a word, the paper's)
    activation : "tanh" or "sigmoid"
    scaling : log counts over their "l2" norm or their "max" in the document (the paper's)
    dropout : share of a document's words that the encoder does not get to see in a step
    reconstruction_sampling : for large vocabularies: reconstruct only the words of a batch and so many of the others,
        drawn for each step (on the CPU alone); None reconstructs all words
    output_bias : c starts at the word "frequency" (log or log-odds of its mean) or at "zero" (the paper's)
    optimizer : "adam" or "adadelta"
    learning_rate : its highest value, after the warm-up
    epsilon : what the optimizer adds to its running squares; Adadelta's first steps are about its square root
    warmup : share of all steps in which the learning rate rises from zero
    decay : "linear" to zero over the rest of the steps, or "none"
    max_epochs : passes over the documents
    batch_size : documents in a step
    validation_fraction : share of the documents held out to follow the validation loss (without competition)
    patience : stop after so many epochs without a better validation loss and keep the best; None keeps the last
    output : vectors are the "activation" or the "preactivation" W x + b
    center : subtract the mean of the training documents' vectors
    random_state : seed; the same seed on the same machine gives bit-identical weights
    n_jobs : threads; None takes all cores, or OMP_NUM_THREADS
    device : "cpu", "cuda" (extra ``gpu``), or "auto": the GPU where PyTorch is installed and sees one
    precision : products on a GPU in "float32", "tf32" or "bf16"; the CPU computes in float32
    verbose : show a progress bar; None does where standard error is a terminal

    Attributes
    ----------
    components_ : (n_components, n_words), a topic's weights on the words: Wᵀ
    word_vectors_ : (n_words, n_components), the same the other way round: W
    encoder_ : :class:`~kate.model.encoder.Encoder`, all that encoding needs
    output_bias_ : (n_words,), c
    settings_ : the parameters as they were used, None filled in
    history_ : a row an epoch: loss, validation_loss, seconds, documents_per_second

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3, 2, 0, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]])
    >>> vectors = KATE(n_components=2, random_state=0).fit_transform(X)
    >>> vectors.shape
    (4, 2)
    """

    encoder_: Encoder
    output_bias_: Floats
    mean_: Floats
    settings_: dict[str, Any]
    history_: list[HistoryRow]
    n_documents_seen_: int

    def __init__(
        self,
        n_components: int = 128,
        *,
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
        random_state: Any = None,
        n_jobs: int | None = None,
        device: Device = "auto",
        precision: Precision = "float32",
        verbose: bool | None = None,
    ) -> None:
        self.n_components = n_components
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
        """The paper to the letter: section 4.2 of Chen & Zaki (2017). ``changes`` override single settings.

        >>> KATE.paper(128).n_winners
        32
        """
        settings = paper_training(n_components) | {
            "n_winners": {20: 6, 128: 32, 512: 102}.get(n_components, max(1, n_components // 4)),
            "amplification": 6.26,
            "loss": "cross-entropy",
            "activation": "tanh",
            "dropout": 0.0,
            "reconstruction_sampling": None,
            "output": "activation",
            "center": False,
        }
        return cls(n_components, **(settings | changes))

    def fit(self, X: CountMatrix, y: Any = None, *, validation: CountMatrix | None = None) -> Self:
        """Learn from counts X (n_docs, n_words), sparse or dense.

        ``validation`` are held-out documents; without them ``validation_fraction`` of X is held out.
        """
        counts = checked_counts(self, X, reset=True)
        if self.patience is not None and validation is None and not self.validation_fraction:
            raise ValueError(
                f"patience={self.patience} needs held-out documents: set validation_fraction or pass validation="
            )
        self._random = random = check_random_state(self.random_state)
        if validation is None:
            counts, held_out = hold_out(counts, self.validation_fraction, random)
        else:
            held_out = checked_counts(self, validation, reset=False)
        self._settle(counts.shape[0])
        max_epochs = self.settings_["max_epochs"]
        learner = self._start(counts, held_out, random, max_epochs)
        with progress_bar(self.verbose, max_epochs) as report:
            self.history_ = train(learner, max_epochs, self.patience, report)
        self._keep(learner.learned())
        self._set_mean(counts, weight_of_before=0.0)
        return self

    def partial_fit(self, X: CountMatrix, y: Any = None) -> Self:
        """One more pass over documents of the same vocabulary, new or old; the first call starts from nothing.

        The learning rate stays at its highest value and nothing is held out; the mean that is subtracted follows all
        documents seen.
        """
        is_new = not hasattr(self, "encoder_")
        counts = checked_counts(self, X, reset=is_new)
        if is_new:
            self.history_ = []
            self._random = check_random_state(self.random_state)
            self._settle(counts.shape[0])
            learner = self._start(counts, None, self._random, max_epochs=None)
        else:
            learner = self._continue(counts, self._random)
        epoch = len(self.history_)
        with progress_bar(self.verbose, 1) as report:
            rows = train(learner, 1, None, report)
        self.history_ += [row | {"epoch": epoch + 1} for row in rows]
        n_before = 0 if is_new else self.n_documents_seen_
        self._keep(learner.learned(), learner.optimizer)
        self.n_documents_seen_ = n_before + counts.shape[0]
        self._set_mean(counts, weight_of_before=n_before / self.n_documents_seen_)
        return self

    def transform(self, X: CountMatrix) -> Floats:
        """Vectors (n_docs, n_components) of documents; without a known word the empty document's, and a warning."""
        check_is_fitted(self, "encoder_")
        return self.encoder_.encode(checked_counts(self, X, reset=False))

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

    def _settle(self, n_documents: int) -> None:
        check_settings(self)
        self.settings_ = settings_for(self, n_documents)

    def _start(
        self, counts: csr_matrix, held_out: csr_matrix | None, random: Any, max_epochs: int | None
    ) -> KATETraining:
        X = scale_counts(counts, self.scaling)
        network = initial_network(X, self.settings_, random)
        self.n_documents_seen_ = counts.shape[0]
        return KATETraining(
            self.settings_,
            network,
            self._new_optimizer(network),
            X,
            held_out,
            random,
            max_epochs,
            self._machine(),
        )

    def _new_optimizer(self, network: Network) -> Optimizer:
        maker = Optimizer.adam if self.optimizer == "adam" else Optimizer.adadelta
        return maker(network, epsilon=self.epsilon)

    def _continue(self, counts: csr_matrix, random: Any) -> KATETraining:
        # a copy: what diverges or is interrupted must not spoil the model that is there
        network = Network(self.encoder_.W, self.encoder_.b, self.output_bias_).copy()
        optimizer = getattr(self, "_optimizer", None) or self._new_optimizer(network)
        X = scale_counts(counts, self.scaling)
        return KATETraining(self.settings_, network, optimizer, X, None, random, None, self._machine())

    def _machine(self) -> Machine:
        return Machine(self.n_jobs, self.device, self.precision)

    def _keep(self, network: Network, optimizer: Optimizer | None = None) -> None:
        settings, mean = self.settings_, np.zeros_like(network.b)
        self.encoder_ = Encoder(
            network.W, network.b, mean, settings["scaling"], settings["activation"], settings["output"]
        )
        self.output_bias_ = network.c
        self._optimizer = optimizer  # to go on with

    def _set_mean(self, counts: csr_matrix, weight_of_before: float) -> None:
        """The mean response over the training documents, in blocks; ``mean_`` is kept even where it is not used."""
        total = np.zeros(self.encoder_.n_components)
        for start in range(0, counts.shape[0], 8192):
            total += self.encoder_.respond(counts[start : start + 8192]).sum(axis=0, dtype=np.float64)
        mean = total / counts.shape[0]
        if weight_of_before:
            mean = weight_of_before * self.mean_ + (1 - weight_of_before) * mean
        self._center_on(mean.astype(np.float32))

    def _center_on(self, mean: Floats) -> None:
        self.mean_ = mean
        if self.center:
            self.encoder_ = self.encoder_.centered_on(self.mean_)

    def _fitted_state(self) -> tuple[Arrays, dict[str, Any]]:
        encoder = self.encoder_
        arrays = {"W": encoder.W, "b": encoder.b, "c": self.output_bias_, "mean": self.mean_}
        names = ("settings_", "history_", "n_documents_seen_", "n_features_in_")
        return arrays, {name: getattr(self, name) for name in names}

    def _restore_state(self, arrays: Arrays, facts: dict[str, Any]) -> None:
        super()._restore_state({}, facts)
        self._random = check_random_state(self.random_state)
        self._keep(Network(arrays["W"], arrays["b"], arrays["c"]))
        self._center_on(arrays["mean"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
