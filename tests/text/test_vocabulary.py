"""Vocabulary: order, readable forms, counts, lookups, round trip, on corpora that can be counted by hand."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kate.text import counting, text_batches
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary

TEXTS = [
    "The company and other companies: a Company!",  # company 2, companies 1
    "companies trade; trading is a trade",  # companies 1, trade 2, trading 1
    "zebra apple zebra apple",
    "",
]


def test_words_are_ordered_by_count_then_alphabet_and_counted() -> None:
    vocabulary, counts = Vocabulary.learn(TEXTS)
    assert vocabulary.words == ["compani", "trade", "appl", "zebra"]
    assert counts.toarray().tolist() == [[3, 0, 0, 0], [1, 3, 0, 0], [0, 0, 2, 2], [0, 0, 0, 0]]
    assert vocabulary.totals.tolist() == [4, 3, 2, 2]
    assert vocabulary.document_frequencies.tolist() == [2, 1, 1, 1]
    assert vocabulary.n_documents == 4
    assert len(vocabulary) == 4


def test_readable_forms_are_the_most_frequent_words_ties_by_alphabet() -> None:
    vocabulary, _ = Vocabulary.learn(TEXTS)
    assert vocabulary.readable == ["companies", "trade", "apple", "zebra"]  # 2 x company, 2 x companies
    vocabulary, _ = Vocabulary.learn([*TEXTS, "company"])
    assert vocabulary.readable[0] == "company"


def test_counts_are_32_bit_with_sorted_columns() -> None:
    _, counts = Vocabulary.learn(["zebra apple pear pear", "pear zebra"])
    assert counts.dtype == counts.indices.dtype == counts.indptr.dtype == np.int32
    assert counts.has_sorted_indices
    assert counts.has_canonical_format


def test_counting_the_training_texts_again_gives_the_same() -> None:
    vocabulary, counts = Vocabulary.learn(TEXTS, vocabulary_size=3)
    again = vocabulary.count(TEXTS)
    assert (counts != again).nnz == 0
    assert again.dtype == np.int32


def test_unknown_words_are_passed_over_and_no_texts_are_no_rows() -> None:
    vocabulary, _ = Vocabulary.learn(TEXTS)
    assert vocabulary.count(["unheard of"]).nnz == 0
    assert vocabulary.count([]).shape == (0, 4)


@pytest.mark.parametrize(
    ("size", "min_df", "words"),
    [
        (None, 1, ["compani", "trade", "appl", "zebra"]),
        (10**30, 1, ["compani", "trade", "appl", "zebra"]),
        (3, 1, ["compani", "trade", "appl"]),  # the tie goes to the first in the alphabet
        (None, 2, ["compani"]),
        (None, 0.5, ["compani"]),
        (None, 0.25, ["compani", "trade", "appl", "zebra"]),
        (1, 0.0, ["compani"]),
    ],
)
def test_size_and_min_df_choose_the_words(size: int | None, min_df: float, words: list[str]) -> None:
    vocabulary, counts = Vocabulary.learn(TEXTS, vocabulary_size=size, min_df=min_df)
    assert vocabulary.words == words
    assert counts.shape == (4, len(words))
    assert (counts != vocabulary.count(TEXTS)).nnz == 0


def test_min_df_does_not_take_places_away_from_words_that_stay() -> None:
    vocabulary, _ = Vocabulary.learn(
        ["rare rare rare rare", "common word", "common word"], vocabulary_size=1, min_df=2
    )
    assert vocabulary.words == ["common"]


def test_a_share_that_is_a_whole_number_of_documents_is_not_rounded_up() -> None:
    texts = ["seven"] * 7 + ["other"] * 93  # 0.07 * 100 is a little more than 7 in floating point
    assert "seven" in Vocabulary.learn(texts, min_df=0.07)[0].words


@pytest.mark.parametrize("n_jobs", [1, 2, 4, None])
@pytest.mark.parametrize("batch_size", [1, 40, 10**6])
def test_batches_and_threads_do_not_change_the_result(
    monkeypatch: pytest.MonkeyPatch, n_jobs: int | None, batch_size: int
) -> None:
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdeé'"))
    texts = [" ".join("".join(rng.choice(letters, 4)) for _ in range(rng.integers(20))) for _ in range(60)]
    expected, expected_counts = Vocabulary.learn(texts, min_df=2, n_jobs=1)
    monkeypatch.setattr(text_batches, "CHARACTERS_AT_ONCE", batch_size)
    monkeypatch.setattr(counting, "BATCHES_AT_ONCE", 3)
    for given in (texts, pl.Series(texts), iter(texts)):
        vocabulary, counts = Vocabulary.learn(given, min_df=2, n_jobs=n_jobs)
        assert list(vocabulary.to_lines()) == list(expected.to_lines())
        assert (counts != expected_counts).nnz == 0
    assert (vocabulary.count(iter(texts), n_jobs) != expected_counts).nnz == 0


def test_find_takes_a_word_in_any_form() -> None:
    vocabulary, _ = Vocabulary.learn(TEXTS)
    assert [vocabulary.find(word) for word in ("companies", "Company", "compani", " company's ")] == [0] * 4
    assert vocabulary.find("zeppelin") is None
    assert vocabulary.find("the") is None
    assert vocabulary.find("") is None
    assert vocabulary.find("caf\udce9") is None


def test_find_knows_a_stem_that_is_not_its_own_stem() -> None:
    vocabulary, _ = Vocabulary.learn(["generalizations"], Tokenizer("porter"))
    assert vocabulary.find(vocabulary.words[0]) == 0


def test_suggest_names_words_that_look_alike() -> None:
    vocabulary, _ = Vocabulary.learn(TEXTS)
    assert vocabulary.suggest("Zebar") == ["zebra"]
    assert vocabulary.suggest("compagnies", n=1) == ["companies"]
    assert vocabulary.suggest("qqqq") == []
    assert vocabulary.suggest("zebar compagnies zebar", n=1) == ["zebra", "companies"]


def test_suggestions_for_thousands_of_unknown_words_take_no_time() -> None:
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlu"))
    words = ["".join(rng.choice(letters, 8)) for _ in range(22_000)]
    vocabulary, _ = Vocabulary.learn([" ".join(words[:20_000])], Tokenizer(None))
    start = time.process_time()
    found = vocabulary.suggest(" ".join(words[20_000:]))
    assert time.process_time() - start < 2  # of processor time; difflib for every word takes a minute
    assert found and set(found) <= set(vocabulary.readable)


def test_another_stemmer_than_the_one_it_was_learned_with_is_named() -> None:
    vocabulary, _ = Vocabulary.learn(TEXTS)
    config = json.loads(json.dumps(vocabulary.config()))
    config["tokens"]["stemmer"] = "PyStemmer 0.1"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Vocabulary.from_lines(vocabulary.to_lines(), config)
    lines = [line.replace("trade\ttrade", "trad\ttrade") for line in vocabulary.to_lines()]
    with pytest.warns(UserWarning, match=r"1 of 4 words .*'trade': 'trade', was 'trad'.* PyStemmer 0\.1"):
        Vocabulary.from_lines(lines, config)


@pytest.mark.parametrize(
    "tokenizer", [Tokenizer(), Tokenizer("german", stop_words=("über", "it's")), Tokenizer(None)]
)
def test_lines_and_config_bring_everything_back(tmp_path: Path, tokenizer: Tokenizer) -> None:
    texts = ["Straße über Straße", "can't stop l'été", "हिन्दी 漢字漢字"]
    vocabulary, counts = Vocabulary.learn(texts, tokenizer)
    file = tmp_path / "vocabulary.txt"
    file.write_text("\n".join(vocabulary.to_lines()) + "\n", encoding="utf-8")
    config = json.loads(json.dumps(vocabulary.config()))
    with file.open(encoding="utf-8") as lines:
        loaded = Vocabulary.from_lines(lines, config)
    assert list(loaded.to_lines()) == list(vocabulary.to_lines())
    assert loaded.tokenizer == tokenizer
    assert loaded.n_documents == 3
    assert (loaded.count(texts) != counts).nnz == 0


def test_a_damaged_line_is_named() -> None:
    with pytest.raises(ValueError, match="vocabulary, line 2: expected stem, readable form"):
        Vocabulary.from_lines(
            ["a\ta\t1\t1", "b\tb\tone\t1"], {"n_documents": 1, "tokens": Tokenizer().config()}
        )


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ([], {}, "no documents to learn a vocabulary from"),
        (["the a 12", ""], {}, r"empty vocabulary: the 2 documents hold no words .* or pass stop_words=\(\)"),
        (["one apple", "two pears"], {"min_df": 2}, "none of the 3 words occurs in 2 of the 2.*lower min_df"),
        (["apple"], {"min_df": 0}, "min_df is 0"),
        (["apple"], {"min_df": 1.5}, r"min_df is 1\.5"),
        (["apple"], {"vocabulary_size": 0}, "vocabulary_size is 0"),
        (["apple"], {"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_what_cannot_be_learned_says_why(texts: list[str], options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Vocabulary.learn(texts, **options)


def test_a_fitted_vocabulary_needs_neither_scikit_learn_nor_numba() -> None:
    code = (
        "import sys, kate.text.vocabulary as v; v.Vocabulary.learn(['apple'])[0].count(['apple']);"
        "sys.exit(str([m for m in ('sklearn', 'numba', 'torch', 'pandas') if m in sys.modules] or ''))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
