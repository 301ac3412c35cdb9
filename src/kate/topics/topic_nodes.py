"""The tree as people read it: every node with its share and words, down to the topics of a cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kate.topics.topic_set import Topics
from kate.topics.topic_space import TopicSpace

__all__ = ["TopicNode", "topic_nodes"]


@dataclass(frozen=True)
class TopicNode:
    """A topic of a cut (with its number), or what joins several of them (number None, and children).

    >>> leaves = TopicNode(0, "peace", ("peace",), 0.4), TopicNode(1, "gold", ("gold",), 0.6)
    >>> print(TopicNode(None, "all", (), 1.0, leaves))
    100.0%  all
      40.0%  0: peace
      60.0%  1: gold
    """

    number: int | None
    name: str
    words: tuple[str, ...]
    share: float
    children: tuple[TopicNode, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "topic": self.number,
            "name": self.name,
            "share": self.share,
            "words": list(self.words),
            "children": [child.as_dict() for child in self.children],
        }

    def lines(self, depth: int = 0) -> Iterator[str]:
        shown = self.name if self.number is None else f"{self.number}: {self.name}"
        yield f"{'  ' * depth}{self.share:.1%}  {shown}"
        for child in self.children:
            yield from child.lines(depth + 1)

    def __str__(self) -> str:
        return "\n".join(self.lines())


def topic_nodes(space: TopicSpace, topics: Topics) -> TopicNode:
    """The tree over the topics of a cut that nobody has merged, split or dropped."""
    tree, cut = space.tree, topics.cut
    nodes = {
        topic.number: TopicNode(topic.number, topic.name, topic.words[:10], topic.share) for topic in topics
    }
    members = {number: cut.sketch_topics == number for number in nodes}
    # from the last split back to the first: the new topic joins the one that it was split from
    for new in range(len(topics) - 1, 0, -1):
        number = tree.splits()[new - 1][0]
        rows = members[number] | members.pop(new)
        halves = sorted((nodes[number], nodes.pop(new)), key=lambda node: -node.share)
        members[number] = rows
        words = tuple(space.readable[column] for column in space.words_of(rows).columns[:10])
        share = float(np.mean(rows)) if len(rows) else 0.0
        # a node of most documents has no words that tell it from the others
        together = " + ".join(half.name.split(", ")[0] for half in halves)
        name = "all documents" if new == 1 else ", ".join(words[:3]) or together
        nodes[number] = TopicNode(None, name, words, share, tuple(halves))
    return nodes[0]
