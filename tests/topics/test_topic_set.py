"""Topics as users work with them: a table, labels and documents of any kind of corpus, and questions that are wrong."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from kate import Documents, TextModel, load
from kate.model.encoder import EmptyDocumentsWarning
from topics.four_themes import THEMES, dated_frame, fitted, themed_texts


@pytest.fixture(scope="module")
def model() -> TextModel:
    return fitted()


def test_four_themes_are_four_topics(model: TextModel) -> None:
    topics = model.topics(4)
    found = {
        next(name for name, words in THEMES.items() if set(topic.words) <= set(words)) for topic in topics
    }
    assert found == set(THEMES)
    assert len({topic.name for topic in topics}) == 4
    assert sum(topic.share for topic in topics) == pytest.approx(1)
    assert (len(topics), topics.numbers, 3 in topics, 4 in topics) == (4, [0, 1, 2, 3], True, False)


def test_a_number_that_was_asked_for_has_no_reason_and_another_says_why(model: TextModel) -> None:
    assert model.topics(4).reason is None
    suggested = model.topics()
    assert suggested.reason is not None
    assert f"{len(suggested)} topics" in suggested.reason


def test_the_table_of_topics(model: TextModel) -> None:
    frame = model.topics(4).to_frame(top=3)
    assert frame.columns == ["topic", "name", "share", "coherence", "coverage", "words", "weights"]
    assert frame["words"].list.len().to_list() == [3] * 4
    assert frame["share"].is_sorted(descending=True)
    assert "</td>" in model.topics(4)._repr_html_()
    assert str(model.topics(4)).splitlines()[0].split()[:3] == ["topic", "share", "coherence"]


def test_topics_are_sorted(model: TextModel) -> None:
    topics = model.topics(6)
    assert [topic.number for topic in topics.sorted_by("topic")] == list(range(6))
    shares = [topic.share for topic in topics.sorted_by("share")]
    assert shares == sorted(shares, reverse=True)
    with pytest.raises(ValueError, match="cannot sort topics by 'size'"):
        topics.sorted_by("size")  # type: ignore[arg-type]


def test_equals_are_sorted_by_number(model: TextModel) -> None:
    assert [topic.number for topic in model.topics(4).sorted_by("share")] == [0, 1, 2, 3]


@pytest.mark.parametrize("number", [4, -1, True, "3", 1.0, None])
def test_a_topic_that_is_not_there_is_refused(model: TextModel, number: Any) -> None:
    topics = model.topics(4)
    message = "there is no topic|is not the number of a topic"
    with pytest.raises(ValueError, match=message):
        _ = topics[number]
    with pytest.raises(ValueError, match=message):
        topics.documents(number, ["gold"])
    assert topics[np.int64(3)].number == 3


@pytest.mark.parametrize("n", [0, -1, True, 2.0, "5"])
def test_a_number_of_topics_that_is_none_is_refused(model: TextModel, n: Any) -> None:
    with pytest.raises(ValueError, match="expected a whole number of topics"):
        model.topics(n)
    with pytest.raises(ValueError, match="expected a whole number of topics"):
        model.topic_tree(n)


def test_more_topics_than_small_groups_are_refused(model: TextModel) -> None:
    most = model.topics(4)._space.tree.n_leaves
    assert len(model.topics(most)) == most
    with pytest.raises(ValueError, match=f"at most {most} small groups of documents"):
        model.topics(most + 1)


def test_labels_of_texts_frames_and_documents_agree(model: TextModel) -> None:
    frame = dated_frame(12)
    expected = model.topics(4).label(frame["body"].to_list())["topic"].to_list()
    assert expected == list(range(4)) * 3 or len(set(expected[:4])) == 4
    labelled = model.topics(4).label(frame)
    assert labelled.columns == ["date", "body", "author", "topic", "topic_name", "topic_share"]
    assert labelled["topic"].to_list() == expected
    assert labelled["topic_share"].is_between(0, 1).all()
    assert model.label(frame, n=4).equals(labelled)
    assert model.topics(4).label(Documents.from_texts(frame["body"]))["topic"].to_list() == expected
    assert model.label(frame.lazy(), n=4).equals(labelled)
    named = frame.rename({"body": "what they said"})
    assert model.topics(4).label(named, text="what they said")["topic"].to_list() == expected


def test_pandas_goes_in_and_comes_out(model: TextModel) -> None:
    frame = dated_frame(12).to_pandas()
    frame.index = frame.index + 100
    labelled = model.topics(4).label(frame)
    assert type(labelled).__module__.startswith("pandas")
    assert labelled.index.tolist() == frame.index.tolist()
    assert labelled["topic"].dtype == "Int64"
    assert labelled["date"].dtype == frame["date"].dtype
    typical = model.topics(4)[2].documents(frame, top=2)
    assert type(typical).__module__.startswith("pandas")
    assert list(typical.columns) == [*frame.columns, "topic_share", "centrality"]
    own = labelled.index[labelled["topic"] == 2]
    assert set(typical.index) <= set(own)
    assert model.label(frame["body"], n=4)["topic"].to_list() == labelled["topic"].tolist()


def test_the_documents_of_a_topic_are_the_most_typical_first(model: TextModel) -> None:
    topics = model.topics(4)
    texts = themed_texts(40, seed=5)
    found = topics[1].documents(texts, top=5)
    labelled = topics.label(texts)
    assert len(found) == 5
    assert found["topic_share"].round(3).is_sorted(descending=True)
    assert set(found["text"]) <= set(labelled.filter(pl.col("topic") == 1)["text"])
    assert len(topics[1].documents(texts, top=1000)) == (labelled["topic"] == 1).sum()
    assert topics[1].documents(labelled.filter(pl.col("topic") == 0)["text"]).is_empty()


@pytest.mark.parametrize("top", [0, -1, True, 2.5, None])
def test_a_number_of_documents_that_is_none_is_refused(model: TextModel, top: Any) -> None:
    with pytest.raises(ValueError, match="expected a whole number, one document at least"):
        model.topics(4)[0].documents(["gold"], top=top)


def test_shares_sum_to_one_and_are_nothing_without_words(model: TextModel) -> None:
    with pytest.warns(
        EmptyDocumentsWarning, match="1 of 2 documents have no word of the vocabulary, and so no"
    ):
        shares = model.topics(4).shares(["gold coin", "zzz"])
    assert shares.shape == (2, 4)
    np.testing.assert_allclose(shares.sum(axis=1), [1, 0], atol=1e-6)


def test_documents_without_known_words_have_no_topic(model: TextModel) -> None:
    with pytest.warns(EmptyDocumentsWarning):
        labelled = model.topics(4).label(["zzz", "gold"])
    assert labelled.row(0)[-3:] == (None, None, None)
    assert labelled["topic"][1] is not None
    with pytest.warns(EmptyDocumentsWarning):
        assert model.topics(4)[0].documents(["zzz"]).is_empty()


@pytest.mark.parametrize(
    "corpus", [[], pl.DataFrame({"text": []}, schema={"text": pl.String})], ids=["list", "frame"]
)
def test_an_empty_corpus_has_no_labels(model: TextModel, corpus: Any) -> None:
    topics = model.topics(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labelled = topics.label(corpus)
        assert (len(labelled), labelled.columns[-3:]) == (0, ["topic", "topic_name", "topic_share"])
        assert topics.shares(corpus).shape == (0, 4)
        assert topics[0].documents(corpus).is_empty()
        assert len(model.label(corpus, topics={"money": "gold"})) == 0


def test_a_column_named_topic_is_kept(model: TextModel) -> None:
    frame = dated_frame(4).with_columns(topic=pl.lit("mine"))
    with pytest.warns(UserWarning, match="'topic' is now 'topic_given'"):
        labelled = model.label(frame, n=4)
    assert labelled["topic_given"].to_list() == ["mine"] * 4
    assert sorted(labelled["topic"]) == [0, 1, 2, 3]
    own = model.label(frame, topics={"money": "gold silver", "sea": "ships"})
    assert own["topic"].to_list() == ["mine"] * 4


def test_own_topics_must_be_names_and_known_words(model: TextModel) -> None:
    with pytest.raises(ValueError, match="of 'x' no word is known"):
        model.label(["gold"], topics={"x": "zzz"})
    with pytest.raises(ValueError, match="names and words"):
        model.label(["gold"], topics=["gold"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no topic was given"):
        model.label(["gold"], topics={})
    with pytest.raises(ValueError, match="either n or topics"):
        model.label(["gold"], 3, topics={"money": "gold"})


def test_three_documents_have_one_topic() -> None:
    model = TextModel(2, max_epochs=1).fit(["gold coin", "silver coin", "peace treaty"])
    topics = model.topics()
    assert (len(topics), topics[0].share) == (1, 1.0)
    assert topics.reason == "the documents fall into one small group only"
    assert model.topic_tree().name == topics[0].name
    with pytest.raises(ValueError, match="at most one small group of documents"):
        model.topics(2)
    with pytest.raises(ValueError, match="cannot be split"):
        topics.split(0)
    with pytest.raises(ValueError, match="is the last one"):
        topics.drop(0)


def test_documents_that_are_all_alike_have_one_topic() -> None:
    model = TextModel(2, max_epochs=1).fit(["gold and silver coin"] * 30)
    topics = model.topics()
    assert len(topics) == 1
    labelled = topics.label(["gold", "silver coin"])
    assert labelled["topic"].to_list() == [0, 0]
    assert labelled["topic_share"].to_list() == [1.0, 1.0]


def test_every_node_of_the_tree_has_a_name(model: TextModel) -> None:
    open_nodes = [model.topic_tree(4)]
    while open_nodes:
        node = open_nodes.pop()
        assert node.name not in ("", "–")
        assert bool(node.children) == (node.number is None)
        open_nodes.extend(node.children)


def test_phrases_are_listed_in_place_of_their_words(tmp_path: Path) -> None:
    texts = [*themed_texts(), *["tony blair peace treaty", "tony blair peace border"] * 20]
    model = TextModel(4, random_state=0, max_epochs=5, n_jobs=1, phrases=True).fit(texts)
    model.save(tmp_path / "model")
    updated = load(tmp_path / "model")
    updated.update(themed_texts(seed=1))
    for one in (model, load(tmp_path / "model"), updated):
        words = {word for topic in one.topics(4) for word in topic.words}
        assert "tony blair" in words
        assert not {"tony", "blair"} & words
