from __future__ import annotations

import numpy as np
import pytest

from kate.research.metrics.adam import descend
from kate.research.metrics.regression import fit_paper_network, fit_ridge, regress


def documents(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(n, 5))
    return vectors, 10 + 3 * vectors[:, 0] - 2 * vectors[:, 1] + 0.5 * generator.normal(size=n)


def split() -> list[np.ndarray]:
    return [array for seed, n in enumerate((300, 200, 300)) for array in documents(n, seed)]


def test_a_linear_number_is_read_off_by_both() -> None:
    result = regress(*split())
    assert result.ridge_r2 > 0.97
    assert result.r2 > 0.95
    assert result.scores() == {"r2": result.r2, "ridge_r2": result.ridge_r2}


def test_the_network_reads_what_ridge_cannot() -> None:
    data = split()
    for index in (1, 3, 5):
        data[index] = np.abs(data[index - 1][:, 0])
    result = regress(*data)
    assert result.ridge_r2 < 0.1
    assert result.r2 > 0.7


def test_vectors_of_noise_explain_nothing() -> None:
    generator = np.random.default_rng(0)
    data = [array for n in (500, 200, 500) for array in (generator.normal(size=(n, 5)), generator.random(n))]
    result = regress(*data)
    assert abs(result.r2) < 0.06
    assert abs(result.ridge_r2) < 0.06


def test_r2_by_hand() -> None:
    """A constant column teaches nothing, so the ridge answers with the mean of its numbers: 2."""
    vectors, numbers = np.ones((4, 1)), np.array([1.0, 3.0, 1.0, 3.0])
    result = regress(vectors, numbers, vectors, numbers, np.ones((2, 1)), [2.0, 4.0])
    assert result.ridge_r2 == pytest.approx(1 - (0 + 4) / (1 + 1))


def test_ridge_finds_the_line() -> None:
    *known, test, _ = split()
    ridge = fit_ridge(*known)
    assert ridge.hidden == 0
    np.testing.assert_allclose(ridge.predict(test), 10 + 3 * test[:, 0] - 2 * test[:, 1], atol=0.3)


def test_predictions_stay_between_the_numbers_seen() -> None:
    vectors, numbers, validation, validation_numbers, test, _ = split()
    network = fit_paper_network(vectors, numbers, validation, validation_numbers)
    predicted = network.predict(100 * test)
    assert numbers.min() <= predicted.min() < predicted.max() <= numbers.max()


def test_the_same_seed_gives_the_same_network() -> None:
    known = split()[:4]
    one, two = (fit_paper_network(*known, random_state=1).parameters[0] for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_no_test_document_reaches_the_fit() -> None:
    *known, test, truth = split()
    honest = regress(*known, test, truth)
    fooled = regress(*known, 1e5 * test[::-1], -truth)
    assert (honest.hidden, honest.strength) == (fooled.hidden, fooled.strength)
    assert honest.ridge_strength == fooled.ridge_strength
    assert fooled.r2 < 0


def test_the_network_learns_nothing_from_the_validation_numbers_but_when_to_stop() -> None:
    """Turned upside down, the validation numbers stop it near the mean; they do not turn it around."""
    vectors, numbers, validation, validation_numbers, test, truth = split()
    network = fit_paper_network(vectors, numbers, validation, 20 - validation_numbers)
    assert np.corrcoef(network.predict(test), truth)[0, 1] > -0.9
    assert np.ptp(network.predict(test)) < np.ptp(truth)


def test_descent_keeps_the_best_epoch_and_stops_after_its_patience() -> None:
    losses = iter([5.0, 4.0, 3.0, 3.5, 3.2, 3.1, 9.0])
    found = descend(
        [np.zeros(1)], lambda parameters, rows: [np.ones(1)], lambda parameters: next(losses), 10, patience=3
    )
    assert (found.epoch, found.validation_loss) == (2, 3.0)
    # two steps of the learning rate, one batch an epoch
    assert found.parameters[0][0] == pytest.approx(-2e-3)
    assert next(losses) == 9.0


def replaced(position: int, value: object) -> list[object]:
    data: list[object] = list(split())
    data[position] = value
    return data


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (1, np.ones(300), "train_numbers are all 1"),
        (1, np.ones(3), r"shape \(3,\) for 300 vectors"),
        (5, np.full(300, np.nan), "300 NaN or infinite values"),
        (5, np.ones(300), "test_numbers are all 1"),
        (4, np.zeros((0, 5)), "test_vectors is empty"),
        (4, np.zeros((300, 2)), "train_vectors 5, test_vectors 2"),
        (2, np.full((200, 5), np.inf), "validation_vectors has NaN or infinite"),
    ],
)
def test_wrong_input_is_named(position: int, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        regress(*replaced(position, value))  # type: ignore[arg-type]
