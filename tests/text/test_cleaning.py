"""Markup, addresses and handles go, and what only looks like them stays."""

import polars as pl
import pytest

from kate.text.cleaning import Cleaning

ALL = Cleaning()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a film.<br /><br />It was", "a film. It was"),
        ("<b>bold</b> and <i class='x'>thin</i>", "bold and thin"),
        ("<!-- not\nshown --> shown", "shown"),
        ("<script>var hidden = 1;</script> text <style>p {color: red}</style>", "text"),
        ('<doc id="7">held</doc> <item/>', "held"),
        ("if x <y and z> w", "if x <y and z> w"),
        ("List<String> of <key>", "List<String> of <key>"),
        ("1 < 2 > 0", "1 < 2 > 0"),
        ("Caf&eacute; &amp; bar &#233; &#xe9; AT&T;", "Café & bar é é AT&T;"),
        ("see http://example.org/a?b=c#d now", "see now"),
        ("HTTPS://EXAMPLE.ORG and www.example.org/x end", "and end"),
        ("ftp://host/file ok", "ok"),
        ("write to ann.lee+x@mail.example.co.uk today", "write to today"),
        ("thanks @ann_lee and (@bob)", "thanks and ( )"),
        ("3 @ 5 dollars", "3 @ 5 dollars"),
        ("", ""),
    ],
)
def test_by_hand(text, words):
    assert " ".join(ALL.clean(text).split()) == words


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("strip_html", "<b>x</b> &amp; y"),
        ("strip_urls", "see https://example.org/x"),
        ("strip_emails", "ann@example.org"),
        ("strip_handles", "ask @ann"),
    ],
)
def test_each_option_keeps_its_own(option, text):
    only = Cleaning(**{name: name != option for name in ALL.config()})
    assert only.clean(text) == text
    assert ALL.clean(text) != text


def test_many_texts_are_cleaned_as_each_alone():
    texts = ["plain", "<br>one", "at https://x.org", "ann@x.org", "", "R&amp;D"] * 3
    cleaned = ALL.clean_all(pl.Series(texts))
    assert cleaned.to_list() == [ALL.clean(text) for text in texts]


def test_long_hostile_texts_end_soon():
    for text in (
        "<" * 200_000,
        "&" * 200_000,
        "@" * 200_000,
        "<a " * 50_000,
        "www." * 50_000,
        "a@" * 100_000,
    ):
        assert len(ALL.clean(text)) <= len(text)


@pytest.mark.parametrize(
    ("word", "cut"),
    [
        ("sooooo", "soo"),
        ("aaa", "aaa"),
        ("aaaabbbbb", "aabb"),
        ("ооооо", "оо"),
        ("x" * 500, "xx"),
        ("ab" * 31, ""),
    ],
)
def test_long_runs_are_cut_and_endless_words_go(word, cut):
    assert ALL.clean_words(pl.Series([word, "plain"])).to_list() == [cut, "plain"]
    assert Cleaning(cut_runs=False).clean_words(pl.Series([word])).to_list() == [word]


MARKED = "<span>Sooooo</span> goood, ask @ann or ann@mail.org at https://site.org " + "ab" * 31


def test_the_tokenizer_cleans_and_its_config_says_so():
    from kate.text.tokenizer import Tokenizer

    tokenizer = Tokenizer(language=None)
    assert tokenizer.words(MARKED) == ["soo", "goood", "ask", "or", "at"]
    everything = Tokenizer(language=None, cleaning=Cleaning.off())
    assert {"sooooo", "ann", "mail", "https", "site", "ab" * 31} <= set(everything.words(MARKED))
    assert Tokenizer.from_config(tokenizer.config()) == tokenizer != everything
    # a vocabulary of Kate 0.1 says nothing about cleaning: it had none
    old = {name: value for name, value in tokenizer.config().items() if name != "cleaning"}
    assert Tokenizer.from_config(old) == everything


@pytest.mark.parametrize("option", list(ALL.config()))
def test_counts_and_models_have_each_option(option):
    import kate

    kept = kate.Counts(language=None, **{option: False}).fit([MARKED]).vocabulary_
    assert len(kept) > len(kate.Counts(language=None).fit([MARKED]).vocabulary_)
    model = kate.TextModel(2, language=None, max_epochs=1, **{option: False}).fit([MARKED, "gold coin"])
    assert kept.keys() <= model.vocabulary_.columns.keys()
    assert model.settings_[option] is False


def test_an_unknown_kind_of_cleaning_is_refused():
    with pytest.raises(ValueError, match="strip_html"):
        Cleaning.from_config({"strip_htm": True})
