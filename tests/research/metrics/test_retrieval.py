from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from kate.research.metrics import retrieval as retrieval_module
from kate.research.metrics.retrieval import FRACTIONS, retrieve

# Four training documents at angles 0°, 10°, 80° and 90°; the query at 4° ranks them in this order.
ANGLES = np.deg2rad([0, 10, 80, 90])
TRAIN = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
QUERY = [[np.cos(np.deg2rad(4)), np.sin(np.deg2rad(4))]]


def test_four_documents_by_hand() -> None:
    found = retrieve(TRAIN, ["a", "b", "a", "b"], QUERY, ["a"], fractions=(0.25, 0.5, 0.75, 1.0))
    assert found.precision == pytest.approx({0.25: 1.0, 0.5: 0.5, 0.75: 2 / 3, 1.0: 0.5})
    assert found.mean_average_precision == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert found.precision_at_10 == 0.5  # four documents are all there is
    assert (found.n_queries, found.n_skipped) == (1, 0)


def test_two_queries_are_averaged() -> None:
    found = retrieve(TRAIN, ["a", "b", "a", "b"], [QUERY[0], [0.0, 1.0]], ["a", "b"], fractions=(0.25,))
    assert found.precision == {0.25: 1.0}
    # the second query ranks 90° (b), 80° (a), 10° (b), 0° (a)
    assert found.mean_average_precision == pytest.approx(((1 + 2 / 3) / 2 + (1 + 2 / 3) / 2) / 2)


def test_sets_of_labels_hit_when_they_share_any() -> None:
    train_sets = np.array([[1, 1, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]])
    dense = retrieve(TRAIN, train_sets, QUERY, np.array([[1, 0, 1]]), fractions=(0.25, 0.5, 1.0))
    sparse = retrieve(
        TRAIN, sp.csr_array(train_sets), QUERY, sp.csr_array([[1, 0, 1]]), fractions=(0.25, 0.5, 1.0)
    )
    assert dense.precision == sparse.precision == {0.25: 1.0, 0.5: 1.0, 1.0: 0.75}


def plain(
    train: np.ndarray, labels: np.ndarray, test: np.ndarray, asked: np.ndarray
) -> tuple[dict[float, float], float]:
    """The definition, a query at a time."""
    cosines = (test / np.linalg.norm(test, axis=1)[:, None]) @ (
        train / np.linalg.norm(train, axis=1)[:, None]
    ).T
    hits = np.array(
        [labels[np.argsort(-row, kind="stable")] == label for row, label in zip(cosines, asked, strict=True)]
    )
    ranks = np.arange(1, len(train) + 1)
    precisions = {f: hits[:, : max(1, round(f * len(train)))].mean() for f in FRACTIONS}
    average = ((np.cumsum(hits, axis=1) / ranks) * hits).sum(axis=1) / hits.sum(axis=1)
    return precisions, float(average.mean())


def test_agrees_with_the_plain_definition_over_several_blocks() -> None:
    generator = np.random.default_rng(0)
    labels, asked = generator.integers(0, 5, 700), generator.integers(0, 5, 600)
    centers = generator.normal(size=(5, 6))
    train = centers[labels] + generator.normal(size=(700, 6))
    test = centers[asked] + generator.normal(size=(600, 6))
    precisions, average = plain(train, labels, test, asked)
    found = retrieve(train, labels, test, asked)
    assert found.precision == pytest.approx(precisions, abs=1e-5)
    assert found.mean_average_precision == pytest.approx(average, abs=1e-5)
    shallow = retrieve(train, labels, test, asked, full=False)
    assert shallow.mean_average_precision is None
    assert shallow.precision == {f: found.precision[f] for f in FRACTIONS if f <= 0.05}
    assert shallow.precision_at_10 == found.precision_at_10


def test_vectors_of_noise_score_the_base_rate_and_everything_fetched_always_does() -> None:
    generator = np.random.default_rng(1)
    labels, asked = np.arange(1000) % 4, np.arange(400) % 4
    found = retrieve(generator.normal(size=(1000, 8)), labels, generator.normal(size=(400, 8)), asked)
    assert found.precision[1.0] == pytest.approx(0.25)
    assert abs(found.precision[0.1] - 0.25) < 0.01
    assert found.mean_average_precision == pytest.approx(0.25, abs=0.02)


def test_ties_and_zero_vectors_fall_to_the_earlier_document() -> None:
    train = [[0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]]
    for query in ([0.0, 0.0], [0.0, 5.0]):  # cosine 0 with everything, -0.0 among it
        found = retrieve(train, ["a", "b", "b", "b"], [query], ["a"], fractions=(0.25,))
        assert found.precision == {0.25: 1.0}
        assert found.mean_average_precision == 1.0
    opposite = retrieve(train, ["b", "b", "a", "b"], [[1.0, 0.0]], ["a"], fractions=(1.0,))
    assert opposite.mean_average_precision == 0.25  # a negative cosine comes after the zeros


def test_centering_is_a_choice_and_uses_the_training_mean_alone() -> None:
    generator = np.random.default_rng(2)
    labels = np.arange(200) % 2
    train = 50 + generator.normal(size=(200, 3)) + 3 * labels[:, None]
    test, asked = train[:50] + 0.1, labels[:50]
    raw, centered = (retrieve(train, labels, test, asked, center=center) for center in (False, True))
    by_hand = retrieve(train - train.mean(axis=0), labels, test - train.mean(axis=0), asked)
    assert centered.scores() == pytest.approx(by_hand.scores())
    assert centered.precision[0.1] > raw.precision[0.1]
    one = retrieve(train, labels, test[:1], asked[:1], center=True).precision_at_10
    twice = retrieve(train, labels, test[[0, 0]], asked[[0, 0]], center=True).precision_at_10
    assert twice == one  # other queries change nothing


def test_queries_with_nothing_to_find_are_left_out() -> None:
    found = retrieve(TRAIN, ["a", "b", "a", "b"], [*QUERY, *QUERY], ["a", "unheard of"], fractions=(0.25,))
    assert found.precision == {0.25: 1.0}
    assert (found.n_queries, found.n_skipped) == (1, 1)
    with pytest.raises(ValueError, match="none of the 1 test documents shares a label"):
        retrieve(TRAIN, ["a", "b", "a", "b"], QUERY, ["unheard of"])


def test_scores_name_the_share_fetched() -> None:
    found = retrieve(TRAIN, ["a", "b", "a", "b"], QUERY, ["a"])
    assert list(found.scores())[:3] == ["precision@0.1%", "precision@0.2%", "precision@0.5%"]
    assert {"precision@100%", "precision@10", "map"} <= set(found.scores())


@pytest.mark.parametrize(
    ("train_labels", "test_labels", "query", "message"),
    [
        (["a", "b"], ["a"], QUERY, "2 labels for 4 vectors"),
        (["a", "b", "a", "b"], np.ones((1, 2)), QUERY, "of different kinds"),
        (np.ones((4, 2)), np.ones((1, 3)), QUERY, "2 labels and test_labels 3"),
        (np.full((4, 2), 2), np.ones((1, 2)), QUERY, "other than 0 and 1"),
        (["a", "b", "a", "b"], ["a"], [[np.inf, 0.0]], "test_vectors has NaN or infinite"),
        (["a", "b", "a", "b"], [], np.zeros((0, 2)), "test_vectors is empty"),
        (["a", "b", "a", "b"], ["a"], [[1.0, 0.0, 0.0]], "train_vectors 2, test_vectors 3"),
    ],
)
def test_wrong_input_is_named(train_labels: object, test_labels: object, query: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        retrieve(TRAIN, train_labels, query, test_labels)  # type: ignore[arg-type]


def test_wrong_fractions_are_named() -> None:
    with pytest.raises(ValueError, match=r"holds \[0, 2\]"):
        retrieve(TRAIN, ["a", "b", "a", "b"], QUERY, ["a"], fractions=(0, 0.5, 2))


@pytest.mark.parametrize("most_keys", [1, 150, 1_000])  # blocks of 1, 3 and 20 queries
@pytest.mark.parametrize("full", [True, False])
def test_the_block_of_queries_changes_nothing(
    most_keys: int, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(0)
    # no two cosines are the same but for rounding, which the size of a block may change
    train, test = draw.normal(size=(50, 4)), draw.normal(size=(23, 4))
    labels, asked = draw.integers(0, 3, 50), draw.integers(0, 4, 23)
    at_once = retrieve(train, labels, test, asked, full=full)
    monkeypatch.setattr(retrieval_module, "_MOST_KEYS", most_keys)
    in_blocks = retrieve(train, labels, test, asked, full=full)
    assert in_blocks.scores() == pytest.approx(at_once.scores(), abs=1e-12)
    assert in_blocks.n_skipped == at_once.n_skipped
