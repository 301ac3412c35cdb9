"""Topics of a user's own, told by a few words each: documents go to the one whose words they are nearest to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.topics.document_sketch import DocumentSketch
from kate.topics.leaf_clusters import nearest_centres
from kate.unit_rows import unit_rows

__all__ = ["OwnTopics"]

_NEAREST = 0.01  # share of the documents that a topic's words are filled up from
_FEWEST, _MOST = 5, 100
_SHARPNESS = 12.0
_LEAST = 0.1  # a smaller cosine is no nearer than chance

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class OwnTopics:
    """Names and centres (n_topics, d)."""

    names: Sequence[str]
    centres: Floats

    @classmethod
    def of(cls, names: Sequence[str], queries: Floats, sketch: DocumentSketch) -> OwnTopics:
        """From the unit vector of each topic's words, moved half the way to the documents nearest to them.

        A few words are a thin description; the documents that they find fill it up.
        """
        n_near = int(np.clip(_NEAREST * len(sketch), _FEWEST, _MOST))
        near = np.argsort(-(queries @ sketch.units.T), axis=1, kind="stable")[:, :n_near]
        found = unit_rows(sketch.units[near].mean(axis=1))
        return cls(names, unit_rows(queries + found))

    def label_columns(self, vectors: Floats, known: NDArray[np.bool_]) -> list[pl.Series]:
        """``topic_name`` and ``topic_share`` of documents by their unit vectors; null where none is near."""
        cosines = vectors @ self.centres.T
        places = nearest_centres(vectors, self.centres)
        scores = np.exp(_SHARPNESS * (cosines - 1))
        shares = scores.max(axis=1) / scores.sum(axis=1)
        none = pl.Series(~known | (cosines.max(axis=1) < _LEAST))
        return [
            pl.Series("topic_name", [self.names[place] for place in places], dtype=pl.String).set(none, None),
            pl.Series("topic_share", shares.astype(np.float64)).set(none, None),
        ]
