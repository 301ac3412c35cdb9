"""A fitted model and a corpus → the scores of one task, by ``kate.research.metrics``: the table of all tasks.

Tasks with labels and that of words are here; the others in retrieval_scoring.py and topic_scoring.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from kate.model.similar_words import nearest
from kate.research.evaluation.fitted_model import Fitted, NotScored, Outcome
from kate.research.evaluation.retrieval_scoring import score_queries, score_questions, score_retrieval
from kate.research.evaluation.topic_scoring import score_clusters, score_neurons, score_topics
from kate.research.metrics.classification import classify
from kate.research.metrics.multilabel import classify_sets
from kate.research.metrics.regression import regress

__all__ = ["SCORERS", "Scorer"]

_N_NEIGHBOURS = 5
_MOST_CLASSES_SHOWN = 100  # a larger confusion matrix would be most of the line

AnyFloats = NDArray[np.floating[Any]]


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
        "retrieval": score_retrieval,
        "queries": score_queries,
        "questions": score_questions,
        "clusters": score_clusters,
        "topics": score_topics,
        "neurons": score_neurons,
        "words": _words,
    }
)
