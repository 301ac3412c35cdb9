"""NeuralModel: what all neural rivals of KATE have in common as estimators.

The network of an estimator in NAME.py is in NAME_module.py, imported when it is needed: PyTorch takes long to load.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args, get_origin, get_type_hints

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kate.engines.devices import Device, choose_device
from kate.extras import install_command
from kate.model.encoder import warn_about_empty
from kate.model.loop import HistoryRow, progress_bar, train
from kate.model.settings import (
    MACHINE_PARAMETERS,
    checked_counts,
    require_between,
    require_choice,
    require_held_out,
    require_whole,
)
from kate.model.training import hold_out, start_of_output_bias
from kate.model.training_state import unchanged_on_failure
from kate.research.rivals.base import CountMatrix, CountsEstimator, Floats
from kate.storage.saving import Arrays
from kate.threads import thread_count

if TYPE_CHECKING:
    import torch

    from kate.research.rivals.neural.document_module import DocumentModule

__all__ = ["STEADY", "STOPPED", "NeuralModel", "set_output_bias"]

_SHARES = ("warmup", "validation_fraction", "dropout", "topic_dropout", "noise_level", "kl_warmup")
_NOT_NEGATIVE = ("penalty", "kl_weight")
_POSITIVE = ("learning_rate", "epsilon", "concentration")
_MAY_BE_ZERO = ("finetune_epochs",)
# A learning rate that stays as it is, for settings of papers that know no other.
STEADY: Mapping[str, Any] = MappingProxyType({"warmup": 0.0, "decay": "none"})
# The same with the stopping rule of Chen & Zaki (2017).
STOPPED: Mapping[str, Any] = MappingProxyType({**STEADY, "validation_fraction": 0.1, "patience": 5})
_FEWEST_STEPS = 500  # a small corpus is read more often, or too little would be learned


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralModel(CountsEstimator, ABC):
    """Document counts in, document vectors out, by a network that PyTorch trains.

    Every neural model has these parameters and attributes; each class says what it adds to them. PyTorch comes with
    ``pip install 'kate-text[paper]'``.

    Parameters
    ----------
    n_components : the length of a document vector
    optimizer : "adam", "adadelta" or "sgd" (with momentum 0.9)
    learning_rate : its highest value, after the warm-up
    epsilon : what Adam and Adadelta add to their running squares; Adadelta's first steps are about its square root
    warmup : share of all steps in which the learning rate rises from zero
    decay : "linear" to zero over the rest of the steps, or "none"
    max_epochs : passes over the documents; None depends on their number
    batch_size : documents per step; None depends on their number
    validation_fraction : share of the documents held out to follow the validation loss
    patience : stop after so many epochs without a better validation loss and keep the best; None keeps the last
    random_state : seed; the same seed on the same machine gives the same vectors
    n_jobs : threads, -1 for all; None leaves it to PyTorch
    device : "cpu", "cuda", or "auto": uses a GPU if there is one
    verbose : show a progress bar; None shows it if standard error is a terminal

    Attributes
    ----------
    components_ : (n_components, n_words), a topic's weights on the words
    word_vectors_ : (n_words, width)
    module_ : the network, a :class:`DocumentModule`
    settings_ : the parameters as they were used, None filled in
    history_ : one row per epoch: loss, validation_loss, seconds, documents_per_second
    """

    optimizer: Literal["adam", "adadelta", "sgd"] = "adam"
    learning_rate: float = 1e-3
    epsilon: float = 1e-8
    warmup: float = 0.05
    decay: Literal["linear", "none"] = "linear"
    max_epochs: int | None = None
    batch_size: int | None = None
    validation_fraction: float = 0.0
    patience: int | None = None
    n_jobs: int | None = None
    device: Device = "auto"
    verbose: bool | None = None

    module_: Any = field(init=False)  # a DocumentModule, which is not imported here
    history_: list[HistoryRow] = field(init=False)

    _EPOCHS: ClassVar[int] = 30
    _BATCH: ClassVar[int] = 100

    @classmethod
    @abstractmethod
    def paper(cls, n_components: int = 128, **changes: Any) -> Self:
        """The settings of the model's paper; ``changes`` override single settings."""

    @abstractmethod
    def _build(self, n_words: int, generator: torch.Generator) -> DocumentModule:
        """The network before it has learned anything."""

    def _chosen(self, *names: str) -> dict[str, Any]:
        """Some parameters by name, as the network takes them."""
        return {name: getattr(self, name) for name in names}

    def _inputs(self, counts: csr_matrix) -> csr_matrix:
        """What the network reads of counts: the counts themselves unless a model says otherwise."""
        return counts

    def _begin(self, module: DocumentModule, X: csr_matrix) -> None:
        """Prepare the network for these documents, before the first epoch."""

    def fit(self, X: CountMatrix, y: Any = None, *, validation: CountMatrix | None = None) -> Self:
        """Learn from counts X (n_docs, n_words), sparse or dense.

        ``validation`` are held-out documents; without them ``validation_fraction`` of X is held out. If it fails or is
        interrupted, the model stays what it was before.
        """
        require_torch(type(self).__name__)
        import torch

        from kate.research.rivals.neural.neural_training import threads

        with unchanged_on_failure(self):
            counts = checked_counts(self, X, reset=True)
            self._check_settings(has_validation=validation is not None)
            random = check_random_state(self.random_state)
            if validation is None:
                counts, held_out = hold_out(counts, self.validation_fraction, random)
            else:
                held_out = checked_counts(self, validation, reset=False)
            self.settings_ = self._settled(counts.shape[0])
            generator = torch.Generator(choose_device(self.device))
            generator.manual_seed(int(random.randint(2**31 - 1)))
            module = self._build(counts.shape[1], generator)
            inputs = self._inputs(counts)
            self._begin(module, inputs)
            with threads(self.n_jobs):
                self.history_ = self._train(
                    module, inputs, None if held_out is None else self._inputs(held_out), random
                )
            self.module_ = module.eval()
        return self

    def transform(self, X: CountMatrix) -> Floats:
        """Vectors (n_docs, n_components) of documents; warns of documents without a known word."""
        check_is_fitted(self, "module_")
        from kate.research.rivals.neural.neural_training import encode_documents, threads

        counts = checked_counts(self, X, reset=False)
        warn_about_empty(counts, stacklevel=3)
        with threads(self.n_jobs):
            return encode_documents(self.module_, self._inputs(counts))

    @property
    def components_(self) -> Floats:
        check_is_fitted(self, "module_")
        topics: Floats = self.module_.topics().detach().cpu().numpy()
        return topics

    @property
    def word_vectors_(self) -> Floats:
        check_is_fitted(self, "module_")
        words: Floats = self.module_.word_vectors().detach().cpu().numpy()
        return words

    def _train(
        self, module: DocumentModule, X: csr_matrix, held_out: csr_matrix | None, random: Any
    ) -> list[HistoryRow]:
        return self._learn(module, X, held_out, random, self.settings_["max_epochs"])

    def _learn(
        self,
        module: DocumentModule,
        X: csr_matrix,
        held_out: csr_matrix | None,
        random: Any,
        max_epochs: int,
    ) -> list[HistoryRow]:
        """Run the training loop on a module."""
        from kate.research.rivals.neural.neural_training import NeuralTraining

        settings = self.settings_ | {"max_epochs": max_epochs}
        learner = NeuralTraining(module, X, held_out, settings, random)
        with progress_bar(self.verbose, max_epochs) as report:
            return train(learner, max_epochs, self.patience, report)

    def _settled(self, n_documents: int) -> dict[str, Any]:
        """All parameters that change the result, with None replaced by a value for these documents."""
        settings: dict[str, Any] = self.get_params(deep=False)
        for name in (*MACHINE_PARAMETERS, "random_state"):
            del settings[name]
        if settings["batch_size"] is None:
            settings["batch_size"] = min(self._BATCH, max(16, n_documents // 20))
        if settings["max_epochs"] is None:
            steps = -(-n_documents // settings["batch_size"])
            settings["max_epochs"] = max(self._EPOCHS, -(-_FEWEST_STEPS // steps))
        return settings

    def _check_settings(self, *, has_validation: bool) -> None:
        """Refuse a parameter that makes no sense, with what was found and what is expected."""
        hints = get_type_hints(type(self))
        for name, value in self.get_params(deep=False).items():
            if get_origin(hints[name]) is Literal:
                require_choice(name, value, get_args(hints[name]))
            elif name == "n_jobs":
                thread_count(value)  # refuses 0
            elif hints[name] is int or (hints[name] == int | None and value is not None):
                require_whole(name, value, least=0 if name in _MAY_BE_ZERO else 1)
            elif name in _SHARES:
                require_between(name, value, 0, 1)
            elif name in _NOT_NEGATIVE + _POSITIVE:
                require_between(name, value, 0, float("inf"))
                if name in _POSITIVE and value == 0:
                    raise ValueError(f"{name}=0: expected a number above 0")
        require_held_out(self, has_validation=has_validation)

    def _fitted_state(self) -> tuple[Arrays, dict[str, Any]]:
        arrays = {name: tensor.cpu().numpy() for name, tensor in self.module_.state_dict().items()}
        return arrays, {name: getattr(self, name) for name in ("settings_", "history_", "n_features_in_")}

    def _restore_state(self, arrays: Arrays, facts: dict[str, Any]) -> None:
        require_torch(type(self).__name__)
        import torch

        super()._restore_state({}, facts)
        module = self._build(self.n_features_in_, torch.Generator(choose_device(self.device)))
        module.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
        self.module_ = module.eval()


def set_output_bias(module: DocumentModule, X: csr_matrix, output_bias: str, loss: str) -> None:
    """Start the bias ``c`` of the words at their frequency, or at zero."""
    import torch

    start = start_of_output_bias(X, output_bias, loss).astype(np.float32)
    with torch.no_grad():
        module.get_parameter("c").copy_(torch.from_numpy(start))


def require_torch(model: str) -> None:
    """If PyTorch is missing, say what to install."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{model} needs PyTorch: {install_command('paper')}") from error
