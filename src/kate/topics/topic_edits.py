"""What a user changed about the topics: renamed, merged, split, dropped. Every change can be undone.

Changes are kept as a list and made anew on the cut that they were made on, so that the last one can be taken back and a
small JSON file beside the model holds them all.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kate.errors import quoted
from kate.topics.topic_cut import TopicCut

__all__ = ["EditedCut", "TopicEdit", "TopicEdits", "require_topics", "topic_number"]

_KINDS = ("rename", "merge", "split", "drop")


@dataclass(frozen=True)
class TopicEdit:
    """One change: "rename" has a topic and a name, "merge" several topics, "split" and "drop" have one."""

    kind: str
    topics: tuple[int, ...]
    name: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "topics": list(self.topics)} | (
            {} if self.name is None else {"name": self.name}
        )

    @classmethod
    def from_dict(cls, row: Any) -> TopicEdit:
        """What a stranger's file holds is checked."""
        kind, topics = (row.get("kind"), row.get("topics")) if isinstance(row, Mapping) else (None, None)
        name = row.get("name") if isinstance(row, Mapping) else None
        numbers = isinstance(topics, list) and all(type(topic) is int and topic >= 0 for topic in topics)
        enough = numbers and (len(topics or ()) >= 2 if kind == "merge" else len(topics or ()) == 1)
        named = isinstance(name, str) if kind == "rename" else name is None
        if kind not in _KINDS or not enough or not named:
            shown = json.dumps(row, ensure_ascii=False, default=str)[:80]
            raise ValueError(
                f"{shown} is not a change of topics; expected "
                '{"kind": "rename", "topics": [3], "name": "law"}, {"kind": "merge", "topics": [3, 7]}, or the kinds '
                "split and drop with one topic"
            )
        return cls(str(kind), tuple(topics or ()), name)


@dataclass(frozen=True)
class EditedCut:
    """A cut after changes, and the names that were given to its topics."""

    cut: TopicCut
    names: Mapping[int, str]


@dataclass(frozen=True)
class TopicEdits:
    """Changes, in the order in which they were made, of the topics of one cut."""

    n_topics: int
    steps: tuple[TopicEdit, ...] = ()

    def and_then(self, edit: TopicEdit) -> TopicEdits:
        return TopicEdits(self.n_topics, (*self.steps, edit))

    def undone(self) -> TopicEdits:
        if not self.steps:
            raise ValueError("there is nothing to undo: the topics are as the model found them")
        return TopicEdits(self.n_topics, self.steps[:-1])

    def apply(self, cut: TopicCut, given: Mapping[int, str] | None = None) -> EditedCut:
        """The topics after all changes; ``cut`` is what has ``n_topics``, and ``given`` are names from before."""
        names: dict[int, str] = dict(given or {})
        for step in self.steps:
            require_topics(step.topics, cut.topics.tolist())
            if step.kind == "rename":
                names[step.topics[0]] = _checked_name(step, names)
            elif step.kind == "merge":
                cut = cut.merged(_several(step.topics))
                gone = set(step.topics) - {step.topics[0]}
                names = {number: name for number, name in names.items() if number not in gone}
            elif step.kind == "split":
                cut = cut.split(step.topics[0])
                names.pop(step.topics[0], None)
            else:
                if len(cut.topics) == 1:
                    raise ValueError(f"topic {step.topics[0]} is the last one and cannot be dropped")
                cut = cut.dropped(step.topics[0])
                names.pop(step.topics[0], None)
        return EditedCut(cut, names)

    def as_dict(self) -> dict[str, Any]:
        return {"n_topics": self.n_topics, "edits": [step.as_dict() for step in self.steps]}

    @classmethod
    def from_dict(cls, found: Any) -> TopicEdits:
        n_topics = found.get("n_topics") if isinstance(found, Mapping) else None
        steps = found.get("edits") if isinstance(found, Mapping) else None
        if type(n_topics) is not int or n_topics < 1 or not isinstance(steps, list):
            shown = json.dumps(found, ensure_ascii=False, default=str)
            raise ValueError(
                f"{shown if len(shown) <= 60 else f'{shown[:60]}…'} are not changes of topics; expected "
                '{"n_topics": 20, "edits": [...]}: the cut whose topics were changed, and how'
            )
        return cls(n_topics, tuple(map(TopicEdit.from_dict, steps)))


def topic_number(given: Any) -> int:
    """A number as it was given, of NumPy too; anything else is refused."""
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise ValueError(f"{quoted(given)} is not the number of a topic; expected a whole number such as 3")
    return operator.index(given)


def require_topics(asked: Iterable[int], present: Sequence[int]) -> None:
    """Refuse the number of a topic that is not there."""
    for number in asked:
        if number not in present:
            whole = list(present) == list(range(len(present)))
            shown = f"0 to {len(present) - 1}" if whole else ", ".join(map(str, present))
            raise ValueError(f"there is no topic {number}; the topics are {shown}")


def _checked_name(step: TopicEdit, names: Mapping[int, str]) -> str:
    name = (step.name or "").strip()
    if not name or not name.isprintable():
        raise ValueError(f"{quoted(step.name)} cannot be the name of a topic; give it a word or two")
    taken = [number for number, other in names.items() if other == name and number != step.topics[0]]
    if taken:
        raise ValueError(
            f"topic {taken[0]} is named {quoted(name)} already; choose another name, or merge the two"
        )
    return name


def _several(topics: tuple[int, ...]) -> list[int]:
    if len(set(topics)) < 2:
        raise ValueError(f"to merge takes two topics or more, got {', '.join(map(str, topics)) or 'none'}")
    return list(dict.fromkeys(topics))
