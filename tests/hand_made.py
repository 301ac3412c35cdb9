"""A model whose weights are set by hand, so that every cosine is known, and six documents for it."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix

from kate.model.encoder import Encoder
from kate.model.model_folder import Trained
from kate.model.text_model import TextModel
from kate.text.documents import Documents
from kate.text.vocabulary import Vocabulary
from kate.topics.document_sketch import DocumentSketch
from kate.topics.neuron_poles import Responses
from kate.topics.topic_space import TopicSpace

TEXTS = [
    "A treaty of peace.",
    "Gold and silver!",
    "The nations ratified the treaty;\n\tpeace\x1b[31m followed.",
    "Gold, " * 100,
    "Peace and gold.",
    "Gold and silver!",
]
LABELS = ["peace", "money", "peace", "money", None, "money"]
DOCUMENTS = Documents.from_texts(TEXTS, ids=list("abcdef"), labels=LABELS, titles=["First"] + [None] * 5)
WITH_COLUMNS = Documents(
    DOCUMENTS.frame.with_columns(
        year=pl.Series([1815, 1848, 1919, 1896, None, 1900]), Place=pl.Series(["Ghent", "O'Brien", *"wxyz"])
    )
)
# Peace points along the first axis, money along the second; the third neuron is silent.
DIRECTIONS = {
    "peace": (1, 0, 0),
    "treaty": (1, 0.2, 0),
    "nations": (1, 0, 0),
    "gold": (0, 1, 0),
    "silver": (0, 1, 0),
}


def model_by_hand(center: float | None = None) -> TextModel:
    """Vectors are a projection of the neurons; with a ``center`` they are the neurons themselves and keep that mean."""
    vocabulary, _ = Vocabulary.learn([" ".join(DIRECTIONS)] * 2)
    W = np.array([DIRECTIONS[word] for word in vocabulary.readable], dtype=np.float32)
    mean = np.full(3, center or 0.0, dtype=np.float32)
    neurons = Encoder(W, np.zeros(3, np.float32), np.zeros(3, np.float32), "max", "tanh", "preactivation")
    settings = {"n_components": 3, "scaling": "max", "activation": "tanh", "output": "projection"}
    if center is not None:
        settings |= {"output": "preactivation", "mean": "keep"}
    nothing = csr_matrix((2, len(vocabulary)), dtype=np.float32)
    sketch = DocumentSketch.take(nothing, lambda X: np.zeros((X.shape[0], 3), np.float32))
    return TextModel.from_trained(
        Trained(
            settings=settings,
            vocabulary=vocabulary,
            neurons=neurons,
            encoder=Encoder.of_map(W, "max", None) if center is None else neurons,
            output_bias=np.zeros(len(vocabulary), np.float32),
            responses=Responses(mean, np.ones(3, np.float32)),
            topics=TopicSpace(sketch, vocabulary.readable),
            history=[],
        )
    )
