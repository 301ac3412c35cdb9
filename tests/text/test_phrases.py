"""Words that stand together become words of their own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kate
from kate.text.phrases import FEWEST, Neighbours
from kate.text.vocabulary import Vocabulary

NOISE = [
    "gold prices rise",
    "rivers flow slowly",
    "old books burn",
    "green fields grow",
    "dark clouds gather",
]
TEXTS = [
    text
    for number in range(3 * FEWEST)
    for text in (
        f"The mayor of New York spoke about {NOISE[number % 5]}.",
        f"A new plan, and York waits. {NOISE[(number + 1) % 5]}",
        f"The United States of America, {NOISE[(number + 2) % 5]}",
    )
]


@pytest.fixture(scope="module")
def learned():
    return Vocabulary.learn(TEXTS, phrases=True)


def test_a_phrase_is_a_word_beside_its_parts(learned):
    vocabulary, counts = learned
    assert {"new york", "new", "york", "unit state"} <= set(vocabulary.words)
    column = vocabulary.columns["new york"]
    assert (
        vocabulary.totals[column]
        == counts[:, column].sum()
        == vocabulary.document_frequencies[column]
        == 3 * FEWEST
    )
    assert vocabulary.totals[vocabulary.columns["new"]] == 6 * FEWEST


def test_a_phrase_is_shown_as_people_write_it(learned):
    vocabulary, _ = learned
    assert vocabulary.readable[vocabulary.columns["unit state"]] == "united states"
    assert vocabulary.readable[vocabulary.columns["new york"]] == "new york"


def test_stop_words_and_punctuation_end_a_phrase(learned):
    vocabulary, _ = learned
    # "plan, and York", "States of America", "York waits. old"
    assert not {"plan york", "state america", "wait old"} & set(vocabulary.words)
    column = vocabulary.columns["new york"]
    texts = [
        "new york",
        "New-York!",
        "new\nYork",
        "new, york",
        "new. York",
        "new to york",
        "new 3 york",
        "new\n\nyork",
        "york new",
    ]
    assert vocabulary.count(texts)[:, [column]].toarray().ravel().tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0]


def test_texts_are_counted_as_they_were_when_they_were_learned(learned):
    vocabulary, counts = learned
    assert (vocabulary.count(TEXTS) != counts).nnz == 0
    again = Vocabulary.from_lines(vocabulary.to_lines(), vocabulary.config())
    assert (again.count(TEXTS) != counts).nnz == 0
    assert (vocabulary.count(["", *TEXTS, ""])[1:-1] != counts).nnz == 0


def test_the_other_words_are_counted_as_without_phrases(learned):
    vocabulary, counts = learned
    plain, plain_counts = Vocabulary.learn(TEXTS)
    single = [vocabulary.columns[word] for word in plain.words]
    assert (counts[:, single] != plain_counts).nnz == 0
    assert len(plain) < len(vocabulary)


def test_a_phrase_is_found_by_its_words(learned):
    vocabulary, _ = learned
    assert vocabulary.find("New York") == vocabulary.find("new  york") == vocabulary.columns["new york"]
    assert vocabulary.find("united states") == vocabulary.columns["unit state"]
    assert vocabulary.find("york new") is None


def test_pairs_do_not_cross_documents_and_skip_empty_ones():
    neighbours = Neighbours.of(np.array([0, 1, 2]), np.array([0, 1, 2], np.int32), 4)
    codes, starts = np.array([0, 1, 2, 3, 0], np.int32), np.array([0, 0, 2, 2, 5, 5])
    left, right, places = neighbours.pairs(codes, starts)
    # 1 and 2 are of two documents; 3 has no word
    assert (left.tolist(), right.tolist(), places.tolist()) == ([0], [1], [0])


def test_the_size_of_batches_does_not_matter(learned, monkeypatch):
    from kate.text import counting, text_batches

    monkeypatch.setattr(text_batches, "CHARACTERS_AT_ONCE", 200)
    monkeypatch.setattr(counting, "BATCHES_AT_ONCE", 2)
    vocabulary, counts = Vocabulary.learn(TEXTS, phrases=True)
    assert vocabulary.words == learned[0].words
    assert (counts != learned[1]).nnz == 0
    assert (vocabulary.count(TEXTS) != counts).nnz == 0


def test_lists_of_words_have_no_phrases():
    vocabulary, _ = Vocabulary.learn([["new", "york"]] * 50, phrases=True)
    assert vocabulary.words == ["new", "york"]


def test_no_phrases_in_a_small_corpus():
    assert Vocabulary.learn(["new york"] * 3, phrases=True)[0].words == ["new", "york"]


def test_a_model_knows_phrases(tmp_path):
    model = kate.TextModel(4, phrases=True, max_epochs=2, verbose=False).fit(TEXTS)
    assert len(model.similar_words("New York", top=3)) == 3
    assert any(word == "new york" for word, _ in model.similar_words("york", top=len(model.vocabulary_) - 1))
    assert any("new york" in pole.words for pole in model.neurons(30))
    model.save(tmp_path / "model")
    # the stems of a phrase are those of its words: no warning about a newer stemmer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = kate.load(tmp_path / "model")
    np.testing.assert_array_equal(again.encode(TEXTS[:5]), model.encode(TEXTS[:5]))
    both, apart = model.encode(["new york", "new. york"])
    assert not np.allclose(both, apart)
