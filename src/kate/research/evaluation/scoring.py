"""A fitted model and a corpus → the scores of one task, by ``kate.research.metrics``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kate.model.similar_words import nearest
from kate.research.datasets.corpus import Corpus, Labels, PartName
from kate.research.evaluation.found_topics import N_TOPICS, FoundTopics, TooFewDocuments, find_topics
from kate.research.evaluation.model_inputs import collection_rows, is_ranker, similarities
from kate.research.metrics.classification import classify
from kate.research.metrics.clusters import compare_labels, majority_labels
from kate.research.metrics.multilabel import classify_sets
from kate.research.metrics.queries import Similarity, one_word_precision, two_word_precision
from kate.research.metrics.questions import judge_answers
from kate.research.metrics.regression import regress
from kate.research.metrics.retrieval import retrieve, retrieve_ranked
from kate.research.metrics.topic_quality import judge_topics
from kate.research.metrics.topic_scores import c_v, diversity, mscd, npmi

if TYPE_CHECKING:
    from kate.research.registry import Model
    from kate.topics.neuron_table import NeuronPoles

__all__ = [
    "QUERY_WORDS",
    "SCORERS",
    "Fitted",
    "NotScored",
    "Outcome",
    "Scorer",
    "available",
    "described",
    "neuron_weights",
]

QUERY_WORDS = ("weapon", "christian", "compani", "israel", "law", "hockey", "comput", "space")
"""The words, as stems, whose neighbours the paper shows."""

_N_NEIGHBOURS = 5
_N_TOP_WORDS = 10
_MOST_PAIRS_RANKED = 2_000_000_000  # queries times documents; with more, the full ranking would take hours
_MOST_KEPT = 10_000  # test documents whose topics are kept, to compare seeds
_MOST_CLASSES_SHOWN = 100  # a larger confusion matrix would be most of the line

AnyFloats = NDArray[np.floating[Any]]


class NotScored(Exception):  # noqa: N818  not an error: a task has nothing to measure here, and says why
    """Model and labels fit the task, but there is nothing to measure."""


class Outcome(NamedTuple):
    """What a task found: the numbers for a table, and what else is kept."""

    scores: dict[str, float]
    details: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Fitted:
    """All that tasks are scored from; of the test documents they see ``vectors["test"]`` and the labels."""

    corpus: Corpus
    model: Model
    vectors: Mapping[PartName, AnyFloats]
    random_state: int = 0
    query_words: tuple[str, ...] = field(default=QUERY_WORDS)
    n_topics: int = N_TOPICS  # of the tasks clusters and topics

    @cached_property
    def topics(self) -> FoundTopics:
        """The topics of the model, found when they are first asked for."""
        if not self.corpus.test.size:
            raise NotScored("there are no test documents")
        try:
            return find_topics(self.model, self.corpus, self.vectors, self.n_topics, self.random_state)
        except TooFewDocuments as reason:
            raise NotScored(str(reason)) from None

    def labels(self, part: PartName) -> Labels:
        return self.corpus.part(part).y


def available(fitted: Fitted) -> set[str]:
    """What there is to score, in the words of :data:`kate.research.metrics.NEEDS`."""
    found = {"ranking" if is_ranker(fitted.model) else "vectors", f"labels:{fitted.corpus.label_kind}"}
    if fitted.corpus.questions is not None:
        found.add("questions")
    if hasattr(fitted.model, "components_"):
        found.add("components")
    if hasattr(fitted.model, "word_vectors_"):
        found.add("words")
    return found


def _classification(fitted: Fitted) -> Outcome:
    """By the logistic probe and, as ``paper_probe_…``, by the paper's softmax layer on unscaled vectors."""
    result = classify(*_known_and_test(fitted), random_state=fitted.random_state)
    paper = classify(*_known_and_test(fitted), probe="paper", random_state=fitted.random_state)
    details: dict[str, Any] = {
        "strength": result.strength,
        "validation_accuracy": result.validation_accuracy,
    }
    if len(result.classes) <= _MOST_CLASSES_SHOWN:
        details |= {"classes": result.classes, "confusion": result.confusion}
    scores = result.scores() | {f"paper_probe_{name}": value for name, value in paper.scores().items()}
    return Outcome(scores, details)


def _multilabel(fitted: Fitted) -> Outcome:
    result = classify_sets(*_known_and_test(fitted))
    return Outcome(result.scores(), {"strength": result.strength, "threshold": result.threshold})


def _regression(fitted: Fitted) -> Outcome:
    result = regress(*_known_and_test(fitted), random_state=fitted.random_state)
    names = ("hidden", "strength", "ridge_strength")
    return Outcome(result.scores(), {name: getattr(result, name) for name in names})


def _known_and_test(fitted: Fitted) -> tuple[AnyFloats, Any, AnyFloats, Any, AnyFloats, Any]:
    vectors, labels = fitted.vectors, fitted.labels
    return (
        vectors["fitting"],
        labels("fitting"),
        vectors["validation"],
        labels("validation"),
        vectors["test"],
        labels("test"),
    )


def _retrieval(fitted: Fitted) -> Outcome:
    """By cosine of the vectors and, unless they are centred already, of the vectors minus their training mean."""
    if is_ranker(fitted.model):
        return _ranked_retrieval(fitted)
    train = np.concatenate([fitted.vectors["fitting"], fitted.vectors["validation"]])
    corpus = fitted.corpus
    train_labels = corpus.labels[collection_rows(corpus)]
    test, test_labels = fitted.vectors["test"], fitted.labels("test")
    full = len(train) * len(test) <= _MOST_PAIRS_RANKED
    result = retrieve(train, train_labels, test, test_labels, full=full)
    scores = result.scores()
    is_centred = _is_centred(fitted.vectors["fitting"])
    if not is_centred:
        centred = retrieve(train, train_labels, test, test_labels, center=True, full=full)
        scores |= {f"centred_{name}": value for name, value in centred.scores().items()}
    facts = {"n_queries": result.n_queries, "n_skipped": result.n_skipped, "vectors_are_centred": is_centred}
    return Outcome(scores, facts)


def _ranked_retrieval(fitted: Fitted) -> Outcome:
    """By the scores of a model that ranks documents and has no vectors."""
    corpus, model = fitted.corpus, cast(Any, fitted.model)
    collection, queries = collection_rows(corpus), corpus.X[corpus.test]
    result = retrieve_ranked(
        lambda rows: model.similarities(queries[rows]),
        (len(collection), corpus.labels[collection]),
        (len(corpus.test), fitted.labels("test")),
        full=len(collection) * len(corpus.test) <= _MOST_PAIRS_RANKED,
    )
    return Outcome(result.scores(), {"n_queries": result.n_queries, "n_skipped": result.n_skipped})


def _queries(fitted: Fitted) -> Outcome:
    """Queries of one word (a hit holds it) and, where there are labels, of two words of a test document."""
    corpus, similarity = fitted.corpus, _similarity(fitted)
    collection = collection_rows(corpus)
    X = corpus.X[collection]
    try:
        scores = {"one_word": one_word_precision(X, similarity)}
        if corpus.label_kind in {"classes", "sets"} and corpus.test.size:
            test, labels = corpus.part("test"), corpus.labels[collection]
            scores["two_words"] = two_word_precision(X, labels, test.X, test.y, similarity)
    except ValueError as error:
        raise NotScored(str(error)) from None
    return Outcome(scores, {})


def _questions(fitted: Fitted) -> Outcome:
    """Real questions: how high the documents that answer them are ranked."""
    corpus = fitted.corpus
    assert corpus.questions is not None  # the task is skipped otherwise
    place = {int(row): place for place, row in enumerate(collection_rows(corpus))}
    relevant = [{place[row] for row in rows if row in place} for rows in corpus.questions.relevant]
    found = judge_answers(_similarity(fitted)(sp.csr_matrix(corpus.questions.X)), relevant)
    return Outcome(found.scores(), {"n_questions": found.n_questions, "ndcg_of_each": found.ndcg_of_each})


def _similarity(fitted: Fitted) -> Similarity:
    vectors = fitted.vectors
    collection = np.concatenate([vectors["fitting"], vectors["validation"]]) if vectors else None
    return lambda queries: similarities(fitted.model, collection, queries)


def _is_centred(vectors: AnyFloats) -> bool:
    """Whether the mean is zero but for rounding, compared with the spread."""
    mean = np.linalg.norm(vectors.mean(axis=0, dtype=np.float64))
    return bool(mean <= 1e-3 * np.linalg.norm(vectors.std(axis=0, dtype=np.float64)))


def _clusters(fitted: Fitted) -> Outcome:
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


def _topics(fitted: Fitted) -> Outcome:
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


def _neurons(fitted: Fitted) -> Outcome:
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


def _words(fitted: Fitted) -> Outcome:
    """The nearest neighbours of the query words, as stems: no score, but words to read."""
    vocabulary = fitted.corpus.vocabulary
    found = {query: vocabulary.find(query) for query in fitted.query_words}
    known = {query: column for query, column in found.items() if column is not None}
    if not known:
        raise NotScored(f"none of {', '.join(found)} is in the vocabulary")
    columns, _ = nearest(cast(Any, fitted.model).word_vectors_, list(known.values()), top=_N_NEIGHBOURS)
    return Outcome(
        {},
        {
            query: [vocabulary.words[column] for column in row]
            for query, row in zip(known, columns, strict=True)
        },
    )


Scorer: TypeAlias = Callable[[Fitted], Outcome]

SCORERS: Mapping[str, Scorer] = MappingProxyType(
    {
        "classification": _classification,
        "multilabel": _multilabel,
        "regression": _regression,
        "retrieval": _retrieval,
        "queries": _queries,
        "questions": _questions,
        "clusters": _clusters,
        "topics": _topics,
        "neurons": _neurons,
        "words": _words,
    }
)
