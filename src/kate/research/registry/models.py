"""The models by name: what `kate evaluate --model NAME` can measure, and how to make one.

A model is an estimator with ``fit(X)`` and ``transform(X)`` over counts X (n_docs, n_words), or over sequences of
words where its entry says so. What else it offers is used where it is there: ``fit(X, validation=...)``,
``components_`` (n_components, n_words), ``word_vectors_`` (n_words, n_components), ``settings_`` (parameters as they
were used) and ``history_`` (one row per epoch).

Wherever a model is named, ``NAME`` has the settings that its entry starts from (the paper's, where the paper has
the model) and ``NAME:tuned`` those that `kate tune` found on validation documents. ``all`` stands for every model
that can run here, tuned too where it has been tuned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from kate.errors import quoted
from kate.research.registry.catalogue import ENTRIES
from kate.research.registry.model_entry import Model, ModelEntry
from kate.research.registry.tuned import nearest_tuned, tuned_models
from kate.spelling import did_you_mean

__all__ = [
    "MODELS",
    "TUNED",
    "Chosen",
    "Model",
    "ModelEntry",
    "Variant",
    "choose_models",
    "find_entry",
    "make_model",
    "settings_of",
    "variant_of",
]

MODELS: Mapping[str, ModelEntry] = MappingProxyType({entry.name: entry for entry in ENTRIES})

TUNED = ":tuned"
ALL = "all"

Variant = Literal["paper", "default", "tuned"]


class Chosen(NamedTuple):
    """Models that were asked for: those that can run, and why the others cannot."""

    names: list[str]
    left_out: dict[str, str]


def make_model(
    name: str,
    n_components: int = 128,
    settings: Mapping[str, Any] | None = None,
    *,
    random_state: int | None = 0,
) -> Model:
    """A model that is not fitted yet; ``settings`` override single parameters of it.

    A setting may name its model, ``lda.passes``: then the others ignore it.

    >>> make_model("kate-paper", 20, {"max_epochs": 5, "lda.passes": 3})  # doctest: +ELLIPSIS
    KATE(...max_epochs=5...)
    >>> make_model("kate", settings={"epochs": 5})
    Traceback (most recent call last):
    ...
    ValueError: the model kate has no setting 'epochs'; did you mean max_epochs?
    """
    entry, changes = find_entry(name), settings_of(name, settings, n_components)
    entry.require_runnable(changes)
    for reserved, instead in (("n_components", "the number of dimensions"), ("random_state", "the seed")):
        if reserved in changes:
            raise ValueError(f"{reserved} is no setting to change here; choose {instead} instead")
    known = entry.make(n_components).get_params(deep=False)
    for setting in changes:
        if setting not in known:
            raise ValueError(
                f"the model {entry.name} has no setting {quoted(setting)}; {did_you_mean(setting, known)}"
            )
    return entry.make(n_components, random_state=random_state, **changes)


def find_entry(name: str) -> ModelEntry:
    """The entry of ``NAME`` or ``NAME:tuned``; an unknown model, or one never tuned, is refused."""
    plain = name.removesuffix(TUNED)
    if plain not in MODELS:
        raise ValueError(f"no model is named {quoted(plain)}; {did_you_mean(plain, MODELS)}")
    if plain != name and plain not in tuned_models():
        raise ValueError(f"{plain} has no tuned settings yet; find some: kate tune --model {plain}")
    return MODELS[plain]


def variant_of(name: str) -> Variant:
    """Where the settings of ``NAME`` or ``NAME:tuned`` come from.

    >>> variant_of("kate-paper"), variant_of("lsa")
    ('paper', 'default')
    """
    entry = find_entry(name)
    return "tuned" if name.endswith(TUNED) else entry.start


def choose_models(names: Iterable[str], settings: Mapping[str, Any] | None = None) -> Chosen:
    """The models that are named, each once; "all" stands for those that can run here, with the others' reasons.

    >>> choose_models(["lsa", "kate", "lsa"])
    Chosen(names=['lsa', 'kate'], left_out={})
    """
    chosen: dict[str, None] = {}
    left_out: dict[str, str] = {}
    for name in names:
        if name != ALL:
            chosen[name] = None
            continue
        for entry in MODELS.values():
            reason = entry.why_not(settings_of(entry.name, settings))
            if reason is not None:
                left_out[entry.name] = reason
                continue
            chosen[entry.name] = None
            if entry.name in tuned_models():
                chosen[entry.name + TUNED] = None
    return Chosen(list(chosen), left_out)


def settings_of(
    name: str, settings: Mapping[str, Any] | None, n_components: int | None = None
) -> dict[str, Any]:
    """What is set of a model: tuned settings first, then what is given for all models and for this one.

    Of settings that were tuned with several numbers of components, those of the nearest number.

    >>> settings_of("lda", {"passes": 5, "lda.passes": 3, "nmf.max_iter": 9})
    {'passes': 3}
    """
    plain = name.removesuffix(TUNED)
    found = dict(nearest_tuned(tuned_models(), plain, n_components).settings) if plain != name else {}
    for_all = {setting: value for setting, value in (settings or {}).items() if "." not in setting}
    for_this = {
        setting.partition(".")[2]: value
        for setting, value in (settings or {}).items()
        if setting.partition(".")[0] == plain and "." in setting
    }
    return found | for_all | for_this
