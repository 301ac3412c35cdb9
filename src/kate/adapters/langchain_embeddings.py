"""A model as LangChain's ``Embeddings``: vector stores and retrievers of LangChain encode with it."""

from __future__ import annotations

import warnings
from typing import Any

from langchain_core.embeddings import Embeddings

from kate.model.encoder import EmptyDocumentsWarning
from kate.model.text_model import TextModel, load
from kate.storage.folders import StrPath

__all__ = ["KateEmbeddings"]


class KateEmbeddings(Embeddings):
    """Vectors of length 1; a text without a known word is the zero vector.

    model : a fitted :class:`~kate.TextModel`, or its folder
    truncate_dim : keep the first components only

    >>> from kate import TextModel
    >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    >>> embeddings = KateEmbeddings(TextModel(n_components=3).fit(texts))
    >>> len(embeddings.embed_query("gold")), len(embeddings.embed_documents(["gold", "peace"]))
    (3, 2)
    """

    def __init__(self, model: TextModel | StrPath, *, truncate_dim: int | None = None) -> None:
        self.model = model if isinstance(model, TextModel) else load(model)
        self.truncate_dim = truncate_dim

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._encoded(texts).tolist() if texts else []

    def embed_query(self, text: str) -> list[float]:
        [vector] = self._encoded([text])
        found: list[float] = vector.tolist()
        return found

    def _encoded(self, texts: list[str]) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyDocumentsWarning)  # a query may well be of unknown words
            return self.model.encode(texts, normalize=True, truncate_dim=self.truncate_dim)
