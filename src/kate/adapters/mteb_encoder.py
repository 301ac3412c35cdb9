"""A model under MTEB, the benchmark of embeddings: ``mteb.evaluate(KateEncoder(model), tasks)`` (extra ``mteb``)."""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from mteb.models import ModelMeta
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ScoringFunction
from numpy.typing import NDArray

from kate.model.encoder import EmptyDocumentsWarning
from kate.model.text_model import TextModel, load
from kate.storage.folders import StrPath

__all__ = ["KateEncoder"]


class KateEncoder(AbsEncoder):
    """Vectors of length 1, compared by the cosine; a text without a known word is the zero vector.

    MTEB keeps results by a model's name and revision and takes them again: the revision is a checksum of the model, so
    that results of one model are never taken for those of another.

    model : a fitted :class:`~kate.TextModel`, or its folder
    name : in MTEB's results, "owner/model"; None takes the name of the folder
    truncate_dim : keep the first components only
    """

    def __init__(
        self, model: TextModel | StrPath, *, name: str | None = None, truncate_dim: int | None = None
    ) -> None:
        self.model = model if isinstance(model, TextModel) else load(model)
        self.truncate_dim = truncate_dim
        folder = None if isinstance(model, TextModel) else Path(model).resolve().name
        encoder = self.model.encoder_
        facts = {
            "name": name or f"kate/{folder or 'text-model'}",
            "revision": _checksum(self.model, truncate_dim),
            "n_parameters": int(encoder.W.size),
            "memory_usage_mb": round(encoder.W.nbytes / 2**20, 3),
            "max_tokens": np.inf,
            "embed_dim": truncate_dim or encoder.n_components,
            "similarity_fn_name": ScoringFunction.COSINE,
            "framework": ["NumPy"],
            "use_instructions": False,
        }
        self.mteb_model_meta = ModelMeta.create_empty(facts)

    def encode(self, inputs: Any, **_: Any) -> NDArray[np.float32]:
        """Vectors of all texts; a query and a document are encoded alike, and the name of the task is not used.

        inputs : batches, each a dict with the list "text"
        """
        texts = [text for batch in inputs for text in batch["text"]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyDocumentsWarning)  # a query may well be of unknown words
            return self.model.encode(texts, normalize=True, truncate_dim=self.truncate_dim)


def _checksum(model: TextModel, truncate_dim: int | None) -> str:
    """Of all that vectors depend on."""
    encoder, vocabulary = model.encoder_, model.vocabulary_
    parts = [encoder.scaling, encoder.activation, encoder.output, vocabulary.config(), truncate_dim]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
    for array in (encoder.W, encoder.b, encoder.mean, encoder.weights):
        digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
    for line in vocabulary.to_lines():
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()
