from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kate.research.metrics.classification import Classification, classify, fit_classes
from kate.research.metrics.probes import STRENGTHS, fit_path, fit_probe, logistic_loss, softmax_loss


def blobs(n: int, seed: int, *, spread: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Three classes around three corners of a plane, plus two columns of noise."""
    generator = np.random.default_rng(seed)
    names = np.array(["earth", "fire", "water"])
    corners = np.array([[2.0, 0, 0, 0], [0, 2.0, 0, 0], [-2.0, -2.0, 0, 0]])
    classes = generator.integers(0, 3, n)
    return corners[classes] + spread * generator.normal(size=(n, 4)), names[classes]


def split(spread: float = 0.3) -> list[np.ndarray]:
    return [array for seed, n in enumerate((600, 40, 60)) for array in blobs(n, seed, spread=spread)]


@pytest.mark.parametrize("probe", ["logistic", "paper"])
def test_separable_classes_are_told_apart(probe: str) -> None:
    result = classify(*split(), probe=probe)  # type: ignore[arg-type]
    assert result.accuracy == result.macro_f1 == result.validation_accuracy == 1.0
    assert result.classes == ("earth", "fire", "water")
    assert result.confusion.sum() == np.trace(result.confusion) == 60
    assert result.scores() == {"accuracy": 1.0, "macro_f1": 1.0}


def test_vectors_of_noise_score_chance() -> None:
    generator = np.random.default_rng(0)
    draws = [
        array
        for n in (600, 200, 2000)
        for array in (generator.normal(size=(n, 8)), generator.integers(0, 4, n))
    ]
    assert abs(classify(*draws).accuracy - 0.25) < 0.04  # four standard errors


def test_confusion_and_f1_by_hand() -> None:
    vectors, labels = [[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1]
    result = classify(vectors, labels, vectors, labels, [[-5.0], [-4.0], [-3.0], [3.0]], [0, 0, 1, 1])
    assert result.confusion.tolist() == [[2, 0], [1, 1]]
    assert result.accuracy == 0.75
    assert result.macro_f1 == pytest.approx((4 / 5 + 2 / 3) / 2)


def test_a_class_met_only_in_the_test_set_counts_as_wrong() -> None:
    vectors, labels = [[-2.0], [-1.0], [1.0], [2.0]], ["a", "a", "b", "b"]
    result = classify(vectors, labels, vectors, labels, [[-3.0], [3.0]], ["a", "new"])
    assert result.classes == ("a", "b", "new")
    assert result.accuracy == 0.5
    assert result.macro_f1 == pytest.approx(1 / 2)  # "a" is right, "new" is never found, "b" is not asked for


@pytest.mark.parametrize("labels", [[1, 1, 2, 2], [True, True, False, False], [("x", 1), ("x", 1), "y", "y"]])
def test_labels_of_any_kind(labels: list[object]) -> None:
    vectors = [[-2.0], [-1.0], [1.0], [2.0]]
    assert classify(vectors, labels, vectors, labels, vectors, labels).accuracy == 1.0  # type: ignore[arg-type]


@pytest.mark.parametrize("probe", ["logistic", "paper"])
def test_no_test_document_reaches_the_fit(probe: str) -> None:
    train, train_labels, validation, validation_labels, test, test_labels = split(spread=2.0)
    garbage = 1e6 * np.random.default_rng(9).normal(size=test.shape)

    def run(vectors: np.ndarray, labels: object) -> Classification:
        known = train, train_labels, validation, validation_labels
        return classify(*known, vectors, labels, probe=probe)  # type: ignore[arg-type]

    honest, fooled = run(test, test_labels), run(garbage, ["nonsense"] * len(test))
    assert honest.strength == fooled.strength
    assert honest.validation_accuracy == fooled.validation_accuracy
    assert fooled.accuracy == 0.0


def test_strength_is_chosen_without_training_on_the_validation_documents() -> None:
    """Labels by chance, and so many dimensions that a probe remembers whatever it has seen."""
    generator = np.random.default_rng(0)
    train, validation = generator.normal(size=(60, 200)), generator.normal(size=(60, 200))
    labels, validation_labels = generator.integers(0, 2, 60), generator.integers(0, 2, 60)
    fitted = fit_classes(train, labels, validation, validation_labels)
    assert fitted.validation_accuracy < 0.75
    assert fitted.predict(validation) == validation_labels.tolist()  # the last fit has seen them


def test_the_final_probe_learns_from_validation_documents_too() -> None:
    train, train_labels, validation, _, _, _ = split()
    renamed = ["late"] * len(validation)
    fitted = fit_classes(train, train_labels, validation + 10, renamed)
    assert fitted.predict(validation + 10) == renamed


def test_equal_strengths_fall_to_the_strongest() -> None:
    assert classify(*split()).strength == max(STRENGTHS)


def test_the_same_seed_gives_the_same_paper_probe() -> None:
    data = split(spread=2.0)[:4]
    one, two = (fit_classes(*data, probe="paper", random_state=3).linear.weights for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_softmax_probe_agrees_with_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    vectors, labels = blobs(200, seed=4, spread=2.0)
    codes = np.unique(labels, return_inverse=True)[1]
    scaled = (vectors - vectors.mean(axis=0)) / vectors.std(axis=0)
    theirs = LogisticRegression(C=1 / (0.01 * 200), tol=1e-8, max_iter=1000).fit(scaled, codes)
    ours = fit_probe(vectors, codes, 3, softmax_loss, l2=0.01)
    # what is common to all classes changes no probability; it is the last to converge
    margins = ours.weights.T - ours.weights.mean(axis=1)
    np.testing.assert_allclose(margins, theirs.coef_, atol=2e-3)


@pytest.mark.parametrize("loss", [softmax_loss, logistic_loss])
def test_losses_leave_their_gradient(loss: object) -> None:
    generator = np.random.default_rng(0)
    logits = generator.normal(size=(1, 3)).astype(np.float32)
    target = np.array([1]) if loss is softmax_loss else np.array([[True, False, True]])
    gradient = logits.copy()
    loss(gradient, target)  # type: ignore[operator]
    for column in range(3):
        nudge = np.zeros_like(logits)
        nudge[0, column] = 1e-2
        slope = (loss(logits + nudge, target) - loss(logits - nudge, target)) / 2e-2  # type: ignore[operator]
        assert gradient[0, column] == pytest.approx(slope, abs=1e-3)


def test_the_path_runs_from_strong_to_weak_and_weights_grow() -> None:
    vectors, labels = blobs(100, seed=1)
    codes = np.unique(labels, return_inverse=True)[1]
    strengths, probes = zip(
        *fit_path(vectors, codes, 3, softmax_loss, strengths=(0.01, 1.0, 0.1)), strict=True
    )
    assert strengths == (1.0, 0.1, 0.01)
    assert all(np.abs(a.weights).sum() < np.abs(b.weights).sum() for a, b in pairwise(probes))


def test_a_constant_column_does_no_harm() -> None:
    data = split()
    for index in (0, 2, 4):
        data[index] = np.hstack([data[index], np.full((len(data[index]), 1), 7.0)])
    assert classify(*data).accuracy == 1.0


def replaced(position: int, value: object) -> list[object]:
    data: list[object] = list(split())
    data[position] = value
    return data


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (1, ["earth"] * 600, "one class only"),
        (1, ["earth"] * 7, "7 labels for 600 vectors"),
        (5, [None] * 60, "no label in row 0"),
        (1, [["earth", "fire"]] * 600, "several labels in row 0"),
        (0, np.full((600, 4), np.nan), "NaN or infinite values in 600 of 600 rows"),
        (4, np.zeros((0, 4)), "test_vectors is empty"),
        (4, np.zeros((60, 5)), "train_vectors 4, test_vectors 5"),
        (2, np.zeros(40), "expected two dimensions"),
    ],
)
def test_wrong_input_is_named(position: int, value: object, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        classify(*replaced(position, value))  # type: ignore[arg-type]


def test_unknown_probe_is_named() -> None:
    with pytest.raises(ValueError, match="expected 'logistic' or 'paper'"):
        classify(*split(), probe="forest")  # type: ignore[arg-type]
