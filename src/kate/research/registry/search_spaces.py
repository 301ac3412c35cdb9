"""Ranges of settings to search: what the catalogue says of the settings that `kate tune` may try.

A range draws from a trial of optuna, or from anything else with its three ``suggest_…`` methods; optuna is not
imported here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

__all__ = ["Choice", "Int", "Log", "Range", "Space", "Trial", "Uniform", "could_draw", "draw_settings"]


class Trial(Protocol):
    """What a range draws from: optuna's ``Trial`` is one."""

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float: ...

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int: ...

    def suggest_categorical(self, name: str, choices: Any) -> Any: ...


@dataclass(frozen=True)
class Log:
    """A number from ``low`` to ``high``, on a logarithmic scale: learning rates, strengths."""

    low: float
    high: float

    def draw(self, trial: Trial, name: str) -> float:
        return trial.suggest_float(name, self.low, self.high, log=True)


@dataclass(frozen=True)
class Uniform:
    """A number from ``low`` to ``high``: shares such as a dropout."""

    low: float
    high: float

    def draw(self, trial: Trial, name: str) -> float:
        return trial.suggest_float(name, self.low, self.high)


@dataclass(frozen=True)
class Int:
    """A whole number from ``low`` to ``high``; ``log`` for a logarithmic scale."""

    low: int
    high: int
    log: bool = False

    def draw(self, trial: Trial, name: str) -> int:
        return trial.suggest_int(name, self.low, self.high, log=self.log)


@dataclass(frozen=True, init=False)
class Choice:
    """One of a few values, such as ``Choice("tanh", "sigmoid")``. None is not allowed: TOML cannot hold it."""

    options: tuple[Any, ...]

    def __init__(self, *options: str | int | float | bool) -> None:
        object.__setattr__(self, "options", options)

    def draw(self, trial: Trial, name: str) -> Any:
        return trial.suggest_categorical(name, self.options)


Range: TypeAlias = Log | Uniform | Int | Choice
Space: TypeAlias = Mapping[str, Range]


def draw_settings(space: Space, trial: Trial) -> dict[str, Any]:
    """Settings drawn from a space, by name."""
    return {name: values.draw(trial, name) for name, values in space.items()}


def could_draw(values: Range, value: Any) -> bool:
    """Whether a value is one that a range could draw.

    >>> could_draw(Log(0.1, 10.0), 2), could_draw(Int(1, 5), 2.5), could_draw(Choice("a", "b"), None)
    (True, False, False)
    """
    if isinstance(values, Choice):
        return any(type(option) is type(value) and option == value for option in values.options)
    kinds = (int,) if isinstance(values, Int) else (int, float)
    return type(value) in kinds and values.low <= value <= values.high
