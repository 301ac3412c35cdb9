"""A corpus whose answer is known, three subjects with words of their own, and a model that costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kate.text.documents import Documents

SUBJECTS = {
    "sport": "hockey goal team season player coach league score puck skate arena referee trophy match",
    "space": "space orbit rocket moon launch engine planet comet probe lander crater astronaut telescope",
    "money": "bank price market stock loan credit profit dollar broker invest budget account mortgage",
}


def make_documents(labels: Sequence[object] | None = None, n_each: int = 40) -> Documents:
    """Texts about the subjects in turn; their subjects are the labels unless others are given."""
    random = np.random.default_rng(0)
    subjects = [name for _ in range(n_each) for name in SUBJECTS]
    texts = [" ".join(random.choice(SUBJECTS[name].split(), size=12)) for name in subjects]
    return Documents.from_texts(texts, labels=subjects if labels is None else labels)


class Topicless:
    """The least that a model can be: it fits nothing and adds up words at random; it can be told to fail."""

    fits = 0

    def __init__(self, n_components: int, random_state: int | None = None, error: str | None = None) -> None:
        self.n_components, self.random_state, self.error = n_components, random_state, error

    def fit(self, X: Any) -> Self:
        if X.shape[0] > 64:  # smaller ones are for warming up
            type(self).fits += 1
            if self.error:
                raise RuntimeError(self.error)
        self.weights_ = np.random.default_rng(self.random_state).normal(size=(X.shape[1], self.n_components))
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        return np.asarray(X @ self.weights_)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"n_components": self.n_components, "random_state": self.random_state, "error": self.error}
