"""Metrics: arrays → scores, one module per task. They know no model and no text.

==============  ===========================================  ======================================
name            function                                     needs
==============  ===========================================  ======================================
classification  :func:`kate.research.metrics.classification.classify`   vectors, one class per document
multilabel      :func:`kate.research.metrics.multilabel.classify_sets`  vectors, a set of labels per document
regression      :func:`kate.research.metrics.regression.regress`        vectors, one number per document
retrieval       :func:`kate.research.metrics.retrieval.retrieve`        vectors or a ranking, classes or sets of labels
queries         :mod:`kate.research.metrics.queries`                    vectors or a ranking; labels for two words
questions       :func:`kate.research.metrics.questions.judge_answers`   vectors or a ranking, questions with judgements
clusters        :func:`kate.research.metrics.clusters.compare_labels`   topics of documents, a label per document
topics          :func:`kate.research.metrics.topic_quality.judge_topics` topics of documents, their words
neurons         :mod:`kate.research.metrics.topic_scores`               components: the paper's topics
words           :func:`kate.model.similar_words.nearest`                word vectors
==============  ===========================================  ======================================

Below them: ``probes`` (linear classifiers; ``torch_probes`` fits them on a GPU), ``adam`` (small networks) and
``arrays`` (checks of what the metrics are given).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from kate.errors import quoted

__all__ = ["NEEDS", "why_skipped"]

NEEDS: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        "classification": (("vectors",), ("labels:classes",)),
        "multilabel": (("vectors",), ("labels:sets",)),
        "regression": (("vectors",), ("labels:number",)),
        "retrieval": (("vectors", "ranking"), ("labels:classes", "labels:sets")),
        "queries": (("vectors", "ranking"),),
        "questions": (("vectors", "ranking"), ("questions",)),
        "clusters": (("vectors",), ("labels:classes", "labels:sets")),
        "topics": (("vectors",),),
        "neurons": (("components",),),
        "words": (("words",),),
    }
)
"""What each task needs: at least one of every group."""


def why_skipped(task: str, available: Collection[str]) -> str | None:
    """The reason why a task cannot be run on what is there; None when it can.

    >>> why_skipped("retrieval", {"vectors", "labels:sets"}) is None
    True
    >>> why_skipped("neurons", {"vectors"})
    'neurons needs components'
    >>> why_skipped("retrieval", {"words"})
    'retrieval needs vectors or ranking and labels:classes or labels:sets'
    """
    if task not in NEEDS:
        raise ValueError(f"there is no task {quoted(task)}; expected one of {', '.join(NEEDS)}")
    missing = [" or ".join(group) for group in NEEDS[task] if not any(one in available for one in group)]
    return f"{task} needs {' and '.join(missing)}" if missing else None
