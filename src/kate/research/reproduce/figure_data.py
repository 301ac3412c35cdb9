"""What figures 2 and 3 and table 3 show of a run: a map of its documents, and the topic that goes with a class.

Scorers like those of ``evaluation.scoring``: what they find is kept in the line of the run, so that the page can be
made again without running anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from kate.research.evaluation.fitted_model import Fitted, NotScored, Outcome
from kate.research.evaluation.scoring import Scorer
from kate.research.evaluation.topic_scoring import described

__all__ = ["class_topics", "documents_map", "figure_scorers"]

AnyFloats = NDArray[np.floating[Any]]

N_POINTS = 600  # enough for a map, and few enough for a page
_N_NEIGHBOURS = 10
_N_WORDS = 10


def figure_scorers(
    names: Sequence[str], groups: Sequence[str], main_groups: Mapping[str, Sequence[str]]
) -> dict[str, Scorer]:
    """The scorers that a run is asked for: "map", "class_topics" or both."""
    offered: dict[str, Scorer] = {
        "map": lambda fitted: documents_map(fitted, main_groups),
        "class_topics": lambda fitted: class_topics(fitted, groups),
    }
    return {name: offered[name] for name in names}


def documents_map(fitted: Fitted, main_groups: Mapping[str, Sequence[str]]) -> Outcome:
    """Test documents of the main groups on a plane, by PCA and by t-SNE.

    The score says how well the groups stay together: of a document's ten nearest on the plane, the mean share that is
    of the same group.
    """
    names = np.array([_group_of(label, main_groups) for label in _classes(fitted, "test")])
    known = np.flatnonzero(names != "")
    if len(set(names[known])) < 2 or known.size < 2 * _N_NEIGHBOURS:
        raise NotScored("too few documents of the main groups")
    random = np.random.default_rng(0)  # the same documents for every model
    rows = np.sort(random.choice(known, size=min(N_POINTS, known.size), replace=False))
    vectors = np.asarray(fitted.vectors["test"], dtype=np.float64)[rows]
    planes = {"pca": _pca(vectors), "tsne": _tsne(vectors, fitted.random_state)}
    groups = names[rows]
    scores = {f"{name}_purity": purity(points, groups) for name, points in planes.items()}
    details: dict[str, Any] = {
        name: np.round(points / max(float(np.abs(points).max()), 1e-12), 4) for name, points in planes.items()
    }
    details |= {"groups": groups, "labels": np.asarray(fitted.labels("test"))[rows]}
    return Outcome(scores, details)


def class_topics(fitted: Fitted, groups: Sequence[str]) -> Outcome:
    """For each class the pole of a neuron that goes with it best, in words.

    "Best" is the highest correlation of a topic with the class over the documents that the model was fitted on; the
    authors of the paper chose by eye. ``weights`` are the ten strongest words of that pole, as in the paper; ``wins``
    the words of the documents that it wins.
    """
    if not hasattr(fitted.model, "components_"):
        raise NotScored("the model has no topics")
    labels = _classes(fitted, "fitting")
    known = [group for group in groups if group in set(labels)]
    if not known:
        raise NotScored(f"no document is of {', '.join(groups)}")
    vectors = np.asarray(fitted.vectors["fitting"], dtype=np.float64)
    topics = described(fitted, np.asarray(cast(Any, fitted.model).components_))
    found: dict[str, Any] = {}
    for group in known:
        correlations = _correlations(vectors, labels == group)
        neuron = int(np.argmax(np.abs(correlations)))
        pole = "+" if correlations[neuron] >= 0 else "-"
        found[group] = {
            "topic": f"{neuron}{pole}",
            "correlation": float(abs(correlations[neuron])),
            **{way: _words(listed, neuron, pole) for way, listed in topics.items()},
        }
    mean = float(np.mean([one["correlation"] for one in found.values()]))
    return Outcome({"correlation": mean}, found)


def purity(points: AnyFloats, groups: NDArray[Any]) -> float:
    """Of a point's ten nearest, the mean share that is of the same group.

    >>> line = np.column_stack([np.arange(40.0), np.zeros(40)])
    >>> purity(line, np.repeat(["a", "b"], 20)) > 0.8
    True
    """
    from sklearn.neighbors import NearestNeighbors

    size = min(_N_NEIGHBOURS, len(points) - 1)
    nearest = NearestNeighbors(n_neighbors=size).fit(points).kneighbors(return_distance=False)
    return float(np.mean(groups[nearest] == groups[:, None]))


def _group_of(label: str, main_groups: Mapping[str, Sequence[str]]) -> str:
    return next((name for name, starts in main_groups.items() if label.startswith(tuple(starts))), "")


def _classes(fitted: Fitted, part: Any) -> NDArray[Any]:
    if fitted.corpus.label_kind != "classes":
        raise NotScored("needs one class per document")
    return np.asarray(fitted.labels(part)).astype(str)


def _pca(vectors: AnyFloats) -> AnyFloats:
    centred = vectors - vectors.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    plane = np.zeros((len(vectors), 2))
    width = min(2, singular.size)
    plane[:, :width] = left[:, :width] * singular[:width]
    return plane


def _tsne(vectors: AnyFloats, seed: int) -> AnyFloats:
    from sklearn.manifold import TSNE

    spread = vectors.std()  # t-SNE's first steps depend on the scale, which differs from model to model
    scaled = vectors / spread if spread > 0 else vectors
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    model = TSNE(2, init="random", perplexity=perplexity, random_state=seed)
    plane: AnyFloats = model.fit_transform(scaled.astype(np.float32))
    centred: AnyFloats = plane - plane.mean(axis=0)
    return centred


def _correlations(vectors: AnyFloats, member: NDArray[np.bool_]) -> AnyFloats:
    """Of every column with the membership; 0 for a constant column."""
    centred = vectors - vectors.mean(axis=0)
    wanted = member - member.mean()
    length = np.linalg.norm(centred, axis=0) * np.linalg.norm(wanted)
    correlations: AnyFloats = centred.T @ wanted / np.where(length > 0, length, 1)
    return correlations


def _words(topics: Any, neuron: int, pole: str) -> list[str]:
    for topic in topics:
        if topic.neuron == neuron and topic.pole == pole:
            return list(topic.words[:_N_WORDS])
    return []
