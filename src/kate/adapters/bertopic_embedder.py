"""A model as the embedding model of BERTopic: ``BERTopic(embedding_model=KateEmbedder(model))``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from bertopic.backend import BaseEmbedder
from numpy.typing import NDArray

from kate.model.encoder import EmptyDocumentsWarning
from kate.model.text_model import TextModel, load
from kate.storage.folders import StrPath

__all__ = ["KateEmbedder"]


class KateEmbedder(BaseEmbedder):
    """Vectors of length 1 of documents and words.

    model : a fitted :class:`~kate.TextModel`, or its folder
    """

    def __init__(self, model: TextModel | StrPath) -> None:
        super().__init__(embedding_model=model if isinstance(model, TextModel) else load(model))

    def embed(self, documents: Any, verbose: bool = False) -> NDArray[np.float32]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyDocumentsWarning)
            return np.asarray(self.embedding_model.encode(list(documents), normalize=True))
