"""How well a fitted model finds documents: like a document, by words of a document, by questions with judgements."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kate.research.evaluation.fitted_model import Fitted, NotScored, Outcome
from kate.research.evaluation.model_inputs import collection_rows, is_ranker, queries_of, similarities
from kate.research.metrics.queries import Similarity, one_word_precision, two_word_precision
from kate.research.metrics.questions import judge_answers
from kate.research.metrics.retrieval import retrieve, retrieve_ranked

__all__ = ["score_queries", "score_questions", "score_retrieval"]

_MOST_PAIRS_RANKED = 2_000_000_000  # queries times documents; with more, the full ranking would take hours

AnyFloats = NDArray[np.floating[Any]]


def score_retrieval(fitted: Fitted) -> Outcome:
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


def score_queries(fitted: Fitted) -> Outcome:
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


def score_questions(fitted: Fitted) -> Outcome:
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
    return lambda queries: similarities(
        fitted.model, collection, queries_of(fitted.model, fitted.corpus, queries)
    )


def _is_centred(vectors: AnyFloats) -> bool:
    """Whether the mean is zero but for rounding, compared with the spread."""
    mean = np.linalg.norm(vectors.mean(axis=0, dtype=np.float64))
    return bool(mean <= 1e-3 * np.linalg.norm(vectors.std(axis=0, dtype=np.float64)))
