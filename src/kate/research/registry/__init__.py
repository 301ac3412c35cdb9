"""The registry: every model by its name, and what may be tuned of it.

models.py         the models by name: ``make_model("lda", 128)``, ``NAME:tuned``, ``all``
catalogue.py      all models, one line each, with the ranges that `kate tune` searches: add a model here
model_entry.py    what such a line says
search_spaces.py  the kinds of ranges
tuned.py          tuned.toml: the settings that `kate tune` found
"""

from kate.research.registry.model_entry import Model, ModelEntry, lazily
from kate.research.registry.models import (
    MODELS,
    TUNED,
    Chosen,
    choose_models,
    find_entry,
    make_model,
    settings_of,
    variant_of,
)
from kate.research.registry.tuned import Tuned, tuned_models

__all__ = [
    "MODELS",
    "TUNED",
    "Chosen",
    "Model",
    "ModelEntry",
    "Tuned",
    "choose_models",
    "find_entry",
    "lazily",
    "make_model",
    "settings_of",
    "tuned_models",
    "variant_of",
]
