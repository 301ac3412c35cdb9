"""Where training starts: the leading directions of the documents, as LSA has them, by a block Krylov decomposition.

A step multiplies the documents by half as many columns as there are directions. After three steps vectors are as good
as after four power iterations of a randomised SVD with all columns, for less than half of the products.
Orthonormal columns come from the eigenvectors of small products: no tall matrix is factorised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.model.block_products import BlockProducts, block_products
from kate.unit_rows import unit_rows

__all__ = ["fixed_rotation", "leading_directions", "orthonormal", "start_vectors"]

_STEPS = 3
_SEED = 0  # the same for all seeds of a model: two fits start from the same place, and agree more

Floats = NDArray[np.float32]


def leading_directions(
    T: csr_matrix,
    n_directions: int,
    steps: int = _STEPS,
    *,
    on_gpu: bool = False,
    n_jobs: int | None = None,
) -> Floats:
    """The leading right singular vectors (n_words, n_directions) of T (n_docs, n_words), orthonormal columns.

    Where T has fewer directions, as many as there are; the other columns are zero.

    >>> T = csr_matrix(np.diag([3.0, 2.0, 1.0]).astype(np.float32))
    >>> np.abs(leading_directions(T, 2)).round(3)
    array([[1., 0.],
           [0., 1.],
           [0., 0.]], dtype=float32)
    """
    n_docs, n_words = T.shape
    directions = np.zeros((n_words, n_directions), dtype=np.float32)
    rank = min(n_directions, n_docs, n_words)
    if rank == 0 or T.nnz == 0:
        return directions
    if min(n_docs, n_words) <= 2 * n_directions:
        found = _by_gram(T)[:, :rank]
    elif on_gpu:
        from kate.engines.gpu.torch_directions import krylov_directions

        found = krylov_directions(T, _sketch(n_docs, n_directions), n_directions, steps)
    else:
        with block_products(n_jobs) as products:
            found = _by_krylov(T, n_directions, steps, products)
    directions[:, : found.shape[1]] = found
    return directions


def fixed_rotation(size: int) -> Floats:
    """One random rotation (size, size), always the same: turned by it, all neurons start alike."""
    normal = np.random.default_rng(_SEED).standard_normal((size, size))
    Q, R = np.linalg.qr(normal)
    rotation: Floats = (Q * np.sign(np.diag(R))).astype(np.float32)
    return rotation


def start_vectors(T: csr_matrix, start: Floats, n_components: int, n_jobs: int | None = None) -> Floats:
    """Unit vectors (n_docs, n_components) of documents T by W at the start, which hardly depend on the seed.

    Made as those of a fitted model are (``vector_map.py``), but components in which documents differ more have larger
    values: seeds agree on these most.
    """
    with block_products(n_jobs) as products:
        found = products.multiply(T, start)
        mean = found.sum(axis=0, dtype=np.float64)
        mean /= max(float(np.linalg.norm(mean)), 1e-30)
        found -= np.outer(found @ mean, mean).astype(np.float32)
        turn = _eigenvectors(products.gram(found, found).astype(np.float64))[:, :n_components]
        found = unit_rows(products.multiply(found, turn))
        return unit_rows(found * np.sqrt(found.std(axis=0)))


def _by_krylov(T: csr_matrix, n_directions: int, steps: int, products: BlockProducts) -> Floats:
    """The best directions within the blocks B: from the eigenvectors of G = BᵀTᵀTB.

    A block is TᵀT times the block before, less what all blocks have of it. So G is zero but for the products of a block
    with itself and with the next one, which are known on the way: no image T B is kept longer than for a step.
    """
    transposed = T.T.tocsr()  # products with it are several times as quick as with the view
    block = orthonormal(products.multiply(transposed, _sketch(T.shape[0], n_directions)), products)
    first, end = 0, block.shape[1]
    B = np.empty((T.shape[1], (steps + 1) * end), dtype=np.float32)
    G = np.zeros((B.shape[1], B.shape[1]))  # its lower half
    for step in range(steps + 1):
        B[:, first:end] = block
        image = products.multiply(T, block)
        if step == steps:
            G[first:end, first:end] = products.gram(image, image)
            break
        rest, before = products.multiply(transposed, image), B[:, :end]
        share = products.gram(before, rest)
        G[first:end, first:end] = share[first:]
        rest -= products.multiply(before, share)
        # once is not enough in single precision
        rest -= products.multiply(before, products.gram(before, rest))
        block = orthonormal(rest, products)
        if block.shape[1] == 0:
            break
        following = end + block.shape[1]
        G[end:following, first:end] = products.gram(block, rest)
        first, end = end, following
    turn = _eigenvectors(G[:end, :end])
    return products.multiply(B[:, :end], turn[:, :n_directions])


def _sketch(n_docs: int, n_directions: int) -> Floats:
    """Random columns, half as many as directions: what the documents are first multiplied by."""
    random = np.random.default_rng(_SEED)
    return random.standard_normal((n_docs, (n_directions + 1) // 2), dtype=np.float32)


def _by_gram(T: csr_matrix) -> Floats:
    """Few documents or few words: from the eigenvectors of the smaller one of T Tᵀ and Tᵀ T."""
    few_documents = T.shape[0] < T.shape[1]
    gram = (T @ T.T if few_documents else T.T @ T).toarray().astype(np.float64)
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-9 * max(float(values[-1]), 1e-30)
    found = vectors[:, kept][:, ::-1]
    if few_documents:
        found = (T.T @ found) / np.sqrt(values[kept][::-1])
    V: Floats = found.astype(np.float32)
    return V


def orthonormal(block: Floats, products: BlockProducts) -> Floats:
    """An orthonormal basis of the columns, without those that depend on the others."""
    for _ in range(2):  # the second time makes up for the rounding of the first
        gram = products.gram(block, block).astype(np.float64)
        try:
            turn = np.linalg.inv(np.linalg.cholesky(gram)).T
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(gram)
            kept = values > 1e-7 * max(float(values[-1]), 1e-30)
            turn = vectors[:, kept] / np.sqrt(values[kept])
        block = products.multiply(block, turn.astype(np.float32))
    return block


def _eigenvectors(gram: NDArray[np.float64]) -> Floats:
    """The eigenvectors of a symmetric matrix, of which the lower half is read, the largest first."""
    _, vectors = np.linalg.eigh(gram)
    largest_first: Floats = vectors[:, ::-1].astype(np.float32)
    return largest_first
