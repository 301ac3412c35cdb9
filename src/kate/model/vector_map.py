"""From trained neurons to vectors: one linear map of scaled counts, its components ordered by what they carry.

    E = β W + (1 − β) s W₀          part of the way back to the start W₀, brought to the size of W
    u = Eᵀ t                        what the encoder reads of a document is t
    v = Qᵀ (u − (u·μ̂) μ̂)            without the direction of the mean, turned by PCA

There is no constant part: the empty text is the zero vector, and texts of one word and whole books live in one space.
Everything is found from small products of the training documents, in one pass over blocks of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kate.model.block_products import block_products
from kate.sparse_arrays import sparse

__all__ = ["ResponseProducts", "make_vector_map", "response_products"]

_BLOCK = 4096  # documents at a time
_MOST_DOCUMENTS = 60_000  # more say nothing new about a few hundred directions

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


class ResponseProducts(NamedTuple):
    """Sums over documents of a = Wᵀt and, where there is a start, of b = W₀ᵀt: what the map is made from."""

    n_documents: int
    sum_a: Doubles  # (m,)
    aa: Doubles  # (m, m): Σ a aᵀ
    sum_b: Doubles
    ab: Doubles
    bb: Doubles


def response_products(
    T: sparse.csr_matrix, W: Floats, start: Floats | None, *, on_gpu: bool = False, n_jobs: int | None = None
) -> ResponseProducts:
    """The sums over the documents T (n_docs, n_words), evenly picked where there are very many."""
    step = -(-T.shape[0] // _MOST_DOCUMENTS)
    rows = T[::step] if step > 1 else T
    if on_gpu:
        from kate.engines.gpu.torch_directions import response_sums

        sums, products = response_sums(rows, W, start)
        return ResponseProducts(rows.shape[0], sums[0], products[0], sums[1], products[1], products[2])
    m = W.shape[1]
    sums, products = np.zeros((2, m)), np.zeros((3, m, m))

    def of_block(first: int) -> list[list[NDArray[np.floating]]]:
        block = rows[first : first + _BLOCK]
        a = block @ W
        if start is None:
            return [[a.sum(axis=0, dtype=np.float64)], [a.T @ a]]
        b = block @ start
        both = [each.sum(axis=0, dtype=np.float64) for each in (a, b)]
        return [both, [a.T @ a, a.T @ b, b.T @ b]]

    with block_products(n_jobs) as threads:
        for some_sums, some_products in threads.map(of_block, range(0, rows.shape[0], _BLOCK)):
            for which, part in enumerate(some_sums):
                sums[which] += part
            for which, part in enumerate(some_products):
                products[which] += part
    return ResponseProducts(rows.shape[0], sums[0], products[0], sums[1], products[1], products[2])


def make_vector_map(
    W: Floats,
    start: Floats | None,
    products: ResponseProducts,
    n_components: int,
    start_share: float,
    project_mean: bool = True,
) -> Floats:
    """E (I − μ̂μ̂ᵀ) Q, (n_words, n_components); the component that carries most comes first.

    The sign of a component is chosen so that its largest weight is positive: two fits that agree look alike.
    """
    E, mean, second = _mixed(W, start, products, start_share)
    m = W.shape[1]
    without_mean = np.eye(m)
    length = np.linalg.norm(mean)
    if project_mean and length > 0:
        without_mean -= np.outer(mean, mean) / length**2
    _, vectors = np.linalg.eigh(without_mean @ second @ without_mean)
    turn = without_mean @ vectors[:, ::-1][:, :n_components]
    vector_map: Floats = E @ turn.astype(np.float32)
    largest = vector_map[np.argmax(np.abs(vector_map), axis=0), np.arange(vector_map.shape[1])]
    vector_map *= np.where(largest < 0, np.float32(-1), np.float32(1))
    return np.ascontiguousarray(vector_map)


def _mixed(
    W: Floats, start: Floats | None, products: ResponseProducts, start_share: float
) -> tuple[Floats, Doubles, Doubles]:
    """E, and the sum and the products of the documents' u = Eᵀt."""
    _, sum_a, aa, sum_b, ab, bb = products
    if start is None or start_share == 0:
        return W, sum_a, aa
    own = 1 - start_share
    back = start_share * float(np.sqrt(np.trace(aa) / max(np.trace(bb), 1e-30)))
    E: Floats = np.float32(own) * W + np.float32(back) * start
    second = own**2 * aa + own * back * (ab + ab.T) + back**2 * bb
    return E, own * sum_a + back * sum_b, second
