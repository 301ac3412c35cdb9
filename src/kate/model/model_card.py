"""The README.md of a model folder: what the model is, its topics and its use, for a person who finds the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kate
from kate.text.languages import code_of

if TYPE_CHECKING:
    from kate.model.model_folder import Trained
    from kate.topics.topic import Topic

__all__ = ["model_card"]


def model_card(trained: Trained) -> str:
    """The text of the card, for the hub and for people."""
    encoder, vocabulary = trained.encoder, trained.vocabulary
    topics = trained.topics.describe(trained.topics.current(None)[0])
    rows = [
        f"| {topic.number} | {topic.name} | {topic.share:.1%} | {', '.join(topic.words[:8])} |"
        for topic in sorted(topics, key=lambda topic: -topic.share)
    ]
    settings = [f"| {name} | {_shown(value)} |" for name, value in trained.settings.items()]
    return "\n".join(
        [
            *_card_head(trained.settings.get("language")),
            f"# A Kate model: vectors of {encoder.n_components:,} numbers",
            "",
            f"Learned by Kate {kate.__version__} (a K-competitive autoencoder for text) from "
            f"{vocabulary.n_documents:,} documents and {len(vocabulary):,} words. It turns a text into a "
            f"vector of {encoder.n_components:,} numbers, names the topics of a text, and finds similar words.",
            "",
            _about_vectors(trained),
            "",
            "## Topics",
            "",
            f"As many as the data suggest; `model.topics(n)` gives any other number. {_figures(topics)}",
            "",
            "| topic | name | share of documents | words |",
            "|---|---|---|---|",
            *rows,
            "",
            "## Use",
            "",
            "```python",
            "import kate",
            "",
            'model = kate.load("path/to/this/folder")',
            'vectors = model.encode(["a new document"])',
            "print(model.topics())",
            "```",
            "",
            "```sh",
            "kate topics path/to/this/folder",
            "kate encode path/to/this/folder corpus.jsonl -o vectors.parquet",
            "```",
            "",
            "## Settings",
            "",
            "| setting | value |",
            "|---|---|",
            *settings,
            "",
        ]
    )


def _card_head(language: str | None) -> list[str]:
    """What the Hugging Face hub reads of a card."""
    code = None if language is None else code_of(language)
    return [
        "---",
        "library_name: kate",
        "tags: [kate, topic-modeling, text-embeddings]",
        "pipeline_tag: feature-extraction",
        *([f"language: {code}"] if code else []),
        "---",
        "",
    ]


def _about_vectors(trained: Trained) -> str:
    """What the numbers of a vector are."""
    if trained.encoder.output == "projection":
        return (
            f"A vector is one linear map of the words of a text, made from {trained.neurons.n_components:,} neurons. "
            "Its numbers are ordered by what they carry: the first ones are a good shorter vector (`truncate_dim`). "
            "A text without a known word is the zero vector; vectors are compared by their cosine."
        )
    return f"A vector is what the {trained.neurons.n_components:,} neurons of the network answer to a text."


def _shown(value: Any) -> str:
    return f"{len(value):,} words" if isinstance(value, list) else str(value)


def _figures(topics: list[Topic]) -> str:
    """How good the topics are, in the documents that they were found in."""
    coherences = [topic.coherence for topic in topics if topic.coherence is not None]
    if not coherences:
        return ""
    coverage = sum(topic.share * topic.coverage for topic in topics)
    return (
        f"Their words occur together with a mean NPMI of {sum(coherences) / len(coherences):.2f}, and {coverage:.0%} "
        "of the documents hold one of the ten words of their topic."
    )
