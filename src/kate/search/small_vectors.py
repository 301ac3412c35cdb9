"""Vectors in eight bits: a quarter of the memory, nearly the same neighbours."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kate.search.exact_search import VectorRows, nearest_rows

__all__ = ["Int8Facts", "Int8Vectors", "eight_bits"]

Floats = NDArray[np.float32]

_SAMPLE = 256
_RECALL_AT = 10


@dataclass(frozen=True)
class Int8Facts:
    """The share of the exact ten nearest documents that eight bits find; the queries were documents of the index."""

    recall_at_10: float
    n_queries: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Int8Vectors:
    """Rows of whole numbers from -127 to 127, each row with its own scale; they are read as single precision.

    >>> small = Int8Vectors.of(np.float32([[0.6, 0.8], [0, 0]]))
    >>> small[0:1].round(2).tolist(), small.codes.dtype
    ([[0.6000000238418579, 0.800000011920929]], dtype('int8'))
    """

    def __init__(self, codes: VectorRows, scales: VectorRows, facts: Int8Facts | None = None) -> None:
        if len(codes) != len(scales):
            raise ValueError(f"{len(codes):,} vectors of eight bits have {len(scales):,} scales")
        self.codes = codes  # (n_docs, n_components), int8
        self.scales = scales  # (n_docs,)
        self.facts = facts

    @classmethod
    def of(cls, vectors: Floats) -> Int8Vectors:
        """The nearest eight-bit vectors, and how many of the nearest documents they find."""
        small = cls(*eight_bits(vectors))
        small.facts = small.measured(vectors)
        return small

    def measured(self, vectors: Floats) -> Int8Facts:
        """How many of the nearest documents are found, of those that the vectors themselves find."""
        with_words = np.flatnonzero(vectors.any(axis=1))
        sample = np.random.default_rng(0).permutation(with_words)[:_SAMPLE]
        expected = nearest_rows(vectors, vectors[sample], _RECALL_AT + 1)
        found = nearest_rows(self, vectors[sample], _RECALL_AT + 1)
        shares = [
            len(np.intersect1d(one.rows, other.rows)) / max(1, len(other.rows))
            for one, other in zip(found, expected, strict=True)
        ]
        return Int8Facts(round(float(np.mean(shares or [1.0])), 4), len(sample))

    @property
    def shape(self) -> Any:
        return self.codes.shape

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Floats:
        codes, scales = self.codes[rows], self.scales[rows]
        vectors: Floats = np.multiply(codes, np.asarray(scales)[..., None], dtype=np.float32)
        return vectors


def eight_bits(vectors: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Vectors as whole numbers, and the scale of each row."""
    largest = np.abs(vectors).max(axis=1, initial=0)
    scales = np.where(largest > 0, largest / 127, 1).astype(np.float32)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales
