"""Which column of a file is the text, the id, the label and the title."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kate.errors import quoted
from kate.text.compressed_files import CorpusError

__all__ = ["Fields", "choose_fields", "listed"]

# Usual names of each field, the most likely first.
_USUAL_NAMES = {
    "text": ("text", "body", "content", "document", "abstract", "review", "message", "article", "comment"),
    "id": ("id", "_id", "doc_id", "docid", "document_id", "uid", "uuid", "key"),
    "label": ("label", "category", "class", "topic", "target", "labels", "categories", "topics", "sentiment"),
    "title": ("title", "headline", "subject", "name", "heading"),
}


@dataclass(frozen=True)
class Fields:
    """The names of the four fields; None is "guess it" if the user asks, "not there" if we have chosen."""

    text: str | None = None
    id: str | None = None
    label: str | None = None
    title: str | None = None

    @cached_property
    def given(self) -> dict[str, str]:
        """The fields that have a name."""
        names = {"text": self.text, "id": self.id, "label": self.label, "title": self.title}
        return {role: name for role, name in names.items() if name is not None}


def choose_fields(present: Sequence[str], asked: Fields, where: str) -> Fields:
    """The fields to read, of those that are present: the ones asked for, or else those with a usual name.

    >>> choose_fields(["ID", "Headline", "Body"], Fields(), "news.csv")
    Fields(text='Body', id='ID', label=None, title='Headline')
    """
    chosen: dict[str, str | None] = {}
    for role, usual in _USUAL_NAMES.items():
        name = asked.given.get(role)
        chosen[role] = _find(present, usual) if name is None else _find(present, [name])
        if name is not None and chosen[role] is None:
            raise CorpusError(
                f"{where} has no field {quoted(name)} for the {role}; its fields are {listed(present)}: "
                "choose one of them"
            )
    if chosen["text"] is None:
        raise CorpusError(
            f"{where} has no field with a usual name for the text (such as text, body or content); "
            f"its fields are {listed(present)}: say which one holds the text (text=...)"
        )
    return Fields(**chosen)


def _find(present: Sequence[str], names: Sequence[str]) -> str | None:
    exact = set(present)
    # reversed: the first of equal names wins
    folded = {name.strip().casefold(): name for name in reversed(present)}
    for name in names:
        if name in exact:
            return name
        if name.casefold() in folded:
            return folded[name.casefold()]
    return None


def listed(names: Sequence[str]) -> str:
    """Some of the names, and how many there are beside them."""
    shown = ", ".join(quoted(name, 60) for name in names[:20])
    return (shown or "none") + (f" and {len(names) - 20} more" if len(names) > 20 else "")
