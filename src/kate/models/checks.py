"""Checks of a model's parameters: what was found, what is expected."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

__all__ = ["require_between", "require_choice", "require_whole"]


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
