"""Queries of one and two words: by hand on a corpus whose answers are known, and against plain rankings."""

import numpy as np
import pytest
import scipy.sparse as sp

from kate.research.metrics.queries import askable_words, one_word_precision, two_word_precision

N_DOCS, N_WORDS = 2_000, 60


@pytest.fixture(scope="module")
def corpus():
    """Words 0 to 49 are in 40 documents each, two of them in a document; word 50 is everywhere, 51 in one."""
    X = sp.lil_array((N_DOCS, N_WORDS))
    for word in range(50):
        X[word * 40 : (word + 1) * 40, word] = 2
        X[[(word * 40 + 40 + i) % N_DOCS for i in range(10)], word] = 1
    X[:, 50] = 1
    X[7, 51] = 1
    labels = np.repeat([f"class {word // 10}" for word in range(50)], 40)
    return sp.csr_array(X), labels


def test_only_words_between_the_bounds_are_asked(corpus):
    X, _ = corpus
    assert askable_words(X).tolist() == list(range(50))


def test_a_search_by_the_word_itself_is_right_and_a_search_by_chance_is_not(corpus):
    X, _ = corpus
    by_word = one_word_precision(X, lambda queries: (queries @ X.T).toarray())
    random = np.random.default_rng(3)
    by_chance = one_word_precision(X, lambda queries: random.random((queries.shape[0], N_DOCS)))
    assert by_word == 1.0
    assert by_chance < 0.1  # a word is in 50 of 2,000 documents


def test_the_same_hub_for_every_query_is_found_out(corpus):
    X, _ = corpus
    hub = np.zeros((50, N_DOCS))
    # documents 0 to 9 for every word: right for word 0, and for word 49 that spills into them
    hub[:, :10] = 1
    assert one_word_precision(X, lambda queries: hub) == pytest.approx(2 / 50)


def test_no_answer_is_no_hit(corpus):
    X, _ = corpus
    assert one_word_precision(X, lambda queries: np.zeros((queries.shape[0], N_DOCS))) == 0.0


def test_two_words_find_the_label_of_their_document(corpus):
    X, labels = corpus
    by_word = two_word_precision(X, labels, X, labels, lambda queries: (queries @ X.T).toarray())
    wrong = two_word_precision(X, labels, X, np.roll(labels, 400), lambda queries: (queries @ X.T).toarray())
    assert by_word > 0.95
    assert wrong < 0.1


def test_two_words_with_sets_of_labels(corpus):
    X, labels = corpus
    sets = sp.csr_array(np.equal.outer(labels, np.unique(labels)).astype(np.int8))
    similarity = lambda queries: (queries @ X.T).toarray()  # noqa: E731
    assert two_word_precision(X, sets, X, sets, similarity) == pytest.approx(
        two_word_precision(X, labels, X, labels, similarity)
    )


def test_too_few_documents_say_so():
    X = sp.csr_array(np.eye(5))
    with pytest.raises(ValueError, match="too few documents"):
        one_word_precision(X, lambda queries: np.ones((1, 5)))
    with pytest.raises(ValueError, match="too few documents"):
        two_word_precision(X, list("abcde"), X, list("abcde"), lambda queries: np.ones((1, 5)))
