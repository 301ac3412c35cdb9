"""The models by name: what `kate evaluate --model NAME` can measure, and how each is made.

A model is an estimator with ``fit(X)`` and ``transform(X)`` over counts X (n_docs, n_words). What else it offers
is used where it is there: ``fit(X, validation=...)``, ``components_`` (n_topics, n_words), ``word_vectors_``
(n_words, n_topics), ``settings_`` (the parameters as they were used) and ``history_`` (a row an epoch).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MODELS", "Model", "ModelEntry", "make_model"]


class Model(Protocol):
    """The least that a model offers."""

    def fit(self, X: Any) -> Any: ...

    def transform(self, X: Any) -> NDArray[Any]: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...


@dataclass(frozen=True)
class ModelEntry:
    """A line of the registry: ``make(n_topics, **parameters)`` gives a model that is not fitted yet."""

    name: str
    title: str
    make: Callable[..., Model]


def make_model(
    name: str,
    n_topics: int = 128,
    settings: Mapping[str, Any] | None = None,
    *,
    random_state: int | None = 0,
) -> Model:
    """A model that is not fitted yet; ``settings`` override single parameters of it.

    >>> make_model("kate-paper", 20, {"max_epochs": 5})  # doctest: +ELLIPSIS
    KATE(...max_epochs=5...)
    >>> make_model("kate", settings={"epochs": 5})
    Traceback (most recent call last):
    ...
    ValueError: the model kate has no setting 'epochs'; did you mean max_epochs?
    """
    if name not in MODELS:
        raise ValueError(f"no model is named {name!r}; {_meant(name, MODELS)}")
    entry, changes = MODELS[name], dict(settings or {})
    for reserved, instead in (("n_topics", "the number of topics"), ("random_state", "the seed")):
        if reserved in changes:
            raise ValueError(f"{reserved} is no setting to change here; choose {instead} instead")
    known = entry.make(n_topics).get_params(deep=False)
    for setting in changes:
        if setting not in known:
            raise ValueError(f"the model {name} has no setting {setting!r}; {_meant(setting, known)}")
    return entry.make(n_topics, random_state=random_state, **changes)


def _meant(name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"choose from {', '.join(sorted(known))}"


# scikit-learn and the compiler take longer to load than a list of names should: the makers import what they make


def _make_kate(n_topics: int, **parameters: Any) -> Model:
    from kate.models.defaults import check_settings
    from kate.models.kate import KATE

    model = KATE(n_topics, **parameters)
    check_settings(model)  # now, not after a data set has been read
    return model


def _make_kate_paper(n_topics: int, **parameters: Any) -> Model:
    from kate.models.defaults import check_settings
    from kate.models.kate import KATE

    model = KATE.paper(n_topics, **parameters)
    check_settings(model)
    return model


def _make_lsa(n_topics: int, **parameters: Any) -> Model:
    from kate.models.lsa import LSA

    return LSA(n_topics, **parameters)


MODELS: Mapping[str, ModelEntry] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            ModelEntry("kate", "KATE with the defaults of this package", _make_kate),
            ModelEntry("kate-paper", "KATE to the letter of Chen & Zaki (2017)", _make_kate_paper),
            ModelEntry("lsa", "TF-IDF and truncated SVD", _make_lsa),
        )
    }
)
