from __future__ import annotations

import numpy as np
import pytest

from kate.research.datasets.splits import draw, draw_groups


def test_a_draw_is_a_split_and_the_same_every_time() -> None:
    rows = np.arange(10, 110)

    drawn, others = draw(rows, 30, seed=1)

    assert drawn.size == 30
    assert np.array_equal(np.sort(np.concatenate([drawn, others])), rows)
    assert np.array_equal(draw(rows, 30, seed=1)[0], drawn)
    assert not np.array_equal(draw(rows, 30, seed=2)[0], drawn)


def test_the_draw_of_today_is_the_draw_of_tomorrow() -> None:
    # Published results depend on it: a change of these numbers is a change of every random split.
    assert draw(np.arange(20), 5, seed=0)[0].tolist() == [2, 4, 6, 13, 19]


def test_more_than_there_is_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="cannot draw 3 of 2 documents"):
        draw(np.arange(2), 3, seed=0)


@pytest.mark.parametrize("seed", range(5))
def test_groups_stay_together_and_the_size_is_exact(seed: int) -> None:
    groups = ["a", "a", "a", "b", "b", *"cdefgh"]

    drawn, others = draw_groups(groups, np.arange(len(groups)), 5, seed)

    assert drawn.size == 5
    assert {groups[row] for row in drawn}.isdisjoint(groups[row] for row in others)


def test_a_size_that_no_whole_groups_have_is_refused() -> None:
    with pytest.raises(ValueError, match="no choice of whole groups has 1 of the 4 documents"):
        draw_groups(["a", "a", "b", "b"], np.arange(4), 1, seed=0)
