"""A batch of documents as PyTorch sees it: sparse, and dense only one batch at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor
from torch.nn import functional

__all__ = ["Documents"]


@dataclass(frozen=True, eq=False)
class Documents:
    """The words of a few documents, one document after the other.

    ``words``   (n_entries,) columns, int64
    ``values``  (n_entries,) what stands there: counts, or whatever a model makes of them
    ``starts``  (n_docs,) where each document begins
    """

    words: Tensor
    values: Tensor
    starts: Tensor
    n_words: int

    @classmethod
    def of(cls, X: csr_matrix, rows: NDArray[np.intp] | slice, device: torch.device) -> Documents:
        """Some rows of a sparse matrix.

        >>> X = csr_matrix([[0, 2, 1], [0, 0, 0], [3, 0, 0]])
        >>> Documents.of(X, np.array([2, 0]), torch.device("cpu")).dense()
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
        """(n_docs,) the sum of each document's values."""
        return torch.zeros(len(self), device=self.values.device).index_add_(0, self.rows, self.values)

    def with_values(self, values: Tensor) -> Documents:
        return Documents(self.words, values, self.starts, self.n_words)

    def dense(self) -> Tensor:
        """(n_docs, n_words): the batch as a matrix."""
        dense = torch.zeros(len(self) * self.n_words, device=self.values.device)
        # added, not put: a word may stand twice
        return dense.index_add_(0, self.rows * self.n_words + self.words, self.values).view(len(self), -1)

    def times(self, weights: Tensor) -> Tensor:
        """The product with ``weights`` (n_words, width), by the words that are there: (n_docs, width)."""
        return functional.embedding_bag(
            self.words, weights, self.starts, mode="sum", per_sample_weights=self.values
        )
