"""Documents of an index know their topic: hits show it, and conditions ask for it, in both stores."""

import numpy as np
import polars as pl
import pytest

import kate
from kate.text.documents import Documents

PEACE = ["treaty", "peace", "nations", "ally", "envoy", "truce"]
MONEY = ["gold", "silver", "coin", "bank", "mint", "dollars"]


def texts(n=120, seed=0):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice((PEACE, MONEY)[i % 2], size=4, replace=False)) for i in range(n)]


@pytest.fixture(scope="module")
def model():
    model = kate.TextModel(8, random_state=0, verbose=False).fit(texts())
    model.topics(2).rename(0, "war").rename(1, "money")
    return model


@pytest.mark.parametrize("store", ["files", "lance"])
def test_hits_are_filtered_by_topic(model, store, tmp_path):
    if store == "lance":
        pytest.importorskip("lancedb", reason="LanceDB is not installed: pip install 'kate-text[lance]'")
    kate.Index.build(model, texts(40, seed=1)).save(tmp_path / "index", store=store)
    index = kate.Index.load(tmp_path / "index")
    hits = index.search("gold peace", where="topic_name = 'money'", top=5)
    assert {hit.columns["topic_name"] for hit in hits} == {"money"}
    assert {hit.columns["topic"] for hit in index.search("gold peace", where="topic = 0")} == {0}
    if store == "lance":
        index.add(Documents.from_texts(["treaty of peace and truce"], ids=["new"]))
        [new] = index.search("truce", where="id = 'new'")
        assert new.columns["topic_name"] == "war"


def test_a_column_of_the_documents_that_has_the_name_stays(model):
    frame = pl.DataFrame(
        {"text": ["gold coin"], "id": ["a"], "label": [None], "title": [None], "topic": ["mine"]}
    )
    [hit] = kate.Index.build(model, Documents(frame)).search("gold")
    assert (hit.columns["topic"], hit.columns["topic_name"]) == ("mine", "money")
