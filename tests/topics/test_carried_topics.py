"""Topics through an update, on vectors that are made by hand: which topic every document belongs to is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kate.topics.carried_topics import KeptTopics, carry
from kate.topics.document_sketch import DocumentSketch
from kate.topics.reservoir import draw_together
from kate.topics.topic_cut import TopicCut
from kate.topics.topic_tree import TopicTree

N_WORDS, NOISE = 6, 0.15


def documents(themes: list[int], seed: int = 0) -> csr_matrix:
    """A document of theme j has the word j ten times, and a few others."""
    random = np.random.default_rng(seed)
    counts = random.binomial(2, NOISE, size=(len(themes), N_WORDS))
    counts[np.arange(len(themes)), themes] += 10
    return csr_matrix(counts, dtype=np.float32)


def sketch_of(counts: csr_matrix) -> DocumentSketch:
    return DocumentSketch.of_sample(
        counts, lambda X: np.asarray(X.toarray(), dtype=np.float32), None, counts.shape[0]
    )


def cut_of(counts: csr_matrix, n_topics: int) -> TopicCut:
    sketch = sketch_of(counts)
    return TopicCut.of(TopicTree.of(sketch.units), sketch, n_topics)


def carried(old: csr_matrix, new: csr_matrix, cut: TopicCut) -> tuple[KeptTopics, TopicCut]:
    after = sketch_of(csr_matrix(np.vstack([old.toarray(), new.toarray()])))
    kept = carry(cut, {}, np.arange(old.shape[0]), after)
    return kept, kept.cut(TopicTree.of(after.units), after)


OLD_THEMES = [row % 4 for row in range(240)]
OLD = documents(OLD_THEMES)


def topic_of_themes(cut: TopicCut, themes: list[int]) -> list[set[int]]:
    """The numbers of the topics of the first documents of the sketch, by their themes."""
    numbers = cut.topics[cut.sketch_topics[: len(themes)]]
    return [set(numbers[np.array(themes) == theme].tolist()) for theme in sorted(set(themes))]


def test_a_topic_keeps_its_number_where_nothing_is_new() -> None:
    cut = cut_of(OLD, 4)
    kept, after = carried(OLD, documents(OLD_THEMES, seed=1), cut)
    assert kept.next_number == 4
    assert topic_of_themes(after, OLD_THEMES) == topic_of_themes(cut, OLD_THEMES)
    assert all(len(numbers) == 1 for numbers in topic_of_themes(after, OLD_THEMES))


@pytest.mark.parametrize("n_new", [40, 120])
def test_documents_that_fit_none_make_a_topic(n_new: int) -> None:
    cut = cut_of(OLD, 4)
    themes = [4] * n_new + [row % 4 for row in range(40)]
    kept, after = carried(OLD, documents(themes, seed=1), cut)
    assert sorted(kept.numbers.tolist()) == [0, 1, 2, 3, 4]
    assert topic_of_themes(after, OLD_THEMES + themes)[4] == {4}
    assert topic_of_themes(after, OLD_THEMES) == topic_of_themes(cut, OLD_THEMES)


def test_two_new_themes_make_two_topics() -> None:
    kept, after = carried(OLD, documents([4] * 60 + [5] * 60, seed=1), cut_of(OLD, 4))
    new = topic_of_themes(after, OLD_THEMES + [4] * 60 + [5] * 60)[4:]
    assert sorted(map(sorted, new)) == [[4], [5]]
    assert kept.next_number == 6


def test_a_few_strays_are_no_topic() -> None:
    kept, _ = carried(OLD, documents([4, 4, 4], seed=1), cut_of(OLD, 4))
    assert kept.next_number == 4


def test_merged_and_dropped_topics_stay_so() -> None:
    cut = cut_of(OLD, 4).merged([1, 2]).dropped(3)
    kept, after = carried(OLD, documents([4] * 60, seed=1), cut)
    assert sorted(set(kept.numbers.tolist())) == [0, 1, 4]  # 2 and 3 are not given again
    numbers = topic_of_themes(after, OLD_THEMES)
    before = topic_of_themes(cut_of(OLD, 4), OLD_THEMES)
    joined = [theme for theme in range(4) if before[theme] <= {1, 2}]
    assert [numbers[theme] for theme in joined] == [{1}, {1}]


def test_a_topic_without_documents_vanishes_and_its_number_is_not_given_again() -> None:
    cut = cut_of(OLD, 4)
    gone = int(cut.topics[cut.sketch_topics[0]])
    stay = np.flatnonzero(cut.topics[cut.sketch_topics] != gone)
    rows = OLD[stay].toarray()
    after = sketch_of(csr_matrix(np.vstack([rows, documents([4] * 60, seed=1).toarray()])))
    kept = carry(cut, {gone: "gone", (gone + 1) % 4: "here"}, stay, after)
    assert gone not in kept.numbers
    assert dict(kept.names) == {(gone + 1) % 4: "here"}
    assert kept.next_number == 5


def test_a_sample_of_a_sample_is_uniform() -> None:
    """In ten updates every document has the same chance to stay, whenever it came."""
    n_each, most, hits = 300, 200, np.zeros(10)
    for start in range(40):  # other numbers of documents draw others
        n_first = n_each + start
        held, n_seen = np.zeros(min(n_first, most), dtype=int), n_first
        for update in range(1, 10):
            drawn = draw_together(len(held), n_seen, n_each, most)
            held = np.concatenate([held[drawn.stay], np.full(len(drawn.enter), update)])
            n_seen += n_each
            assert len(held) == most
        hits += np.bincount(held, minlength=10) / 40
    assert abs(hits - most / 10).max() < 5  # the deviation of a mean of 40 is below 0.7


def test_a_sample_that_lost_documents_never_grows() -> None:
    drawn = draw_together(100, 1_000, 50, most=500)
    assert len(drawn.stay) + len(drawn.enter) == 100
    assert len(np.unique(drawn.stay)) == len(drawn.stay)
    again = draw_together(100, 1_000, 50, most=500)
    np.testing.assert_array_equal(drawn.enter, again.enter)
