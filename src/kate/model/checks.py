"""Checks of what a model is given, parameters and counts: what was found, what is expected."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

__all__ = ["checked_counts", "require_between", "require_choice", "require_whole"]


def checked_counts(model: Any, X: Any, *, reset: bool) -> csr_matrix:
    """Counts as float32 in the canonical form, nothing stored that is zero; anything but counts is refused.

    ``reset`` in fitting: the number of words is learned rather than compared, and one document is too few.
    """
    from sklearn.utils.validation import validate_data

    if getattr(X, "format", "") == "csr" and X.ndim == 2 and X.dtype.kind in "biu":
        # only the values are made anew: a conversion of the whole matrix would copy where they stand as well
        X = csr_matrix((X.data.astype(np.float32), X.indices, X.indptr), shape=X.shape)
    checked = validate_data(
        model, X, reset=reset, accept_sparse="csr", dtype=np.float32, ensure_min_samples=2 if reset else 1
    )
    counts = csr_matrix(checked)
    if counts.nnz and counts.data.min() < 0:
        raise ValueError(
            f"Negative values in data passed to {type(model).__name__}: the lowest is {counts.data.min():g}; "
            "word counts start at 0"
        )
    if not counts.has_canonical_format or not counts.data.all():
        counts = counts.copy()  # the caller's matrix is theirs
        counts.sum_duplicates()
        counts.eliminate_zeros()
    return counts


def require_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Refuse anything but one of a few values."""
    if value not in allowed:
        raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, allowed))}")


def require_whole(name: str, value: Any, least: int = 1) -> None:
    """Refuse anything but a whole number that is large enough."""
    if type(value) is bool or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name}={value!r}: expected a whole number of at least {least}")


def require_between(name: str, value: Any, low: float, high: float) -> None:
    """Refuse anything but a number from ``low`` to below ``high``."""
    if type(value) is bool or not (isinstance(value, Real) and low <= float(value) < high):
        raise ValueError(f"{name}={value!r}: expected a number from {low:g} to below {high:g}")
