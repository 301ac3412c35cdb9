"""The topics of a fitted model: beside labels, by their words, and as the paper has them, the neurons."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kate.research.datasets.corpus import Corpus, PartName
from kate.research.evaluation.fitted_model import Fitted, NotScored, Outcome
from kate.research.metrics.clusters import compare_labels, majority_labels
from kate.research.metrics.topic_quality import judge_topics
from kate.research.metrics.topic_scores import c_v, diversity, mscd, npmi

if TYPE_CHECKING:
    from kate.topics.neuron_table import NeuronPoles

__all__ = ["described", "neuron_weights", "score_clusters", "score_neurons", "score_topics"]

_N_TOP_WORDS = 10
_MOST_KEPT = 10_000  # test documents whose topics are kept, to compare seeds

AnyFloats = NDArray[np.floating[Any]]


def score_clusters(fitted: Fitted) -> Outcome:
    """Topics beside labels, on test documents of one label; ``majority_label``: how often that of the topic is right.

    A topic's majority label is that of the documents that the model was fitted on. Beside it ``strongest_share`` says
    how sure the model was on average.
    """
    found = fitted.topics
    (learned, learned_labels), (test, test_labels) = (
        _singly_labelled(fitted, part) for part in ("fitting", "test")
    )
    usable = test & (found.test >= 0)
    if not usable.any():
        raise NotScored("no test document has one label and a known word")
    n_documents = len(usable)
    if n_left_out := n_documents - int(test.sum()):
        warnings.warn(
            f"clusters: left out {n_left_out:,} of {n_documents:,} test documents, which have several labels or none",
            UserWarning,
            stacklevel=2,
        )
    topics, labels = found.test[usable], test_labels[usable]
    scores = compare_labels(topics, labels).scores()
    known = learned & (found.fitting >= 0)
    majority = majority_labels(found.fitting[known], learned_labels[known])
    is_right = [
        majority.get(topic) == label for topic, label in zip(topics.tolist(), labels.tolist(), strict=True)
    ]
    scores["majority_label"] = float(np.mean(is_right))
    if found.test_shares is not None:
        scores["strongest_share"] = float(found.test_shares[usable].mean())
    facts = {
        "way": found.way,
        "n_documents": int(usable.sum()),
        "n_left_out": n_documents - int(usable.sum()),
    }
    return Outcome(scores, facts)


def _singly_labelled(fitted: Fitted, part: PartName) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Which documents of a part have exactly one label, and the labels, which mean nothing for the others."""
    labels = fitted.labels(part)
    if not isinstance(labels, np.ndarray):  # sets of labels
        has_one = np.diff(labels.indptr) == 1
        first = np.zeros(len(has_one), dtype=np.int64)
        first[has_one] = labels.indices[labels.indptr[:-1][has_one]]
        return has_one, first
    return np.ones(len(labels), dtype=bool), labels


def score_topics(fitted: Fitted) -> Outcome:
    """The words of topics in the test documents, which had no part in choosing them."""
    found, corpus = fitted.topics, fitted.corpus
    try:
        quality = judge_topics(found.words, found.test, corpus.X[corpus.test])
    except ValueError as error:
        raise NotScored(str(error)) from None
    details = {
        "way": found.way,
        "n_described": quality.n_described,
        "words": [[corpus.vocabulary.words[column] for column in own] for own in found.words],
        "documents": found.test[:: -(-len(found.test) // _MOST_KEPT)],
    }
    return Outcome(quality.scores() | {"seconds": found.seconds}, details)


def score_neurons(fitted: Fitted) -> Outcome:
    """The paper's topics: MSCD of the neurons' weights; coherence and diversity of their words, by wins and by weights.

    Words are chosen on the documents that the model was fitted on. Their coherence is measured over all
    documents and, as ``npmi_test``, over the test documents alone. ``c_v_documents`` counts words that share a
    document; the usual c_v, which counts those that share a window of 110 tokens, gives other numbers.
    """
    components = neuron_weights(fitted.model)
    scores = {"mscd": mscd(components)} if len(components) > 1 else {}
    details: dict[str, Any] = {}
    for way, topics in described(fitted, components).items():
        full = [topic.words for topic in topics.shortened(_N_TOP_WORDS) if len(topic.words) == _N_TOP_WORDS]
        details[way] = {"n_topics": len(topics), "n_measured": len(full), "words": full}
        if full:
            prefix = "" if way == "wins" else f"{way}_"
            measured = _word_scores(fitted.corpus, full)
            scores |= {f"{prefix}{name}": value for name, value in measured.items()}
    if not scores:
        raise NotScored(f"one topic only, and it has fewer than {_N_TOP_WORDS} words")
    return Outcome(scores, details)


def _word_scores(corpus: Corpus, topics: list[tuple[str, ...]]) -> dict[str, float]:
    column = corpus.vocabulary.columns
    top_words = np.array([[column[word] for word in words] for words in topics])
    return {
        "npmi": npmi(top_words, corpus.X).mean,
        **({"npmi_test": npmi(top_words, corpus.part("test").X).mean} if corpus.test.size else {}),
        "c_v_documents": c_v(top_words, corpus.X).mean,
        "diversity": diversity(top_words),
    }


def neuron_weights(model: Any) -> AnyFloats:
    """What topics are told of: the weights of KATE's neurons (n_neurons, n_words), the components of another model."""
    neurons = getattr(model, "neurons_", None)
    return np.asarray(model.components_ if neurons is None else neurons.W.T)


def described(fitted: Fitted, components: AnyFloats) -> dict[str, NeuronPoles]:
    """Both poles of every neuron in words, as stems: unlike readable forms, no two are the same."""
    from kate.topics.neuron_poles import Responses, count_wins, describe_by_weights, describe_by_wins

    X = sp.csr_matrix(fitted.corpus.part("fitting").X, dtype=np.float32)

    neurons = getattr(fitted.model, "neurons_", None)

    def respond(documents: sp.csr_matrix) -> NDArray[np.float32]:
        # centred or not makes no difference: wins are counted on standardised responses
        found = fitted.model.transform(documents) if neurons is None else neurons.respond(documents)
        return np.asarray(found, dtype=np.float32)

    wins = count_wins(X, respond, Responses.of(respond, X))
    words = fitted.corpus.vocabulary.words
    return {
        "wins": describe_by_wins(X, wins, words),
        "weights": describe_by_weights(X, components.T, wins, words),
    }
