"""A few texts are counted as many are: the same counts, whatever they hold."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kate.text import few_texts
from kate.text.few_texts import FewTexts
from kate.text.own_tokenizer import OwnTokenizer
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary

ODD = [
    "",
    "Gold, silver & copper coins!",
    "<b>GOLD</b> &amp; silver https://gold.example/coin",
    "write to gold@silver.example or @copper; WWW.gold.com",
    "don't the miners' gold's 3d 4'x `gold` x2 2x 1792 O'Neill",
    "naïve café, ＧＯＬＤ and g\u00adold; don’t",
    "goooooold " * 3,
    "gold\nsilver\tcopper\u2028coin",
    "x" * 70 + " gold",
    "A I a i gold's'",
]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.learn([*ODD, "gold silver copper coins miners naïve café don't"], min_df=1)[0]


def test_counts_are_those_of_many_texts(vocabulary: Vocabulary) -> None:
    assert FewTexts.are_few(ODD)
    for texts in (ODD, ODD[::-1], [*ODD, *ODD]):
        few = vocabulary.count(texts)
        many = vocabulary.count(pl.Series(texts))
        np.testing.assert_array_equal(few.toarray(), many.toarray())
        assert (few.dtype, few.shape) == (many.dtype, many.shape)
        assert few.has_sorted_indices


@pytest.mark.parametrize(
    "tokenizer",
    [Tokenizer("german"), Tokenizer("turkish"), Tokenizer(None), Tokenizer("zh"), OwnTokenizer(str.split)],
)
def test_any_tokenizer_counts_alike(tokenizer: Tokenizer) -> None:
    texts = ["Die Straßen IŞIK don't gold", "北京大学的学生 gold", *ODD]
    vocabulary, expected = Vocabulary.learn(texts, tokenizer, min_df=1)
    np.testing.assert_array_equal(vocabulary.count(texts).toarray(), expected.toarray())


def test_random_texts_count_alike(vocabulary: Vocabulary) -> None:
    random = np.random.default_rng(0)
    letters = list("goldsiver coin'`1&<@é’.-")
    texts = ["".join(random.choice(letters, size=30)) for _ in range(400)] + ["gold silver"]
    words, _ = Vocabulary.learn(texts, min_df=1)
    np.testing.assert_array_equal(words.count(texts).toarray(), words.count(pl.Series(texts)).toarray())


@pytest.mark.parametrize("phrases", [False, True])
def test_one_text_has_the_counts_of_many(phrases: bool) -> None:
    learned, _ = Vocabulary.learn([*ODD, "new york gold", "new york"] * 5, phrases=phrases)
    assert any(" " in word for word in learned.words) == phrases
    for text in (*ODD, "gold in new york", "gold " * 100_000):
        columns, counts = learned.count_one(text)
        one = learned.count(pl.Series([text]))
        assert (columns.tolist(), counts.tolist()) == (one.indices.tolist(), one.data.tolist())


def test_what_is_remembered_is_bounded(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_texts, "_MOST_REMEMBERED", 5)
    fresh = FewTexts(vocabulary.tokenizer, vocabulary.columns)
    for text in ODD:
        np.testing.assert_array_equal(
            fresh.count([text]).toarray(), vocabulary.count(pl.Series([text])).toarray()
        )
        assert len(fresh._known) <= max(5, len(text.split()) + 5)


@pytest.mark.parametrize(
    "texts", [["gold", "a \ud800 b"], ["gold", None], [["gold"]], ("gold",), ["x" * 200_000]]
)
def test_other_texts_are_left_to_the_others(texts: object) -> None:
    assert not FewTexts.are_few(texts)
