"""What figures 2, 3 and table 3 show: groups that are apart stay apart, a topic is found for its class."""

from __future__ import annotations

import numpy as np
import pytest

from kate.research.datasets.corpus import Corpus
from kate.research.evaluation.fitted_model import Fitted, NotScored
from kate.research.reproduce.figure_data import class_topics, documents_map, purity
from kate.research.reproduce.grid_corpora import sample, source_of
from kate.research.rivals.lsa import LSA
from research.reproduce.toys import toy_grid


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    grid = toy_grid(tmp_path_factory.mktemp("corpus"))
    corpus = source_of("toy", grid.corpora["toy"]).load()
    model = LSA(3, random_state=0).fit(corpus.part("fitting").X)
    return Fitted(
        corpus,
        model,
        {part: model.transform(corpus.part(part).X) for part in ("fitting", "validation", "test")},
    )


def test_groups_that_are_apart_stay_apart_on_the_map(fitted: Fitted) -> None:
    groups = {"recreation": ("rec.",), "science": ("sci.",), "sale": ("misc.",)}
    outcome = documents_map(fitted, groups)
    assert outcome.scores["pca_purity"] > 0.6
    assert set(outcome.details["groups"]) == set(groups)
    for plane in ("pca", "tsne"):
        points = np.asarray(outcome.details[plane])
        assert points.shape == (len(fitted.corpus.test), 2)
        assert np.abs(points).max() == 1
    with pytest.raises(NotScored, match="too few documents of the main groups"):
        documents_map(fitted, {"computers": ("comp.",)})


def test_the_topic_of_a_class_is_told_in_its_words(fitted: Fitted) -> None:
    outcome = class_topics(fitted, ["rec.hockey", "sci.space", "sci.crypt"])
    assert set(outcome.details) == {"rec.hockey", "sci.space"}
    hockey = outcome.details["rec.hockey"]
    assert hockey["correlation"] > 0.8
    assert set(hockey["wins"][:3]) <= {
        "hockey",
        "goal",
        "team",
        "season",
        "player",
        "coach",
        "leagu",
        "score",
        "puck",
        "skate",
        "arena",
        "refere",
        "trophi",
        "match",
    }
    with pytest.raises(NotScored, match="no document is of alt"):
        class_topics(fitted, ["alt.atheism"])


def test_purity_of_a_mixture_is_that_of_chance() -> None:
    random = np.random.default_rng(0)
    groups = np.repeat(["a", "b"], 200)
    assert purity(random.normal(size=(400, 2)), groups) == pytest.approx(0.5, abs=0.05)
    apart = random.normal(size=(400, 2)) + np.repeat([[0, 0], [50, 0]], 200, axis=0)
    assert purity(apart, groups) == 1


def test_a_sample_keeps_parts_columns_and_sequences(fitted: Fitted) -> None:
    corpus: Corpus = fitted.corpus
    small = sample(corpus, {"fitting": 12, "validation": 3, "test": 5})
    assert (small.fitting.size, small.validation.size, small.test.size) == (12, 3, 5)
    assert small.n_words == corpus.n_words
    place = {name: row for row, name in enumerate(corpus.ids)}
    for row, name in enumerate(small.ids):
        np.testing.assert_array_equal(small.X[[row]].toarray(), corpus.X[[place[name]]].toarray())
        assert small.labels[row] == corpus.labels[place[name]]
    assert small.sequences.shape == small.X.shape
    with pytest.raises(ValueError, match="no part 'training'"):
        sample(corpus, {"training": 5})
