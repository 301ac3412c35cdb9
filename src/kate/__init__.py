"""Kate: document vectors, topics, similar words and search from a pile of text.

>>> import kate
>>> model = kate.TextModel(n_components=20).fit(texts)      # doctest: +SKIP
>>> model.encode(["a new document"])                    # doctest: +SKIP
>>> model.topics()                                      # doctest: +SKIP

Names are imported when they are first used, so ``import kate`` is quick and loads neither PyTorch nor matplotlib.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kate.competition import compete
    from kate.model.kate import KATE
    from kate.model.text_model import TextModel, load
    from kate.research.datasets import load_dataset
    from kate.search import Index
    from kate.text.counts import Counts
    from kate.text.readers import read_corpus

__version__ = "0.1.0"

__all__ = [
    "KATE",
    "Counts",
    "Index",
    "TextModel",
    "__version__",
    "compete",
    "load",
    "load_dataset",
    "read_corpus",
]

_HOMES = {
    "KATE": "kate.model.kate",
    "Counts": "kate.text.counts",
    "Index": "kate.search",
    "TextModel": "kate.model.text_model",
    "compete": "kate.competition",
    "load": "kate.model.text_model",
    "load_dataset": "kate.research.datasets",
    "read_corpus": "kate.text.readers",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'kate' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
