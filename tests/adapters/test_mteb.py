"""MTEB evaluates our vectors, on tasks made here: nothing is downloaded."""

import pytest

pytest.importorskip("mteb", reason="MTEB is not installed: pip install 'kate-text[mteb]'")

import mteb
import numpy as np
from datasets import Dataset, DatasetDict
from mteb.abstasks.classification import AbsTaskClassification
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.models import EncoderProtocol

import kate
from kate.adapters.mteb_encoder import KateEncoder

FACTS = {
    "description": "Peace or money",
    "reference": None,
    "dataset": {"path": "nowhere", "revision": "none"},
    "category": "t2t",
    "eval_splits": ["test"],
    "eval_langs": ["eng-Latn"],
    "modalities": ["text"],
}


@pytest.fixture
def peace_or_money(texts):
    class PeaceOrMoney(AbsTaskClassification):
        metadata = TaskMetadata(
            name="PeaceOrMoney", type="Classification", main_score="accuracy", **FACTS, prompt=None
        )

        def load_data(self, **_):
            rows = {"text": texts, "label": [number % 2 for number in range(len(texts))]}
            half = len(texts) // 2
            self.dataset = DatasetDict(
                train=Dataset.from_dict({key: values[:half] for key, values in rows.items()}),
                test=Dataset.from_dict({key: values[half:] for key, values in rows.items()}),
            )
            self.data_loaded = True

    return PeaceOrMoney()


@pytest.fixture
def coins_and_treaties():
    class CoinsAndTreaties(AbsTaskRetrieval):
        metadata = TaskMetadata(
            name="CoinsAndTreaties", type="Retrieval", main_score="ndcg_at_10", **FACTS, prompt=None
        )

        def load_data(self, **_):
            documents = [
                {"id": "money", "text": "a gold coin from the mint", "title": ""},
                {"id": "peace", "text": "an envoy signs the treaty", "title": ""},
            ]
            queries = [{"id": "q1", "text": "gold dollars"}, {"id": "q2", "text": "a truce and a treaty"}]
            split = {
                "corpus": Dataset.from_list(documents),
                "queries": Dataset.from_list(queries),
                "relevant_docs": {"q1": {"money": 1}, "q2": {"peace": 1}},
                "top_ranked": None,
            }
            self.dataset = {"default": {"test": split}}
            self.data_loaded = True

    return CoinsAndTreaties()


def evaluated(encoder, task):
    found = mteb.evaluate(encoder, task, cache=None, show_progress_bar=False, co2_tracker=False)
    [result] = found.task_results
    return result.get_score()


def test_mteb_classifies_our_vectors(model, peace_or_money):
    assert isinstance(KateEncoder(model), EncoderProtocol)
    assert evaluated(KateEncoder(model), peace_or_money) > 0.95


def test_mteb_finds_documents_by_our_vectors(model, coins_and_treaties):
    assert evaluated(KateEncoder(model), coins_and_treaties) == 1.0


def test_vectors_are_those_of_the_model(model):
    batches = [{"text": ["gold and silver"]}, {"text": ["an unknown zebra", "peace"]}]
    found = KateEncoder(model, truncate_dim=4).encode(batches, task_metadata=None)
    expected = model.encode(["gold and silver", "peace"], normalize=True, truncate_dim=4)
    np.testing.assert_allclose(found[[0, 2]], expected)
    assert not found[1].any()


def test_a_saved_model_has_its_revision_and_another_model_another(model, texts, tmp_path):
    model.save(tmp_path / "speeches")
    saved = KateEncoder(tmp_path / "speeches").mteb_model_meta
    assert saved.name == "kate/speeches"
    assert saved.revision == KateEncoder(model).mteb_model_meta.revision
    other = kate.TextModel(8, random_state=1, verbose=False).fit(texts)
    revisions = {
        KateEncoder(one, truncate_dim=kept).mteb_model_meta.revision
        for one in (model, other)
        for kept in (None, 4)
    }
    assert len(revisions) == 4
    assert KateEncoder(model, truncate_dim=4, name="me/it").mteb_model_meta.embed_dim == 4
