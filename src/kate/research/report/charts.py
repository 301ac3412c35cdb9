"""Charts as data: lines over an axis, dots on a plane. ``charts_svg`` and ``charts_png`` draw them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Chart", "Dots", "Line", "LineChart", "Point", "ScatterChart", "number", "ticks"]


@dataclass(frozen=True)
class Point:
    """A value, half the length of its error bar, and what is shown when the mouse is on it."""

    x: float
    y: float
    label: str
    spread: float | None = None


@dataclass(frozen=True)
class Line:
    """``style`` numbers its colour and dashes, ``is_main`` draws it thick, ``is_joined`` joins its points.

    A faint line is there to compare with: thin and grey, without its points.
    """

    name: str
    points: tuple[Point, ...]
    style: int
    is_main: bool = False
    is_joined: bool = True
    mark: Literal["dot", "cross"] = "dot"
    is_faint: bool = False


@dataclass(frozen=True)
class LineChart:
    title: str
    x_title: str
    y_title: str
    lines: tuple[Line, ...]
    x_scale: Literal["linear", "log", "names"] = "linear"
    x_names: tuple[str, ...] = ()
    x_ticks: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True)
class Dots:
    """Points (x, y, label) of one group."""

    name: str
    points: tuple[tuple[float, float, str], ...]
    style: int


@dataclass(frozen=True)
class ScatterChart:
    """Points from -1 to 1 in both directions, no axes; if there are none, ``note`` says why."""

    title: str
    dots: tuple[Dots, ...]
    note: str = ""


Chart: TypeAlias = LineChart | ScatterChart


def ticks(low: float, high: float) -> list[float]:
    """About five round numbers that span a range.

    >>> ticks(0.12, 0.58)
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    """
    if not high > low:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(count * step, 12) for count in range(first, last + 1)]


def number(value: float) -> str:
    """A number as it is written at an axis.

    >>> number(0.30000000000000004), number(128.0), number(-0.5)
    ('0.3', '128', '−0.5')
    """
    return f"{value:.6g}".replace("-", "−")
