"""All that a model knows of its topics: the sketch of its documents, their tree, those kept, the user's changes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kate.topics.carried_topics import KeptTopics
from kate.topics.document_sketch import DocumentSketch
from kate.topics.topic import Topic
from kate.topics.topic_cut import TopicCut
from kate.topics.topic_edits import EditedCut, TopicEdits
from kate.topics.topic_tree import Suggestion, TopicTree
from kate.topics.topic_words import TopicWords, choose_words, distinct_names

__all__ = ["TopicSpace"]

Numbers = NDArray[np.int64]


class TopicSpace:
    """Finds the tree when it is first asked for, and cuts it.

    readable : the words of the vocabulary as people write them
    phrases : of those that are phrases, the columns of their parts
    edits : the user's changes; None where nothing was changed
    kept : the topics that an update carried over, and the new ones that it found; None before the first update
    """

    def __init__(
        self,
        sketch: DocumentSketch,
        readable: Sequence[str],
        tree: TopicTree | None = None,
        edits: TopicEdits | None = None,
        kept: KeptTopics | None = None,
        phrases: Mapping[int, tuple[int, ...]] | None = None,
    ) -> None:
        self.sketch, self.readable, self.edits, self.kept = sketch, readable, edits, kept
        self.phrases = phrases or {}
        self._tree = tree
        self._cuts: dict[int, TopicCut] = {}
        self._kept_cut: TopicCut | None = None

    @property
    def tree(self) -> TopicTree:
        if self._tree is None:
            self._tree = TopicTree.of(
                self.sketch.units, self.sketch.coarse, short=self.sketch.is_of_short_texts
            )
        return self._tree

    def cut(self, n_topics: int) -> TopicCut:
        """So many topics, without the user's changes: those kept, or else the tree's."""
        if self.kept is None or len(self.kept) != n_topics:
            return self.tree_cut(n_topics)
        if self._kept_cut is None:
            self._kept_cut = self.kept.cut(self.tree, self.sketch)
        return self._kept_cut

    def tree_cut(self, n_topics: int) -> TopicCut:
        """The tree cut at so many topics."""
        if n_topics not in self._cuts:
            self._cuts[n_topics] = TopicCut.of(self.tree, self.sketch, n_topics)
        return self._cuts[n_topics]

    @property
    def own_number(self) -> int | None:
        """How many topics were changed, or kept through an update; None where neither was done."""
        if self.edits is not None:
            return self.edits.n_topics
        return None if self.kept is None else len(self.kept)

    def _changed(self, edits: TopicEdits) -> EditedCut:
        return edits.apply(self.cut(edits.n_topics), self._kept_names(edits.n_topics))

    def _kept_names(self, n_topics: int) -> Mapping[int, str]:
        return self.kept.names if self.kept is not None and len(self.kept) == n_topics else {}

    def current(self, n_topics: int | None, changed: bool = True) -> tuple[EditedCut, Suggestion | None]:
        """The topics that are asked for, with the user's changes where they belong to them.

        Without a number these are the changed topics, those kept through an update, or else as many as the data
        suggest. Without ``changed`` they are as the tree has them, with the names that fit.
        """
        edits, suggestion = self.edits, None
        if n_topics is None:
            n_topics = self.own_number
        if n_topics is None:
            suggestion = self.tree.suggest()
            n_topics = suggestion.n_topics
        if changed and edits is not None and n_topics == edits.n_topics:
            return self._changed(edits), suggestion
        if changed and self.kept is not None and n_topics == len(self.kept):
            return EditedCut(self.cut(n_topics), self.kept.names), suggestion
        self.tree.require(n_topics)
        cut = self.tree_cut(n_topics)
        return EditedCut(cut, self._names_that_fit(cut)), suggestion

    def _names_that_fit(self, cut: TopicCut) -> dict[int, str]:
        """Names given in another cut, of topics that are the same documents here."""
        if self.edits is None:
            return {}
        changed = self._changed(self.edits)
        if any(step.kind != "rename" for step in self.edits.steps):
            warnings.warn(
                f"topics were merged, split or dropped in the cut at {self.edits.n_topics} topics; a cut at "
                f"{cut.n_base} is made from the tree and has only the names that still fit. Ask for topics without a "
                "number to see your changes",
                UserWarning,
                stacklevel=5,
            )
        leaves = {tuple(of_centre): number for number, of_centre in zip(cut.numbers, cut.leaves, strict=True)}
        found = {}
        for number, of_centre in zip(changed.cut.numbers.tolist(), changed.cut.leaves, strict=True):
            same = leaves.get(tuple(of_centre))
            is_whole = np.count_nonzero(changed.cut.numbers == number) == 1
            if number in changed.names and same is not None and is_whole:
                found[int(same)] = changed.names[number]
        return found

    def require_edits(self) -> None:
        """Refuse changes that cannot be made here: those of another model, say."""
        if self.edits is not None:
            self._changed(self.edits)

    def require_changes(self, edits: TopicEdits) -> None:
        """Refuse changes that cannot be made to these topics."""
        self._changed(edits)

    def describe(self, edited: EditedCut) -> list[Topic]:
        """The topics of a cut, in the order of their numbers."""
        cut = edited.cut
        found = self._choose_words(cut.sketch_topics, len(cut.topics))
        words = [[self.readable[column] for column in one.columns] for one in found]
        names = self._names(edited, words)
        sizes = np.bincount(cut.sketch_topics, minlength=len(cut.topics)) / max(len(self.sketch), 1)
        return [
            Topic(
                number,
                name,
                tuple(own),
                tuple(float(share) for share in one.shares),
                float(size),
                one.coherence,
                one.coverage,
            )
            for number, name, own, one, size in zip(
                cut.topics.tolist(), names, words, found, sizes, strict=True
            )
        ]

    def words_of(self, rows: NDArray[np.bool_]) -> TopicWords:
        """The words that tell some documents of the sketch from the others."""
        return self._choose_words(np.where(rows, 0, -1), 1)[0]

    def _choose_words(self, topics: Numbers, n_topics: int) -> list[TopicWords]:
        sketch = self.sketch
        return choose_words(sketch.present, sketch.present_by_word, topics, n_topics, self.phrases)

    @staticmethod
    def _names(edited: EditedCut, words: list[list[str]]) -> list[str]:
        numbers = edited.cut.topics.tolist()
        given: Mapping[int, str] = edited.names
        own = list(distinct_names(words, numbers, taken=set(given.values())))
        return [given.get(number, name) for number, name in zip(numbers, own, strict=True)]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What is saved: the sketch, the tree, and the topics that an update kept."""
        tree, kept = self.tree, self.kept
        joins: dict[str, NDArray[Any]] = {
            "leaf_sums": tree.sums,
            "leaf_sizes": tree.sizes,
            "joins": tree.joins,
            "join_costs": tree.costs,
        }
        own: dict[str, NDArray[Any]] = {}
        if kept is not None:
            own = {"kept_centres": kept.centres, "kept_numbers": kept.numbers}
        return self.sketch.to_arrays() | joins | own

    def config(self) -> dict[str, Any] | None:
        """What the arrays do not hold, as JSON can hold it; None where there is nothing."""
        if self.kept is None:
            return None
        return {"names": {str(number): name for number, name in self.kept.names.items()}} | {
            "next_number": self.kept.next_number
        }

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        readable: Sequence[str],
        n_components: int,
        edits: TopicEdits | None,
        config: Mapping[str, Any] | None = None,
        phrases: Mapping[int, tuple[int, ...]] | None = None,
        of_update: Mapping[str, NDArray[Any]] | None = None,
        n_waiting: int = 0,
    ) -> TopicSpace:
        """What :meth:`to_arrays` and :meth:`config` gave; arrays that do not belong together are refused.

        ``of_update`` and ``n_waiting`` are those of the sketch.
        """
        sketch = DocumentSketch.from_arrays(arrays, len(readable), n_components, of_update, n_waiting)
        tree = TopicTree(*(arrays[name] for name in ("leaf_sums", "leaf_sizes", "joins", "join_costs")))
        tree.require_whole(n_components)
        kept = None if config is None else KeptTopics.from_parts(arrays, config, n_components)
        return cls(sketch, readable, tree, edits, kept, phrases)
