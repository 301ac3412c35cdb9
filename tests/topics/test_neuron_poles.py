"""Poles of neurons: the rule against a plain implementation with loops, and what happens at its edges."""

from __future__ import annotations

from itertools import combinations
from math import ceil, log

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kate.model.encoder import Encoder
from kate.research.metrics.topic_scores import npmi
from kate.topics import neuron_poles
from kate.topics.neuron_poles import (
    Responses,
    coherent_order,
    count_wins,
    describe_by_weights,
    describe_by_wins,
    poles_of,
    winning_poles,
)
from kate.topics.neuron_table import NeuronPole, NeuronPoles

N_DOCS, N_WORDS = 60, 40


def linear_encoder(W: np.ndarray) -> Encoder:
    zeros = np.zeros(W.shape[1], np.float32)
    return Encoder(W.astype(np.float32), zeros, zeros, "l2", "tanh", "preactivation")


def random_counts(seed: int = 0, n_docs: int = N_DOCS, n_words: int = N_WORDS) -> csr_matrix:
    random = np.random.default_rng(seed)
    return csr_matrix(random.poisson(0.3, size=(n_docs, n_words)).astype(np.float32))


def described(X: csr_matrix, encoder: Encoder) -> tuple[NeuronPoles, NeuronPoles]:
    wins = count_wins(X, encoder.respond, Responses.of(encoder.respond, X))
    words = [f"w{column}" for column in range(X.shape[1])]
    return describe_by_wins(X, wins, words), describe_by_weights(X, encoder.W, wins, words)


def plain_topics(X: csr_matrix, encoder: Encoder) -> list[tuple[list[str], float]]:
    """Words and share of every pole, straight from the rule, a document at a time."""
    responses = encoder.respond(X).astype(float)
    z = (responses - responses.mean(axis=0)) / responses.std(axis=0)
    present = X.toarray() > 0
    won: list[list[tuple[int, float]]] = [[] for _ in range(2 * z.shape[1])]
    for document, row in enumerate(z):
        for neuron in sorted(range(len(row)), key=lambda j: -abs(row[j]))[: max(1, ceil(len(row) / 10))]:
            won[2 * neuron + (row[neuron] < 0)].append((document, abs(row[neuron])))
    pairs = list(combinations(range(X.shape[1]), 2))
    fit = dict(zip(map(frozenset, pairs), npmi(pairs, X).per_topic, strict=True))
    result = []
    for documents in won:
        total = sum(strength for _, strength in documents)
        scores = {}
        for word in range(X.shape[1]):
            share = sum(strength for document, strength in documents if present[document, word]) / max(
                total, 1e-9
            )
            if share > present[:, word].mean():
                scores[word] = share * log(share / present[:, word].mean())
        candidates = sorted(scores, key=lambda word: -scores[word])[:30]
        result.append(([f"w{word}" for word in plain_core(candidates, fit)], len(documents) / len(z)))
    return result


def plain_core(candidates: list[int], fit: dict[frozenset[int], float]) -> list[int]:
    remaining, dropped = list(candidates), []
    while len(remaining) > 10:
        fits = [sum(fit[frozenset((a, b))] for b in remaining if b != a) for a in remaining]
        dropped.append(remaining.pop(int(np.argmin(fits))))
    return remaining + dropped[::-1]


@pytest.mark.parametrize("n_components", [3, 12])
def test_topics_follow_the_rule(n_components: int) -> None:
    X = random_counts()
    encoder = linear_encoder(np.random.default_rng(1).normal(size=(N_WORDS, n_components)))
    topics, _ = described(X, encoder)
    expected = plain_topics(X, encoder)
    assert [topic.name for topic in topics] == [f"{j}{pole}" for j in range(n_components) for pole in "+-"]
    for topic, (words, share) in zip(topics, expected, strict=True):
        assert list(topic.words) == words
        assert topic.share == pytest.approx(share)


def test_the_rule_does_not_depend_on_the_size_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    X = random_counts()
    encoder = linear_encoder(np.random.default_rng(1).normal(size=(N_WORDS, 12)))
    whole, _ = described(X, encoder)
    monkeypatch.setattr(neuron_poles, "_BLOCK", 7)
    in_blocks, _ = described(X, encoder)
    assert [(topic.words, topic.share) for topic in whole] == [
        (topic.words, topic.share) for topic in in_blocks
    ]


def test_coherence_is_that_of_the_tasks() -> None:
    X = random_counts()
    for topics in described(X, linear_encoder(np.random.default_rng(2).normal(size=(N_WORDS, 4)))):
        for topic in topics:
            columns = [int(word[1:]) for word in topic.words[:10]]
            assert topic.coherence == pytest.approx(npmi([columns], X).mean)


def test_a_pair_that_is_everywhere_counts_nothing() -> None:
    X = csr_matrix(np.array([[1, 1, 1, 0], [1, 1, 0, 1]] * 5, dtype=np.float32))
    _, by_weights = described(X, linear_encoder(np.array([[3.0], [2.0], [0.0], [-1.0]])))
    assert by_weights[0].words == ("w0", "w1")
    assert by_weights[0].coherence == 0.0


def test_the_odd_word_out_leaves_the_core_first() -> None:
    npmi_of_pairs = np.full((12, 12), 0.5)
    npmi_of_pairs[3, :] = npmi_of_pairs[:, 3] = -1.0  # fits worst
    npmi_of_pairs[7, :] = npmi_of_pairs[:, 7] = 0.0  # then this one
    np.fill_diagonal(npmi_of_pairs, 0)
    assert coherent_order(npmi_of_pairs).tolist() == [0, 1, 2, 4, 5, 6, 8, 9, 10, 11, 7, 3]


def test_of_words_that_fit_alike_the_lower_ranked_leave() -> None:
    assert coherent_order(np.zeros((13, 13))).tolist() == list(range(13))
    assert coherent_order(np.zeros((4, 4))).tolist() == [0, 1, 2, 3]
    assert coherent_order(np.zeros((0, 0))).tolist() == []


@pytest.mark.parametrize(("n_components", "n_wins"), [(1, 1), (10, 1), (11, 2), (70, 7), (128, 13)])
def test_a_tenth_of_the_neurons_wins(n_components: int, n_wins: int) -> None:
    z = np.random.default_rng(0).normal(size=(5, n_components)).astype(np.float32)
    poles, strengths = winning_poles(z)
    assert poles.shape == (5, n_wins)
    assert (np.diff(strengths, axis=1) <= 0).all()
    np.testing.assert_array_equal(strengths, -np.sort(-np.abs(z), axis=1)[:, :n_wins])


def test_weights_name_their_own_side_only() -> None:
    X = csr_matrix(np.eye(4, dtype=np.float32))
    _, by_weights = described(X, linear_encoder(np.array([[1.0], [3.0], [-2.0], [0.0]])))
    assert [topic.words for topic in by_weights] == [("w1", "w0"), ("w2",)]
    assert by_weights[0].coherence == -1.0  # the two words never meet
    assert by_weights[1].coherence is None


def test_a_pole_that_wins_nothing_has_no_words() -> None:
    X = csr_matrix(np.array([[2, 0], [0, 2]], dtype=np.float32))  # a vocabulary of two words
    topics, _ = described(X, linear_encoder(np.array([[1.0, 0.0], [-1.0, 0.0]])))
    assert [topic.words for topic in topics] == [("w0",), ("w1",), (), ()]
    assert [topic.share for topic in topics] == [0.5, 0.5, 0.0, 0.0]
    assert [topic.coherence for topic in topics] == [None] * 4
    assert topics.coherence is None
    assert topics.diversity == 1.0


def test_documents_that_are_all_alike_have_no_topics() -> None:
    X = csr_matrix(np.ones((5, 3), dtype=np.float32))
    topics, _ = described(X, linear_encoder(np.random.default_rng(0).normal(size=(3, 4))))
    assert all(topic.words == () and topic.share == 0 for topic in topics)
    assert topics.diversity is None


def test_an_empty_document_is_won_by_none() -> None:
    X = csr_matrix(np.array([[2, 0], [0, 2], [0, 0]], dtype=np.float32))
    topics, _ = described(X, linear_encoder(np.array([[1.0], [-0.5]])))
    assert sum(topic.share for topic in topics) == pytest.approx(2 / 3)


def test_responses_standardise_to_z_scores() -> None:
    X, encoder = random_counts(), linear_encoder(np.random.default_rng(1).normal(size=(N_WORDS, 5)))
    z = Responses.of(encoder.respond, X).standardise(encoder.respond(X))
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(z.std(axis=0), 1, atol=1e-5)


def test_poles_are_an_immutable_sequence() -> None:
    first = NeuronPole(0, "+", ("a", "b", "c"), share=0.1, coherence=0.2)
    second = NeuronPole(0, "-", ("b", "d"), share=0.3, coherence=None)
    topics = NeuronPoles([first, second])
    assert (len(topics), topics[1], list(topics)) == (2, second, [first, second])
    assert topics[:1] == NeuronPoles([first])
    assert hash(topics) == hash(NeuronPoles([first, second]))
    assert topics.shortened(2).diversity == 0.75
    assert topics.coherence == pytest.approx(0.2)
    assert [topic.name for topic in topics.sorted_by("share")] == ["0-", "0+"]
    assert [topic.name for topic in topics.sorted_by("coherence")] == ["0+", "0-"]
    assert topics.sorted_by("share").sorted_by("neuron") == topics
    with pytest.raises(ValueError, match="neuron, share or coherence"):
        topics.sorted_by("size")  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        first.share = 1.0  # type: ignore[misc]
    assert topics.as_dicts()[0]["words"] == ["a", "b", "c"]
    assert str(topics).splitlines()[2] == "0-     30.0%          –  b, d"
    assert repr(topics) == str(topics)


def test_wins_hold_the_strength_of_what_was_won() -> None:
    X = csr_matrix(np.array([[2, 0], [0, 2]], dtype=np.float32))
    encoder = linear_encoder(np.array([[1.0], [-1.0]]))
    wins = count_wins(X, encoder.respond, Responses.of(encoder.respond, X))
    assert wins.n_documents.tolist() == [1, 1]
    np.testing.assert_allclose(wins.strength, [1, 1])
    np.testing.assert_allclose(wins.words, np.eye(2))


def test_without_documents_a_pole_is_its_strongest_weights() -> None:
    W = np.array([[0.5], [-2.0], [1.0], [0.0]], dtype=np.float32)
    plus, minus = poles_of(W, ["a", "b", "c", "d"], top=2)
    assert (plus.words, minus.words) == (("c", "a"), ("b",))
    assert (plus.name, minus.share) == ("0+", None)
    assert "–" in str(NeuronPoles([plus]))
