"""Words that the user makes: a function, lists of words, counts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

import kate
from kate.text.own_tokenizer import OwnTokenizer
from kate.text.vocabulary import Vocabulary

TEXTS = ["Gold, new york, Gold", "silver, new york", "gold, silver"] * 4
LISTS = [text.split(", ") for text in TEXTS]
QUICK = {"max_epochs": 1, "verbose": False}


def at_commas(text: str) -> list[str]:
    return text.split(", ")


def test_a_function_makes_the_words_and_nothing_is_changed():
    counts = kate.Counts(tokenizer=at_commas)
    X = counts.fit_transform(TEXTS)
    assert counts.vocabulary_.keys() == {"Gold", "gold", "silver", "new york"}
    assert X[0, counts.vocabulary_["Gold"]] == 2
    assert (counts.transform(TEXTS) != X).nnz == 0
    assert clone(counts).tokenizer is at_commas


@pytest.mark.parametrize("kind", [list, tuple, np.array, pl.Series])
def test_lists_of_words_are_taken_as_they_are(kind):
    lists = [kind(words) for words in LISTS] if kind is not pl.Series else pl.Series(LISTS)
    counts = kate.Counts()
    X = counts.fit_transform(lists)
    expected = kate.Counts(tokenizer=at_commas)
    assert (expected.fit_transform(TEXTS) != X).nnz == 0
    assert counts.vocabulary_ == expected.vocabulary_
    assert (counts.transform(lists) != X).nnz == 0


def test_strings_for_a_vocabulary_of_lists_are_cut_at_white_space():
    vocabulary, _ = Vocabulary.learn(LISTS)
    assert vocabulary.count(["silver  Gold Gold gold!"]).sum() == 3
    assert vocabulary.find("new york") is not None
    assert Vocabulary.from_lines(vocabulary.to_lines(), vocabulary.config()).count([["new york"]]).sum() == 1


def test_words_of_strings_read_lists_too():
    vocabulary, _ = Vocabulary.learn(["companies and offices"])
    assert vocabulary.count([["Company", "the", "office"]]).toarray().tolist() == [[1, 1]]


@pytest.mark.parametrize(
    "texts", [[["gold"], "silver"], ["gold", ["silver"]], [["gold", 3]], [["gold"], None]]
)
def test_strings_and_lists_do_not_mix(texts):
    with pytest.raises(TypeError, match="every document must be a str"):
        Vocabulary.learn(texts)


def test_white_space_inside_a_word_does_not_break_the_saved_lines():
    vocabulary, _ = Vocabulary.learn([["new\tyork", "a\nb", " ", ""]])
    assert sorted(vocabulary.words) == ["a b", "new york"]
    assert Vocabulary.from_lines(vocabulary.to_lines(), vocabulary.config()).words == vocabulary.words


@pytest.mark.parametrize("wrong", [lambda text: text, lambda text: [1], lambda text: None])
def test_what_the_function_gives_is_checked(wrong):
    with pytest.raises(TypeError, match="expected a list of str"):
        Vocabulary.learn(["gold"], OwnTokenizer(wrong))


def test_a_tokenizer_that_is_no_function_is_refused():
    with pytest.raises(TypeError, match="give a function"):
        kate.Counts(tokenizer="spacy").fit(["gold"])


def test_a_saved_model_asks_for_its_function(tmp_path):
    model = kate.TextModel(2, tokenizer=at_commas, **QUICK).fit(TEXTS)
    model.save(tmp_path / "model")
    with pytest.raises(
        ValueError, match=r"test_own_words\.at_commas.*kate\.load\(folder, tokenizer=\.\.\.\)"
    ):
        kate.load(tmp_path / "model")
    again = kate.load(tmp_path / "model", tokenizer=at_commas)
    np.testing.assert_array_equal(again.encode(TEXTS), model.encode(TEXTS))
    assert again.tokenizer is at_commas
    assert again.settings_["tokenizer"].endswith("at_commas")
    again.save(tmp_path / "again")


def test_a_function_for_a_model_without_one_is_refused(tmp_path):
    kate.TextModel(2, **QUICK).fit(TEXTS).save(tmp_path / "model")
    with pytest.raises(ValueError, match="leave tokenizer out"):
        kate.load(tmp_path / "model", tokenizer=at_commas)


def test_a_model_of_lists_needs_no_function(tmp_path):
    model = kate.TextModel(2, **QUICK).fit(LISTS)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(kate.load(tmp_path / "model").encode(LISTS), model.encode(LISTS))
    assert kate.Index.build(model, LISTS).search("silver", top=1)[0].rank == 1


def test_counts_of_scikit_learn_and_its_analyzer():
    texts = ["Gold coins of New York", "gold and silver", "the peace treaty", "a treaty of peace"] * 5
    vectorizer = CountVectorizer(ngram_range=(1, 2))
    X = vectorizer.fit_transform(texts)
    model = kate.TextModel(2, tokenizer=vectorizer.build_analyzer(), **QUICK)
    model.fit_counts(X, vectorizer.get_feature_names_out())
    np.testing.assert_allclose(model.encode(texts), model.encoder_.encode(X), atol=1e-6)
    assert model.similar_words("new york", top=2)
    assert model.n_documents_ == 20


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a"], "1 words for 2 columns"),
        (["a", "a"], "'a' names several"),
        (["a", 3], "every word must be a str"),
    ],
)
def test_the_words_of_counts_are_checked(words, message):
    with pytest.raises(ValueError, match=message):
        kate.TextModel(2).fit_counts([[1, 2], [3, 4]], words)
