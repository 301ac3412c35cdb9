"""Queries: what is asked for, what must occur and what must not."""

from __future__ import annotations

import pytest

from kate.search.query import Query, QueryError
from kate.search.search_words import search_tokenizer
from kate.text.tokenizer import Tokenizer

TOKENIZER = search_tokenizer(Tokenizer())
STOP = Tokenizer().stop_list


def read(query: str) -> Query:
    return Query.read(query, TOKENIZER, STOP)


@pytest.mark.parametrize(
    ("query", "words", "phrases", "without"),
    [
        ("gold coins", ["gold", "coin"], [], []),
        ("gold and the silver", ["gold", "silver"], [], []),
        ('"gold and silver" coins', ["gold", "silver", "coin"], [("gold", "and", "silver")], []),
        ('"gold"', ["gold"], [("gold",)], []),
        ("gold -silver", ["gold"], [], [("silver",)]),
        ('gold -"free silver"', ["gold"], [], [("free", "silver")]),
        ("“gold bug”", ["gold", "bug"], [("gold", "bug")], []),
        ("well-known 1,000", ["well", "known", "1000"], [], []),
        ("gold - silver", ["gold", "silver"], [], []),
        ("gold gold Gold", ["gold"], [], []),
    ],
)
def test_what_a_query_says(query: str, words: list[str], phrases: list, without: list) -> None:
    asked = read(query)
    assert list(asked.words) == words
    assert asked.phrases == tuple(phrases)
    assert asked.without == tuple(without)
    assert "-" not in asked.text.replace("well-known", "").replace(" - ", "")


def test_only_stop_words_are_looked_for_when_there_is_nothing_else() -> None:
    assert list(read("to be or not").words) == ["to", "be", "or", "not"]
    assert read('"to be" gold').phrases == (("to", "be"),)


def test_words_written_as_one_are_kept_together() -> None:
    assert read("F-16 and U.S. gold").joined == (("f", "16"), ("u", "s"))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "the query is empty"),
        (" \t\n", "the query is empty"),
        ("-gold", "only what to leave out"),
        ('-gold -"free silver"', "only what to leave out"),
        ('"gold and silver', "without its partner"),
        ('gold" "silver"', "without its partner"),
        ("!?", "has no word"),
        ('""', "has no word"),
    ],
)
def test_a_query_that_asks_for_nothing_is_refused(query: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        read(query)


def test_a_long_query_is_shown_in_part() -> None:
    with pytest.raises(QueryError) as caught:
        read('"' + "gold " * 10_000)
    assert len(str(caught.value)) < 250


def test_bytes_that_are_no_text_do_no_harm() -> None:
    assert list(read("gold \udcff").words) == ["gold"]
