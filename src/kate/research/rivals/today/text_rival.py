"""What rivals that read texts share: parameters, checks of their input, random numbers of their own."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kate.errors import quoted

if TYPE_CHECKING:
    from kate.research.rivals.base import Floats, Inputs

__all__ = ["TextRival", "TopicRival", "quiet_and_seeded"]


@dataclass(kw_only=True, eq=False, repr=False)
class TextRival(TransformerMixin, BaseEstimator):
    """An estimator that turns texts into vectors; the fields of a class are its parameters."""

    n_components: int = field(default=128, kw_only=False)
    random_state: Any = None

    settings_: dict[str, Any] = field(init=False)

    inputs: ClassVar[Inputs] = "texts"

    def _texts(self, X: Sequence[str]) -> list[str]:
        texts = list(X) if not isinstance(X, str) else [X]
        strange = next((text for text in texts if not isinstance(text, str)), None)
        if strange is not None:
            raise TypeError(f"{type(self).__name__} reads texts; found {quoted(strange)}")
        return texts

    def _fitted_by(self, **found: Any) -> None:
        self.settings_ = self.get_params(deep=False) | found


@dataclass(kw_only=True, eq=False, repr=False)
class TopicRival(TextRival):
    """A topic model of texts: a vector says how near a text is to each of the topics, as the model sees it.

    Attributes
    ----------
    topic_words_ : the words of each topic, the strongest first
    settings_ : the parameters as they were used, and the topics that were found
    """

    components_are_topics: ClassVar[bool] = True

    topic_words_: list[list[str]] = field(init=False)

    def topics_of(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The topic of each text."""
        return np.asarray(self.transform(texts).argmax(axis=1), dtype=np.int64)

    def transform(self, X: Sequence[str]) -> Floats:
        """How near texts are to topics (n_docs, n_topics)."""
        check_is_fitted(self)
        return np.asarray(self._nearness(self._texts(X)), dtype=np.float32)

    def _nearness(self, texts: list[str]) -> NDArray[Any]:
        raise NotImplementedError


@contextlib.contextmanager
def quiet_and_seeded(seed: int) -> Iterator[None]:
    """For libraries that draw from the global generators and print: what they draw follows from the seed alone."""
    import torch

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    before = np.random.get_state()  # noqa: NPY002
    with (
        torch.random.fork_rng(devices=[]),
        warnings.catch_warnings(),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        try:
            yield
        finally:
            np.random.set_state(before)  # noqa: NPY002
