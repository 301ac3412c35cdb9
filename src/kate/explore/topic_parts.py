"""Topics for every stop of the slider, as ``model.topics(n)`` gives them, and the topic of every document."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kate.explore.explored_corpus import ExploredCorpus
from kate.explore.page_data import array_bytes, json_bytes
from kate.model.text_model import TextModel
from kate.topics.topic_set import Topics

__all__ = ["TopicStops", "slider_stops"]

# every number at first, where one more topic changes much, and fewer of them further on
_STOPS = (*range(2, 13), 14, 16, 18, 20, 23, 26, 30, 35, 40, 45, 50, 60, 70, 80, 100)

UnsignedInts = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, eq=False)
class TopicStops:
    """The topics of every stop.

    stops : at how many topics the tree is cut, from few to many
    topics : those of each stop, with the user's changes where they belong
    initial : the stop that a page opens at
    """

    corpus: ExploredCorpus
    stops: tuple[int, ...]
    topics: tuple[Topics, ...]
    initial: int

    @classmethod
    def of(cls, corpus: ExploredCorpus, n_topics: int | None = None) -> TopicStops:
        """``n_topics`` is the first stop that a page shows; None takes the model's."""
        model = corpus.model
        initial = _own_number(model) if n_topics is None else n_topics
        stops = slider_stops(model, initial)
        with warnings.catch_warnings():
            # a page shows the user's changes at their stop, and says so: nothing to warn of at the others
            warnings.simplefilter("ignore", UserWarning)
            topics = tuple(model.topics(n) for n in stops)
        return cls(corpus, stops, topics, initial)

    @property
    def splits(self) -> list[tuple[int, int, int]]:
        """The tree as far as the largest stop needs it, see :meth:`kate.topics.topic_tree.TopicTree.splits`."""
        return self.corpus.model.topic_space_.tree.splits()[: max(self.stops) - 1]

    def parts(self) -> dict[str, bytes]:
        assigned = self.assigned(self.corpus)
        rows = [
            self._described(stop, topics, numbers)
            for stop, topics, numbers in zip(self.stops, self.topics, assigned, strict=True)
        ]
        centres = np.concatenate([topics.cut.centres for topics in self.topics]).astype(np.float16)
        return {
            "topics": json_bytes({"cuts": rows, "splits": self.splits}),
            "assignments": array_bytes(np.concatenate(assigned)),
            "centres": array_bytes(centres.view(np.uint16)),
        }

    def assigned(self, corpus: ExploredCorpus) -> list[UnsignedInts]:
        """For every stop the number of every document's topic; the highest number of its kind where it has none."""
        kind = np.uint8 if max(max(one.numbers) for one in self.topics) < 255 else np.uint16
        found: list[UnsignedInts] = []
        for topics in self.topics:
            numbers = topics.cut.topics[topics.cut.nearest(corpus.vectors)].astype(kind)
            found.append(np.where(corpus.known, numbers, np.iinfo(kind).max).astype(kind))
        return found

    def _described(self, stop: int, topics: Topics, numbers: UnsignedInts) -> dict[str, Any]:
        cut = topics.cut
        space = self.corpus.model.topic_space_
        edits = space.edits
        edited = edits is not None and edits.n_topics == stop
        return {
            "n": stop,
            "reason": topics.reason,
            "suggested": stop == space.tree.suggest().n_topics,
            # a page saves these with those of its reader: a file of changes holds all of them
            "edits": [step.as_dict() for step in edits.steps] if edits is not None and edited else [],
            "sharpness": cut.sharpness,
            "centre_topics": cut.numbers.tolist(),
            "topics": [
                {
                    "number": topic.number,
                    "name": topic.name,
                    "words": [
                        [word, round(weight, 4)]
                        for word, weight in zip(topic.words, topic.weights, strict=True)
                    ],
                    "share": round(topic.share, 5),
                    "coherence": None if topic.coherence is None else round(topic.coherence, 4),
                    "coverage": round(topic.coverage, 4),
                    "size": int(np.count_nonzero(numbers == topic.number)),
                }
                for topic in topics
            ],
        }


def slider_stops(model: TextModel, initial: int) -> tuple[int, ...]:
    """At how many topics the slider stops; always at ``initial``, at the suggested number and at the changed topics."""
    space = model.topic_space_
    space.tree.require(initial)
    own = {initial, space.tree.suggest().n_topics}
    if space.own_number is not None:
        own.add(space.own_number)
    usual = {stop for stop in _STOPS if stop <= space.tree.n_leaves}
    return tuple(sorted(usual | own))


def _own_number(model: TextModel) -> int:
    """The number of topics that were changed or kept, or else the one that the data suggest."""
    space = model.topic_space_
    return space.own_number or space.tree.suggest().n_topics
