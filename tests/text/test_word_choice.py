"""Which words get a column."""

import numpy as np
import pytest

import kate
from kate.text.vocabulary import Vocabulary
from kate.text.word_choice import least_documents, most_documents


def test_min_df_follows_the_size_of_the_corpus():
    found = [least_documents("auto", n) for n in (1, 499, 500, 20_000, 100_000, 1_000_000, 10_000_000)]
    assert found == [1, 1, 2, 2, 3, 7, 16]


def test_names_of_one_document_are_left_out_of_a_larger_corpus():
    texts = [f"gold coin name{number:03}x" for number in range(600)]
    assert Vocabulary.learn(texts)[0].words == ["coin", "gold"]
    assert len(Vocabulary.learn(texts, min_df=1)[0]) == 602
    assert len(Vocabulary.learn(texts[:400])[0]) == 402


@pytest.mark.parametrize(
    ("max_df", "words"), [(1.0, "gold silver coin"), (0.5, "silver coin"), (2, "silver coin"), (1, "coin")]
)
def test_max_df(max_df, words):
    texts = ["gold silver coin", "gold silver", "gold", "gold"]
    assert Vocabulary.learn(texts, max_df=max_df)[0].words == words.split()


def test_max_df_gives_its_places_to_other_words():
    vocabulary, counts = Vocabulary.learn(["gold gold silver", "gold coin coin"], vocabulary_size=2, max_df=1)
    assert vocabulary.words == ["coin", "silver"]
    assert counts.toarray().tolist() == [[0, 1], [2, 0]]


def test_spare_words_that_are_too_few_are_counted_again():
    # the most frequent words are all of one document
    texts = [f"only{n:02}x " * 9 for n in range(40)] + ["rare gold", "rare gold"]
    vocabulary, counts = Vocabulary.learn(texts, vocabulary_size=2, min_df=2)
    assert vocabulary.words == ["gold", "rare"]
    assert counts.sum() == 4


def test_the_settings_say_what_was_used():
    texts = [f"gold coin name{number:03}x" for number in range(600)]
    model = kate.TextModel(2, max_epochs=1, verbose=False).fit(texts)
    assert model.min_df == "auto"
    assert model.settings_["min_df"] == 2
    assert model.settings_["max_df"] == 1.0


@pytest.mark.parametrize("wrong", [0, -1, 1.5, 0.0, "auto", None, True])
def test_a_max_df_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match="max_df is"):
        most_documents(wrong, 10)


@pytest.mark.parametrize("wrong", [0, "all", None, 1.5, True])
def test_a_min_df_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match="min_df is"):
        least_documents(wrong, 10)


def test_when_nothing_is_left_the_error_names_both():
    with pytest.raises(ValueError, match="lower min_df or raise max_df"):
        Vocabulary.learn(["gold", "gold"], max_df=1)


def test_numbers_of_numpy_are_numbers():
    assert least_documents(np.int64(3), 10) == 3
