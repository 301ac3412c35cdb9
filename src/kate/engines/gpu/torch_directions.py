"""Where training starts and where it ends, on a GPU: the leading directions of documents, and products of responses.

The same as ``kate.model.start`` and ``kate.model.vector_map`` in PyTorch; the sketch is drawn on the host, so that both
start from the same numbers.
"""

from __future__ import annotations

import warnings

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor

__all__ = ["krylov_directions", "response_sums"]

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

_BLOCK = 16_384  # documents at a time


def krylov_directions(
    T: csr_matrix, sketch: Floats, n_directions: int, steps: int, device: str = "cuda"
) -> Floats:
    """The leading right singular vectors (n_words, n_directions) of T, by a block Krylov decomposition.

    ``sketch`` (n_docs, width) are the random columns that it starts from.
    """
    documents, transposed = _sent(T, device), _sent(T.T.tocsr(), device)
    blocks = [_orthonormal(transposed @ torch.from_numpy(sketch).to(device))]
    images = [documents @ blocks[0]]
    for _ in range(steps):
        block, before = transposed @ images[-1], torch.cat(blocks, dim=1)
        for _ in range(2):
            block = block - before @ (before.T @ block)
        block = _orthonormal(block)
        if block.shape[1] == 0:
            break
        blocks.append(block)
        images.append(documents @ block)
    image = torch.cat(images, dim=1)
    _, turn = torch.linalg.eigh((image.T @ image).double())
    found: Floats = (torch.cat(blocks, dim=1) @ turn.flip(1)[:, :n_directions].float()).cpu().numpy()
    return found


def response_sums(
    T: csr_matrix, W: Floats, start: Floats | None, device: str = "cuda"
) -> tuple[Doubles, Doubles]:
    """Sums (2, m) of a = Wᵀt and b = startᵀt over the documents, and of a aᵀ, a bᵀ, b bᵀ (3, m, m)."""
    m = W.shape[1]
    sums = torch.zeros((2, m), dtype=torch.float64, device=device)
    products = torch.zeros((3, m, m), dtype=torch.float64, device=device)
    weights = torch.from_numpy(W).to(device)
    beginning = None if start is None else torch.from_numpy(start).to(device)
    for first in range(0, T.shape[0], _BLOCK):
        block = _sent(T[first : first + _BLOCK], device)
        a = block @ weights
        sums[0] += a.sum(dim=0, dtype=torch.float64)
        products[0] += a.T @ a
        if beginning is not None:
            b = block @ beginning
            sums[1] += b.sum(dim=0, dtype=torch.float64)
            products[1] += a.T @ b
            products[2] += b.T @ b
    return sums.cpu().numpy(), products.cpu().numpy()


def _orthonormal(block: Tensor) -> Tensor:
    """An orthonormal basis of the columns, without those that depend on the others."""
    for _ in range(2):
        gram = (block.T @ block).double()
        factor, failed = torch.linalg.cholesky_ex(gram)
        if int(failed) == 0:
            turn = torch.linalg.inv(factor).T
        else:
            values, vectors = torch.linalg.eigh(gram)
            kept = values > 1e-7 * values[-1].clamp(min=1e-30)
            turn = vectors[:, kept] / values[kept].sqrt()
        block = block @ turn.float()
    return block


def _sent(X: csr_matrix, device: str) -> Tensor:
    parts = (torch.from_numpy(np.ascontiguousarray(part)) for part in (X.indptr, X.indices, X.data))
    starts, words, values = (part.to(device) for part in parts)
    with warnings.catch_warnings():
        # that sparse tensors are in beta, and that nobody checks them: ours were checked before
        warnings.filterwarnings("ignore", message="Sparse", category=UserWarning)
        return torch.sparse_csr_tensor(starts, words, values, size=X.shape, check_invariants=False)
