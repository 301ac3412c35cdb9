"""Tables of words: topics for the same newsgroups (table 3) and nearest words (table 4)."""

from __future__ import annotations

from typing import Any

from kate.evaluation.paper import paper_file
from kate.report.blocks import Cell, ColumnGroup, Row, Table
from kate.reproduce.found import Found, Results, papers_name
from kate.reproduce.plan import Cell as Place
from kate.reproduce.spec import PROTOCOLS, Neighbours, Topics
from kate.reproduce.tables import empty_cell, plain_reasons

__all__ = ["neighbour_table", "topic_tables"]

_WAYS = ("weights", "wins")


def topic_tables(output: Topics, results: Results) -> list[Table]:
    """A table a newsgroup: the paper's topic, and the topic that goes with the group best, in words by two ways."""
    groups = (
        ColumnGroup("paper"),
        ColumnGroup("ours", ("strongest weights", "words of its wins")),
        ColumnGroup("tuned", ("strongest weights", "words of its wins")),
    )
    tables = []
    for name in output.groups:
        rows: list[Row] = []
        reasons: dict[str, list[Found]] = {}
        for model in output.models:
            theirs = paper_file()["topic_words"].get(name, {}).get(model)
            cells = [_words(theirs.split()) if theirs else Cell("–", kind="none")]
            reasons[papers_name(model)] = found_of_model = []
            for protocol in PROTOCOLS:
                place = Place(output.dataset, model, protocol, results.plan.grid.size(output.topics))
                details, found = results.details(place, "class_topics")
                found_of_model.append(found)
                cells += _topic_cells(details, name, found)
            rows.append(Row(papers_name(model), tuple(cells)))
        notes = plain_reasons(reasons) if name == output.groups[-1] else []
        tables.append(Table(f"{output.key}-{name}", "model", groups, tuple(rows), name, tuple(notes)))
    return tables


def _topic_cells(details: Any, group: str, found: Found) -> list[Cell]:
    if details is None:
        return [empty_cell(found)] * len(_WAYS)
    if group not in details:
        return [Cell("–", detail="no document of this group", kind="none")] * len(_WAYS)
    topic = details[group]
    detail = f"topic {topic['topic']}, correlation with the group {topic['correlation']:.2f}"
    return [_words(topic[way], detail) for way in _WAYS]


def neighbour_table(output: Neighbours, results: Results) -> Table:
    """A part a model: the five nearest words by the paper, by its protocol here, and tuned."""
    rows: list[Row] = []
    reasons: dict[str, list[Found]] = {}
    for model in output.models:
        theirs = paper_file()["neighbours"].get(model, {})
        cells = [
            _words(theirs[word].split()) if word in theirs else Cell("–", kind="none")
            for word in output.words
        ]
        rows.append(Row("paper", tuple(cells), papers_name(model)))
        reasons[papers_name(model)] = found_of_model = []
        for protocol, title in zip(PROTOCOLS, ("ours", "tuned"), strict=True):
            place = Place(output.dataset, model, protocol, results.plan.grid.size(output.topics))
            details, found = results.details(place, "words")
            found_of_model.append(found)
            cells = [_neighbours(details, word, found) for word in output.words]
            rows.append(Row(title, tuple(cells)))
    groups = tuple(ColumnGroup(word) for word in output.words)
    return Table(output.key, "model", groups, tuple(rows), notes=tuple(plain_reasons(reasons)))


def _neighbours(details: Any, word: str, found: Found) -> Cell:
    if details is None:
        return empty_cell(found)
    return (
        _words(details[word]) if word in details else Cell("–", detail="not in the vocabulary", kind="none")
    )


def _words(words: list[str], detail: str = "") -> Cell:
    return (
        Cell(" ".join(words), detail=detail, kind="words") if words else Cell("–", detail=detail, kind="none")
    )
