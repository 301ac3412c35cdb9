"""Values as JSON can hold them: NumPy's as Python's, paths as text. For every JSON file of ours."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kate.errors import quoted

__all__ = ["as_json"]


def as_json(value: Any, *, strict: bool = True) -> Any:
    """The value as JSON can hold it. Anything else is refused; ``strict=False`` takes its ``str`` instead.

    Infinite numbers and NaN become null, sets become sorted lists.

    >>> as_json({"strength": np.float32(0.5), "classes": ("a", "b"), "r2": float("nan")})
    {'strength': 0.5, 'classes': ['a', 'b'], 'r2': None}
    >>> as_json(object)
    Traceback (most recent call last):
    ...
    TypeError: JSON cannot hold <class 'object'> (a type); give numbers, text, lists or dicts
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): as_json(item, strict=strict) for name, item in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value)
    if isinstance(value, list | tuple):
        return [as_json(item, strict=strict) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Path) or not strict:
        return str(value)
    raise TypeError(
        f"JSON cannot hold {quoted(value)} (a {type(value).__name__}); give numbers, text, lists or dicts"
    )
