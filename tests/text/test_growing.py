"""Vocabularies that grow: after every update they are what one pass over all texts would have made."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest

from kate.text.growing import grow, moved_columns
from kate.text.own_tokenizer import OwnTokenizer
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary
from kate.text.waiting_words import WaitingWords

WORDS = [f"{one}{other}" for one in ("gold", "peace", "ship", "school", "law") for other in "bcdfghjklmnp"]


def texts(n: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    often = 1 / np.arange(1, len(WORDS) + 1)
    return [" ".join(random.choice(WORDS, size=6, p=often / often.sum())) for _ in range(n)]


@pytest.mark.parametrize(
    ("size", "min_df", "max_df"), [(None, 1, 1.0), (None, 3, 1.0), (12, 2, 1.0), (20, 1, 0.3)]
)
def test_updates_come_to_one_pass_over_everything(size: int | None, min_df: int, max_df: float) -> None:
    parts = [texts(40, seed) for seed in range(4)]
    vocabulary, _ = Vocabulary.learn(parts[0], vocabulary_size=size, min_df=min_df, max_df=max_df)
    for part in parts[1:]:
        grown = grow(vocabulary, part, size, min_df, max_df)
        vocabulary = grown.after
        np.testing.assert_array_equal(grown.counts.toarray(), vocabulary.count(part).toarray())
    whole, _ = Vocabulary.learn(list(chain(*parts)), vocabulary_size=size, min_df=min_df, max_df=max_df)
    assert vocabulary.words == whole.words
    assert vocabulary.document_frequencies.tolist() == whole.document_frequencies.tolist()
    assert vocabulary.totals.tolist() == whole.totals.tolist()
    assert vocabulary.n_documents == whole.n_documents
    assert vocabulary.waiting is not None
    assert whole.waiting is not None
    assert vocabulary.waiting.lines == whole.waiting.lines


def test_words_enter_and_fade() -> None:
    vocabulary, _ = Vocabulary.learn(["gold coin", "gold coin", "gold treaty"], vocabulary_size=2)
    assert vocabulary.words == ["gold", "coin"]
    grown = grow(vocabulary, ["treaties of peace", "a treaty", "treaty"], 2, 1, 1.0)
    assert grown.after.words == ["treati", "gold"]
    assert (grown.entered, grown.faded) == (["treaty"], ["coin"])
    assert grown.sources.tolist() == [-1, 0]
    assert grown.places.tolist() == [1, -1]
    assert grown.after.waiting is not None
    # what faded waits, and comes back with what it had
    assert grow(grown.after, ["coin"] * 9, 2, 1, 1.0).after.totals.tolist() == [11, 4]


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kate.text.waiting_words.MOST_WAITING", 3)
    vocabulary, _ = Vocabulary.learn(["gold gold"], vocabulary_size=1)
    grown = grow(vocabulary, ["a silver coin silver coin peace treaty bank"], 1, 1, 1.0)
    assert grown.after.waiting is not None
    assert grown.after.waiting.rows["stem"].to_list() == ["gold", "silver", "bank"]


def test_a_vocabulary_of_a_file_without_waiting_words_grows_too() -> None:
    vocabulary, _ = Vocabulary.learn(["gold coin"])
    loaded = Vocabulary.from_lines(vocabulary.to_lines(), vocabulary.config())
    assert loaded.waiting is None
    assert grow(loaded, ["peace"], None, 1, 1.0).entered == ["peace"]


def test_phrases_are_counted_on_and_no_new_ones_are_made() -> None:
    some = ["new york is a city of new jersey"] * 12
    vocabulary, _ = Vocabulary.learn([*some, "york peppermint", "gold"], phrases=True)
    assert "new york" in vocabulary.words
    before = vocabulary.totals[vocabulary.words.index("new york")]
    grown = grow(vocabulary, ["the new york post"] * 3 + ["gold coin gold coin"] * 12, None, 1, 1.0).after
    assert grown.totals[grown.words.index("new york")] == before + 3
    assert "gold coin" not in grown.words


def test_columns_that_the_user_named_stay() -> None:
    vocabulary = Vocabulary.of_counts([[2, 0], [1, 3]], ["gold", "coin"])
    grown = grow(vocabulary, ["coin coin treaty"], 1, 1, 1.0)
    assert grown.after.words == ["gold", "coin"]
    assert grown.after.totals.tolist() == [3, 5]
    assert (grown.entered, grown.faded) == ([], [])
    assert Vocabulary.from_lines(grown.after.to_lines(), grown.after.config()).is_fixed


def test_words_of_ones_own() -> None:
    vocabulary, _ = Vocabulary.learn(["new york,gold"], OwnTokenizer(lambda text: text.split(",")))
    grown = grow(vocabulary, ["new york,new jersey"], None, 1, 1.0)
    assert grown.after.words == ["new york", "gold", "new jersey"]
    assert grown.counts.toarray().tolist() == [[1, 0, 1]]


GERMAN = [
    "der Hund und die Katze sind nicht in dem Haus und das ist auf der Straße mit einem Ball zu sehen"
] * 5


def test_another_language_is_refused() -> None:
    vocabulary, _ = Vocabulary.learn(texts(20, 0), Tokenizer("english"))
    with pytest.raises(ValueError, match=r"look German \(.*\), and the model reads English"):
        grow(vocabulary, GERMAN, None, 1, 1.0)
    with pytest.raises(ValueError, match="look Japanese, and the model reads English"):
        grow(vocabulary, ["今日は天気がいいですね", "映画を見ました"], None, 1, 1.0)


def test_a_model_that_was_made_of_it_goes_on() -> None:
    with pytest.warns(UserWarning, match="stop words of German"):
        vocabulary, _ = Vocabulary.learn(GERMAN, Tokenizer("english"))
    assert grow(vocabulary, GERMAN, None, 1, 1.0).after.n_documents == 10


@pytest.mark.parametrize("nothing", [[], iter(())])
def test_no_documents(nothing: object) -> None:
    vocabulary, _ = Vocabulary.learn(["gold"])
    with pytest.raises(ValueError, match="there are no new documents"):
        grow(vocabulary, nothing, None, 1, 1.0)  # type: ignore[arg-type]


def test_a_damaged_file_of_waiting_words_is_told() -> None:
    for lines in (b"coin\tcoins\tone\t2\n", b"coin\n"):
        with pytest.raises(ValueError, match="the words that wait for a column cannot be read"):
            _ = WaitingWords(lines).rows
    assert len(WaitingWords().rows) == 0


def test_moved_columns_keep_rows_without_entries() -> None:
    vocabulary, X = Vocabulary.learn(["gold coin", "peace", "gold"])
    assert vocabulary.words == ["gold", "coin", "peac"]
    moved = moved_columns(X, np.array([1, -1, -1]), 2)
    assert moved.toarray().tolist() == [[0, 1], [0, 0], [0, 1]]
