"""Tables of words: topics for the same newsgroups (table 3) and nearest words (table 4)."""

from __future__ import annotations

from typing import Any

from kate.research.evaluation.paper_scores import paper_file
from kate.research.report.blocks import ColumnGroup, Table, TableCell, TableRow
from kate.research.reproduce.lookup import FoundScore, Results, papers_name
from kate.research.reproduce.plan import figure_cell
from kate.research.reproduce.score_tables import empty_cell, plain_reasons
from kate.research.reproduce.spec import PROTOCOLS, NeighboursOutput, TopicsOutput

__all__ = ["neighbour_table", "topic_tables"]

_WAYS = ("weights", "wins")


def topic_tables(output: TopicsOutput, results: Results) -> list[Table]:
    """One table per newsgroup: the paper's topic, and ours that goes with the group best, described in two ways."""
    groups = (
        ColumnGroup("paper"),
        ColumnGroup("ours", ("strongest weights", "words of its wins")),
        ColumnGroup("tuned", ("strongest weights", "words of its wins")),
    )
    tables = []
    for name in output.groups:
        rows: list[TableRow] = []
        reasons: dict[str, list[FoundScore]] = {}
        for model in output.models:
            theirs = paper_file()["topic_words"].get(name, {}).get(model)
            cells = [_words(theirs.split()) if theirs else TableCell("–", kind="none")]
            reasons[papers_name(model)] = found_of_model = []
            for protocol in PROTOCOLS:
                cell = figure_cell(output, model, protocol, results.plan.grid)
                details, found = results.details(cell, "class_topics")
                found_of_model.append(found)
                cells += _topic_cells(details, name, found)
            rows.append(TableRow(papers_name(model), tuple(cells)))
        notes = plain_reasons(reasons) if name == output.groups[-1] else []
        tables.append(Table(f"{output.key}-{name}", "model", groups, tuple(rows), name, tuple(notes)))
    return tables


def _topic_cells(details: Any, group: str, found: FoundScore) -> list[TableCell]:
    if details is None:
        return [empty_cell(found)] * len(_WAYS)
    if group not in details:
        return [TableCell("–", detail="no document of this group", kind="none")] * len(_WAYS)
    topic = details[group]
    detail = f"topic {topic['topic']}, correlation with the group {topic['correlation']:.2f}"
    detail += f"; {found.where}" if found.where else ""
    return [_words(topic[way], detail) for way in _WAYS]


def neighbour_table(output: NeighboursOutput, results: Results) -> Table:
    """One part per model: the five nearest words in the paper, by its protocol here, and tuned."""
    rows: list[TableRow] = []
    reasons: dict[str, list[FoundScore]] = {}
    for model in output.models:
        theirs = paper_file()["neighbours"].get(model, {})
        cells = [
            _words(theirs[word].split()) if word in theirs else TableCell("–", kind="none")
            for word in output.words
        ]
        rows.append(TableRow("paper", tuple(cells), papers_name(model)))
        reasons[papers_name(model)] = found_of_model = []
        for protocol, title in zip(PROTOCOLS, ("ours", "tuned"), strict=True):
            details, found = results.details(figure_cell(output, model, protocol, results.plan.grid), "words")
            found_of_model.append(found)
            cells = [_neighbours(details, word, found) for word in output.words]
            rows.append(TableRow(title, tuple(cells)))
    groups = tuple(ColumnGroup(word) for word in output.words)
    return Table(output.key, "model", groups, tuple(rows), notes=tuple(plain_reasons(reasons)))


def _neighbours(details: Any, word: str, found: FoundScore) -> TableCell:
    if details is None:
        return empty_cell(found)
    if word not in details:
        return TableCell("–", detail="not in the vocabulary", kind="none")
    return _words(details[word])


def _words(words: list[str], detail: str = "") -> TableCell:
    if not words:
        return TableCell("–", detail=detail, kind="none")
    return TableCell(" ".join(words), detail=detail, kind="words")
