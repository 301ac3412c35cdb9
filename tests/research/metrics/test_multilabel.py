from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from kate.research.metrics.multilabel import THRESHOLDS, classify_sets, fit_sets
from kate.research.metrics.probes import fit_probe, logistic_loss


def documents(n: int, seed: int, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A document has label j when column j of its vector is positive, and never the fourth."""
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(n, 3))
    vectors += 0.2 * np.sign(vectors)
    sets = vectors + noise * generator.normal(size=(n, 3)) > 0
    return vectors, np.column_stack([sets, np.zeros(n, dtype=bool)])


def split(noise: float = 0.0) -> list[np.ndarray]:
    return [array for seed, n in enumerate((400, 100, 200)) for array in documents(n, seed, noise)]


def test_separable_labels_are_found() -> None:
    result = classify_sets(*split())
    assert result.macro_f1 > 0.98
    assert result.micro_f1 > 0.98
    assert set(result.scores()) == {"macro_f1", "micro_f1", "tuned_macro_f1", "tuned_micro_f1"}


def test_f1_by_hand() -> None:
    vectors, sets = [[-2.0], [-1.0], [1.0], [2.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    truth = [[1, 0], [1, 1], [0, 0], [0, 1]]  # two documents low, two high
    result = classify_sets(vectors, sets, vectors, sets, [[-3.0], [-4.0], [3.0], [4.0]], truth)
    # first label: found 2 of 2; second: given twice, right once, there twice
    assert result.f1_per_label == pytest.approx([1.0, 0.5])
    assert result.macro_f1 == pytest.approx(0.75)
    assert result.micro_f1 == pytest.approx(2 * 3 / (4 + 4))


def test_a_label_absent_from_training_is_never_given_and_counts_when_the_test_has_it() -> None:
    train, sets, validation, validation_sets, test, truth = split()
    absent = classify_sets(train, sets, validation, validation_sets, test, truth)
    assert np.isnan(absent.f1_per_label[3])
    assert absent.macro_f1 == pytest.approx(np.nanmean(absent.f1_per_label))
    truth = truth.copy()
    truth[0, 3] = True
    present = classify_sets(train, sets, validation, validation_sets, test, truth)
    assert present.f1_per_label[3] == 0.0
    assert present.macro_f1 == pytest.approx(absent.macro_f1 * 3 / 4)
    assert (fit_sets(train, sets, validation, validation_sets).probabilities(test)[:, 3] == 0).all()


def test_sparse_and_dense_labels_score_the_same() -> None:
    data = split(noise=1.0)
    sparse = [sp.csr_array(array) if array.dtype == bool else array for array in data]
    assert classify_sets(*sparse).scores() == classify_sets(*data).scores()


def test_the_threshold_helps_rare_labels() -> None:
    generator = np.random.default_rng(0)
    data = []
    for n in (2000, 1000, 2000):
        vectors = generator.normal(size=(n, 2))
        data += [vectors, vectors + 1.5 * generator.normal(size=(n, 2)) > 2.5]
    result = classify_sets(*data)
    assert result.threshold in THRESHOLDS
    assert result.threshold < 0.5
    assert result.tuned_macro_f1 > result.macro_f1 + 0.1


def test_no_test_document_reaches_the_fit() -> None:
    train, sets, validation, validation_sets, test, truth = split(noise=1.0)
    garbage = 1e4 * np.random.default_rng(5).normal(size=test.shape)
    honest = classify_sets(train, sets, validation, validation_sets, test, truth)
    fooled = classify_sets(train, sets, validation, validation_sets, garbage, ~truth)
    assert (honest.strength, honest.threshold) == (fooled.strength, fooled.threshold)
    assert honest.micro_f1 != fooled.micro_f1


def test_strength_and_threshold_are_chosen_on_documents_the_probe_has_not_seen() -> None:
    """Labels by chance: only a probe that had seen the validation documents could be sure of them."""
    generator = np.random.default_rng(0)
    train, validation = generator.normal(size=(60, 200)), generator.normal(size=(60, 200))
    sets, validation_sets = generator.random((2, 60, 3)) < 0.5
    seen = fit_sets(validation, validation_sets, validation, validation_sets)
    fitted = fit_sets(train, sets, validation, validation_sets)
    assert seen.threshold == 0.5
    assert fitted.threshold < 0.5  # for labels by chance it is best to give them all


def test_labels_fitted_together_are_those_fitted_alone() -> None:
    vectors, sets = documents(300, seed=1, noise=1.0)
    together = fit_probe(vectors, sets, 4, logistic_loss, l2=0.01)
    for label in range(3):
        alone = fit_probe(vectors, sets[:, [label]], 1, logistic_loss, l2=0.01)
        np.testing.assert_allclose(together.weights[:, label], alone.weights[:, 0], atol=2e-3)


def replaced(position: int, value: object) -> list[object]:
    data: list[object] = list(split())
    data[position] = value
    return data


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (1, np.zeros((400, 4)), "train_labels has no label in any of 400 documents"),
        (5, np.zeros((200, 4)), "test_labels has no label"),
        (3, np.ones((100, 2)), "validation_labels has 2 labels and train_labels 4"),
        (1, np.ones((9, 4)), "9 rows for 400 vectors"),
        (1, np.ones(400), "expected an indicator matrix"),
        (1, np.full((400, 4), 0.3), "other than 0 and 1"),
        (4, np.zeros((0, 3)), "test_vectors is empty"),
    ],
)
def test_wrong_input_is_named(position: int, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        classify_sets(*replaced(position, value))  # type: ignore[arg-type]
