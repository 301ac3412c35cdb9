"""clusters and topics: the same number of topics for every model, on a corpus whose answer is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kate.model.kate import KATE
from kate.research.datasets.corpus import Corpus
from kate.research.evaluation import CorpusSource, corpus_of, evaluate, plan_runs, run_grid, summarise
from kate.research.evaluation.found_topics import with_n_topics
from kate.research.evaluation.run_keys import key_of
from kate.research.metrics.clusters import adjusted_rand
from kate.research.rivals.lda import SklearnLDA
from kate.research.rivals.lsa import LSA
from kate.research.rivals.nmf import NMF
from research.evaluation.toys import SUBJECTS, Topicless, make_documents

TOPICS = ["clusters", "topics"]


def kate() -> KATE:
    return KATE(n_components=6, max_epochs=20, random_state=0, verbose=False)


@pytest.mark.parametrize(
    ("model", "way"),
    [
        (kate(), "tree"),
        (NMF(12, random_state=0), "components"),
        (LSA(3, random_state=0), "k-means"),
    ],
)
def test_three_subjects_are_found(corpus: Corpus, model: Any, way: str) -> None:
    run = evaluate(corpus, model, TOPICS, n_topics=3)
    assert not run.errors
    assert run.details["clusters"]["way"] == way
    assert run.details["clusters"]["n_documents"] == corpus.test.size
    for score in ("nmi", "ari", "purity", "majority_label"):
        assert run.scores["clusters"][score] == 1, score
    assert run.scores["topics"]["coverage"] == 1
    assert run.scores["topics"]["diversity"] == 1  # no subject shares a word with another
    assert run.scores["topics"]["npmi"] > 0
    for words in run.details["topics"]["words"]:
        assert len(words) == 10
        subjects = {name for name, own in SUBJECTS.items() for word in words if word[:4] in own}
        assert len(subjects) == 1


def test_the_strongest_share_stands_beside_how_often_it_is_right(corpus: Corpus) -> None:
    for model in (kate(), NMF(3, random_state=0)):
        assert 1 / 3 < evaluate(corpus, model, TOPICS, n_topics=3).scores["clusters"]["strongest_share"] <= 1
    # k-means has no shares
    assert "strongest_share" not in evaluate(corpus, LSA(3), TOPICS, n_topics=3).scores["clusters"]


def test_a_model_whose_components_are_topics_is_fitted_with_as_many(corpus: Corpus) -> None:
    assert with_n_topics(NMF(12), 3).n_components == 3
    assert with_n_topics(SklearnLDA(12, passes=7), 3).passes == 7
    lsa = LSA(12)
    assert with_n_topics(lsa, 3) is lsa

    alone = evaluate(corpus, NMF(12, random_state=0), TOPICS, n_topics=3)
    assert alone.settings["n_components"] == 3  # nothing else was asked for
    beside = evaluate(corpus, NMF(12, random_state=0), [*TOPICS, "classification"], n_topics=3)
    assert beside.settings["n_components"] == 12
    assert beside.scores["clusters"] == alone.scores["clusters"]


def test_documents_of_several_labels_or_none_are_left_out_and_it_is_said() -> None:
    subjects = ["sport", "space", "money"] * 40
    labels = [f"{one};more" if n % 4 == 0 else one for n, one in enumerate(subjects)]
    corpus = corpus_of(make_documents(labels), "sets", label_separator=";")
    n_single = int((np.diff(corpus.part("test").y.indptr) == 1).sum())
    with pytest.warns(UserWarning, match=r"left out \d+ of 24 test documents, which have several labels"):
        run = evaluate(corpus, kate(), ["clusters"], n_topics=3)
    assert run.details["clusters"]["n_documents"] == n_single < 24
    assert run.scores["clusters"]["nmi"] == 1


def test_a_document_without_a_known_word_has_no_topic(corpus: Corpus) -> None:
    import dataclasses

    X = corpus.X.copy()
    row = corpus.test[0]
    X.data = X.data.copy()
    X.data[X.indptr[row] : X.indptr[row + 1]] = 0
    X.eliminate_zeros()
    run = evaluate(dataclasses.replace(corpus, X=X), LSA(3, random_state=0), TOPICS, n_topics=3)
    assert run.details["topics"]["documents"][0] == -1
    assert run.details["clusters"]["n_documents"] == corpus.test.size - 1


def test_more_topics_than_documents_are_skipped_with_the_reason(corpus: Corpus) -> None:
    for model in (kate(), LSA(3)):
        run = evaluate(corpus, model, TOPICS, n_topics=500)
        assert not run.errors
        assert "too few for 500 topics" in run.skipped["topics"]
    assert "clusters" in evaluate(corpus, kate(), TOPICS, n_topics=80).skipped  # more than small clusters


def test_the_number_of_topics_is_part_of_the_key_only_where_it_is_asked_for(corpus: Corpus) -> None:
    source = CorpusSource.of(corpus)
    plain, three, four = (plan_runs([source], ["kate"], [6], [0], n_topics=n)[0] for n in (None, 3, 4))
    assert "n_topics" not in plain.identity()
    assert len({run.key() for run in (plain, three, four)}) == 3
    assert key_of(plain.identity() | {"n_topics": None}) == plain.key()


def test_seeds_are_compared_in_the_summary(
    corpus: Corpus, tmp_path: Path, quick_model: type[Topicless]
) -> None:
    runs = plan_runs([CorpusSource.of(corpus)], ["quick"], [2], range(3), n_topics=3)
    records = run_grid(runs, tmp_path / "results.jsonl", tasks=TOPICS)
    [row] = summarise(records)
    kept = [record["details"]["topics"]["documents"] for record in records]
    pairs = [adjusted_rand(kept[one], kept[other]) for one, other in ((0, 1), (0, 2), (1, 2))]
    assert row.n_topics == 3
    assert row.scores["topics"]["seeds_ari"].mean == pytest.approx(np.mean(pairs))
    assert row.scores["topics"]["seeds_ari"].n == 3
    # the same runs are found again
    quick_model.fits = 0
    run_grid(runs, tmp_path / "results.jsonl", tasks=TOPICS)
    assert quick_model.fits == 0


def test_a_grid_for_topics_needs_their_number(corpus: Corpus, tmp_path: Path) -> None:
    runs = plan_runs([CorpusSource.of(corpus)], ["lsa"], [2], [0])
    with pytest.raises(ValueError, match="plan the runs with n_topics"):
        run_grid(runs, tmp_path / "results.jsonl", tasks=TOPICS)
