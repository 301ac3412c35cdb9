"""The tables of evaluate: the scores of models side by side, beside what the paper reports, the best one marked."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import typer

from kate.cli.output import print_table

if TYPE_CHECKING:
    from kate.research.evaluation import Summary

__all__ = ["print_tables"]

_NAME_WIDTH, _SCORE_WIDTH = 32, 18  # characters of the column of names, and of a column of scores
_MOST_COLUMNS = 6  # more models than this are compared as rows, by their main scores
# A curve, which a figure shows better than a table; the file and --json have all of it.
_LEFT_OUT = {f"precision@{share}%" for share in ("0.2", "0.5", "2", "5", "10", "20", "50", "100")}
# The words of kate.research.metrics.NEEDS, as people say them.
_IN_WORDS = {
    "labels:classes": "one class per document",
    "labels:sets": "a set of labels per document",
    "labels:number": "one number per document",
    "vectors": "document vectors",
    "ranking": "a ranking of documents",
    "questions": "questions with judgements",
    "components": "a model with components",
    "words": "a model with word vectors",
}


class Headline(NamedTuple):
    """A main score: the task, the name of the score, the head of its column."""

    task: str
    name: str
    head: str
    lower_is_better: bool = False


_HEADLINES = (
    Headline("classification", "accuracy", "accuracy"),
    Headline("multilabel", "micro_f1", "micro-F1"),
    Headline("multilabel", "macro_f1", "macro-F1"),
    Headline("regression", "r2", "r²"),
    Headline("retrieval", "precision@1%", "prec@1%"),
    Headline("retrieval", "map", "map"),
    Headline("queries", "one_word", "one word"),
    Headline("queries", "two_words", "two words"),
    Headline("questions", "ndcg@10", "nDCG@10"),
    Headline("questions", "map", "MAP"),
    Headline("clusters", "nmi", "NMI"),
    Headline("clusters", "ari", "ARI"),
    Headline("clusters", "purity", "purity"),
    Headline("topics", "npmi", "npmi"),
    Headline("topics", "coverage", "coverage"),
    Headline("topics", "diversity", "diversity"),
    Headline("topics", "seeds_ari", "seeds"),
    Headline("neurons", "npmi", "npmi"),
    Headline("neurons", "diversity", "diversity"),
    Headline("neurons", "mscd", "mscd", lower_is_better=True),
    Headline("time", "fit_seconds", "fit s", lower_is_better=True),
)


def print_tables(rows: Sequence[Summary]) -> None:
    """Tables for every data set: few models as columns with all scores, many models as rows with the main scores."""
    is_first = True
    for dataset in dict.fromkeys(row.dataset for row in rows):
        of_dataset = [row for row in rows if row.dataset == dataset]
        if len(of_dataset) > _MOST_COLUMNS:
            groups = [
                [row for row in of_dataset if row.n_components == n_components]
                for n_components in dict.fromkeys(row.n_components for row in of_dataset)
            ]
            printer = _print_comparison
        else:
            groups, printer = _in_blocks(of_dataset), _print_block
        for group in groups:
            if not is_first:
                typer.echo()
            printer(dataset, group)
            is_first = False


def _print_comparison(dataset: str, rows: Sequence[Summary]) -> None:
    """One line per model, one column per main score; beside it what the paper reports, if it reports anything."""
    headlines = [
        headline
        for headline in _HEADLINES
        if any(headline.name in row.scores.get(headline.task, {}) for row in rows)
    ]
    columns: dict[str, list[str]] = {"runs": [_runs(row) for row in rows]}
    for headline in headlines:
        reported = [_paper(row, headline.task, headline.name) for row in rows]
        if any(value is not None for value in reported):
            columns[f"paper {headline.head}"] = _marked(
                reported, [_short(value) for value in reported], headline
            )
        scores = [row.scores.get(headline.task, {}).get(headline.name) for row in rows]
        means = [None if score is None else score.mean for score in scores]
        columns[headline.head] = _marked(
            means, ["" if score is None else str(score) for score in scores], headline
        )
    head = f"{dataset}, {rows[0].n_components} dimensions{_topics(rows)}"
    lines = [(row.model, *cells) for row, *cells in zip(rows, *columns.values(), strict=True)]
    print_table((head, *columns), lines, right=tuple(columns), strong="*")
    typer.echo("* the best of its column; paper: as Chen & Zaki (2017) report; all scores: --json")
    for line in _skipped(rows):
        typer.echo(line)


def _marked(values: Sequence[float | None], cells: Sequence[str], headline: Headline) -> list[str]:
    """The cells, with a star before the best."""
    known = [value for value in values if value is not None]
    if not known:
        return list(cells)
    best = min(known) if headline.lower_is_better else max(known)
    return [f"*{cell}" if value == best else cell for value, cell in zip(values, cells, strict=True)]


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _paper(row: Summary, task: str, name: str) -> float | None:
    """What the paper reports for the model of a row; nothing where the vocabulary is not as large as the paper's."""
    from kate.research.datasets.loading import DATASETS
    from kate.research.evaluation.paper_scores import paper_score

    dataset = DATASETS.get(row.dataset)
    if dataset is None or row.dataset_settings.get("vocabulary_size") != dataset.vocabulary_size:
        return None
    return paper_score(row.dataset, row.model, row.n_components, task, name)


def _in_blocks(rows: list[Summary]) -> list[list[Summary]]:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    size = len(rows) if width is None else max(1, (width - _NAME_WIDTH) // _SCORE_WIDTH)
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _print_block(dataset: str, rows: Sequence[Summary]) -> None:
    """One line per score, one column per model; below a score what the paper reports."""
    columns = [f"{row.model} {row.n_components}" for row in rows]
    names = dict.fromkeys(
        (task, name) for row in rows for task, scores in row.scores.items() for name in scores
    )
    lines = [("runs", *(_runs(row) for row in rows))]
    for task, name in names:
        if name.removeprefix("centred_") in _LEFT_OUT:
            continue
        cells = [str(row.scores.get(task, {}).get(name, "")) for row in rows]
        lines.append((f"{task} {name}", *cells))
        reported = [_paper(row, task, name) for row in rows]
        if any(value is not None for value in reported):
            lines.append(("  the paper reports", *(_short(value) for value in reported)))
    print_table((f"{dataset}{_topics(rows)}", *columns), lines, right=columns)
    for line in _skipped(rows):
        typer.echo(line)


def _topics(rows: Sequence[Summary]) -> str:
    """How many topics every model was asked for, where it was asked for any."""
    return f", {rows[0].n_topics} topics" if rows and rows[0].n_topics is not None else ""


def _skipped(rows: Sequence[Summary]) -> list[str]:
    """One line for every task that was not scored, with the reason; for some models only, with their names."""
    models: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        for task, reason in row.skipped.items():
            if task not in row.scores:
                models.setdefault(task, {}).setdefault(reason, []).append(f"{row.model} {row.n_components}")
    lines = []
    for task, reasons in models.items():
        # no model was scored: the most frequent reason is told
        if not any(task in row.scores for row in rows):
            reason = max(reasons, key=lambda one: len(reasons[one]))
            lines.append(f"skipped: {task} ({_in_words(task, reason)})")
            continue
        for reason, of in reasons.items():
            lines.append(f"skipped: {task} of {', '.join(of)} ({_in_words(task, reason)})")
    return lines


def _in_words(task: str, reason: str) -> str:
    """The reason of a skipped task in plain words.

    >>> _in_words("retrieval", "retrieval needs labels:classes or labels:sets")
    'needs one class per document or a set of labels per document'
    """
    stated = f"{task} needs "
    if not reason.startswith(stated):
        return reason
    return " ".join(["needs", *(_IN_WORDS.get(word, word) for word in reason[len(stated) :].split())])


def _runs(row: Summary) -> str:
    return f"{row.n_runs} ({row.n_failed} failed)" if row.n_failed else str(row.n_runs)
