"""Sequences: the order of the text, the counts that they came from, and what is lost stays out."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from kate.text import counting, text_batches
from kate.text.sequences import Sequences
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary

TEXTS = [
    "The gold of the old bank, gold!",
    "",
    "Rockets orbit; a rocket's orbit",
    "l'argent d'argent zebra",
    "xyz",
]


def learned() -> Vocabulary:
    return Vocabulary.learn(TEXTS[:4], Tokenizer("porter"))[0]


def test_words_stand_in_the_order_of_the_text() -> None:
    vocabulary = learned()
    found = [[vocabulary.words[code] for code in document] for document in vocabulary.sequences(TEXTS)]
    assert found == [
        ["gold", "old", "bank", "gold"],
        [],
        ["rocket", "orbit", "rocket", "orbit"],
        ["argent", "argent", "zebra"],
        [],
    ]


def test_the_counts_of_sequences_are_the_counts_of_the_texts(monkeypatch) -> None:
    monkeypatch.setattr(text_batches, "CHARACTERS_AT_ONCE", 20)  # several batches and parts
    monkeypatch.setattr(counting, "BATCHES_AT_ONCE", 2)
    vocabulary = learned()
    sequences = vocabulary.sequences(TEXTS)
    assert sequences.codes.dtype == np.int32
    np.testing.assert_array_equal(sequences.counts().toarray(), vocabulary.count(TEXTS).toarray())


def test_a_chunk_of_several_words_gives_them_all_in_order() -> None:
    vocabulary, _ = Vocabulary.learn(["rock'n'roll roll rock"], Tokenizer(language=None))
    [document] = vocabulary.sequences(["roll rock'n'roll rock'unknown'rock"])
    assert [vocabulary.words[code] for code in document] == ["roll", "rock", "roll", "rock", "rock"]


def test_rows_are_taken_in_any_order_and_twice() -> None:
    sequences = Sequences.of([[1, 2], [], [0], [2, 2, 1]], 3)
    taken = sequences.take(np.array([3, 1, 0, 3]))
    assert [document.tolist() for document in taken] == [[2, 2, 1], [], [1, 2], [2, 2, 1]]
    assert sequences.take(np.zeros(0, np.int64)).shape == (0, 3)


def test_an_order_drawn_at_random_does_not_hang_on_the_neighbours() -> None:
    X = sp.csr_array(np.array([[3, 0, 2, 4], [0, 0, 0, 0], [1, 5, 0, 0]]))
    sequences = Sequences.of_counts(X)
    np.testing.assert_array_equal(sequences.counts().toarray(), X.toarray())
    np.testing.assert_array_equal(Sequences.of_counts(X[[2]])[0], sequences[2])
    assert sequences[0].tolist() != sorted(sequences[0].tolist())
    assert Sequences.of_counts(X, seed=1)[0].tolist() != sequences[0].tolist()
