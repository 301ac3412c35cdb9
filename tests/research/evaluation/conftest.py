from __future__ import annotations

import pytest

from kate.research.datasets.corpus import Corpus
from kate.research.evaluation import corpus_of
from kate.research.registry import ModelEntry, models
from research.evaluation.toys import Topicless, make_documents


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    return corpus_of(make_documents(), "toy")


@pytest.fixture
def quick_model(monkeypatch: pytest.MonkeyPatch) -> type[Topicless]:
    """A model named "quick" in the registry."""
    monkeypatch.setattr(Topicless, "fits", 0)
    entry = ModelEntry("quick", "for tests", Topicless)
    monkeypatch.setattr(models, "MODELS", {**models.MODELS, "quick": entry})
    return Topicless
