"""Checks of sparse matrices before compiled code reads them: a wrong index there would read or write any memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kate.errors import quoted

__all__ = ["check_compressed", "check_documents", "check_rows"]


def check_compressed(X: Any) -> None:
    """Refuse a CSR or CSC matrix whose arrays do not belong together; reads each of them once or twice.

    SciPy checks them when it makes a matrix, but not when they are changed later.
    """
    n_major, n_minor = X.shape if X.format == "csr" else X.shape[::-1]
    name, indptr, indices = f"the {X.format.upper()} matrix {X.shape}", X.indptr, X.indices
    hint = "X.check_format(full_check=True) of SciPy says more"
    if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        found = f"indptr is {indptr.dtype} and indices is {indices.dtype}"
        raise ValueError(f"{name}: {found}; expected whole numbers")
    if len(indptr) != n_major + 1:
        raise ValueError(f"{name}: indptr has {len(indptr)} numbers, expected {n_major + 1}; {hint}")
    if indptr[0] < 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(
            f"{name}: indptr is negative or falls somewhere, expected numbers that never fall; {hint}"
        )
    if indptr[-1] > min(len(indices), len(X.data)):
        found = f"indptr ends at {indptr[-1]}, but there are {len(indices)} indices and {len(X.data)} values"
        raise ValueError(f"{name}: {found}; {hint}")
    used = indices[indptr[0] : indptr[-1]]
    if used.size and (used.min() < 0 or used.max() >= n_minor):
        found = f"indices from {used.min()} to {used.max()}, expected numbers from 0 to {n_minor - 1}"
        raise ValueError(f"{name}: {found}; {hint}")


def check_rows(X: Any, n_words: int) -> None:
    """Refuse documents that are no valid CSR matrix, or have another number of words than the network."""
    if X.format != "csr":
        raise ValueError(
            f"the documents are in the format {quoted(X.format)}, expected CSR; X.tocsr() makes it"
        )
    if X.shape[1] != n_words:
        raise ValueError(f"the documents have {X.shape[1]} words, the network has {n_words}")
    if X.indices.dtype.itemsize not in {4, 8}:
        raise ValueError(f"the column numbers are {X.indices.dtype}, expected int32 or int64")
    check_compressed(X)


def check_documents(batches: list[NDArray[np.int64]], n_docs: int) -> None:
    """Refuse batches that are empty, or name documents that are not there."""
    if not batches or not all(docs.size for docs in batches):
        raise ValueError(
            "a batch has no documents, or there is no batch; expected at least one document in each"
        )
    docs = np.concatenate(batches)
    if docs.min() < 0 or docs.max() >= n_docs:
        found = f"documents from {docs.min()} to {docs.max()}"
        raise ValueError(f"the batches name {found}, expected numbers from 0 to {n_docs - 1}")
