"""The words of topics: in their documents, typical, together, and each topic's own."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array

from kate.research.metrics.topic_scores import npmi
from kate.topics.topic_words import TopicWords, choose_words

N_DOCS = 400


def presence(seed: int = 0) -> tuple[csr_array, np.ndarray]:
    """Two topics; words 0-9 in most documents of the first, 10-19 in most of the second, 20 everywhere, 21 in few."""
    random = np.random.default_rng(seed)
    topics = np.arange(N_DOCS) % 2
    P = np.zeros((N_DOCS, 24), dtype=np.float32)
    for topic in range(2):
        own = np.flatnonzero(topics == topic)
        P[np.ix_(own, range(10 * topic, 10 * topic + 10))] = random.random((len(own), 10)) < 0.4
    P[:, 20] = random.random(N_DOCS) < 0.9
    P[:3, 21] = 1  # of 2 documents of the first topic
    return csr_array(P), topics


def chosen(P: csr_array, topics: np.ndarray, n_topics: int = 2) -> list[TopicWords]:
    return choose_words(P, csc_array(P), topics, n_topics)


def test_words_are_those_of_the_topics_documents() -> None:
    first, second = chosen(*presence())
    assert set(first.columns) == set(range(10))
    assert set(second.columns) == set(range(10, 20))


def test_a_word_of_all_and_a_word_of_few_are_not_listed() -> None:
    listed = {int(column) for words in chosen(*presence()) for column in words.columns}
    assert not {20, 21, 22, 23} & listed


def test_figures_are_those_of_the_documents() -> None:
    P, topics = presence()
    dense = P.toarray()
    for topic, words in enumerate(chosen(P, topics)):
        own = dense[topics == topic]
        np.testing.assert_allclose(words.shares, own[:, words.columns].mean(axis=0), rtol=1e-6)
        assert words.coverage == own[:, words.columns[:10]].any(axis=1).mean()
        np.testing.assert_allclose(words.coherence, npmi([words.columns[:10]], P).mean, rtol=1e-6)


def test_the_second_word_adds_documents() -> None:
    # words 0 and 1 always stand together, word 2 stands where they do not
    P = np.zeros((60, 4), dtype=np.float32)
    P[:20, [0, 1]], P[20:30, 2], P[30:, 3] = 1, 1, 1
    [words, _] = chosen(csr_array(P), np.repeat([0, 1], 30))
    assert words.columns[:3].tolist() == [0, 1, 2]
    assert words.coverage == 1


def test_a_word_that_another_topic_has_taken_comes_later() -> None:
    # both topics hold word 0 alike; only the first is chosen with it at the front where it is as typical elsewhere
    P = np.zeros((90, 3), dtype=np.float32)
    P[:60, 0], P[:30, 1], P[30:60, 2] = 1, 1, 1
    first, second, third = chosen(csr_array(P), np.repeat([0, 1, 2], 30), 3)
    assert {int(first.columns[0]), int(second.columns[0])} == {1, 2}
    assert len(third.columns) == 0
    assert (third.coherence, third.coverage) == (None, 0.0)


def test_an_empty_topic_has_no_words() -> None:
    P, topics = presence()
    *_, empty = chosen(P, topics, 3)
    assert len(empty.columns) == 0
    assert empty.coverage == 0


def test_one_topic_of_all_documents_has_their_most_frequent_words() -> None:
    P, _ = presence()
    [words] = chosen(P, np.zeros(N_DOCS, dtype=np.int64), 1)
    assert words.columns[0] == 20
    assert words.coverage > 0.9


def test_a_phrase_stands_for_its_parts_or_they_for_it() -> None:
    # words 0 and 1 stand as the phrase 2 but for one document; 3 mostly stands without 4, of which 5 is the phrase
    P = np.zeros((80, 7), dtype=np.float32)
    P[:20, [0, 1, 2]], P[20, 0] = 1, 1
    P[10:40, 3], P[10:40:5, [4, 5]], P[30:40, 4] = 1, 1, 1
    P[40:, 6] = 1
    topics, phrases = np.repeat([0, 1], 40), {2: (0, 1), 5: (3, 4)}
    both = choose_words(csr_array(P), csc_array(P), topics, 2)
    assert {0, 1, 2, 3, 4, 5} == set(both[0].columns.tolist())
    once = choose_words(csr_array(P), csc_array(P), topics, 2, phrases)
    assert {2, 3, 4} == set(once[0].columns.tolist())
    assert once[1].columns.tolist() == both[1].columns.tolist() == [6]


def test_two_phrases_do_not_share_a_part() -> None:
    # "jack straw" is in more documents than "secretary jack", whose other word mostly stands alone
    secretary, jack, straw, jack_straw, secretary_jack = range(5)
    P = np.zeros((60, 6), dtype=np.float32)
    P[:30, secretary], P[:20, [jack, straw, jack_straw]], P[:10, secretary_jack], P[30:, 5] = 1, 1, 1, 1
    phrases = {jack_straw: (jack, straw), secretary_jack: (secretary, jack)}
    [words, _] = choose_words(csr_array(P), csc_array(P), np.repeat([0, 1], 30), 2, phrases)
    assert {secretary, jack_straw} == set(words.columns.tolist())
