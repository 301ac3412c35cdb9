"""A model as bytes, to be sent to other machines: no folder has to be where all of them see it."""

from __future__ import annotations

import io
import tarfile
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from kate.model.text_model import TextModel, load
from kate.text.own_tokenizer import TokenFunction

__all__ = ["PackedModel"]


class PackedModel(NamedTuple):
    """The folder of a model as one archive, and the function that makes words, if the model has one of its own.

    >>> model = TextModel(n_components=2).fit(["gold coin", "peace treaty", "gold", "peace"] * 5)
    >>> bool((PackedModel.of(model).load().encode("gold") == model.encode("gold")).all())
    True
    """

    folder: bytes
    tokenizer: TokenFunction | None

    @classmethod
    def of(cls, model: TextModel) -> PackedModel:
        packed = io.BytesIO()
        with tempfile.TemporaryDirectory() as parent, tarfile.open(fileobj=packed, mode="w") as archive:
            model.save(Path(parent, "model"), resumable=False)
            archive.add(Path(parent, "model"), "model")
        return cls(packed.getvalue(), model.tokenizer)

    def load(self) -> TextModel:
        """The model; once for all calls of a process."""
        return _loaded(self)


@lru_cache(maxsize=1)
def _loaded(packed: PackedModel) -> TextModel:
    with (
        tempfile.TemporaryDirectory() as parent,
        tarfile.open(fileobj=io.BytesIO(packed.folder)) as archive,
    ):
        archive.extractall(parent, filter="data")
        return load(Path(parent, "model"), packed.tokenizer)
