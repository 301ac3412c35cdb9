"""BERTopic finds topics with our vectors."""

import pytest

pytest.importorskip("bertopic", reason="BERTopic is not installed: pip install bertopic")

from bertopic import BERTopic

from kate.adapters.bertopic_embedder import KateEmbedder


def test_topics_of_bertopic_from_our_vectors(model, texts):
    topics, _ = BERTopic(embedding_model=KateEmbedder(model), min_topic_size=10).fit_transform(texts * 3)
    assert len(topics) == 3 * len(texts)
    assert len(set(topics) - {-1}) >= 2
