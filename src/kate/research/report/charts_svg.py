"""Charts → SVG: small, with text as text, in the colours of the page, each point with its value as a title."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from kate.research.report.charts import Chart, Dots, Line, LineChart, Point, ScatterChart, number, ticks

__all__ = ["COLORS", "chart_svg", "figure_svg", "legend_of"]

WIDTH, HEIGHT = 380, 270  # of a chart with axes: a phone shows it at its own size
SIDE = 240  # of a map
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 20, 26, 42
_DASHES = ("", "5 3", "2 2")

# For a light and a dark background; also for people who see few colours.
COLORS: tuple[tuple[str, str], ...] = (
    ("#C2255C", "#FF7BA5"),
    ("#1864AB", "#74B9F5"),
    ("#2B8A3E", "#69C97C"),
    ("#C76A00", "#FFB454"),
    ("#6741D9", "#B197FC"),
    ("#0B7285", "#5BC8DA"),
    ("#7A5C2E", "#D0B07A"),
    ("#495057", "#ADB5BD"),
    ("#9C36B5", "#E599F7"),
    ("#5C940D", "#A9D65C"),
)


class _Frame(NamedTuple):
    """Maps values to places in the picture."""

    x: tuple[float, float]
    y: tuple[float, float]
    is_log: bool

    def across(self, value: float) -> float:
        low, high = self.x
        if self.is_log:
            value, low, high = math.log(value), math.log(low), math.log(high)
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * (value - low) / (high - low or 1)

    def up(self, value: float) -> float:
        low, high = self.y
        return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * (value - low) / (high - low or 1)


def chart_svg(chart: Chart) -> str:
    """One chart as an ``<svg>`` that takes the width it is given."""
    body, width, height = _body(chart)
    label = escape(chart.title, quote=True)
    return (
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{label}" '
        f'xmlns="http://www.w3.org/2000/svg">{body}</svg>'
    )


def figure_svg(charts: Sequence[Chart], columns: int) -> str:
    """All charts of a figure and their legend as a file of its own."""
    bodies = [_body(chart) for chart in charts]
    width, height = max(body[1] for body in bodies), max(body[2] for body in bodies)
    columns = min(columns, len(bodies))
    rows = -(-len(bodies) // columns)
    placed = [
        f'<g transform="translate({index % columns * width} {index // columns * height})">{body}</g>'
        for index, (body, _, _) in enumerate(bodies)
    ]
    legend, legend_height = _legend_svg(legend_of(charts), columns * width)
    total = rows * height + legend_height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * width} {total}" '
        f'width="{columns * width}" height="{total}" font-family="system-ui, sans-serif">'
        f'<style>{_style()}</style><rect class="paper" width="100%" height="100%"/>{"".join(placed)}'
        f'<g transform="translate(0 {rows * height})">{legend}</g></svg>'
    )


def legend_of(charts: Sequence[Chart]) -> list[tuple[str, int]]:
    """Names and styles of what is drawn, each once."""
    drawn = [
        (part.name, part.style)
        for chart in charts
        for part in (chart.lines if isinstance(chart, LineChart) else chart.dots)
    ]
    return list(dict.fromkeys(drawn))


def _body(chart: Chart) -> tuple[str, int, int]:
    if isinstance(chart, ScatterChart):
        return _scatter(chart), SIDE, SIDE + 22
    return _lines(chart), WIDTH, HEIGHT


def _lines(chart: LineChart) -> str:
    points = [point for line in chart.lines for point in line.points]
    parts = [_text(_LEFT, 15, chart.title, "title")]
    if not points:
        return "".join([*parts, _text(WIDTH / 2, HEIGHT / 2, "no runs yet", "note", "middle")])
    reach = [point.y + sign * (point.spread or 0) for point in points for sign in (-1, 1)]
    rungs = ticks(min(reach), max(reach))
    if chart.x_scale == "names":
        across: tuple[float, float] = (-0.5, len(chart.x_names) - 0.5)
    else:
        across = (min(point.x for point in points), max(point.x for point in points))
    frame = _Frame(across, (rungs[0], rungs[-1]), chart.x_scale == "log")
    parts.append(_axes(chart, frame, rungs))
    # what matters is drawn last, over the others
    ordered = sorted(chart.lines, key=lambda line: (not line.is_faint, line.is_main))
    parts += [_line(line, frame) for line in ordered]
    return "".join(parts)


def _axes(chart: LineChart, frame: _Frame, rungs: Sequence[float]) -> str:
    right, foot = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    parts = []
    for rung in rungs:
        y = frame.up(rung)
        parts.append(f'<path class="rung" d="M{_LEFT} {y:.1f}H{right}"/>')
        parts.append(_text(_LEFT - 5, y + 3.5, number(rung), "tick", "end"))
    for value, name in _x_ticks(chart, frame):
        parts.append(_text(frame.across(value), foot + 15, name, "tick", "middle"))
    parts.append(_text((_LEFT + right) / 2, HEIGHT - 8, chart.x_title, "axis", "middle"))
    parts.append(
        f'<text class="axis" text-anchor="middle" transform="translate(11 {(_TOP + foot) / 2:.0f}) rotate(-90)">'
        f"{escape(chart.y_title)}</text>"
    )
    return "".join(parts)


def _x_ticks(chart: LineChart, frame: _Frame) -> list[tuple[float, str]]:
    """The ticks that were asked for, or round numbers; a tick that would overlap the one before is left out."""
    if chart.x_scale == "names":
        return [(float(place), name) for place, name in enumerate(chart.x_names)]
    low, high = frame.x
    asked = list(chart.x_ticks) or [(value, number(value)) for value in ticks(low, high)]
    kept: list[tuple[float, str]] = []
    end = -math.inf
    for value, name in asked:
        half = 3.2 * len(name)
        if low <= value <= high and frame.across(value) - half > end + 4:
            kept.append((value, name))
            end = frame.across(value) + half
    return kept


def _line(line: Line, frame: _Frame) -> str:
    places = [(frame.across(point.x), frame.up(point.y), point) for point in line.points]
    main = " main" if line.is_main else " faint" if line.is_faint else ""
    dash = _DASHES[line.style // len(COLORS) % len(_DASHES)]
    parts = [
        f'<g class="line c{line.style % len(COLORS)}{main}" data-series="{escape(line.name, quote=True)}">'
    ]
    if line.is_joined and len(places) > 1:
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in places)
        parts.append(f'<path d="M{path}"' + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")
    if not line.is_faint:
        parts += [_mark(x, y, point, frame, line) for x, y, point in places]
    return "".join([*parts, "</g>"])


def _mark(x: float, y: float, point: Point, frame: _Frame, line: Line) -> str:
    bar = ""
    if point.spread:
        top, foot = frame.up(point.y + point.spread), frame.up(point.y - point.spread)
        bar = f'<path class="bar" d="M{x:.1f} {top:.1f}V{foot:.1f}"/>'
    title = f"<title>{escape(point.label)}</title>"
    if line.mark == "cross":
        return f'{bar}<path class="cross" d="M{x - 4:.1f} {y:.1f}h8m-4 -4v8">{title}</path>'
    return f'{bar}<circle cx="{x:.1f}" cy="{y:.1f}" r="{3.2 if line.is_main else 2.4}">{title}</circle>'


def _scatter(chart: ScatterChart) -> str:
    parts = [
        _text(6, 15, chart.title, "title"),
        f'<rect class="field" y="22" width="{SIDE}" height="{SIDE}" rx="4"/>',
    ]
    if not chart.dots:
        parts.append(_wrapped(chart.note or "no runs yet", SIDE / 2, 22 + SIDE / 2))
    return "".join(parts + [_dots(dots) for dots in chart.dots])


def _dots(dots: Dots) -> str:
    half = SIDE / 2 - 8
    places = "".join(
        f'<circle cx="{SIDE / 2 + half * x:.1f}" cy="{22 + SIDE / 2 - half * y:.1f}" r="2">'
        f"<title>{escape(label)}</title></circle>"
        for x, y, label in dots.points
    )
    name = escape(dots.name, quote=True)
    return f'<g class="dots c{dots.style % len(COLORS)}" data-series="{name}">{places}</g>'


def _wrapped(text: str, x: float, y: float, width: int = 34) -> str:
    """A note on several lines, at most six."""
    lines: list[str] = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    shown = lines[:6]
    top = y - 7 * (len(shown) - 1)
    return "".join(_text(x, top + 14 * place, line, "note", "middle") for place, line in enumerate(shown))


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    at = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{at}>{escape(text)}</text>'


def _legend_svg(entries: Sequence[tuple[str, int]], width: float) -> tuple[str, int]:
    parts, x, y = [], 12.0, 16
    for name, style in entries:
        step = 26 + 6.6 * len(name)
        if x + step > width:
            x, y = 12.0, y + 18
        parts.append(
            f'<g class="dots c{style % len(COLORS)}{" hollow" if style >= len(COLORS) else ""}">'
            f'<circle cx="{x:.0f}" cy="{y - 4}" r="4"/></g>' + _text(x + 8, y, name, "legend")
        )
        x += step
    return "".join(parts), y + 14


def _style() -> str:
    """The style of charts, for a file of its own."""
    light = "".join(f".c{index}{{--c:{pair[0]}}}" for index, pair in enumerate(COLORS))
    return (
        ".paper{fill:#fff}.title{font-size:12px;font-weight:600}.tick,.legend{font-size:10.5px}.axis,.note{font-size:11px}"
        "text{fill:#222}.tick,.axis,.note{fill:#666}.rung{stroke:#e5e5e5;fill:none}.field{fill:#f6f6f6}"
        ".line path{stroke:var(--c);fill:none;stroke-width:1.5}.line circle,.dots circle{fill:var(--c)}"
        ".main path{stroke-width:3}.faint path{stroke-width:1;opacity:.35}"
        ".line .bar{stroke-width:1}.dots circle{fill-opacity:.75}"
        ".hollow circle{fill:none;stroke:var(--c);stroke-width:2}" + light
    )
