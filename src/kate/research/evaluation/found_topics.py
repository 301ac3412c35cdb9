"""Topics of any model, all in the same number: a topic for every document, and ten words for every topic.

KATE          its tree of topics, cut; words by ``kate.topics.topic_words``
topic models  (NMF, LDA, ProdLDA, ETM) are fitted with as many components as topics are asked for: a document's topic is
              its strongest component, a topic's words are its ten strongest
their own     (BERTopic, Top2Vec, FASTopic) each text's topic and their words, as far as the vocabulary has them
all others    k-means of their unit vectors, and words by the same rule as KATE's
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kate.model.encoder import comparison_shift
from kate.model.kate import KATE
from kate.research.datasets.corpus import Corpus
from kate.research.evaluation.model_inputs import encode_parts, fit_on_corpus, input_of
from kate.topics.coherence import N_CORE
from kate.topics.document_sketch import DocumentSketch
from kate.topics.topic_cut import TopicCut
from kate.topics.topic_tree import TopicTree
from kate.topics.topic_words import TopicWords, choose_words
from kate.unit_rows import unit_rows

__all__ = ["N_TOPICS", "FoundTopics", "TooFewDocuments", "find_topics", "with_n_topics"]

N_TOPICS = 20  # unless another number is asked for
_N_INIT = 3  # starts of k-means, of which the best counts

Way = Literal["tree", "components", "own", "k-means"]
Numbers = NDArray[np.int64]
AnyFloats = NDArray[np.floating[Any]]


class TooFewDocuments(ValueError):  # noqa: N818  said to the user as it is: the topics are not found, nothing failed
    """There are not as many topics in the documents as were asked for."""


@dataclass(frozen=True, eq=False)
class FoundTopics:
    """Topics of the documents that a model was fitted on, and of the test documents.

    way : how they were found
    fitting, test : the topic of each document; -1 for one without a known word
    words : the columns of each topic's ten words, the strongest first; fewer where a topic has no more
    test_shares : how much of each test document belongs to its topic; None where the model does not tell
    seconds : to find topics and words, after the fit
    """

    way: Way
    fitting: Numbers
    test: Numbers
    words: list[Numbers]
    test_shares: AnyFloats | None
    seconds: float


def with_n_topics(model: Any, n_topics: int) -> Any:
    """The model itself, or where its components are topics an unfitted one with so many of them."""
    from sklearn.base import clone

    if not getattr(model, "components_are_topics", False) or model.n_components == n_topics:
        return model
    return clone(model).set_params(n_components=n_topics)


def find_topics(
    model: Any, corpus: Corpus, vectors: Any, n_topics: int, random_state: int = 0
) -> FoundTopics:
    """The topics of a fitted model, whose ``vectors`` of the documents for fitting and testing are given."""
    if corpus.fitting.size < n_topics:
        raise TooFewDocuments(f"{corpus.fitting.size:,} documents are too few for {n_topics} topics")
    start = time.perf_counter()
    shares: AnyFloats | None = None
    if isinstance(model, KATE):
        way: Way = "tree"
        fitting, test, words, shares = _of_tree(model, corpus, n_topics)
    elif getattr(model, "components_are_topics", False):
        fitted = with_n_topics(model, n_topics)
        if fitted is not model:
            fit_on_corpus(fitted, corpus)
        if hasattr(fitted, "topics_of"):
            way = "own"
            fitting, test, words = _of_the_model(fitted, corpus)
        else:
            way = "components"
            vectors = vectors if fitted is model else encode_parts(fitted, corpus)
            fitting, test, words, shares = _of_components(fitted, vectors)
    else:
        way = "k-means"
        fitting, test, words = _of_clusters(corpus, vectors, n_topics, random_state)
    seconds = time.perf_counter() - start
    for topics, rows in ((fitting, corpus.fitting), (test, corpus.test)):
        topics[np.diff(corpus.X[rows].indptr) == 0] = -1
    return FoundTopics(way, fitting, test, words, shares, seconds)


def _of_tree(model: KATE, corpus: Corpus, n_topics: int) -> tuple[Numbers, Numbers, list[Numbers], AnyFloats]:
    """As :class:`kate.TextModel` finds them."""
    shift = comparison_shift(model.encoder_, model.responses_.mean)

    def encoded(counts: sp.csr_matrix) -> NDArray[np.float32]:
        return np.asarray(model.encoder_.vectors(counts, model.n_jobs) - shift)

    fitting, test = (
        sp.csr_matrix(corpus.X[rows], dtype=np.float32) for rows in (corpus.fitting, corpus.test)
    )
    sketch = DocumentSketch.take(fitting, encoded, model.fitted_network().coarse_encode(model.n_jobs))
    tree = TopicTree.of(sketch.units, sketch.coarse, short=sketch.is_of_short_texts)
    try:
        tree.require(n_topics)
    except ValueError as error:
        raise TooFewDocuments(str(error)) from None
    cut = TopicCut.of(tree, sketch, n_topics)
    words = choose_words(sketch.present, sketch.present_by_word, cut.sketch_topics, n_topics)
    units = unit_rows(encoded(test))
    return (
        cut.nearest(unit_rows(encoded(fitting))),
        cut.nearest(units),
        _first(words),
        cut.shares(units).max(axis=1),
    )


def _of_components(model: Any, vectors: Any) -> tuple[Numbers, Numbers, list[Numbers], AnyFloats]:
    weights = np.asarray(vectors["test"], dtype=np.float64)
    if weights.min(initial=0) < 0:  # ProdLDA and ETM give logarithms of shares
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
    totals = weights.sum(axis=1)
    shares = np.divide(weights.max(axis=1), totals, out=np.zeros(len(weights)), where=totals > 0)
    words = []
    for component in np.asarray(model.components_):
        strongest = np.argsort(-component, kind="stable")[:N_CORE]
        words.append(strongest[component[strongest] != 0])  # a word of no weight is not the topic's
    return vectors["fitting"].argmax(axis=1), vectors["test"].argmax(axis=1), words, shares


def _of_the_model(model: Any, corpus: Corpus) -> tuple[Numbers, Numbers, list[Numbers]]:
    fitting, test = (
        np.array(model.topics_of(input_of(model, corpus, rows))) for rows in (corpus.fitting, corpus.test)
    )
    words = []
    for own in model.topic_words_:
        columns = dict.fromkeys(corpus.vocabulary.find(word) for word in own)
        words.append(np.array([one for one in columns if one is not None][:N_CORE], dtype=np.int64))
    return fitting, test, words


def _of_clusters(
    corpus: Corpus, vectors: Any, n_topics: int, random_state: int
) -> tuple[Numbers, Numbers, list[Numbers]]:
    from sklearn.cluster import KMeans

    means = KMeans(n_topics, n_init=_N_INIT, random_state=random_state).fit(unit_rows(vectors["fitting"]))
    fitting = means.labels_.astype(np.int64)
    X = corpus.X[corpus.fitting]
    ones = np.ones(X.nnz, dtype=np.float32)
    present = sp.csr_array((ones, X.indices, X.indptr), shape=X.shape)
    words = choose_words(present, sp.csc_array(present), fitting, n_topics)
    test = unit_rows(vectors["test"])
    return fitting, means.predict(test).astype(np.int64) if len(test) else fitting[:0], _first(words)


def _first(words: list[TopicWords]) -> list[Numbers]:
    return [own.columns[:N_CORE] for own in words]
