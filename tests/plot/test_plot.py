"""Pictures show what they should, keep their words apart, and appear whole or not at all."""

from __future__ import annotations

import itertools
import warnings
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text

import kate
from kate.plot import sheet
from kate.plot.document_map import MapGroup, draw_map, in_the_plane
from kate.plot.label_places import Box, densest_place, place_labels
from kate.plot.ridges import TopicCurve, choose_curves, draw_curves, topic_curves
from kate.topics.topic import Topic
from kate.topics.topic_nodes import TopicNode
from kate.topics.topic_set import Topics

THEMES = (
    "peace treaty signed",
    "gold silver coin bank",
    "school teacher child class",
    "ship navy sea harbor",
    "farm wheat corn price",
)


@pytest.fixture(scope="module")
def corpus() -> pl.DataFrame:
    """Themes one after another, from 1900 to 1949: every theme has a decade."""
    random = np.random.default_rng(0)
    texts = [" ".join(random.permutation(THEMES[n // 40].split() * 2)[:5]) for n in range(200)]
    years = [1900 + n // 4 for n in range(200)]
    return pl.DataFrame({"text": texts, "year": years, "author": ["Ann", "Bob"] * 100})


@pytest.fixture(scope="module")
def model(corpus: pl.DataFrame) -> kate.TextModel:
    return kate.TextModel(n_components=8, max_epochs=3).fit(corpus["text"])


@pytest.fixture(scope="module")
def topics(model: kate.TextModel) -> Topics:
    return model.topics(5)


def words_of(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text().strip()]


def boxes_of(figure: Figure) -> dict[str, Box]:
    """Where the words of a figure stand; ticks may share their letters, so that the place is part of the name."""
    figure.canvas.draw()
    found = {}
    for text in figure.findobj(Text):
        if text.get_text().strip() and text.get_visible():
            box = text.get_window_extent()
            found[f"{text.get_text()} at {box.x0:.0f}, {box.y0:.0f}"] = Box(box.x0, box.y0, box.x1, box.y1)
    return found


def assert_readable(figure: Figure) -> None:
    """No words on other words, none cut off."""
    boxes, sheet_ = boxes_of(figure), figure.bbox
    touching = [
        (one, other)
        for (one, a), (other, b) in itertools.combinations(boxes.items(), 2)
        if a.overlaps(b, -1.0)
    ]
    assert not touching
    outside = [
        name
        for name, box in boxes.items()
        if box.left < 0 or box.bottom < 0 or box.right > sheet_.x1 or box.top > sheet_.y1
    ]
    assert not outside


# trends


def test_ridges_are_in_the_order_of_their_times(topics: Topics, corpus: pl.DataFrame, tmp_path: Path) -> None:
    figure = kate.plot.trends(topics, corpus, tmp_path / "trends.png", by="year", every="year")
    assert_readable(figure)
    shown = words_of(figure)
    order = [name for name in shown if name in {topic.name for topic in topics}]
    assert len(order) == 5
    # rows are drawn from the last to the first
    firsts = [next(n for n, theme in enumerate(THEMES) if name.split(",")[0] in theme) for name in order]
    assert firsts == [4, 3, 2, 1, 0]
    assert sum("100% in 19" in text for text in shown) == 5
    assert imread(tmp_path / "trends.png").std() > 0.05
    assert [path.name for path in tmp_path.iterdir()] == ["trends.png"]


def test_topics_to_draw_can_be_named(topics: Topics, corpus: pl.DataFrame) -> None:
    figure = kate.plot.trends(topics, corpus, by="year", every="decade", numbers=[3, 1])
    names = [text for text in words_of(figure) if text in {topic.name for topic in topics}]
    assert names == [topics[1].name, topics[3].name]
    with pytest.raises(ValueError, match="99"):
        kate.plot.trends(topics, corpus, by="year", numbers=[99])


def test_top_takes_fewer(topics: Topics, corpus: pl.DataFrame) -> None:
    figure = kate.plot.trends(topics, corpus, by="year", top=2)
    assert "2 of 5 topics through time" in words_of(figure)
    with pytest.raises(ValueError, match="top is 0"):
        kate.plot.trends(topics, corpus, by="year", top=0)


def test_groups_are_bars(topics: Topics, corpus: pl.DataFrame) -> None:
    figure = kate.plot.trends(topics, corpus, by="author")
    assert len(figure.axes[0].patches) == 10
    assert {"Ann", "Bob", "5 topics by author"} <= set(words_of(figure))
    assert_readable(figure)


def test_a_column_that_is_not_there_is_named(topics: Topics, corpus: pl.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no column 'month'"):
        kate.plot.trends(topics, corpus, tmp_path / "a.png", by="month")
    with pytest.raises(ValueError, match="author"):
        kate.plot.trends(topics, corpus, tmp_path / "a.png", by="author", every="year")
    assert not list(tmp_path.iterdir())


def test_too_many_groups_are_refused(topics: Topics, corpus: pl.DataFrame) -> None:
    many = corpus.with_columns(code=pl.Series([f"x{n}" for n in range(200)]))
    with pytest.raises(ValueError, match="200 groups"):
        kate.plot.trends(topics, many, by="code")


@pytest.mark.parametrize("every", ["day", "week", "month", "quarter", "year", "decade"])
def test_every_length_of_a_period_is_drawn(topics: Topics, every: str) -> None:
    start = date(1999, 12, 1).toordinal()
    frame = pl.DataFrame(
        {
            "text": [THEMES[n % 5] for n in range(60)],
            "date": [date.fromordinal(start + 2 * n) for n in range(60)],
        }
    )
    assert_readable(kate.plot.trends(topics, frame, every=every))


def test_one_period_is_drawn(topics: Topics) -> None:
    frame = pl.DataFrame({"text": list(THEMES), "year": [1999] * 5})
    assert_readable(kate.plot.trends(topics, frame, by="year", every="year"))


def frame_over_time(documents: list[list[int]]) -> pl.DataFrame:
    """As topics.over gives it: one row per period and topic."""
    n_topics = len(documents[0])
    return pl.DataFrame(
        {
            "period": [date(1900 + year, 1, 1) for year in range(len(documents)) for _ in range(n_topics)],
            "topic": list(range(n_topics)) * len(documents),
            "topic_name": [f"name {n}" for n in range(n_topics)] * len(documents),
            "documents": [count for row in documents for count in row],
        }
    )


def test_shares_are_of_the_documents_of_a_period() -> None:
    curves = topic_curves(frame_over_time([[1, 3], [0, 0], [5, 0]]))
    assert [curve.number for curve in curves] == [0, 1]
    assert curves[0].shares[[0, 2]] == pytest.approx([0.25, 1.0])
    assert curves[0].peak == 2
    # of a period without documents nothing is known: the nearest ones tell
    long = topic_curves(frame_over_time([[1, 3]] * 100 + [[0, 0]] + [[1, 3]] * 100))
    assert long[0].shares == pytest.approx(0.25)


def test_a_topic_without_documents_is_a_flat_line() -> None:
    curve = TopicCurve(0, "none", (date(1900, 1, 1), date(1901, 1, 1)), np.zeros(2), "year")
    assert curve.peak_text == "0% in 1900"
    assert_readable(draw_curves([curve], title="t", subtitle="s"))
    with pytest.raises(ValueError, match="nothing to draw"):
        draw_curves([], title="t", subtitle="s")


def test_what_never_changes_is_chosen_last(topics: Topics) -> None:
    periods = tuple(date(year, 1, 1) for year in range(1900, 1910))
    flat = TopicCurve(0, "flat", periods, np.full(10, 0.5), "year")
    late = TopicCurve(1, "late", periods, np.array([0.0] * 9 + [0.5]), "year")
    early = TopicCurve(2, "early", periods, np.array([0.5] + [0.0] * 9), "year")
    assert choose_curves([flat, late, early], topics, 2) == [early, late]


# map


def test_map_names_every_topic(topics: Topics, corpus: pl.DataFrame, tmp_path: Path) -> None:
    figure = kate.plot.map(topics, corpus, tmp_path / "map.svg", n_iterations=250)
    assert_readable(figure)
    shown = {text.replace("\n", " ") for text in words_of(figure)}
    assert {topic.name for topic in topics} <= shown
    svg = (tmp_path / "map.svg").read_text()
    assert "A map of 200 documents" in svg


def test_map_is_a_sample_and_the_same_each_time(topics: Topics, corpus: pl.DataFrame, tmp_path: Path) -> None:
    for name in ("a", "b"):
        kate.plot.map(topics, corpus, tmp_path / f"{name}.png", most=50, n_iterations=250)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    figure = kate.plot.map(topics, corpus, most=50, top=2, n_iterations=250)
    assert "A map of 50 documents of 200" in words_of(figure)
    assert any("grey" in text for text in words_of(figure))


def test_few_documents_and_unknown_words(topics: Topics) -> None:
    with pytest.warns(UserWarning, match="no word"):
        figure = kate.plot.map(topics, ["peace treaty", "gold coin", "zzz"])
    assert "A map of 2 documents" in words_of(figure)
    with pytest.warns(UserWarning, match="no word"), pytest.raises(ValueError, match="nothing to draw"):
        kate.plot.map(topics, ["zzz"])
    assert_readable(kate.plot.map(topics, ["peace treaty"] * 40))
    with pytest.raises(ValueError, match="1 to 20"):
        kate.plot.map(topics, ["gold"], top=21)
    with pytest.raises(ValueError, match="most is 0"):
        kate.plot.map(topics, ["gold"], most=0)


def test_documents_that_are_alike_are_laid_out() -> None:
    places = in_the_plane(np.ones((10, 3)) / 3**0.5)
    assert places.shape == (10, 2)
    assert np.isfinite(places).all()
    assert in_the_plane(np.ones((1, 3))).shape == (1, 2)


def test_names_at_one_place_are_moved_apart() -> None:
    random = np.random.default_rng(0)
    points = random.normal(0, 1, (300, 2))
    groups = [MapGroup(f"topic name {n}", np.arange(300) % 20 == n, sheet.PALETTE[n]) for n in range(20)]
    figure = draw_map(points, groups, title="One cloud", subtitle="twenty names")
    assert sum(text.startswith("topic name") for text in words_of(figure)) == 20
    assert_readable(figure)


def test_a_name_does_not_stand_on_its_neighbours() -> None:
    random = np.random.default_rng(0)
    left, right = random.uniform(0, 300, (400, 2)), random.uniform((300, 0), (600, 300), (400, 2))
    points, groups = np.concatenate([left, right]), np.repeat([0, 1], 400)
    area = Box(0, 0, 600, 300)
    # both are meant for the border between the two
    boxes = place_labels(points, groups, [(295, 150), (305, 150)], [(120, 20), (120, 20)], area)
    # at least three fifths of each are on its own side
    assert boxes[0].right <= 300 + 48
    assert boxes[1].left >= 300 - 48
    assert not boxes[0].overlaps(boxes[1])


def test_a_name_does_not_hide_a_small_topic() -> None:
    points = np.random.default_rng(0).normal(300, 10, (12, 2))
    [box] = place_labels(points, np.zeros(12, dtype=int), [(300, 300)], [(150, 20)], Box(0, 0, 600, 600))
    under = (points > (box.left, box.bottom)) & (points < (box.right, box.top))
    assert under.all(axis=1).sum() <= 2
    assert abs(box.bottom - 300) < 60


def test_a_name_larger_than_the_sheet_is_placed() -> None:
    [box] = place_labels(np.zeros((1, 2)), np.zeros(1, dtype=int), [(5, 5)], [(500, 20)], Box(0, 0, 100, 100))
    assert (box.left, box.bottom) == (0, 0)


def test_the_densest_place_is_where_most_points_are() -> None:
    random = np.random.default_rng(0)
    points = np.concatenate([random.uniform(-10, 10, (50, 2)), random.normal(5, 0.2, (50, 2))])
    assert densest_place(points) == pytest.approx((5, 5), abs=0.6)
    assert densest_place(np.array([[3.0, 4.0]])) == (3.0, 4.0)


# words and tree


def test_words_are_bars_as_long_as_their_weights(topics: Topics, tmp_path: Path) -> None:
    topic = topics[0]
    figure = kate.plot.words(topic, tmp_path / "words.pdf", top=3)
    assert [bar.get_width() for bar in figure.axes[0].patches] == list(topic.weights[:3])
    assert set(topic.words[:3]) <= set(words_of(figure))
    assert_readable(figure)
    assert (tmp_path / "words.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(ValueError, match="top is 0"):
        kate.plot.words(topic, top=0)
    with pytest.raises(ValueError, match="no words"):
        kate.plot.words(Topic(3, "empty", (), (), 0.1, None, 0.0))


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_tree_has_names_and_shares_of_all_topics(model: kate.TextModel, n: int) -> None:
    node = model.topic_tree(n)
    figure = kate.plot.tree(node)
    shown = words_of(figure)
    for topic in model.topics(n) if n > 1 else ():
        assert any(text.startswith(f"{topic.number}: ") for text in shown)
        assert f"{topic.share:.1%}" in shown
    assert_readable(figure)


def test_a_deep_tree_is_readable() -> None:
    node = TopicNode(0, "topic 0", ("word",), 1 / 30)
    for number in range(1, 30):
        other = TopicNode(number, f"a long name, of topic {number}", ("words", "of", "others"), 1 / 30)
        node = TopicNode(None, "what they have in common", ("word",), (number + 1) / 30, (node, other))
    assert_readable(kate.plot.tree(node))


# the sheet


@pytest.mark.parametrize("name", ["x.gif", "x", "x.png.txt"])
def test_other_files_are_refused_before_anything_is_drawn(topics: Topics, tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"\.png, \.svg or \.pdf"):
        kate.plot.words(topics[0], tmp_path / name)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        kate.plot.words(topics[0], tmp_path / "none" / "x.png")
    assert not list(tmp_path.iterdir())


def test_a_picture_that_fails_leaves_the_old_one(
    topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "words.PNG"
    kate.plot.words(topics[0], path)
    before = path.read_bytes()

    def fail(self: Figure, file: Path, **_: object) -> None:
        Path(file).write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        kate.plot.words(topics[1], path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["words.PNG"]


def test_the_same_data_gives_the_same_file(topics: Topics, tmp_path: Path) -> None:
    for suffix in ("png", "svg", "pdf"):
        for name in ("a", "b"):
            kate.plot.words(topics[0], tmp_path / f"{name}.{suffix}")
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_words_are_drawn_as_they_are_and_control_characters_not_at_all(tmp_path: Path) -> None:
    topic = Topic(1, "$x^2$ <b>\x1b[31m\u202e&", ("a_b\x00", "$", "\\alpha"), (0.5, 0.4, 0.3), 0.1, 0.2, 0.9)
    figure = kate.plot.words(topic, tmp_path / "odd.svg")
    assert {"1: $x^2$ <b> [31m &", "a_b", "$", "\\alpha"} <= set(words_of(figure))
    svg = (tmp_path / "odd.svg").read_text()
    assert "\x1b" not in svg
    assert "&lt;b&gt;" in svg


def test_letters_that_no_font_has_are_told() -> None:
    topic = Topic(1, "\U000f1234", ("gold",), (0.5,), 0.1, 0.2, 0.9)
    with pytest.warns(UserWarning, match="no installed font has the letters") as told:
        kate.plot.words(topic)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kate.plot.words(Topic(1, "größe, ελλάδα, москва", ("gold",), (0.5,), 0.1, 0.2, 0.9))


def test_the_users_own_style_stays_and_does_not_show(topics: Topics) -> None:
    import matplotlib

    with matplotlib.rc_context({"text.color": "white", "font.size": 40}):
        figure = kate.plot.words(topics[0])
        assert matplotlib.rcParams["font.size"] == 40
    assert_readable(figure)
