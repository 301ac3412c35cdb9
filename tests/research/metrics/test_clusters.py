"""Clusters and the quality of topics: known answers, and what follows from the definitions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from kate.research.metrics.clusters import adjusted_rand, compare_labels, majority_labels
from kate.research.metrics.topic_quality import judge_topics


def entropy(*labellings: np.ndarray) -> float:
    _, counts = np.unique(np.stack(labellings), axis=1, return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def pairs_together(*labellings: np.ndarray) -> float:
    _, counts = np.unique(np.stack(labellings), axis=1, return_counts=True)
    return float((counts * (counts - 1) / 2).sum())


def test_agreement_is_by_its_definition() -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 5, 300)
    topics = np.where(random.random(300) < 0.6, labels, random.integers(0, 8, 300))
    found = compare_labels(topics, labels.astype(str))
    both = entropy(labels) + entropy(topics)
    assert found.nmi == pytest.approx((both - entropy(labels, topics)) / (both / 2))
    ours, theirs = pairs_together(topics), pairs_together(labels)
    expected, most = ours * theirs / (300 * 299 / 2), (ours + theirs) / 2
    assert found.ari == pytest.approx((pairs_together(labels, topics) - expected) / (most - expected))
    assert found.ari == pytest.approx(adjusted_rand(labels, topics))


def test_purity_counts_the_commonest_label_of_each_topic() -> None:
    # topic 0: a a b, topic 1: c b
    assert compare_labels([0, 0, 0, 1, 1], ["a", "a", "b", "c", "b"]).purity == 3 / 5
    assert majority_labels([0, 0, 0, 1, 1], ["a", "a", "b", "c", "b"]) == {0: "a", 1: "b"}


def test_one_topic_says_nothing_and_one_label_for_all_agrees_with_it() -> None:
    assert compare_labels([0, 0, 0], ["a", "b", "a"]).nmi == 0
    assert compare_labels([0, 0, 0], ["a", "a", "a"]).scores() == {"nmi": 1.0, "ari": 1.0, "purity": 1.0}


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="one of each for every document"):
        compare_labels([0, 1], ["a"])
    with pytest.raises(ValueError, match="at least one document"):
        compare_labels([], [])


COUNTS = sp.csr_array(
    [
        [2, 1, 0, 0, 0],
        [1, 3, 0, 0, 0],
        [0, 0, 1, 0, 1],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0],
    ]
)


def test_quality_has_known_answers() -> None:
    # words 0 and 1 always meet (1), words 2 and 3 never do (-1); document 4 has no topic
    found = judge_topics([[0, 1], [2, 3]], [0, 0, 1, 1, -1], COUNTS)
    assert found.npmi == pytest.approx(0)
    assert (found.coverage, found.diversity, found.n_described) == (1, 1, 2)
    # a document that holds none of its topic's words; a word that two topics list
    assert judge_topics([[0, 1], [0, 2]], [0, 0, 1, 1, -1], COUNTS).scores() == {
        "npmi": pytest.approx(0),
        "coverage": 3 / 4,
        "diversity": 3 / 4,
    }


def test_topics_may_have_few_words_or_none() -> None:
    found = judge_topics([[0, 1], [4], []], [0, 0, 1, 2, -1], COUNTS)
    assert found.npmi == pytest.approx(1)  # of the one topic that has a pair
    assert (found.coverage, found.n_described) == (3 / 4, 1)


def test_what_cannot_be_judged_is_refused() -> None:
    with pytest.raises(ValueError, match="no topic has two words"):
        judge_topics([[0], [1]], [0, 0, 1, 1, 1], COUNTS)
    with pytest.raises(ValueError, match="expected one of these topics for every document"):
        judge_topics([[0, 1]], [0, 0, 1, 1, 1], COUNTS)
