"""One run: every task that fits is scored, no test document reaches a fit, Ctrl-C is never a result."""

from __future__ import annotations

import dataclasses
import signal
from typing import Any, Self

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD

from kate.model.kate import KATE
from kate.model.training import KATETraining
from kate.research.datasets.corpus import Corpus
from kate.research.evaluation import TASKS, TOPIC_TASKS, Run, corpus_of, evaluate
from kate.research.metrics.classification import classify
from kate.research.metrics.topic_scores import mscd
from research.evaluation.toys import Topicless, make_documents


def small(**changes: Any) -> KATE:
    return KATE(**({"n_components": 6, "max_epochs": 20, "random_state": 0, "verbose": False} | changes))


@pytest.fixture(scope="module")
def model() -> KATE:
    return small()


@pytest.fixture(scope="module")
def run(corpus: Corpus, model: KATE) -> Run:
    return evaluate(corpus, model)  # the model is fitted afterwards


def test_every_task_is_scored_or_skipped_with_a_reason(run: Run) -> None:
    assert not run.errors
    assert {*run.scores, *run.skipped} == set(TASKS) - set(TOPIC_TASKS)
    assert run.skipped["queries"].startswith(
        "no word is in more than 20 and less than 3% of the 96 documents"
    )
    assert {task: reason for task, reason in run.skipped.items() if task != "queries"} == {
        "multilabel": "multilabel needs labels:sets",
        "regression": "regression needs labels:number",
        "questions": "questions needs questions",
    }


def test_the_scores_are_those_of_an_easy_corpus(run: Run) -> None:
    assert run.scores["classification"]["accuracy"] == 1
    probes = {"accuracy", "macro_f1", "paper_probe_accuracy", "paper_probe_macro_f1"}
    assert set(run.scores["classification"]) == probes
    assert run.scores["retrieval"]["precision@10"] > 0.9
    assert run.scores["neurons"]["npmi"] > 0.3  # words of one subject share documents
    assert run.scores["neurons"]["npmi"] > run.scores["neurons"]["weights_npmi"]
    topics = {"npmi", "npmi_test", "c_v_documents", "diversity"}
    assert set(run.scores["neurons"]) == {"mscd", *topics, *(f"weights_{name}" for name in topics)}
    assert run.scores["time"] == {f"{stage}_seconds": run.seconds[stage] for stage in ("fit", "encode")}


def test_the_scores_are_those_of_the_metrics(run: Run, model: KATE, corpus: Corpus) -> None:
    parts: list[Any] = []
    for part in ("fitting", "validation", "test"):
        parts += [model.transform(corpus.part(part).X), corpus.part(part).y]
    paper = classify(*parts, probe="paper")
    assert run.scores["classification"]["paper_probe_accuracy"] == paper.accuracy
    assert run.scores["neurons"]["mscd"] == pytest.approx(mscd(model.neurons_.W.T))


def test_words_have_their_neighbours_by_name(run: Run, corpus: Corpus) -> None:
    assert set(run.details["words"]) == {"hockey", "space"}  # the query words that the corpus has
    assert all(len(set(words)) == 5 for words in run.details["words"].values())
    assert set(run.details["words"]["space"]) <= set(corpus.vocabulary.words) - {"space"}


def test_settings_are_those_that_were_used(run: Run) -> None:
    assert run.settings["n_winners"] == 64  # None when it was made
    assert run.training["epochs"] == 20


def test_no_test_document_reaches_a_fit(corpus: Corpus) -> None:
    garbage = np.random.default_rng(0).permutation(corpus.X[corpus.test].toarray().T).T * 7
    X = corpus.X.toarray()
    X[corpus.test] = garbage
    labels = np.array(corpus.labels, dtype="<U8")
    labels[corpus.test] = "nonsense"
    spoiled = dataclasses.replace(
        corpus, X=sp.csr_array(X), labels=labels, classes=[*corpus.classes, "nonsense"]
    )
    clean_model, spoiled_model = small(), small()

    clean = evaluate(corpus, clean_model, ["classification", "neurons", "words"])
    other = evaluate(spoiled, spoiled_model, ["classification", "neurons", "words"])

    np.testing.assert_array_equal(clean_model.encoder_.W, spoiled_model.encoder_.W)
    np.testing.assert_array_equal(clean_model.responses_.mean, spoiled_model.responses_.mean)
    for name in ("strength", "validation_accuracy"):
        assert clean.details["classification"][name] == other.details["classification"][name]
    assert clean.details["neurons"] == other.details["neurons"]  # words are chosen without them too
    assert clean.training["validation_loss"] == other.training["validation_loss"]
    assert other.scores["classification"]["accuracy"] == 0  # and yet it was the spoiled documents' score


@pytest.mark.parametrize("kind", ["sets", "number"])
def test_probes_choose_without_the_test_documents(kind: str) -> None:
    random = np.random.default_rng(1)
    subjects = ["sport", "space", "money"] * 40
    values = [f"{one};odd" if n % 2 else one for n, one in enumerate(subjects)]
    if kind == "number":
        values = [str(len(one) + random.normal()) for one in subjects]
    corpus = corpus_of(make_documents(values), label_separator=";" if kind == "sets" else None)
    labels = corpus.labels.toarray() if kind == "sets" else np.array(corpus.labels)
    labels[corpus.test] = random.permutation(labels[corpus.test])
    spoiled = dataclasses.replace(corpus, labels=sp.csr_array(labels) if kind == "sets" else labels)
    task = "multilabel" if kind == "sets" else "regression"

    clean, other = (evaluate(one, Topicless(4, 0), [task]) for one in (corpus, spoiled))

    assert clean.details == other.details
    assert clean.scores != other.scores


def test_the_validation_documents_are_given_to_a_model_that_follows_them(corpus: Corpus) -> None:
    seen = {}

    class Watching(Topicless):
        def fit(self, X: Any, validation: Any = None) -> Self:
            seen["fit"], seen["validation"] = X, validation
            return super().fit(X)

    evaluate(corpus, Watching(2, 0), ["time"])

    assert (seen["fit"] != corpus.X[corpus.fitting]).nnz == 0
    assert (seen["validation"] != corpus.X[corpus.validation]).nnz == 0


def test_vectors_that_are_not_centred_are_retrieved_both_ways(corpus: Corpus) -> None:
    tilted = evaluate(corpus, Topicless(4, 0), ["retrieval"])
    centred = evaluate(corpus, small(max_epochs=2), ["retrieval"])

    assert not tilted.details["retrieval"]["vectors_are_centred"]
    assert "centred_map" in tilted.scores["retrieval"]
    assert centred.details["retrieval"]["vectors_are_centred"]
    assert "centred_map" not in centred.scores["retrieval"]


def test_any_estimator_will_do_and_what_it_lacks_is_skipped(corpus: Corpus) -> None:
    run = evaluate(corpus, TruncatedSVD(4, random_state=0))

    assert run.scores["classification"]["accuracy"] > 0.9
    assert run.settings["n_components"] == 4
    assert run.skipped["words"] == "words needs words"
    assert "npmi" in run.scores["neurons"]


def test_a_model_may_be_a_name(corpus: Corpus, quick_model: type[Topicless]) -> None:
    run = evaluate(corpus, "quick", ["classification", "neurons"])

    assert run.settings["n_components"] == 128
    assert run.skipped == {"neurons": "neurons needs components"}


def test_a_task_that_fails_leaves_the_others_alone(corpus: Corpus) -> None:
    class Dizzy(Topicless):
        @property
        def components_(self) -> Any:
            return np.full((2, 3), np.nan)

    run = evaluate(corpus, Dizzy(4, 0))

    assert run.errors["neurons"]["type"] == "ValueError"
    assert "NaN" in run.errors["neurons"]["message"]
    assert run.scores["classification"]


def test_an_interrupt_ends_the_run(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    train_epoch = KATETraining.train_epoch

    def interrupted_in_the_third(self: KATETraining, epoch: int) -> float:
        if epoch == 2:
            signal.raise_signal(signal.SIGINT)
        return train_epoch(self, epoch)

    monkeypatch.setattr(KATETraining, "train_epoch", interrupted_in_the_third)
    with pytest.raises(KeyboardInterrupt):
        evaluate(corpus, KATE(4, max_epochs=5))


def test_what_cannot_be_evaluated_is_refused_before_the_fit(corpus: Corpus) -> None:
    with pytest.raises(ValueError, match="there is no task 'clustering'; choose from classification"):
        evaluate(corpus, Topicless(4), ["clustering"])
    with pytest.raises(ValueError, match="'toy' has no validation documents"):
        evaluate(dataclasses.replace(corpus, validation=[]), Topicless(4))
