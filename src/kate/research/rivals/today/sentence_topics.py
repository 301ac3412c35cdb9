"""BERTopic, Top2Vec and FASTopic on embeddings by all-MiniLM-L6-v2, each with its own defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kate.research.rivals.base import seed_of
from kate.research.rivals.today.sentence_vectors import Embedder
from kate.research.rivals.today.text_rival import TopicRival, quiet_and_seeded
from kate.unit_rows import unit_rows

__all__ = ["BERTopic", "FASTopic", "Top2Vec"]

_N_WORDS = 30  # of a topic; the vocabulary does not know all of them
_UMAP = {"n_neighbors": 15, "n_components": 5, "metric": "cosine"}  # of BERTopic and Top2Vec alike

_WORD = r"(?u)[^\W\d_]{3,}"

Numbers = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(kw_only=True, eq=False, repr=False)
class BERTopic(TopicRival):
    """BERTopic (Grootendorst 2022): embeddings, UMAP, HDBSCAN, words by class-based TF-IDF; then fewer topics.

    It has its own defaults but for English stop words, without which its words are "the" and "of", and for the seed.
    Where it finds fewer topics than asked for, they are fewer.

    Parameters
    ----------
    n_components : topics
    outliers : "assign" puts a text that HDBSCAN leaves out into the nearest topic; "keep" into one more, without words
    random_state : seed of UMAP
    """

    outliers: Literal["assign", "keep"] = "assign"

    def fit(self, X: Sequence[str], y: None = None) -> Self:
        """Find topics in texts."""
        import bertopic
        from sklearn.feature_extraction.text import CountVectorizer
        from umap import UMAP

        texts, seed = self._texts(X), seed_of(self.random_state)
        self.embedder_ = Embedder()
        with quiet_and_seeded(seed):
            self.model_ = bertopic.BERTopic(
                nr_topics=self.n_components + 1,  # the outliers count as a topic
                top_n_words=_N_WORDS,
                umap_model=UMAP(**_UMAP, min_dist=0.0, low_memory=False, random_state=seed),
                vectorizer_model=CountVectorizer(stop_words="english"),
            )
            self.model_.fit(texts, self.embedder_.encode(texts))
        numbers = sorted(number for number in self.model_.get_topics() if number >= 0)
        self.topic_words_ = [
            [word for word, weight in self.model_.get_topic(number) if word and weight > 0]
            for number in numbers
        ] + ([[]] if self.outliers == "keep" else [])
        self._fitted_by(n_topics=len(numbers))
        return self

    def topics_of(self, texts: Sequence[str]) -> Numbers:
        """The topic of each text: HDBSCAN's, and of an outlier as ``outliers`` says."""
        check_is_fitted(self)
        texts = self._texts(texts)
        if not texts:
            return np.zeros(0, dtype=np.int64)
        with quiet_and_seeded(seed_of(self.random_state)):
            found = np.asarray(self.model_.transform(texts, self.embedder_.encode(texts))[0])
        instead = len(self.topic_words_) - 1 if self.outliers == "keep" else self._nearness(texts).argmax(1)
        return np.where(found >= 0, found, instead).astype(np.int64)

    def _nearness(self, texts: list[str]) -> NDArray[Any]:
        # topic_embeddings_ begins with the outliers' where there are any
        centres = np.asarray(self.model_.topic_embeddings_)[1 if -1 in self.model_.get_topics() else 0 :]
        return self.embedder_.encode(texts) @ unit_rows(centres).T


@dataclass(kw_only=True, eq=False, repr=False)
class Top2Vec(TopicRival):
    """Top2Vec (Angelov 2020): embeddings, UMAP, HDBSCAN; words are those nearest to a topic; then fewer topics.

    Where it finds fewer topics than asked for, they are fewer.

    Parameters
    ----------
    n_components : topics
    min_count : words that occur less often describe no topic
    random_state : seed of UMAP
    """

    min_count: int = 50

    def fit(self, X: Sequence[str], y: None = None) -> Self:
        """Find topics in texts."""
        import top2vec

        texts, seed = self._texts(X), seed_of(self.random_state)
        self.embedder_ = Embedder()
        with quiet_and_seeded(seed):
            model = top2vec.Top2Vec(
                texts,
                embedding_model=self.embedder_.encode,
                min_count=self.min_count,
                umap_args=_UMAP | {"random_state": seed},
                keep_documents=False,
                verbose=False,
            )
            reduced = model.get_num_topics() > self.n_components
            if reduced:
                model.hierarchical_topic_reduction(self.n_components)
        self.centres_ = unit_rows(model.topic_vectors_reduced if reduced else model.topic_vectors)
        words = model.topic_words_reduced if reduced else model.topic_words
        self.topic_words_ = [[str(word) for word in own[:_N_WORDS]] for own in words]
        self._fitted_by(n_topics=len(self.topic_words_))
        return self

    def _nearness(self, texts: list[str]) -> NDArray[Any]:
        return self.embedder_.encode(texts) @ self.centres_.T


@dataclass(kw_only=True, eq=False, repr=False)
class FASTopic(TopicRival):
    """FASTopic (Wu and others 2024): topics that transport documents' embeddings to words; by the authors' package.

    Its words are the 20,000 most frequent ones but for English stop words.

    Parameters
    ----------
    n_components : topics
    epochs : over all texts
    random_state : seed
    """

    epochs: int = 200

    def fit(self, X: Sequence[str], y: None = None) -> Self:
        """Find topics in texts."""
        import fastopic

        texts = self._texts(X)
        self.embedder_ = Embedder()
        with quiet_and_seeded(seed_of(self.random_state)):
            self.model_ = fastopic.FASTopic(
                self.n_components,
                preprocess=_FrequentWords(),
                num_top_words=_N_WORDS,
                device="cpu",
                doc_embed_model=self.embedder_,
            )
            top_words, _ = self.model_.fit_transform(texts, epochs=self.epochs)
        self.topic_words_ = [words.split() for words in top_words]
        self._fitted_by(n_topics=len(self.topic_words_))
        return self

    def _nearness(self, texts: list[str]) -> NDArray[Any]:
        return np.asarray(self.model_.transform(doc_embeddings=_tensor(self.embedder_.encode(texts))))


class _FrequentWords:
    """Counts as FASTopic asks for them; the authors' own class is in topmost, which needs torchvision."""

    def preprocess(self, texts: list[str]) -> dict[str, Any]:
        from sklearn.feature_extraction.text import CountVectorizer

        counting = CountVectorizer(stop_words="english", max_features=20_000, token_pattern=_WORD)
        counts = counting.fit_transform(texts)
        return {"train_bow": counts, "vocab": counting.get_feature_names_out().tolist()}


def _tensor(vectors: Floats) -> Any:
    import torch

    return torch.as_tensor(vectors)
