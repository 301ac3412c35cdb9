from __future__ import annotations

import pytest

from evaluation.toys import Topicless, make_documents
from kate.evaluation import corpus_of
from kate.models import registry
from kate.models.registry import ModelEntry
from kate.text.corpus import Corpus


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    return corpus_of(make_documents(), "toy")


@pytest.fixture
def quick_model(monkeypatch: pytest.MonkeyPatch) -> type[Topicless]:
    """A model named "quick" in the registry."""
    monkeypatch.setattr(Topicless, "fits", 0)
    entry = ModelEntry("quick", "for tests", Topicless)
    monkeypatch.setattr(registry, "MODELS", {**registry.MODELS, "quick": entry})
    return Topicless
