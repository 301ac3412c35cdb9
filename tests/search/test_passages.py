"""Passages: around the words of the query, marked, and harmless to a terminal."""

from __future__ import annotations

import pytest

from kate.search.passages import Passage, on_one_line, passages
from kate.search.search_words import StemCache, search_tokenizer
from kate.text.own_tokenizer import OwnTokenizer
from kate.text.tokenizer import Tokenizer

STEMS = StemCache(search_tokenizer(Tokenizer()))


def passage(text: str, *stems: str) -> Passage:
    [found] = passages([text], set(stems), STEMS)
    assert len(found.text) < 220
    return found


def marked(found: Passage) -> list[str]:
    return [found.text[start:end] for start, end in found.marks]


def test_the_passage_with_most_of_the_words_is_shown() -> None:
    text = "Gold alone. " + "Nothing here. " * 40 + "Then gold and silver coins. " + "Nothing more. " * 40
    found = passage(text, "gold", "silver", "coin")
    assert marked(found) == ["gold", "silver", "coins"]
    assert found.text.startswith("…")
    assert found.text.endswith("…")
    assert "Then gold and silver coins." in found.text


def test_a_short_text_is_shown_whole() -> None:
    assert passage("A silver coin.", "silver") == Passage("A silver coin.", ((2, 8),))
    assert passage("A silver coin.") == Passage("A silver coin.", ())
    assert passage("", "gold") == Passage("", ())


def test_without_a_match_the_beginning_is_shown() -> None:
    found = passage("word " * 100, "gold")
    assert found.text == ("word " * 40)[:-1] + "…"


def test_a_match_at_the_end_fills_the_passage() -> None:
    found = passage("filler words here " * 30 + "gold", "gold")
    assert marked(found) == ["gold"]
    assert len(found.text) > 150
    assert found.text.endswith("gold")


def test_a_text_without_spaces_is_cut() -> None:
    assert passage("x" * 5_000, "gold").text == "x" * 200 + "…"
    assert len(passage("ab'" * 50_000 + " gold", "gold").text) < 220


def test_markup_is_not_shown() -> None:
    assert passage("A <b>silver</b> coin<br />&amp; gold", "gold").text == "A silver coin & gold"


@pytest.mark.parametrize("control", ["\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\r", "\x00"])
def test_nothing_that_a_terminal_obeys_is_shown(control: str) -> None:
    found = passage(f"gold {control}[31m {control} silver", "gold", "silver")
    assert control not in found.text
    assert marked(found) == ["gold", "silver"]
    assert control not in on_one_line(f"a{control}b")


def test_words_that_the_user_makes_are_marked_too() -> None:
    own = StemCache(search_tokenizer(OwnTokenizer()))
    [found] = passages(["The New-York Times"], {"New-York"}, own)
    assert marked(found) == ["New-York"]


def test_languages_without_spaces_are_marked_too() -> None:
    chinese = StemCache(search_tokenizer(Tokenizer("zh")))
    [found] = passages(["我喜欢看电影"], {"电影"}, chinese)
    assert marked(found) == ["电影"]


def test_the_cache_forgets_when_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kate.search.search_words._CHUNKS_KEPT", 3)
    cache = StemCache(search_tokenizer(Tokenizer()))
    for text in ("one two three four five", "six seven one", "coins"):
        assert cache.stems_of(text.split())[text.split()[-1]]
    assert cache.stems_of(["coins"])["coins"] == ("coin",)
