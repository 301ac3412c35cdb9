"""What models are fed: counts, sequences, a vocabulary; and rankers, which have no vectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pytest

from kate.research.datasets.corpus import Corpus
from kate.research.evaluation import evaluate
from kate.text.sequences import Sequences
from research.evaluation.toys import Topicless


class Reader(Topicless):
    """Reads sequences and asks for all that there is."""

    inputs = "sequences"

    def fit(self, X: Any, *, validation: Any, vocabulary: Any) -> Self:
        self.seen = X, validation, vocabulary
        return super().fit(X.counts())

    def transform(self, X: Any) -> Any:
        return super().transform(X.counts())


class Overlap:
    """Ranks by the number of words that two documents share."""

    def fit(self, X: Any) -> Self:
        self.documents = X
        return self

    def similarities(self, X: Any) -> Any:
        return (X @ self.documents.T).toarray()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}


def test_a_model_that_reads_sequences_gets_them_and_what_it_asks_for(corpus: Corpus) -> None:
    model = Reader(4)
    run = evaluate(corpus, model, ["classification"])
    X, validation, vocabulary = model.seen
    assert isinstance(X, Sequences)
    assert (X.shape, len(validation)) == ((86, corpus.n_words), 10)
    assert vocabulary is corpus.vocabulary
    np.testing.assert_array_equal(X.counts().toarray(), corpus.part("fitting").X.toarray())
    assert run.scores["classification"].keys() >= {"accuracy"}


def test_a_ranker_searches_all_training_documents_and_does_nothing_else(corpus: Corpus) -> None:
    model = Overlap()
    run = evaluate(corpus, model)
    assert model.documents.shape[0] == 96
    assert run.scores.keys() == {"retrieval", "time"}
    assert run.scores["retrieval"]["precision@10"] == pytest.approx(1.0)  # the subjects share no words
    assert run.errors == {}
    assert run.skipped["classification"] == "classification needs vectors"
