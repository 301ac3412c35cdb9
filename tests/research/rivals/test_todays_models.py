"""Models of whole texts with pre-trained embeddings, with a stand-in for the embeddings; what their packages need."""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from kate.cli import app
from kate.extras import EXTRAS, install_command
from kate.research.datasets.corpus import Corpus
from kate.research.evaluation import CorpusSource, corpus_of, evaluate
from kate.research.evaluation.grid import SharedWork
from kate.research.evaluation.model_inputs import queries_of
from kate.research.registry import MODELS, make_model, models
from kate.research.rivals.today.sentence_vectors import Embedder
from kate.research.rivals.today.text_rival import TextRival, TopicRival
from research.evaluation.toys import SUBJECTS, make_documents

READERS = [name for name, entry in MODELS.items() if entry.inputs == "texts"]
TOPIC_MODELS = ("bertopic", "top2vec", "fastopic")
SETTINGS: dict[str, dict[str, Any]] = {"top2vec": {"min_count": 3}}
WORDS = sorted({word for words in SUBJECTS.values() for word in words.split()})


class Subjects(TopicRival):
    """Knows the subjects of the toy corpus by their words."""

    def fit(self, X: Sequence[str], y: None = None) -> Any:
        self.topic_words_ = [[*words.split(), "unheard"] for words in SUBJECTS.values()]
        self._fitted_by(n_seen=len(self._texts(X)))
        return self

    def _nearness(self, texts: list[str]) -> NDArray[Any]:
        return np.array(
            [[sum(word in own for word in text.split()) for own in self.topic_words_] for text in texts]
        )


def embedded(_: Embedder, texts: Sequence[str], **__: Any) -> NDArray[np.float32]:
    """In place of the embeddings: which words of the toy a text has, and a little that is its own."""
    rows = np.array([[word in text.split() for word in WORDS] for text in texts], dtype=np.float32)
    subject = np.array(
        [[any(word in text for word in own.split()) for own in SUBJECTS.values()] for text in texts]
    )
    rows = np.hstack([0.1 * rows, subject.astype(np.float32)])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def corpus() -> Corpus:
    return corpus_of(make_documents(n_each=80))


def test_a_model_of_texts_gets_texts_and_its_own_topics_are_scored(corpus: Corpus) -> None:
    run = evaluate(corpus, Subjects(3), ["classification", "clusters", "topics"], n_topics=3)
    assert not run.errors
    assert run.settings["n_seen"] == corpus.fitting.size
    assert run.details["clusters"]["way"] == "own"
    assert run.scores["clusters"]["nmi"] == 1
    assert run.scores["topics"]["coverage"] == 1
    assert run.scores["classification"]["accuracy"] == 1


def test_queries_are_words_that_a_reader_of_texts_can_read(corpus: Corpus) -> None:
    queries = corpus.X[:2]
    assert queries_of(object(), corpus, queries) is queries
    [first, _] = queries_of(Subjects(3), corpus, queries)
    words = {corpus.vocabulary.readable[column] for column in queries[[0]].indices}
    assert set(first.split()) == words


def test_a_corpus_of_counts_alone_is_refused_with_its_name() -> None:
    given = corpus_of(make_documents())
    object.__setattr__(given, "texts", None)
    with pytest.raises(ValueError, match="Subjects reads texts, and of 'corpus' only counts are kept"):
        evaluate(given, Subjects(3), ["clusters"])


def test_a_data_set_is_loaded_with_its_texts_for_those_who_read_them(corpus: Corpus) -> None:
    without = dataclasses.replace(corpus, texts=None)
    source = CorpusSource("toy", {}, lambda: without, lambda: corpus)
    shared = SharedWork()
    assert shared.load(source) is without
    assert shared.load(source, texts=True) is corpus
    assert shared.load(source) is corpus  # what is there has what counts need, too
    assert CorpusSource.of(corpus).loaded(texts=True) is corpus


def test_the_command_measures_them_like_every_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = dataclasses.replace(MODELS["bertopic"], make=Subjects, needs=())
    monkeypatch.setattr(models, "MODELS", {**MODELS, "bertopic": known})
    documents = make_documents()
    lines = [
        json.dumps({"text": text, "label": label})
        for text, label in zip(documents.texts, documents.labels or [], strict=True)
    ]
    (tmp_path / "mine.jsonl").write_text("\n".join(lines))
    command = (
        f"evaluate --corpus {tmp_path}/mine.jsonl --model bertopic,lsa --dimensions 4 --topics 3 --seeds 1"
    )
    command += f" --tasks clusters,topics,time -o {tmp_path}"
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 0, result.output
    found = {
        line["model"]["name"]: line
        for line in map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    }
    assert found["bertopic"]["scores"]["clusters"]["nmi"] == 1
    assert found.keys() == {"bertopic", "lsa"}


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="Subjects reads texts; found 3"):
        Subjects(3).fit(["gold", 3])  # type: ignore[list-item]


@pytest.mark.parametrize("name", ["topica", *READERS])
def test_a_missing_package_names_the_extra_that_has_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    entry = MODELS[name]
    assert entry.extra == "rivals"
    assert set(entry.needs) <= set(EXTRAS["rivals"].modules)
    with pytest.raises(ImportError) as caught:
        make_model(name)
    assert str(caught.value).endswith(install_command("rivals"))


def test_static_vectors_need_a_folder() -> None:
    if MODELS["model2vec"].why_not({"folder": "given"}) is None:
        with pytest.raises(
            ValueError, match=r"model2vec needs the folder of a Model2Vec model.*model2vec\.folder=…"
        ):
            make_model("model2vec")
    assert isinstance(MODELS["model2vec"].make(8, folder="here"), TextRival)


@pytest.mark.parametrize("name", TOPIC_MODELS)
def test_topic_models_find_three_subjects(name: str, corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    if MODELS[name].why_not() is not None:
        pytest.skip(str(MODELS[name].why_not()))
    monkeypatch.setattr(Embedder, "encode", embedded)
    before = np.random.get_state()[2]  # noqa: NPY002
    model: Any = make_model(name, 3, SETTINGS.get(name), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = evaluate(corpus, model, ["clusters", "topics"], n_topics=3)
    assert not run.errors
    assert run.details["clusters"]["way"] == "own"
    assert run.scores["clusters"]["purity"] > 0.9
    assert np.random.get_state()[2] == before  # noqa: NPY002
