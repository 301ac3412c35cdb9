"""Tuning: no test document is touched, the start is a trial, a search goes on where it stopped."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kate.model.training import KATETraining
from kate.research.datasets.corpus import Corpus
from kate.research.evaluation import CorpusSource, read_results
from kate.research.evaluation.tuning import Search, TrialDone, inner_corpus, tune, validation_score
from kate.research.registry import ModelEntry, models
from kate.research.registry.search_spaces import Choice, Log, Uniform
from kate.storage.files import only_writer
from research.evaluation.toys import Topicless

pytest.importorskip("optuna", exc_type=ImportError)


class Blurred(Topicless):
    """Good where ``blur`` is small; fails where it is told to."""

    def __init__(
        self, n_components: int, random_state: int | None = None, blur: float = 50.0, mode: str = "a"
    ) -> None:
        super().__init__(n_components, random_state)
        self.blur, self.mode = blur, mode

    def fit(self, X: Any) -> Any:
        if self.mode == "broken":
            raise RuntimeError("broken")
        return super().fit(X)

    def transform(self, X: Any) -> Any:
        noise = np.random.default_rng(X.shape[0]).normal(size=(X.shape[0], self.n_components))
        return super().transform(X) + self.blur * noise

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("n_components", "random_state", "blur", "mode")}


@pytest.fixture
def blurred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Blurred, "fits", 0)
    space = {"blur": Log(0.01, 100.0), "mode": Choice("a", "b")}
    few = ModelEntry("few", "two settings", Blurred, space={"mode": Choice("a", "b")})
    outside = ModelEntry("outside", "starts elsewhere", Blurred, space={"blur": Uniform(0.0, 1.0)})
    broken = ModelEntry("broken", "fails", Blurred, space={"mode": Choice("broken")})
    entries = [ModelEntry("blurred", "for tests", Blurred, space=space), few, outside, broken]
    monkeypatch.setattr(models, "MODELS", {entry.name: entry for entry in entries})


def test_the_inner_corpus_has_no_test_document(corpus: Corpus) -> None:
    inner = inner_corpus(corpus)
    assert not np.intersect1d(np.concatenate([inner.train, inner.test]), corpus.test).size
    assert inner.test.tolist() == corpus.validation.tolist()
    assert sorted([*inner.fitting, *inner.validation]) == corpus.fitting.tolist()
    assert inner.validation.size == 9


def test_the_score_does_not_hang_on_the_test_documents(corpus: Corpus) -> None:
    spoilt = corpus.X.toarray()
    spoilt[corpus.test] = 99
    labels = np.array(corpus.labels)
    labels[corpus.test] = "sport"
    other = dataclasses.replace(corpus, X=type(corpus.X)(spoilt), labels=labels, read_sequences=None)
    scores = [validation_score(Topicless(6, 0), inner_corpus(one)) for one in (corpus, other)]
    assert scores[0] == scores[1]
    assert scores[0][0] == "accuracy"


def test_a_search_finds_what_is_better_than_the_start(corpus: Corpus, blurred: None, tmp_path: Path) -> None:
    search = Search(CorpusSource.of(corpus), "blurred", 6, n_trials=12, n_seeds=2)
    found = tune(search, tmp_path / "new" / "history.jsonl")
    records = read_results(tmp_path / "new" / "history.jsonl")
    assert [record["trial"] for record in records] == list(range(12))
    assert records[0]["settings"] == {}
    assert all(len(record["scores"]) == 2 for record in records)
    assert found.settings["blur"] < 50
    assert found.score == round(max(record["score"] for record in records), 4)
    assert (found.score > records[0]["score"], found.trials, found.seeds) == (True, 12, 2)
    assert found.objective == "accuracy on validation documents"


def test_an_interrupted_fit_is_no_trial(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_epoch = KATETraining.train_epoch

    def interrupted_in_the_third(self: KATETraining, epoch: int) -> float:
        if epoch == 2:
            raise KeyboardInterrupt
        return train_epoch(self, epoch)

    monkeypatch.setattr(KATETraining, "train_epoch", interrupted_in_the_third)
    with pytest.raises(KeyboardInterrupt):
        tune(Search(CorpusSource.of(corpus), "kate", 4, n_trials=2), tmp_path / "history.jsonl")
    assert read_results(tmp_path / "history.jsonl") == []


def test_a_search_that_was_stopped_goes_on_as_if_it_had_not_been(
    corpus: Corpus, blurred: None, tmp_path: Path
) -> None:
    source = CorpusSource.of(corpus)
    tune(Search(source, "blurred", 4, n_trials=10), tmp_path / "whole.jsonl")
    tune(Search(source, "blurred", 4, n_trials=4), tmp_path / "parts.jsonl")
    events: list[TrialDone] = []
    tune(Search(source, "blurred", 4, n_trials=10), tmp_path / "parts.jsonl", events.append)

    assert [event.was_there for event in events] == [True] * 4 + [False] * 6
    whole, parts = (
        [(record["settings"], record["score"]) for record in read_results(tmp_path / f"{name}.jsonl")]
        for name in ("whole", "parts")
    )
    assert whole == parts


def test_a_second_search_of_the_same_history_is_refused(
    corpus: Corpus, blurred: None, tmp_path: Path
) -> None:
    pytest.importorskip("fcntl", reason="files are not locked on Windows")
    history = tmp_path / "history.jsonl"
    with only_writer(history), pytest.raises(BlockingIOError, match="written by another program"):
        tune(Search(CorpusSource.of(corpus), "blurred", 4, n_trials=2), history)
    assert history.read_bytes() == b""


def test_another_space_or_budget_of_seeds_is_another_search(corpus: Corpus, blurred: None) -> None:
    search = Search(CorpusSource.of(corpus), "blurred", 4)
    others = [
        dataclasses.replace(search, n_seeds=2),
        dataclasses.replace(search, n_components=5),
        dataclasses.replace(search, settings={"mode": "b"}),
    ]
    assert len({one.key() for one in [search, *others]}) == 4
    assert dataclasses.replace(search, n_trials=99).key() == search.key()
    assert set(others[2].space) == {"blur"}


def test_the_same_settings_are_not_run_twice_and_failures_are_recorded(
    corpus: Corpus, blurred: None, tmp_path: Path
) -> None:
    source = CorpusSource.of(corpus)
    tune(Search(source, "few", 4, n_trials=6), tmp_path / "few.jsonl")
    assert Blurred.fits == 3  # the start, and each of the two
    tune(Search(source, "outside", 4, n_trials=3), tmp_path / "outside.jsonl")

    found = tune(Search(source, "broken", 4, n_trials=3), tmp_path / "broken.jsonl")
    records = read_results(tmp_path / "broken.jsonl")
    assert [record["status"] for record in records] == ["done", "failed", "failed"]
    assert records[1]["errors"]["trial"]["message"] == "broken"
    assert found.settings == {}
    with pytest.raises(ValueError, match="all 1 trials of broken failed, the first with: broken"):
        tune(Search(source, "broken", 4, 2, settings={"mode": "broken", "blur": 2.0}), tmp_path / "all.jsonl")
