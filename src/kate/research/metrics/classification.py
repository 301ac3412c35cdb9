"""Classification: how well a softmax layer can tell the classes from the vectors alone.

Needs vectors and one class per document.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kate.errors import quoted
from kate.research.metrics.adam import Parameters, descend
from kate.research.metrics.arrays import (
    AnyFloats,
    as_classes,
    as_vectors,
    as_vectors_of_one_model,
    class_numbers,
    sorted_classes,
)
from kate.research.metrics.probes import LinearProbe, fit_path, fit_probe, softmax_loss

__all__ = ["ClassProbe", "Classification", "classify", "fit_classes"]


@dataclass(frozen=True, eq=False)
class ClassProbe:
    """A fitted softmax layer and what was chosen for it on the validation documents."""

    linear: LinearProbe
    classes: tuple[Hashable, ...]
    strength: float | None  # the L2 strength; None for the paper's probe, which stops early instead
    validation_accuracy: float

    def predict(self, vectors: ArrayLike) -> list[Hashable]:
        """The likeliest class of each document."""
        likeliest = self.linear.decide(as_vectors(vectors, "vectors")).argmax(axis=1)
        return [self.classes[code] for code in likeliest]


@dataclass(frozen=True, eq=False)
class Classification:
    """Scores on the test documents; ``macro_f1`` is the mean F1 of the classes that they have."""

    accuracy: float
    macro_f1: float
    validation_accuracy: float
    strength: float | None
    classes: tuple[Hashable, ...]  # classes that only test documents have come last
    confusion: NDArray[np.int64]  # (n_classes, n_classes), rows true, columns predicted

    def scores(self) -> dict[str, float]:
        """The numbers for one row of a table."""
        return {"accuracy": self.accuracy, "macro_f1": self.macro_f1}


def classify(
    train_vectors: ArrayLike,
    train_labels: Iterable[Hashable],
    validation_vectors: ArrayLike,
    validation_labels: Iterable[Hashable],
    test_vectors: ArrayLike,
    test_labels: Iterable[Hashable],
    *,
    probe: Literal["logistic", "paper"] = "logistic",
    random_state: int = 0,
) -> Classification:
    """Fit a softmax layer on the training and validation documents, score it on the test documents.

    ``train`` and ``validation`` do not overlap. See :func:`fit_classes` for the two kinds of probe. A class
    that only test documents have cannot be predicted and counts as wrong.

    >>> vectors, labels = [[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"]
    >>> result = classify(vectors, labels, vectors, labels, [[-5.0], [-4.0], [3.0]], ["no", "yes", "yes"])
    >>> round(result.accuracy, 3), result.confusion.tolist()
    (0.667, [[1, 0], [1, 1]])
    """
    # mistakes are told before the fit
    _, test = as_vectors_of_one_model(train_vectors=train_vectors, test_vectors=test_vectors)
    truth = as_classes(test_labels, len(test), "test_labels")
    fitted = fit_classes(
        train_vectors,
        train_labels,
        validation_vectors,
        validation_labels,
        probe=probe,
        random_state=random_state,
    )
    return _score(fitted, fitted.predict(test), truth)


def fit_classes(
    train_vectors: ArrayLike,
    train_labels: Iterable[Hashable],
    validation_vectors: ArrayLike,
    validation_labels: Iterable[Hashable],
    *,
    probe: Literal["logistic", "paper"] = "logistic",
    random_state: int = 0,
) -> ClassProbe:
    """The probe alone, without any test document.

    ``"logistic"`` standardises the vectors, picks the L2 strength with the best validation accuracy (of
    equals the strongest) and refits on training and validation documents together. ``"paper"`` follows the
    paper: a softmax layer on the vectors as they are, Adam, stopped when the validation loss has not fallen
    for 5 epochs.
    """
    train, validation = as_vectors_of_one_model(
        train_vectors=train_vectors, validation_vectors=validation_vectors
    )
    labels = as_classes(train_labels, len(train), "train_labels")
    validation_list = as_classes(validation_labels, len(validation), "validation_labels")
    if len(set(labels)) < 2:
        raise ValueError(
            f"train_labels has one class only ({quoted(labels[0])}); expected two or more to tell apart"
        )
    classes = tuple(sorted_classes([*labels, *validation_list]))
    codes, validation_codes = class_numbers(labels, classes), class_numbers(validation_list, classes)
    if probe == "logistic":
        return _fit_logistic(train, codes, validation, validation_codes, classes)
    if probe == "paper":
        return _fit_paper(train, codes, validation, validation_codes, classes, random_state=random_state)
    raise ValueError(f"probe is {quoted(probe)}; expected 'logistic' or 'paper'")


def _fit_logistic(
    train: AnyFloats,
    codes: NDArray[np.intp],
    validation: AnyFloats,
    validation_codes: NDArray[np.intp],
    classes: tuple[Hashable, ...],
) -> ClassProbe:
    chosen: tuple[float, float, LinearProbe] | None = None
    for strength, candidate in fit_path(train, codes, len(classes), softmax_loss):
        accuracy = _accuracy(candidate, validation, validation_codes)
        if chosen is None or accuracy > chosen[0]:
            chosen = accuracy, strength, candidate
    assert chosen is not None
    accuracy, strength, start = chosen
    everything = np.concatenate([train, validation])
    all_codes = np.concatenate([codes, validation_codes])
    linear = fit_probe(everything, all_codes, len(classes), softmax_loss, l2=strength, start=start)
    return ClassProbe(linear, classes, strength, accuracy)


def _fit_paper(
    train: AnyFloats,
    codes: NDArray[np.intp],
    validation: AnyFloats,
    validation_codes: NDArray[np.intp],
    classes: tuple[Hashable, ...],
    *,
    random_state: int,
) -> ClassProbe:
    n_inputs, n_classes = train.shape[1], len(classes)

    def logits(parameters: Parameters, vectors: AnyFloats) -> NDArray[np.float32]:
        return (vectors @ parameters[0] + parameters[1]).astype(np.float32)

    def gradients(parameters: Parameters, rows: NDArray[np.intp]) -> Parameters:
        errors = logits(parameters, train[rows])
        softmax_loss(errors, codes[rows])
        errors /= len(rows)
        return [train[rows].T @ errors.astype(np.float64), errors.sum(axis=0, dtype=np.float64)]

    def validation_loss(parameters: Parameters) -> float:
        return softmax_loss(logits(parameters, validation), validation_codes) / len(validation)

    # Glorot's uniform start, as was usual when the paper was written
    limit = np.sqrt(6 / (n_inputs + n_classes))
    start = np.random.default_rng(random_state).uniform(-limit, limit, size=(n_inputs, n_classes))
    found = descend(
        [start, np.zeros(n_classes)], gradients, validation_loss, len(train), random_state=random_state
    )
    weights, bias = (array.astype(np.float32) for array in found.parameters)
    linear = LinearProbe(np.zeros(n_inputs), np.ones(n_inputs), weights, bias)
    return ClassProbe(linear, classes, None, _accuracy(linear, validation, validation_codes))


def _accuracy(probe: LinearProbe, vectors: AnyFloats, codes: NDArray[np.intp]) -> float:
    return float((probe.decide(vectors).argmax(axis=1) == codes).mean())


def _score(fitted: ClassProbe, predicted: list[Hashable], truth: list[Hashable]) -> Classification:
    classes = (*fitted.classes, *sorted_classes(set(truth) - set(fitted.classes)))
    confusion = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(confusion, (class_numbers(truth, classes), class_numbers(predicted, classes)), 1)
    hits, true, claimed = confusion.diagonal(), confusion.sum(axis=1), confusion.sum(axis=0)
    present = true > 0
    f1 = 2 * hits[present] / (true + claimed)[present]
    return Classification(
        accuracy=float(hits.sum() / confusion.sum()),
        macro_f1=float(f1.mean()),
        validation_accuracy=fitted.validation_accuracy,
        strength=fitted.strength,
        classes=classes,
        confusion=confusion,
    )
