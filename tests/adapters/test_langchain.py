"""LangChain encodes and retrieves with a model of ours."""

import numpy as np
import pytest

pytest.importorskip("langchain_core", reason="LangChain is not installed: pip install langchain-core")

from langchain_core.vectorstores import InMemoryVectorStore

from kate.adapters.langchain_embeddings import KateEmbeddings


def test_documents_and_queries_have_the_vectors_of_the_model(model, tmp_path):
    model.save(tmp_path / "model")
    for embeddings in (KateEmbeddings(model), KateEmbeddings(tmp_path / "model")):
        np.testing.assert_allclose(
            embeddings.embed_documents(["gold", "peace"]), model.encode(["gold", "peace"], normalize=True)
        )
        np.testing.assert_allclose(embeddings.embed_query("gold"), model.encode("gold", normalize=True))
    assert embeddings.embed_documents([]) == []
    assert set(embeddings.embed_query("xyzzy")) == {0.0}
    assert len(KateEmbeddings(model, truncate_dim=3).embed_query("gold")) == 3


def test_a_store_of_langchain_finds_documents(model, texts):
    store = InMemoryVectorStore.from_texts(texts[:20], KateEmbeddings(model))
    [found] = store.similarity_search("silver and gold coins of a mint", k=1)
    assert set(found.page_content.split()) <= {"gold", "silver", "coin", "bank", "mint", "dollars"}
