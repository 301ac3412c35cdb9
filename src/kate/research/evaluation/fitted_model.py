"""What tasks are scored from: a fitted model, a corpus, and the vectors of its documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kate.research.datasets.corpus import Corpus, Labels, PartName
from kate.research.evaluation.found_topics import N_TOPICS, FoundTopics, TooFewDocuments, find_topics
from kate.research.evaluation.model_inputs import is_ranker

if TYPE_CHECKING:
    from kate.research.registry import Model

__all__ = ["QUERY_WORDS", "Fitted", "NotScored", "Outcome", "available"]

QUERY_WORDS = ("weapon", "christian", "compani", "israel", "law", "hockey", "comput", "space")
"""The words, as stems, whose neighbours the paper shows."""

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
