"""What the rivals share: checks of their input, saving, scikit-learn's conventions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_non_negative, validate_data

from kate.errors import quoted
from kate.model.kate import CountMatrix
from kate.storage.saving import Saveable
from kate.text.sequences import Sequences

__all__ = [
    "CountMatrix",
    "CountsEstimator",
    "CountsReader",
    "Floats",
    "Inputs",
    "SequenceEstimator",
    "require_whole_numbers",
    "seed_of",
]

Floats = NDArray[np.float32]
Inputs = Literal["counts", "sequences", "texts"]
"""What a model reads of a corpus."""


@dataclass(kw_only=True, eq=False, repr=False)
class CountsReader(Saveable, BaseEstimator):
    """An estimator that reads counts X (n_docs, n_words), sparse or dense.

    The fields of a class are its parameters, those of its bases included; fields with ``init=False`` are fitted.
    """

    n_components: int = field(default=128, kw_only=False)
    random_state: Any = None

    n_features_in_: int = field(init=False)
    settings_: dict[str, Any] = field(init=False)

    inputs: ClassVar[Inputs] = "counts"
    components_are_topics: ClassVar[bool] = False  # a document's vector says how much of each topic it holds

    @classmethod
    def paper(cls, n_components: int = 128, **changes: Any) -> Self:
        """The settings for the comparison with the paper; ``changes`` override single ones."""
        return cls(n_components, **changes)

    def _checked(self, X: CountMatrix, *, reset: bool) -> csr_matrix:
        checked: Any = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float32, np.float64]
        )
        check_non_negative(checked, f"{type(self).__name__} (counts of words)")
        return csr_matrix(checked)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


class CountsEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CountsReader):
    """An estimator that turns counts into vectors."""

    @property
    def _n_features_out(self) -> int:
        return int(self.settings_["n_components"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


class SequenceEstimator(CountsEstimator):
    """An estimator that reads :class:`~kate.text.sequences.Sequences`: the words of documents in their order.

    Counts are accepted, too: the words of a document are then put into a random order.
    """

    inputs: ClassVar[Inputs] = "sequences"

    def _sequences(self, X: Sequences | CountMatrix, *, reset: bool) -> Sequences:
        """The documents as sequences, of as many words as were fitted on."""
        if not isinstance(X, Sequences):
            return Sequences.of_counts(self._checked(X, reset=reset))
        self._require_width(X, reset=reset)
        return X

    def _counts(self, X: Sequences | CountMatrix) -> csr_matrix:
        """The documents as counts, of as many words as were fitted on."""
        if not isinstance(X, Sequences):
            return self._checked(X, reset=False)
        self._require_width(X, reset=False)
        return csr_matrix(X.counts(), dtype=np.float32)

    def _require_width(self, X: Sequences, *, reset: bool) -> None:
        if reset:
            self.n_features_in_ = X.n_words
        elif X.n_words != self.n_features_in_:
            raise ValueError(
                f"the sequences are over {X.n_words:,} words and {type(self).__name__} was fitted on "
                f"{self.n_features_in_:,}; read the documents with the same vocabulary"
            )


def seed_of(random_state: Any) -> int:
    """A seed for libraries that take a whole number: the seed itself, or one drawn from a generator."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def require_whole_numbers(model: BaseEstimator, *names: str) -> None:
    """Refuse parameters that are not whole numbers of at least 1."""
    for name in names:
        value = getattr(model, name)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ValueError(f"{name}={quoted(value)}: expected a whole number of at least 1")
