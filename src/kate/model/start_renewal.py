"""The start of training, made anew when documents come: the leading directions of all documents seen.

Documents at hand (the sketch and the new ones) are taken as they are. Of the others the second moment within the old
directions is known, from the sketch, which is a sample of them: Σ t tᵀ ≈ W₀ (Σ b bᵀ) W₀ᵀ with b = W₀ᵀ t. So nothing of
what was seen is lost but what the old directions did not show. The result is turned to lie as near to the old start
as a rotation can bring it: what was learned since, W − W₀, goes with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from kate.model.block_products import BlockProducts, block_products
from kate.model.start import leading_directions, orthonormal

__all__ = ["renewed_start"]

_STEPS = 3
_SEED = 0

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


def renewed_start(
    W0: Floats,
    kept: csr_matrix,
    new: csr_matrix,
    n_gone: int,
    *,
    on_gpu: bool = False,
    n_jobs: int | None = None,
) -> Floats:
    """W₀ (n_words, m) for all documents: those ``kept`` and ``new`` ones, and ``n_gone`` others like those kept.

    Rows of words that entered are zero in ``W0``.

    >>> T = csr_matrix(np.eye(3, dtype=np.float32)[[0, 0, 1]])
    >>> renewed_start(np.eye(3, dtype=np.float32)[:, :2], T[:2], T[2:], n_gone=0).round(3)
    array([[1., 0.],
           [0., 1.],
           [0., 0.]], dtype=float32)
    """
    at_hand = csr_matrix(vstack([kept, new], format="csr"))
    if n_gone == 0 or kept.shape[0] == 0:
        found = leading_directions(at_hand, W0.shape[1], on_gpu=on_gpu, n_jobs=n_jobs)
    else:
        with block_products(n_jobs) as products:
            past = _past(W0, products.multiply(kept, W0), n_gone / kept.shape[0])
            found = _directions(past, at_hand, W0.shape[1], products)
    return np.asarray(found @ _nearest_rotation(found, W0), dtype=np.float32)


def _past(W0: Floats, b: Floats, times: float) -> Floats:
    """Rows A (m, n_words) whose AᵀA is the second moment of the documents that are gone, as far as it is known."""
    values, vectors = np.linalg.eigh(times * (b.T.astype(np.float64) @ b))
    root = vectors * np.sqrt(np.maximum(values, 0))
    return np.asarray(root.T.astype(np.float32) @ W0.T)


def _directions(A: Floats, T: csr_matrix, n_directions: int, products: BlockProducts) -> Floats:
    """The leading right singular vectors of A, which is dense, upon T; see :mod:`kate.model.start` for the way."""
    transposed = T.T.tocsr()
    random = np.random.default_rng(_SEED)

    def back(of_A: Floats, of_T: Floats) -> Floats:
        return np.asarray(A.T @ of_A + products.multiply(transposed, of_T), dtype=np.float32)

    sketch = [
        random.standard_normal((n, (n_directions + 1) // 2), dtype=np.float32) for n in (len(A), T.shape[0])
    ]
    B = orthonormal(back(*sketch), products)
    block = B
    for _ in range(_STEPS):
        rest = back(A @ block, products.multiply(T, block))
        for _ in range(2):  # once is not enough in single precision
            rest -= products.multiply(B, products.gram(B, rest))
        block = orthonormal(rest, products)
        if block.shape[1] == 0:
            break
        B = np.concatenate([B, block], axis=1)
    image = products.multiply(T, B)
    of_A = A @ B
    gram = products.gram(image, image).astype(np.float64) + of_A.T.astype(np.float64) @ of_A
    _, vectors = np.linalg.eigh(gram)
    turn = vectors[:, ::-1][:, :n_directions].astype(np.float32)
    found = np.zeros((T.shape[1], n_directions), dtype=np.float32)
    found[:, : turn.shape[1]] = products.multiply(B, turn)
    return found


def _nearest_rotation(found: Floats, W0: Floats) -> Floats:
    """R (m, m) that brings ``found`` R nearest to ``W0`` (Procrustes)."""
    left, _, right = np.linalg.svd(found.T.astype(np.float64) @ W0)
    return np.asarray(left @ right, dtype=np.float32)
