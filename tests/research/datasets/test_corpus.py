from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from kate.research.datasets.corpus import Corpus
from kate.text.vocabulary import Vocabulary

TEXTS = ["red apple", "green apple", "blue sky", "grey sky"]


def toy(**changes: Any) -> Corpus:
    vocabulary, X = Vocabulary.learn(TEXTS)
    given: dict[str, Any] = {
        "name": "toy",
        "X": X,
        "vocabulary": vocabulary,
        "ids": list("abcd"),
        "labels": np.array(["fruit", "fruit", "weather", "weather"]),
        "label_kind": "classes",
        "train": [0, 1, 2],
        "validation": [1],
        "test": [3],
    }
    return Corpus(**given | changes)


def test_train_counts_the_validation_documents_and_fitting_does_not() -> None:
    corpus = toy()

    assert corpus.train.tolist() == [0, 1, 2]
    assert corpus.fitting.tolist() == [0, 2]
    assert corpus.part("validation").y.tolist() == ["fruit"]
    assert corpus.part("train").X.shape == (3, corpus.n_words)
    assert corpus.classes == ("fruit", "weather")


def test_nothing_in_it_can_be_changed() -> None:
    corpus = toy()

    with pytest.raises(FrozenInstanceError):
        corpus.name = "other"  # type: ignore[misc]
    for array in (corpus.X.data, corpus.X.indices, corpus.labels, corpus.train, corpus.fitting):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(TypeError):
        corpus.settings["seed"] = 1  # type: ignore[index]


def test_what_the_caller_passed_stays_the_callers() -> None:
    labels = np.array([0.5, 0.0, 1.0, 0.25])
    X = toy().X.copy()

    toy(labels=labels, label_kind="number", X=X)

    labels[0] = 1.0
    X.data[0] = 7


def test_a_part_is_the_callers_to_change() -> None:
    X, y, _ = toy().part("train")

    X.data[0] = 7
    y[0] = "vegetable"


def test_counts_in_any_order_become_sorted() -> None:
    X = toy().X.copy()
    X.indices[:2] = X.indices[:2][::-1]
    X.has_sorted_indices = False
    X.has_canonical_format = False

    assert toy(X=X).X.has_canonical_format


def test_indices_take_32_bits_where_they_fit() -> None:
    X = toy().X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)

    assert toy(X=X).X.indices.dtype == toy(X=X).X.indptr.dtype == np.int32


def test_sets_of_classes() -> None:
    labels = sp.csr_array(np.array([[1, 0], [1, 1], [0, 0], [0, 1]], dtype=np.int8))

    corpus = toy(labels=labels, label_kind="sets", classes=["a", "b"])

    assert corpus.part("test").y.toarray().tolist() == [[0, 1]]
    assert "2 classes" in repr(corpus)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test": [2, 3]}, "train and test share documents"),
        ({"validation": [3]}, "validation must be a subset of train"),
        ({"test": [4]}, "test points outside the 4 documents"),
        ({"train": [0, 0, 1]}, "train names a document twice"),
        ({"ids": ["a"]}, "1 ids for 4 documents"),
        ({"texts": ["x"] * 5}, "5 texts for 4 documents"),
        ({"X": sp.csr_array((4, 3), dtype=np.int32)}, "6 words name 3 columns"),
        ({"label_kind": "colour"}, "label_kind is 'colour'; expected one of classes, sets, number"),
        ({"classes": ["fruit"]}, "a label that is not among the classes"),
        ({"label_kind": "sets"}, "sparse indicator matrix exactly when"),
        (
            {"label_kind": "sets", "labels": sp.csr_array((4, 3), dtype=np.int8), "classes": ["a"]},
            r"labels of shape \(4, 3\) for 1 classes",
        ),
        (
            {
                "label_kind": "sets",
                "labels": sp.csr_array(2 * np.eye(4, dtype=np.int8)),
                "classes": list("abcd"),
            },
            "values other than 1",
        ),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        toy(**changes)


def test_texts_are_there_when_they_were_kept() -> None:
    assert toy(texts=TEXTS).texts == tuple(TEXTS)
    assert toy().texts is None


def test_an_unknown_part_names_the_parts() -> None:
    with pytest.raises(ValueError, match="no part 'dev'; the parts are train, fitting, validation, test"):
        toy().part("dev")  # type: ignore[arg-type]
