"""Topics of a user's own: documents go to the one that they are near to, or to none."""

import numpy as np
import pytest

import kate

PEACE = ["treaty", "peace", "nations", "ally", "envoy", "truce"]
MONEY = ["gold", "silver", "coin", "bank", "mint", "dollars"]


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice((PEACE, MONEY)[i % 2], size=4, replace=False)) for i in range(200)]
    return kate.TextModel(8, random_state=0, verbose=False).fit(texts)


def test_documents_go_to_the_topic_whose_words_they_are_near(model):
    labelled = model.label(
        ["a truce of nations, an envoy", "the mint of a bank", "dollars and silver"],
        topics={"war": "treaty", "money": ["gold", "coin"]},
    )
    assert labelled["topic_name"].to_list() == ["war", "money", "money"]
    assert labelled["topic_share"].min() > 0.5


def test_a_document_that_is_near_to_none_has_none(model):
    labelled = model.label(["a truce of nations"], topics={"money": "gold silver"})
    assert labelled["topic_name"].to_list() == [None]


@pytest.mark.filterwarnings("ignore::kate.EmptyDocumentsWarning")
def test_a_document_without_known_words_has_none(model):
    assert model.label(["xyzzy"], topics={"money": "gold"})["topic_share"].to_list() == [None]


@pytest.mark.parametrize(
    ("topics", "message"),
    [({}, "no topic was given"), ({"money": "gold", "odd": "xyzzy"}, "of 'odd' no word is known")],
)
def test_topics_without_words_are_refused(model, topics, message):
    with pytest.raises(ValueError, match=message):
        model.label(["gold"], topics=topics)


def test_a_number_and_own_topics_are_two_things(model):
    with pytest.raises(ValueError, match="give either n or topics"):
        model.label(["gold"], 3, topics={"money": "gold"})
