import numpy as np
import pytest

import kate
from kate.competition import winners

FIGURE_1 = [0.8, 0.2, 0.1, -0.1, -0.3, -0.6]


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 6.26])
def test_figure_1_of_the_paper(alpha):
    competed = kate.compete(FIGURE_1, n_winners=2, amplification=alpha)
    np.testing.assert_allclose(competed, [0.8 + 0.3 * alpha, 0, 0, 0, 0, -0.6 - 0.4 * alpha])


def test_odd_k_gives_the_extra_winner_to_the_positive_side():
    competed = kate.compete(FIGURE_1, n_winners=3, amplification=2.0)
    np.testing.assert_allclose(competed, [0.8 + 0.2, 0.2 + 0.2, 0, 0, 0, -0.6 - 0.8])


def test_one_winner_silences_the_negative_side():
    np.testing.assert_allclose(kate.compete(FIGURE_1, n_winners=1, amplification=1.0), [1.1, 0, 0, 0, 0, 0])


def test_a_side_with_no_more_neurons_than_its_share_is_left_as_it_is():
    competed = kate.compete([0.5, 0.4, 0.3, -0.2], n_winners=4, amplification=1.0)
    np.testing.assert_allclose(competed, [0.8, 0.7, 0, -0.2])


def test_twice_as_many_winners_as_neurons_changes_nothing():
    np.testing.assert_array_equal(kate.compete(FIGURE_1, n_winners=12, amplification=6.26), FIGURE_1)


def test_k_equal_to_m_still_competes_on_a_crowded_side():
    np.testing.assert_allclose(
        kate.compete([0.4, 0.3, 0.2, 0.1], n_winners=4, amplification=1.0), [0.7, 0.6, 0, 0]
    )


def test_only_positive_and_only_negative():
    np.testing.assert_allclose(kate.compete([1.0, 2.0, 3.0], 2, 1.0), [0, 0, 6.0])
    np.testing.assert_allclose(kate.compete([-1.0, -2.0, -3.0], 2, 1.0), [0, 0, -6.0])


def test_all_zero_stays_zero():
    np.testing.assert_array_equal(kate.compete(np.zeros((2, 5)), 3, 6.26), np.zeros((2, 5)))


def test_ties_go_to_the_lower_index():
    np.testing.assert_allclose(kate.compete([0.5, 0.5, 0.5, -0.2, -0.2], 2, 1.0), [1.5, 0, 0, -0.4, 0])


def test_a_batch_is_its_rows():
    z = np.random.default_rng(0).normal(size=(7, 11))
    batch = kate.compete(z, 5, 1.5)
    for row, competed in zip(z, batch, strict=True):
        np.testing.assert_array_equal(kate.compete(row, 5, 1.5), competed)


def test_energy_is_conserved_when_alpha_shares_it_out():
    z = np.abs(np.random.default_rng(1).normal(size=(4, 9)))
    # three positive winners share the losers' sum
    competed = kate.compete(z, n_winners=6, amplification=1 / 3)
    np.testing.assert_allclose(competed.sum(axis=1), z.sum(axis=1))


def test_dtype_and_input_are_kept():
    z = np.array(FIGURE_1, dtype=np.float32)
    before = z.copy()
    assert kate.compete(z, 2, 1.0).dtype == np.float32
    np.testing.assert_array_equal(z, before)


def test_integers_become_floats():
    np.testing.assert_allclose(kate.compete([3, 1, -2], 2, 0.5), [3.5, 0, -2])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_refused(bad):
    with pytest.raises(ValueError, match="finite"):
        kate.compete([0.1, bad], 2, 1.0)


def test_no_winners_and_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="at least one winner"):
        kate.compete([0.1, 0.2], 0, 1.0)
    with pytest.raises(ValueError, match=r"n_winners is 1\.5"):
        kate.compete([0.1, 0.2], 1.5, 1.0)
    with pytest.raises(ValueError, match="amplification is nan"):
        kate.compete([0.1, 0.2], 1, float("nan"))
    with pytest.raises(ValueError, match="3 dimensions"):
        kate.compete(np.zeros((2, 2, 2)), 1, 1.0)


def test_winners_are_at_most_k():
    z = np.random.default_rng(2).normal(size=(50, 20))
    assert (winners(z, 7).sum(axis=1) <= 7).all()
