"""Multi-label classification: one logistic regression per label, all fitted together.

Needs vectors and a set of labels per document: an indicator matrix (n_docs, n_labels), dense or sparse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kate.research.metrics.arrays import AnyFloats, as_indicator, as_vectors, as_vectors_of_one_model
from kate.research.metrics.probes import LinearProbe, fit_path, fit_probe, logistic_loss

__all__ = ["THRESHOLDS", "MultiLabel", "SetProbe", "classify_sets", "fit_sets"]

THRESHOLDS = tuple(round(0.05 * step, 2) for step in range(1, 20))
"""The probabilities tried as the threshold above which a label is given."""

Sets = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SetProbe:
    """Fitted logistic regressions, and what was chosen for them on the validation documents."""

    linear: LinearProbe
    never: NDArray[np.bool_]  # (n_labels,) labels that no document of the fit has: never predicted
    strength: float
    threshold: float

    def probabilities(self, vectors: ArrayLike) -> NDArray[np.float32]:
        """The probability of every label for every document, (n_docs, n_labels)."""
        return _probabilities(self.linear, as_vectors(vectors, "vectors"), self.never)


@dataclass(frozen=True, eq=False)
class MultiLabel:
    """F1 on the test documents, at probability 0.5 and at the threshold chosen on the validation documents.

    Macro-F1 is the mean over the labels that at least one test document has: a label that none has cannot be
    found, and its F1 would say nothing about the vectors. Micro-F1 counts all labels together.
    """

    macro_f1: float
    micro_f1: float
    tuned_macro_f1: float
    tuned_micro_f1: float
    threshold: float
    strength: float
    f1_per_label: NDArray[np.float64]  # (n_labels,) at 0.5; NaN for a label that no test document has

    def scores(self) -> dict[str, float]:
        """The numbers for one row of a table."""
        names = ("macro_f1", "micro_f1", "tuned_macro_f1", "tuned_micro_f1")
        return {name: getattr(self, name) for name in names}


def classify_sets(
    train_vectors: ArrayLike,
    train_labels: Any,
    validation_vectors: ArrayLike,
    validation_labels: Any,
    test_vectors: ArrayLike,
    test_labels: Any,
) -> MultiLabel:
    """Fit on the training and validation documents, score on the test documents; see :func:`fit_sets`.

    >>> vectors, sets = [[-2.0], [-1.0], [1.0], [2.0]], [[1, 1], [1, 1], [0, 1], [0, 1]]
    >>> result = classify_sets(vectors, sets, vectors, sets, [[-3.0], [3.0]], [[1, 1], [1, 1]])
    >>> round(result.macro_f1, 4), round(result.micro_f1, 4)  # the first label is missed once
    (0.8333, 0.8571)
    """
    # mistakes are told before the fit
    _, test = as_vectors_of_one_model(train_vectors=train_vectors, test_vectors=test_vectors)
    truth = as_indicator(test_labels, len(test), "test_labels")
    probe = fit_sets(train_vectors, train_labels, validation_vectors, validation_labels)
    _require_labels(truth, "test_labels", n_labels=len(probe.never))
    probabilities = probe.probabilities(test)
    per_label, micro_f1 = _f1(probabilities > 0.5, truth)
    tuned_per_label, tuned_micro_f1 = _f1(probabilities > probe.threshold, truth)
    return MultiLabel(
        macro_f1=float(np.nanmean(per_label)),
        micro_f1=micro_f1,
        tuned_macro_f1=float(np.nanmean(tuned_per_label)),
        tuned_micro_f1=tuned_micro_f1,
        threshold=probe.threshold,
        strength=probe.strength,
        f1_per_label=per_label,
    )


def fit_sets(
    train_vectors: ArrayLike, train_labels: Any, validation_vectors: ArrayLike, validation_labels: Any
) -> SetProbe:
    """The probe alone, without any test document.

    The L2 strength is the one whose mean of macro- and micro-F1 at 0.5 is best on the validation documents
    (of equals the strongest); for it, one threshold for all labels is chosen in the same way. A threshold per label
    would depend on a handful of validation documents for rare labels. The probe is then fitted again on
    training and validation documents together.
    """
    train, validation = as_vectors_of_one_model(
        train_vectors=train_vectors, validation_vectors=validation_vectors
    )
    sets = as_indicator(train_labels, len(train), "train_labels")
    validation_sets = as_indicator(validation_labels, len(validation), "validation_labels")
    _require_labels(sets, "train_labels", n_labels=sets.shape[1])
    _require_labels(validation_sets, "validation_labels", n_labels=sets.shape[1])

    best, strength, probabilities = -1.0, 0.0, np.zeros(0, dtype=np.float32)
    chosen = start = _at_base_rates(train.shape[1], sets)
    for candidate_strength, candidate in fit_path(train, sets, sets.shape[1], logistic_loss, start=start):
        guesses = _probabilities(candidate, validation, _on_no_document(sets))
        score = _mean_f1(guesses > 0.5, validation_sets)
        if score > best:
            best, strength, chosen, probabilities = score, candidate_strength, candidate, guesses
    # the threshold nearest to 0.5 wins among equals
    nearest_first = sorted(THRESHOLDS, key=lambda threshold: abs(threshold - 0.5))
    threshold = max(nearest_first, key=lambda threshold: _mean_f1(probabilities > threshold, validation_sets))

    all_vectors, all_sets = np.concatenate([train, validation]), np.concatenate([sets, validation_sets])
    linear = fit_probe(all_vectors, all_sets, sets.shape[1], logistic_loss, l2=strength, start=chosen)
    return SetProbe(linear, _on_no_document(all_sets), strength, threshold)


def _at_base_rates(n_inputs: int, sets: Sets) -> LinearProbe:
    """A probe that gives each label the share of documents that have it: so rare labels start near their solution."""
    shares = (sets.sum(axis=0) + 0.5) / (len(sets) + 1.0)
    bias = np.log(shares / (1 - shares)).astype(np.float32)
    weights = np.zeros((n_inputs, sets.shape[1]), dtype=np.float32)
    return LinearProbe(np.zeros(n_inputs), np.ones(n_inputs), weights, bias)


def _probabilities(probe: LinearProbe, vectors: AnyFloats, never: NDArray[np.bool_]) -> NDArray[np.float32]:
    logits = probe.decide(vectors)
    # the logistic function, with no overflow
    probabilities: NDArray[np.float32] = 0.5 * (1 + np.tanh(0.5 * logits))
    probabilities[:, never] = 0
    return probabilities


def _on_no_document(sets: Sets) -> NDArray[np.bool_]:
    return np.asarray(sets.sum(axis=0) == 0)


def _f1(predicted: Sets, truth: Sets) -> tuple[NDArray[np.float64], float]:
    """F1 of every label (NaN where no document has it), and of all together."""
    hits = (predicted & truth).sum(axis=0)
    either = predicted.sum(axis=0) + truth.sum(axis=0)
    per_label = np.where(truth.any(axis=0), 2 * hits / np.maximum(either, 1), np.nan)
    return per_label, float(2 * hits.sum() / either.sum())


def _mean_f1(predicted: Sets, truth: Sets) -> float:
    per_label, micro = _f1(predicted, truth)
    return (float(np.nanmean(per_label)) + micro) / 2


def _require_labels(sets: Sets, name: str, *, n_labels: int) -> None:
    if sets.shape[1] != n_labels:
        raise ValueError(
            f"{name} has {sets.shape[1]} labels and train_labels {n_labels}; give both the same columns"
        )
    if not sets.any():
        raise ValueError(f"{name} has no label in any of {len(sets)} documents; expected at least one")
