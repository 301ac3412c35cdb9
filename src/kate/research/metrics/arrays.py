"""The arrays that tasks accept, checked once: a wrong shape is an error here, not a strange score later."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from kate.errors import quoted

__all__ = [
    "AnyFloats",
    "as_classes",
    "as_indicator",
    "as_vectors",
    "as_vectors_of_one_model",
    "class_numbers",
    "sorted_classes",
]

AnyFloats = NDArray[np.floating[Any]]


def as_vectors(vectors: ArrayLike, name: str) -> AnyFloats:
    """The vectors as a finite matrix of at least one row and one column, float32 or float64.

    >>> as_vectors([[1, 2], [3, 4]], "train_vectors").dtype
    dtype('float64')
    """
    if sp.issparse(vectors):
        raise TypeError(
            f"{name} is a sparse matrix; expected a dense array (n_docs, n_components): pass {name}.toarray()"
        )
    array = np.asarray(vectors)
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}; expected two dimensions (n_docs, n_components)")
    if array.size == 0:
        raise ValueError(
            f"{name} is empty (shape {array.shape}); expected at least one document and one column"
        )
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    broken = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if broken.size:
        raise ValueError(
            f"{name} has NaN or infinite values in {broken.size} of {len(array)} rows "
            f"(the first is row {broken[0]}); "
            "expected finite vectors: look at how the model encoded those documents"
        )
    return array


def as_vectors_of_one_model(**named: ArrayLike) -> list[AnyFloats]:
    """All vectors as :func:`as_vectors` gives them; different numbers of columns are refused."""
    arrays = [as_vectors(vectors, name) for name, vectors in named.items()]
    if len({array.shape[1] for array in arrays}) > 1:
        found = ", ".join(f"{name} {array.shape[1]}" for name, array in zip(named, arrays, strict=True))
        raise ValueError(
            f"the vectors differ in their number of columns ({found}); encode all with the same model"
        )
    return arrays


def as_classes(labels: Iterable[Any], n_documents: int, name: str) -> list[Hashable]:
    """One hashable label per document, as a list; a missing label (None or NaN) is refused.

    >>> as_classes(np.array(["sport", "war"]), 2, "train_labels")
    ['sport', 'war']
    """
    values: list[Any] = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    if len(values) != n_documents:
        raise ValueError(
            f"{name} has {len(values)} labels for {n_documents} vectors; give one label per document"
        )
    for row, value in enumerate(values):
        if isinstance(value, list):
            raise TypeError(
                f"{name} has several labels in row {row} ({quoted(value, 40)}); expected one class per document: "
                "give sets of labels to the multi-label task"
            )
        if value is None or value != value:  # noqa: PLR0124  NaN is the value that differs from itself
            raise ValueError(
                f"{name} has no label in row {row} ({quoted(value)}); leave unlabelled documents out"
            )
    return values


def sorted_classes(labels: Iterable[Hashable]) -> list[Hashable]:
    """The distinct labels in order; labels of mixed types are ordered by how they read.

    >>> sorted_classes(["b", "a", "b"]), sorted_classes([2, "x", 10])
    (['a', 'b'], [10, 2, 'x'])
    """
    distinct = set(labels)
    try:
        return sorted(distinct)  # type: ignore[type-var]  # what cannot be ordered raises, and falls below
    except TypeError:
        return sorted(distinct, key=lambda label: (str(label), type(label).__name__))


def class_numbers(labels: Sequence[Hashable], classes: Sequence[Hashable]) -> NDArray[np.intp]:
    """The position of each label among the classes; -1 for a label that is not among them.

    >>> class_numbers(["b", "z", "a"], ["a", "b"]).tolist()
    [1, -1, 0]
    """
    position = {label: index for index, label in enumerate(classes)}
    return np.fromiter((position.get(label, -1) for label in labels), dtype=np.intp, count=len(labels))


def as_indicator(labels: Any, n_documents: int, name: str) -> NDArray[np.bool_]:
    """Sets of labels as a boolean matrix (n_docs, n_labels), from a dense or sparse one of zeros and ones.

    >>> as_indicator(sp.csr_array([[0, 1], [1, 1]]), 2, "train_labels").tolist()
    [[False, True], [True, True]]
    """
    is_sparse: bool = sp.issparse(labels)
    array = np.asarray(labels.toarray() if is_sparse else labels)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"{name} has shape {array.shape}; expected an indicator matrix (n_docs, n_labels)")
    if len(array) != n_documents:
        raise ValueError(f"{name} has {len(array)} rows for {n_documents} vectors; give one row per document")
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "iuf" or not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} holds values other than 0 and 1; expected 1 where a document has the label")
    return array.astype(np.bool_)
