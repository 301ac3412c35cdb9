"""Pictures have the size they should, show every name, and appear whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from kate.demo import pictures
from kate.demo.pictures import PALETTE, Curve, Group, densest_place, draw_curves, draw_map

WORDS = {"title": "A title", "subtitle": "A subtitle", "source": "A source"}


def test_curves(tmp_path: Path) -> None:
    times = np.arange(1900.0, 2000.0)
    curves = [
        Curve(f"curve {n}", np.exp(-(((times - 1900 - 25 * n) / 10) ** 2)), PALETTE[n]) for n in range(4)
    ]
    draw_curves(tmp_path / "curves.png", times, curves, **WORDS)
    picture = imread(tmp_path / "curves.png")
    assert picture.shape[1] > 1000
    assert picture.std() > 0.05  # not an empty sheet
    svg = (tmp_path / "curves.svg").read_text()
    assert all(words in svg for words in (*WORDS.values(), *(curve.name for curve in curves)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curves.png", "curves.svg"]


def test_a_flat_curve_is_drawn(tmp_path: Path) -> None:
    draw_curves(tmp_path / "flat.png", np.arange(3.0), [Curve("none", np.zeros(3), "#332288")], **WORDS)
    assert (tmp_path / "flat.png").stat().st_size > 1000


def test_the_same_data_gives_the_same_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        draw_curves(tmp_path / name / "c.png", np.arange(3.0), [Curve("x", np.ones(3), "#332288")], **WORDS)
    for suffix in ("png", "svg"):
        assert (tmp_path / "a" / f"c.{suffix}").read_bytes() == (tmp_path / "b" / f"c.{suffix}").read_bytes()


def test_map(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    points = np.concatenate([random.normal(center, 1, (100, 2)) for center in (0, 10, 20)])
    groups = [
        Group("low", np.arange(300) < 100, PALETTE[0]),
        Group("high", np.arange(300) >= 200, PALETTE[1]),
        Group("nobody", np.zeros(300, dtype=bool), PALETTE[2]),
    ]
    draw_map(tmp_path / "map.png", points, groups, **WORDS)
    assert imread(tmp_path / "map.png").std() > 0.02
    svg = (tmp_path / "map.svg").read_text()
    assert all(words in svg for words in WORDS.values())


def test_names_at_one_place_are_moved_apart() -> None:
    figure = pictures._figure(6, 6)
    axes = figure.add_axes((0, 0, 1, 1))
    points = np.zeros((30, 2))
    axes.scatter(*np.random.default_rng(0).random((2, 50)))
    groups = [Group(f"name {n}", np.ones(30, dtype=bool), "#332288") for n in range(6)]
    groups.append(Group("nobody", np.zeros(30, dtype=bool), "#332288"))
    pictures._name_groups(figure, axes, points, groups)
    assert [text.get_text() for text in axes.texts] == [group.name for group in groups[:6]]
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(one.overlaps(other) for n, one in enumerate(boxes) for other in boxes[:n])


def test_the_densest_place_is_where_most_points_are() -> None:
    random = np.random.default_rng(0)
    points = np.concatenate([random.uniform(-10, 10, (50, 2)), random.normal(5, 0.2, (50, 2))])
    assert densest_place(points) == pytest.approx((5, 5), abs=0.6)
    assert densest_place(np.array([[3.0, 4.0]])) == (3.0, 4.0)
