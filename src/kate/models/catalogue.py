"""All models that Kate knows, a line each: the file to add a model to."""

from __future__ import annotations

from typing import Any

from kate.models.entries import Model, ModelEntry, lazily
from kate.models.neural_catalogue import NEURAL_ENTRIES
from kate.models.spaces import Choice, Log, Space, Uniform

__all__ = ["ENTRIES"]


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


_KATE_SPACE: Space = {
    "learning_rate": Log(5e-4, 1e-2),
    "dropout": Uniform(0.0, 0.9),
    "amplification": Log(0.05, 10.0),
    "loss": Choice("softmax", "cross-entropy"),
    "batch_size": Choice(50, 100, 200),
    "max_epochs": Choice(10, 20, 40),
}

ENTRIES: tuple[ModelEntry, ...] = (
    ModelEntry(
        "kate", "KATE with the defaults of this package", _make_kate, paper_name="KATE", space=_KATE_SPACE
    ),
    ModelEntry(
        "kate-paper",
        "KATE to the letter of Chen & Zaki (2017)",
        _make_kate_paper,
        start="paper",
        paper_name="KATE",
    ),
    *NEURAL_ENTRIES,
    ModelEntry("lsa", "TF-IDF and truncated SVD", lazily("kate.models.lsa:LSA")),
)
