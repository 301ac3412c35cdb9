"""People's own documents: labels are understood, the split is made once and lets nothing leak."""

from __future__ import annotations

import numpy as np
import pytest

from kate.research.evaluation import CorpusSource, corpus_of
from kate.text.documents import Documents
from research.evaluation.toys import make_documents


def test_the_same_documents_are_split_in_the_same_way() -> None:
    first, second = corpus_of(make_documents()), corpus_of(make_documents())

    np.testing.assert_array_equal(first.test, second.test)
    np.testing.assert_array_equal(first.validation, second.validation)
    assert CorpusSource.of(first).settings == CorpusSource.of(second).settings
    assert (first.test.size, first.validation.size, first.fitting.size) == (24, 10, 86)


def test_the_vocabulary_never_sees_a_test_document() -> None:
    texts = [f"common word{number}" for number in range(50)]
    corpus = corpus_of(Documents.from_texts(texts, labels=["a", "b"] * 25))

    unseen = {f"word{row}" for row in corpus.test}
    assert not unseen & set(corpus.vocabulary.words)
    assert (corpus.X.sum(axis=1)[corpus.test] == 1).all()  # "common" alone


def test_copies_of_a_text_stay_together() -> None:
    texts = [f"text number {number % 20}" for number in range(100)]
    corpus = corpus_of(Documents.from_texts(texts, labels=["a", "b"] * 50))

    def distinct(rows: np.ndarray) -> set[str]:
        return {texts[row] for row in rows}

    assert corpus.test.size == 20
    assert not distinct(corpus.test) & distinct(corpus.train)
    assert not distinct(corpus.validation) & distinct(corpus.fitting)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([str(n % 5) for n in range(120)], "classes"),  # stars
        ([str(n % 21 / 7) for n in range(120)], "number"),
        ([f"{n}" if n else "none" for n in range(120)], "classes"),
        ([f"{n}" if n else "nan" for n in range(120)], "classes"),
    ],
)
def test_the_kind_of_label_is_guessed(labels: list[str], kind: str) -> None:
    assert corpus_of(make_documents(labels)).label_kind == kind


def test_the_kind_of_label_can_be_said() -> None:
    stars = [str(n % 5) for n in range(120)]
    assert corpus_of(make_documents(stars), label_kind="number").labels.tolist() == [
        n % 5 for n in range(120)
    ]
    prices = [str(n) for n in range(120)]
    assert corpus_of(make_documents(prices), label_kind="classes").label_kind == "classes"
    with pytest.raises(ValueError, match="the label 'x' is no number"):
        corpus_of(make_documents(["x"] * 120), label_kind="number")


def test_several_labels_are_parted_by_a_separator() -> None:
    corpus = corpus_of(make_documents(["a; b", "b", "c;"] * 40), label_separator=";")

    assert (corpus.label_kind, corpus.classes) == ("sets", ("a", "b", "c"))
    assert corpus.labels[[0, 1, 2]].toarray().tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    with pytest.raises(ValueError, match="go together"):
        corpus_of(make_documents(), label_kind="sets")
    with pytest.raises(ValueError, match="go together"):
        corpus_of(make_documents(), label_kind="classes", label_separator=";")


def test_documents_without_a_label_are_left_out() -> None:
    corpus = corpus_of(make_documents(["a", None, "b"] * 40))

    assert corpus.n_docs == 80
    assert corpus.classes == ("a", "b")
    assert "1" not in corpus.ids
    with pytest.raises(ValueError, match=r"have no labels to score against; .*label="):
        corpus_of(make_documents([None] * 120))


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_a_share_is_a_share(share: float) -> None:
    with pytest.raises(ValueError, match="test_share is"):
        corpus_of(make_documents(), test_share=share)


def test_too_few_documents_to_split() -> None:
    with pytest.raises(ValueError, match=r"2 documents \(2 different ones\) are too few"):
        corpus_of(Documents.from_texts(["a cat", "a dog", "a bird"], labels=["x", "y", "x"]))
