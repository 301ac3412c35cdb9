"""A batch of documents as PyTorch sees it: sparse, or dense if every step must have the same shapes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor
from torch.nn import functional

__all__ = ["Batch", "DenseBatch", "Entries", "SparseBatch"]


@dataclass(frozen=True, eq=False)
class Entries:
    """The entries of documents, one after the other: word, document and value, (n_entries,) each."""

    words: Tensor
    rows: Tensor
    values: Tensor


class Batch(ABC):
    """A few documents; the form of ``values`` depends on the class."""

    values: Tensor
    n_words: int

    @abstractmethod
    def __len__(self) -> int:
        """The number of documents."""

    @property
    @abstractmethod
    def totals(self) -> Tensor:
        """(n_docs,) the sum of each document's values."""

    @abstractmethod
    def spread(self, numbers: Tensor) -> Tensor:
        """One number per document, (n_docs,), in the form of ``values``."""

    @abstractmethod
    def with_values(self, values: Tensor) -> Batch:
        """The same documents with other values."""

    @abstractmethod
    def dense(self) -> Tensor:
        """(n_docs, n_words): the batch as a matrix."""

    @abstractmethod
    def times(self, weights: Tensor) -> Tensor:
        """The product with ``weights`` (n_words, width): (n_docs, width)."""

    @abstractmethod
    def entries(self) -> Entries:
        """The entries one by one; their number differs from batch to batch."""


@dataclass(frozen=True, eq=False)
class SparseBatch(Batch):
    """The words of a few documents, one document after the other.

    ``words``   (n_entries,) columns, int64
    ``values``  (n_entries,) the values there: counts, or what a model makes of them
    ``starts``  (n_docs,) where each document begins
    """

    words: Tensor
    values: Tensor
    starts: Tensor
    n_words: int

    @classmethod
    def of(cls, X: csr_matrix, rows: NDArray[np.intp] | slice, device: torch.device) -> SparseBatch:
        """Some rows of a sparse matrix.

        >>> X = csr_matrix([[0, 2, 1], [0, 0, 0], [3, 0, 0]])
        >>> SparseBatch.of(X, np.array([2, 0]), torch.device("cpu")).dense()
        tensor([[3., 0., 0.],
                [0., 2., 1.]])
        """
        part = X[rows]
        return cls(
            torch.from_numpy(part.indices.astype(np.int64)).to(device),
            torch.from_numpy(part.data.astype(np.float32)).to(device),
            torch.from_numpy(part.indptr[:-1].astype(np.int64)).to(device),
            X.shape[1],
        )

    @classmethod
    def blocks(cls, X: csr_matrix, size: int, device: torch.device) -> Iterator[SparseBatch]:
        """All rows of a sparse matrix, so many at a time."""
        for start in range(0, X.shape[0], size):
            yield cls.of(X, slice(start, start + size), device)

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def lengths(self) -> Tensor:
        """(n_docs,) how many entries each document has."""
        ends = torch.cat([self.starts[1:], self.starts.new_tensor([len(self.words)])])
        return ends - self.starts

    @cached_property
    def rows(self) -> Tensor:
        """(n_entries,) the document of each entry."""
        which = torch.arange(len(self), device=self.starts.device)
        return which.repeat_interleave(self.lengths, output_size=len(self.words))

    @cached_property
    def totals(self) -> Tensor:
        return torch.zeros(len(self), device=self.values.device).index_add_(0, self.rows, self.values)

    def spread(self, numbers: Tensor) -> Tensor:
        return numbers[self.rows]

    def with_values(self, values: Tensor) -> SparseBatch:
        return SparseBatch(self.words, values, self.starts, self.n_words)

    def dense(self) -> Tensor:
        dense = torch.zeros(len(self) * self.n_words, device=self.values.device)
        # added, not assigned: a word may occur twice
        return dense.index_add_(0, self.rows * self.n_words + self.words, self.values).view(len(self), -1)

    def times(self, weights: Tensor) -> Tensor:
        return functional.embedding_bag(
            self.words, weights, self.starts, mode="sum", per_sample_weights=self.values
        )

    def entries(self) -> Entries:
        return Entries(self.words, self.rows, self.values)


@dataclass(frozen=True, eq=False)
class DenseBatch(Batch):
    """A few documents as a matrix, ``values`` (n_docs, n_words).

    >>> documents = DenseBatch(torch.tensor([[3.0, 0.0, 0.0], [0.0, 2.0, 1.0]]))
    >>> documents.totals, documents.entries().words
    (tensor([3., 3.]), tensor([0, 1, 2]))
    """

    values: Tensor

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_words(self) -> int:  # type: ignore[override]  # from the matrix
        return self.values.shape[1]

    @cached_property
    def totals(self) -> Tensor:
        return self.values.sum(dim=1)

    def spread(self, numbers: Tensor) -> Tensor:
        return numbers[:, None]

    def with_values(self, values: Tensor) -> DenseBatch:
        return DenseBatch(values)

    def dense(self) -> Tensor:
        return self.values

    def times(self, weights: Tensor) -> Tensor:
        return self.values @ weights

    def entries(self) -> Entries:
        rows, words = self.values.nonzero(as_tuple=True)
        return Entries(words, rows, self.values[rows, words])
