from __future__ import annotations

import numpy as np
import pytest

from kate.model.similar_words import nearest

# king and queen point the same way, apple across, minus backwards, nothing nowhere
WORDS = np.array([[3.0, 0.0], [2.0, 0.2], [0.0, 1.0], [-1.0, 0.0], [0.0, 0.0]])


def test_neighbours_by_hand() -> None:
    columns, cosines = nearest(WORDS, 0, top=4)
    assert columns.tolist() == [1, 2, 4, 3]  # apple and nothing tie at 0: the earlier column first
    assert cosines == pytest.approx([2 / np.hypot(2, 0.2), 0, 0, -1])


def test_several_queries_have_a_row_each() -> None:
    columns, cosines = nearest(WORDS, [0, 2], top=1)
    assert columns.tolist() == [[1], [1]]
    assert cosines.shape == (2, 1)
    np.testing.assert_array_equal(nearest(WORDS, 2, top=1)[0], columns[1])


def test_no_word_is_its_own_neighbour_even_among_copies() -> None:
    columns, _ = nearest(np.ones((300, 4)), np.arange(300), top=299)
    assert all(row not in columns[row] for row in range(300))


def test_a_vector_of_zeros_is_near_to_nothing_and_no_nan() -> None:
    columns, cosines = nearest(WORDS, 4, top=2)
    assert columns.tolist() == [0, 1]
    assert cosines.tolist() == [0.0, 0.0]


def test_fewer_words_than_asked_for_all_come() -> None:
    assert nearest(WORDS, 0, top=100)[0].shape == (4,)


def test_wrong_input_is_named() -> None:
    with pytest.raises(IndexError, match="no word in column 5; expected 0 to 4"):
        nearest(WORDS, 5)
    with pytest.raises(IndexError, match="no word in column -1"):
        nearest(WORDS, [0, -1])
    with pytest.raises(TypeError, match="expected word columns"):
        nearest(WORDS, [0.5])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="one word at least"):
        nearest(WORDS, 0, top=0)
    with pytest.raises(ValueError, match="words has one row"):
        nearest([[1.0]], 0)
    with pytest.raises(ValueError, match="words has NaN"):
        nearest([[np.nan], [1.0]], 0)
