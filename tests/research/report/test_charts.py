"""Charts: every value is drawn where it belongs and says what it is; SVG and PNG are whole files."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from matplotlib.image import imread

from kate.research.report.charts import Dots, Line, LineChart, Point, ScatterChart, ticks
from kate.research.report.charts_png import draw_png
from kate.research.report.charts_svg import chart_svg, figure_svg, legend_of

SVG = "{http://www.w3.org/2000/svg}"


def line_chart(**changes: object) -> LineChart:
    points = tuple(Point(x, x / 100, f"at {x}: <{x / 100}>", 0.1) for x in (1.0, 10.0, 100.0))
    lines = (
        Line("KATE", points, 0, is_main=True),
        Line("the paper", points[:2], 13, is_joined=False, mark="cross"),
    )
    return LineChart(
        **({"title": "a & b", "x_title": "x", "y_title": "y", "lines": lines, "x_scale": "log"} | changes)
    )


MAP = ScatterChart("a map", (Dots("science", ((-1.0, 1.0, "sci.space"), (1.0, -1.0, "sci.crypt")), 1),))


def places(root: ET.Element, tag: str) -> list[ET.Element]:
    return list(root.iter(f"{SVG}{tag}"))


def test_points_lie_where_their_values_are() -> None:
    root = ET.fromstring(chart_svg(line_chart()))
    circles = places(root, "circle")
    across = [float(circle.attrib["cx"]) for circle in circles]
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.2)  # decades are equal steps
    up = [float(circle.attrib["cy"]) for circle in circles]
    assert up[0] > up[1] > up[2]
    assert [circle[0].text for circle in circles] == [
        "at 1.0: <0.01>",
        "at 10.0: <0.1>",
        "at 100.0: <1.0>",
    ]


def test_a_series_has_its_name_its_colour_and_its_dashes() -> None:
    root = ET.fromstring(chart_svg(line_chart()))
    groups = {group.attrib["data-series"]: group.attrib["class"] for group in places(root, "g")}
    assert groups == {"KATE": "line c0 main", "the paper": "line c3"}
    assert legend_of([line_chart(), line_chart()]) == [("KATE", 0), ("the paper", 13)]


def test_names_as_an_axis_and_no_points_at_all() -> None:
    line = Line("tuned", (Point(0, 0.5, "tanh"), Point(1, 0.25, "sigmoid")), 1, is_joined=False)
    named = chart_svg(line_chart(lines=(line,), x_scale="names", x_names=("tanh", "sigmoid")))
    assert ">tanh</text>" in named
    assert "<path d=" not in named
    assert "no runs yet" in chart_svg(line_chart(lines=()))
    assert "not run: why" in chart_svg(ScatterChart("empty", (), "not run: why"))


def test_dots_lie_in_their_corners() -> None:
    root = ET.fromstring(chart_svg(MAP))
    (left, top), (right, foot) = (
        (float(circle.attrib["cx"]), float(circle.attrib["cy"])) for circle in places(root, "circle")
    )
    assert left < right
    assert top < foot


@pytest.mark.parametrize("chart", [line_chart(), MAP])
def test_files_are_whole(tmp_path: Path, chart: LineChart | ScatterChart) -> None:
    root = ET.fromstring(figure_svg([chart, chart, chart], columns=2))
    assert root.attrib["viewBox"].startswith("0 0 ")
    assert "<style>" in figure_svg([chart], 1)
    draw_png(tmp_path / "figure.png", [chart, chart, chart], 2)
    assert imread(tmp_path / "figure.png").shape[1] > 300
    assert [path.name for path in tmp_path.iterdir()] == ["figure.png"]


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-0.2, 0.3), (5, 5), (0.7401, 0.7409), (12, 98_000)])
def test_ticks_span_the_range_in_round_steps(low: float, high: float) -> None:
    found = ticks(low, high)
    assert found[0] <= low
    assert found[-1] >= high
    assert 2 <= len(found) <= 9
