"""Words of a text: what is one, what is dropped, how it is stemmed, in many scripts."""

from __future__ import annotations

import random
import re
import time
import unicodedata

import polars as pl
import pytest
import Stemmer

from kate.text.cleaning import Cleaning
from kate.text.languages import languages
from kate.text.stopwords import ENGLISH, stop_words_of
from kate.text.tokenizer import Tokenizer

plain = Tokenizer(language=None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("in 1984 and 42 b2b 3d", ["in", "and", "b2b", "3d"]),
        ("a b c x1", ["x1"]),
        ("snake_case __init__", ["snake", "case", "init"]),
        ("state-of-the-art", ["state", "of", "the", "art"]),
        ("", []),
        ("12 ½ x² 😀 👩‍👩‍👧 1️⃣ …", []),
        ("I ❤️ emoji😀here", ["emoji", "here"]),
    ],
)
def test_words_are_runs_of_letters_and_digits(text: str, words: list[str]) -> None:
    assert plain.words(text) == words


@pytest.mark.parametrize("apostrophe", "'’‘ʼ＇`´")
def test_apostrophes_leave_no_junk_whatever_they_look_like(apostrophe: str) -> None:
    text = "The company's dogs' bone: don't, won't, isn't, we'll, they've, you're, I'd, I'm, O'Brien".replace(
        "'", apostrophe
    )
    assert Tokenizer(stem=False).words(text) == ["company", "dogs", "bone", "brien"]


def test_a_contraction_that_is_no_stop_word_stays_whole() -> None:
    assert plain.words("Don't ask Don's friends") == ["don't", "ask", "don", "friends"]


def test_own_stop_words_made_of_fragments_still_catch_contractions() -> None:
    assert Tokenizer(stop_words=["don", "t", "they"]).words("don't they'll win") == ["win"]


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("french", "Aujourd’hui, l'homme qu'il aime d’école lorsqu'elle", ["homme", "aime", "école"]),
        ("italian", "L'amore dell'arte", ["amore", "arte"]),
        ("catalan", "El col·legi", ["col·legi"]),
        ("german", "Wie geht's der STRASSE und der Straße?", ["geht", "strasse", "straße"]),
        ("turkish", "IŞIK İstanbul ılık", ["ışık", "istanbul", "ılık"]),
        ("english", "İstanbul ISTANBUL", ["istanbul", "istanbul"]),
        ("arabic", "الكتاب المدرسة", ["الكتاب", "المدرسة"]),
        ("hindi", "हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("russian", "Ёлка и КОШКА", ["ёлка", "кошка"]),
        ("persian", "کتاب\u200cها", ["کتاب\u200cها"]),
        ("greek", "Ο ΛΌΓΟΣ", ["λόγος"]),
    ],
)
def test_languages_without_stems(language: str, text: str, words: list[str]) -> None:
    assert Tokenizer(language, stem=False).words(text) == words


@pytest.mark.parametrize(
    ("language", "text", "stems"),
    [
        ("english", "companies company generously", ["compani", "compani", "generous"]),
        ("porter", "companies company generously", ["compani", "compani", "gener"]),
        ("german", "Straßen STRASSE", ["strass", "strass"]),
        ("spanish", "canciones", ["cancion"]),
        ("persian", "کتاب\u200cها", ["کتاب"]),
        (None, "companies", ["companies"]),
    ],
)
def test_stems(language: str | None, text: str, stems: list[str]) -> None:
    assert Tokenizer(language).words(text) == stems


@pytest.mark.parametrize("language", Stemmer.algorithms())
def test_every_language_of_the_stemmer_works(language: str) -> None:
    assert Tokenizer(language).words("telefon42 telefon42") == Tokenizer(language).words(
        "TELEFON42 Telefon42"
    )
    assert language in languages()


def test_stop_words_are_removed_before_stemming() -> None:
    # "does" is a stop word, "doe" is not, and both have the stem "doe"
    assert Tokenizer().words("she does see a doe") == ["see", "doe"]


def test_stop_words_of_the_caller_replace_those_of_the_language() -> None:
    assert Tokenizer(stem=False, stop_words=["Whale"]).words("the WHALE swims") == ["the", "swims"]
    assert Tokenizer(stem=False, stop_words=()).words("the whale") == ["the", "whale"]


def test_stop_words_come_with_the_language() -> None:
    assert {"the", "don't", "don", "doesn", "isn", "ll", "ve", "re"} <= ENGLISH
    assert stop_words_of("porter") == ENGLISH
    assert "nicht" in stop_words_of("german")
    assert stop_words_of("dutch_porter") == stop_words_of("dutch") != frozenset()
    assert stop_words_of("tamil") == frozenset()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("café", "cafe\u0301"),  # one code point and two
        ("financial", "ﬁnancial"),  # a ligature from a PDF
        ("document", "docu\u00adment"),  # a soft hyphen
        ("wide", "ｗｉｄｅ"),
        ("क्षत्रिय", "क\u094d\u200dषत्रिय"),  # a joiner inside a conjunct
    ],
)
def test_spellings_that_look_alike_are_one_word(first: str, second: str) -> None:
    assert plain.words(first) == plain.words(second)
    assert len(plain.words(first)) == 1


def test_a_ligature_that_stands_for_a_phrase_is_one_word_without_spaces() -> None:
    assert plain.words("ﷺ abc") == ["abc"]  # a single character is no word
    assert all(" " not in word for word in plain.words("ﷺﷺ"))


def test_unknown_language_names_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match=r"no language is named 'qqq': choose from afrikaans, .*english.* and 1\d more"
    ):
        Tokenizer("qqq")


def test_a_string_of_stop_words_is_refused() -> None:
    with pytest.raises(ValueError, match="give a list of words"):
        Tokenizer(stop_words="english")
    with pytest.raises(ValueError, match=r"stop_words holds 3 \(int\); every stop word must be a str"):
        Tokenizer(stop_words=["the", 3])


def test_settings_survive_a_round_trip() -> None:
    for tokenizer in (
        Tokenizer(),
        Tokenizer(None),
        Tokenizer("porter", stem=False),
        Tokenizer(stop_words={"b", "a"}),
    ):
        assert Tokenizer.from_config(tokenizer.config()) == tokenizer


@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        ("ab" + "'s" * 990, ["ab"]),
        ("ab" + "'s" * 300_000, ["ab"]),
        ("ab" + "'ll've" * 2000 + "'x", ["ab", *["ll", "ve"] * 2000]),
        ("ab" + "·s" * 300_000, ["ab"]),
        ("ab" + "·" * 300_000 + "cd", ["ab", "cd"]),
        ("ab" + "'" * 300_000 + "cd", ["ab", "cd"]),
        ("l'" * 300_000 + "ab", ["ab"]),
    ],
    ids=lambda value: value[:6] if isinstance(value, str) else "",
)
def test_a_chunk_of_endless_apostrophes_is_split_in_linear_time(chunk: str, words: list[str]) -> None:
    start = time.process_time()
    assert plain.words(chunk) == words
    assert time.process_time() - start < 5  # of processor time; a quadratic way takes minutes


def test_what_is_in_force_is_saved_not_the_name_of_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    config = Tokenizer().config()
    monkeypatch.setattr("kate.text.tokenizer.stop_words_of", lambda language: frozenset({"whale"}))
    loaded = Tokenizer.from_config(config)
    assert loaded.words("the whale swims") == ["whale", "swim"]
    assert loaded.config() == config
    assert loaded != Tokenizer()


def test_a_config_of_kate_0_1_takes_the_list_of_the_language() -> None:
    config = {"language": "english", "stem": True, "stop_words": None}
    assert Tokenizer.from_config(config) == Tokenizer(cleaning=Cleaning.off())


def slow_words(text: str) -> list[str]:
    """The definition without stop words and stems, character by character."""
    letters = {"Lu", "Ll", "Lt", "Lm", "Lo"}
    inside = letters | {"Mn", "Mc", "Me", "Nd"}
    runs, run = [], ""
    for character in text + " ":
        starts = unicodedata.category(character) in letters | {"Nd"}
        if starts or (run and (unicodedata.category(character) in inside or character in "'’\u00ad")):
            run += character
        else:
            runs.append(run)
            run = ""
    words: list[str] = []
    for found in runs:
        word = found.replace("’", "'").rstrip("'").replace("\u00ad", "")
        word = unicodedata.normalize("NFKC", word).replace("İ", "i").lower().replace("i\u0307", "i")
        while match := re.fullmatch("(.+)'(s|d|m|ll|ve|re)", word):
            word = match[1]
        words += [word] if word.endswith("'t") else word.split("'")
    return [word for word in words if len(word) > 1 and any(unicodedata.category(c) in letters for c in word)]


def test_the_fast_way_agrees_with_the_definition_on_random_text() -> None:
    rng = random.Random(0)
    alphabet = "aAbstdeéßİıñ ωΣ жЖ مكت हिंदी 漢字 12٣_-.’'\u0301\u00ad😀\n"
    texts = ["".join(rng.choices(alphabet, k=rng.randrange(60))) for _ in range(300)]
    for text in texts:
        assert plain.words(text) == slow_words(text), repr(text)


def test_resolve_says_which_chunk_a_word_comes_from() -> None:
    table = (
        Tokenizer().resolve(pl.Series(["the", "Company’s", "rock'n'roll"])).sort("chunk", maintain_order=True)
    )
    assert table.rows() == [(1, "company", "compani"), (2, "rock", "rock"), (2, "roll", "roll")]
