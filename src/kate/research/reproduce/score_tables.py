"""Tables of scores and of data sets: the paper's number, ours by its protocol, ours tuned, the best in bold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kate.research.evaluation.paper_scores import paper_file
from kate.research.evaluation.results import Score
from kate.research.registry import MODELS, TUNED, tuned_models
from kate.research.report.blocks import ColumnGroup, Table, TableCell, TableRow
from kate.research.reproduce.lookup import FoundScore, Results, papers_name, papers_score
from kate.research.reproduce.plan import GridCell
from kate.research.reproduce.spec import PROTOCOLS, DatasetsOutput, ScoreColumn, ScoresOutput

__all__ = ["THREE", "dataset_table", "empty_cell", "plain_reasons", "score_tables", "size_title"]

THREE = ("paper", "ours", "tuned")
NOT_IN_THE_PAPER = "not in the paper"
_NOTHING_BETTER = "the search found nothing better than the defaults, so both columns are of the same runs"
_DEFAULTS_STAND = (
    "the tuned column shows the defaults of this package, chosen on validation documents (docs/defaults.md)"
)
_STATES = {
    "not run": "not run yet",
    "not available": "not available here",
    "not tuned": "not tuned yet",
    "skipped": "–",
}


def score_tables(output: ScoresOutput, results: Results) -> list[Table]:
    """One table per data set: one row per model, three columns per size and score."""
    return [_ScoreTable(output, results, dataset).table() for dataset in output.datasets]


class _ScoreTable:
    def __init__(self, output: ScoresOutput, results: Results, dataset: str) -> None:
        self.output, self.results, self.dataset = output, results, dataset
        self.columns = [(topics, score) for topics in output.topics for score in output.scores]
        self.rows = (*output.models, *output.beside)

    def table(self) -> Table:
        values = {model: self._row(model) for model in self.rows}
        best = [self._best([row[place] for row in values.values()]) for place in range(3 * len(self.columns))]
        one = values.get(self.output.multiples_of or "")
        rows = []
        for model in self.rows:
            cells = [
                self._cell(found, best[place], one[place].mean if one else None)
                for place, found in enumerate(values[model])
            ]
            is_first = bool(self.output.beside) and model == self.output.beside[0]
            rows.append(TableRow(papers_name(model), tuple(cells), NOT_IN_THE_PAPER if is_first else ""))
        groups = tuple(ColumnGroup(self._heading(topics, score), THREE) for topics, score in self.columns)
        direction = "higher is better" if self.output.best == "highest" else "lower is better"
        name = f"{self.output.key}-{self.dataset}"
        caption = f"{self.dataset}, {' and '.join(score.title for score in self.output.scores)}; {direction}"
        return Table(name, "model", groups, tuple(rows), caption, tuple(self._notes(values)))

    def _heading(self, topics: int, score: ScoreColumn) -> str:
        size = size_title(topics, self.results)
        return f"{size}, {score.title}" if len(self.output.scores) > 1 else size

    def _row(self, model: str) -> list[FoundScore]:
        found = []
        for topics, score in self.columns:
            theirs = papers_score(self.dataset, score.name, topics, model)
            found.append(
                FoundScore("skipped", reason="the paper has no number")
                if theirs is None
                else FoundScore("value", Score(theirs, None, 1))
            )
            found += [
                self.results.of_table(self.dataset, model, topics, score, protocol) for protocol in PROTOCOLS
            ]
        return found

    def _best(self, column: Sequence[FoundScore]) -> str | None:
        """The best of a column as it is printed: two scores that print alike are both the best."""
        means = [found.mean for found in column if found.mean is not None]
        if not means:
            return None
        return self._printed(max(means) if self.output.best == "highest" else min(means))

    def _cell(self, found: FoundScore, best: str | None, one: float | None) -> TableCell:
        if found.score is None:
            return empty_cell(found)
        score = found.score
        text = self._printed(score.mean)
        spread = "" if score.sd is None else f"± {self._printed(score.sd)}"
        detail = [] if score.n == 1 else [f"{text} {spread} over {score.n} seeds"]
        detail += [part for part in (found.reason, found.where) if part]
        if one is not None:
            multiple = f"{score.mean / one:.2g}×"
            spread = f"{multiple}, {spread} s" if spread else multiple
        if 0 < len(found.keys) < len(self.results.plan.seeds):
            spread = f"{spread} ({len(found.keys)})".strip()
        return TableCell(text, spread, "; ".join(detail), strong=text == best)

    def _printed(self, value: float) -> str:
        are_seconds = self.output.multiples_of is not None
        digits = 3 if not are_seconds else 0 if value >= 100 else 1 if value >= 10 else 2
        return f"{value:,.{digits}f}".replace("-", "−")

    def _notes(self, values: Mapping[str, Sequence[FoundScore]]) -> list[str]:
        notes = plain_reasons({papers_name(model): found for model, found in values.items()})
        notes += self._untuned()
        if self.output.alone and self.output.multiples_of:
            times = f"× are multiples of {papers_name(self.output.multiples_of)}'s time in the same column."
            places = [
                GridCell(self.dataset, model, protocol, self.results.plan.grid.size(topics))
                for model in self.rows
                for topics in self.output.topics
                for protocol in PROTOCOLS
            ]
            were_alone = all(self.results.seconds_were_alone(place) for place in places)
            rough = "Other runs went on meanwhile: the times are rough."
            notes = [f"{times} {'Nothing else ran meanwhile.' if were_alone else rough}", *notes]
        return notes

    def _untuned(self) -> list[str]:
        """Models whose tuned column has no other settings though some were searched, with which topics, and why."""
        names: dict[tuple[str, str], list[str]] = {}
        for model in self.rows:
            sizes, why = [], ""
            for topics in self.output.topics:
                size = self.results.plan.grid.size(topics)
                run = self.results.plan.planned(GridCell(self.dataset, model, "tuned", size), 0).run
                if run is not None and not run.model.endswith(TUNED) and MODELS[run.model].space:
                    sizes.append(size)
                    why = _NOTHING_BETTER if run.model in tuned_models() else _DEFAULTS_STAND
            if sizes:
                is_everywhere = len(sizes) == len(self.output.topics)
                with_topics = "" if is_everywhere else f" with {' and '.join(map(str, sizes))} topics"
                names.setdefault((with_topics, why), []).append(papers_name(model))
        return [f"{', '.join(those)}{with_topics}: {why}" for (with_topics, why), those in names.items()]


def size_title(topics: int, results: Results) -> str:
    """ "128 topics", and in a quick look how many were run instead."""
    here = results.plan.grid.size(topics)
    return f"{topics} topics" if here == topics else f"{topics} topics (here {here})"


def empty_cell(found: FoundScore) -> TableCell:
    """A cell without a number says why."""
    if found.state == "failed":
        return TableCell("failed", detail=found.reason, kind="error")
    text = _STATES.get(found.state, found.state)
    return TableCell(text, detail="" if found.reason == text else found.reason, kind="none")


def plain_reasons(rows: Mapping[str, Sequence[FoundScore]]) -> list[str]:
    """Every reason once, with the rows that it is true for."""
    named: dict[str, list[str]] = {}
    for name, row in rows.items():
        for found in row:
            is_partial = found.state == "value" and found.reason
            if is_partial or found.state in {"no data", "not available", "not tuned", "failed"}:
                named.setdefault(found.reason, []).append(name)
    everyone = len(rows)
    notes = []
    for reason, names in named.items():
        distinct = list(dict.fromkeys(names))
        notes.append(reason if len(distinct) == everyone else f"{', '.join(distinct)}: {reason}")
    return notes


_FACTS = {
    "train": "training",
    "test": "test",
    "validation": "validation",
    "words": "words",
    "average_length": "average length",
    "classes": "classes",
}


def dataset_table(output: DatasetsOutput, facts: Mapping[str, Mapping[str, Any]], results: Results) -> Table:
    """Sizes of the data sets, the paper's and ours; ``facts`` are what was counted here."""
    rows, missing = [], {}
    for name in output.datasets:
        theirs, ours = paper_file()["datasets"].get(name, {}), facts.get(name)
        cells = []
        for fact in _FACTS:
            cells.append(_count(theirs.get(fact), "–"))
            cells.append(_count(None if ours is None else ours.get(fact), "no data" if ours is None else "–"))
        rows.append(TableRow(name, tuple(cells)))
        reason = results.plan.why_no_data(name)
        if ours is None and reason is not None:
            missing[name] = reason
    groups = tuple(ColumnGroup(title, ("paper", "ours")) for title in _FACTS.values())
    notes = ["Training documents include the validation documents; length is in words of the vocabulary."]
    notes += [f"{name}: {reason}" for name, reason in missing.items()]
    return Table(output.key, "data set", groups, tuple(rows), notes=tuple(notes))


def _count(value: float | None, otherwise: str) -> TableCell:
    if not value:
        return TableCell(otherwise, kind="none")
    return TableCell(f"{value:,.0f}")
