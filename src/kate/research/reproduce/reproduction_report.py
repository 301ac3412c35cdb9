"""results.jsonl → the page, the report in Markdown and the figures as files. Nothing is run here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import kate
from kate.research.evaluation.results import Record
from kate.research.registry import MODELS, tuned_models
from kate.research.report.blocks import (
    Block,
    ColumnGroup,
    Figure,
    Folded,
    Items,
    Page,
    Section,
    Table,
    TableCell,
    TableRow,
    TextBlock,
)
from kate.research.report.charts_png import draw_png
from kate.research.report.charts_svg import figure_svg
from kate.research.report.page import page_html
from kate.research.report.page_markdown import page_markdown
from kate.research.reproduce import figures
from kate.research.reproduce import score_tables as tables
from kate.research.reproduce import word_tables as words
from kate.research.reproduce.claims import Claim, check_claims
from kate.research.reproduce.findings import findings, missing_numbers, remarks
from kate.research.reproduce.lookup import PROTOCOL_NAMES, Results, papers_name
from kate.research.reproduce.opening import opening, why_no_runs
from kate.research.reproduce.plan import RunPlan
from kate.research.reproduce.resources import machine
from kate.research.reproduce.runs import failures, runs
from kate.research.reproduce.spec import (
    PROTOCOLS,
    DatasetsOutput,
    MapsOutput,
    NeighboursOutput,
    Output,
    RetrievalOutput,
    ScoresOutput,
    SweepsOutput,
    TopicsOutput,
)
from kate.storage.files import whole_file

__all__ = ["dataset_facts", "make_page", "write_report"]

FACTS = "datasets.json"


def write_report(plan: RunPlan, records: Mapping[str, Record], folder: Path) -> list[Path]:
    """Write index.html, report.md and the figures into a folder; what was written."""
    facts = dataset_facts(plan, folder / FACTS)
    page = make_page(Results(plan, records), facts)
    pictures = folder / "figures"
    pictures.mkdir(parents=True, exist_ok=True)
    written = []
    for figure in _figures(page):
        vector = pictures / f"{figure.name}.svg"
        _write(vector, figure_svg(figure.charts, figure.columns))
        draw_png(vector.with_suffix(".png"), figure.charts, figure.columns)
        written += [vector, vector.with_suffix(".png")]
    for name, text in (("index.html", page_html(page)), ("report.md", page_markdown(page))):
        _write(folder / name, text)
        written.append(folder / name)
    return written


def make_page(results: Results, facts: Mapping[str, Mapping[str, Any]]) -> Page:
    """All sections: what we found, the claims, one section per output, how the runs were made."""
    plan = results.plan
    chosen = plan.found_in(results.records)
    claims = check_claims(results)
    sections = [
        Section("found", "What we found", tuple(_found(results, chosen))),
        *([Section("claims", "The paper's claims, checked", (_claims(claims),))] if claims else []),
        Section("reading", "How to read the tables", tuple(_reading(plan))),
        *(_output_section(output, results, facts) for output in plan.outputs),
        *failures(chosen.values()),
        Section("runs", "Settings and versions of every run", tuple(runs(chosen.values()))),
    ]
    banner = ""
    if plan.grid.quick is not None:
        banner = (
            "A quick look: few documents, epochs, topics and seeds. It shows that everything runs, and what the page "
            "looks like; its numbers say nothing about the models."
        )
    return Page(
        "KATE, reproduced",
        "Every table and figure of “KATE: K-Competitive Autoencoder for Text” (Chen and Zaki, KDD 2017): the paper's "
        "numbers, ours by the paper's protocol, and ours with every model tuned alike.",
        tuple(sections),
        banner,
        tuple(_page_facts(plan, chosen)),
        tuple(opening(results)),
    )


def dataset_facts(plan: RunPlan, path: Path) -> dict[str, dict[str, Any]]:
    """Sizes of the data sets of a plan: counted if the data is here, and kept in a file for the next time."""
    known: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    wanted = [
        name for output in plan.outputs if isinstance(output, DatasetsOutput) for name in output.datasets
    ]
    new = [name for name in wanted if name not in known and plan.why_no_data(name) is None]
    for name in new:
        corpus = plan.whole_source(name).load()
        known[name] = {
            "train": int(corpus.train.size),
            "test": int(corpus.test.size),
            "validation": int(corpus.validation.size),
            "words": corpus.n_words,
            "average_length": float(corpus.X[corpus.train].sum() / corpus.train.size),
            "classes": len(corpus.classes),
        }
    if new:
        _write(path, json.dumps(known, indent=1))
    return known


def _output_section(output: Output, results: Results, facts: Mapping[str, Mapping[str, Any]]) -> Section:
    said = remarks(output, results)
    head = [Items(tuple(said))] if said else []
    return Section(output.key, output.title, (*head, *_blocks(output, results, facts)))


_TOPIC_RULE = (
    "The topic of a newsgroup is the pole of a neuron that correlates most with it over the documents that the model "
    "was fitted on. The paper names a topic by its strongest weights; the words of its wins are those that distinguish "
    "the documents that it wins."
)


def _blocks(output: Output, results: Results, facts: Mapping[str, Mapping[str, Any]]) -> Sequence[Block]:
    match output:
        case ScoresOutput():
            blocks: Sequence[Block] = tables.score_tables(output, results)
        case DatasetsOutput():
            blocks = [tables.dataset_table(output, facts, results)]
        case TopicsOutput():
            blocks = [TextBlock(_TOPIC_RULE), *words.topic_tables(output, results)]
        case NeighboursOutput():
            blocks = [words.neighbour_table(output, results)]
        case MapsOutput():
            blocks = [figures.map_figure(output, results), figures.purity_table(output, results)]
        case RetrievalOutput():
            blocks = [figures.retrieval_figure(output, results), figures.retrieval_table(output, results)]
        case SweepsOutput():
            blocks = [figures.sweep_figure(output, results)]
        case _:
            raise TypeError(f"{type(output).__name__} is no output of a grid")
    return blocks


def _found(results: Results, chosen: Mapping[str, Record]) -> list[Block]:
    n_all, n_failed = len(results.plan.demands), sum(one["status"] == "failed" for one in chosen.values())
    n_left = n_all - len(chosen)
    state = f"{len(chosen) - n_failed:,} of {n_all:,} runs are done"
    state += f", {n_failed:,} failed" if n_failed else ""
    state += f", {n_left:,} are still to be made; what depends on them says so." if n_left else "."
    said = " ".join(part for part in (state, missing_numbers(results), why_no_runs(results.plan)) if part)
    leaders = findings(results)
    folded = [
        Folded(
            "leaders", "Which model leads each table and figure", (Items(tuple(leaders)),), in_markdown=True
        )
    ]
    return [TextBlock(said), *(folded if leaders else [])]


def _claims(claims: Sequence[Claim]) -> Table:
    """One row per claim, with the answer and the numbers by either protocol."""
    rows = []
    for claim in claims:
        answers = claim.answers.values()
        cells = [TableCell(one.word, one.figures, strong=one.holds is True, kind="words") for one in answers]
        rows.append(TableRow(claim.text, tuple(cells)))
    groups = tuple(ColumnGroup(PROTOCOL_NAMES[protocol]) for protocol in PROTOCOLS)
    return Table("claims-table", "the paper says", groups, tuple(rows))


def _reading(plan: RunPlan) -> list[Block]:
    seeds = len(plan.seeds)
    return [
        Items(
            (
                "**paper**: the number that the paper prints.",
                "**ours**: our run by the paper's protocol: its data, vocabulary, settings and probes.",
                "**tuned**: our run with settings found on validation documents, the same budget for every model, and "
                "probes whose strength is chosen there, too. Test documents are only scored.",
                f"Numbers are means ± standard deviations over {seeds} seed{'s' if seeds > 1 else ''}, or over the "
                "number of seeds in brackets if not all have been run; the best of a column is bold, whichever model "
                "it is. Point at a cell, or at a point of a figure, to see more.",
                *_tuning(),
                "A cell without a number says why: no data on this machine, a model that is not available here, a run "
                "that failed or has not been made yet.",
            )
        )
    ]


def _tuning() -> list[str]:
    """How the tuned settings were found; a model without settings to search counts as tuned."""
    by: dict[tuple[str, int, int], dict[str, list[str]]] = {}
    for key, tuned in tuned_models().items():
        name, _, own_size = key.partition("/")
        if MODELS[name].space and not own_size:
            budget = by.setdefault((tuned.dataset, tuned.n_components, tuned.trials), {})
            budget.setdefault(tuned.objective, []).append(papers_name(name))
    said = []
    for (dataset, topics, trials), objectives in sorted(by.items()):
        usual, *others = sorted(objectives, key=lambda objective: -len(objectives[objective]))
        but = "".join(f" ({', '.join(objectives[other])}: by {other})" for other in others)
        said.append(
            f"Tuned settings were searched on the validation documents of {dataset} with {topics} topics, {trials} "
            f"trials per model, by {usual}{but}; they are used for all data sets, and for the sizes that "
            "no search of the model was nearer to."
        )
    return said + _own_sizes()


def _own_sizes() -> list[str]:
    """The models that were searched with other numbers of topics as well, those with the same ones in one sentence."""
    sizes: dict[tuple[str, str], set[int]] = {}
    for key, tuned in tuned_models().items():
        name, _, own_size = key.partition("/")
        if own_size:
            sizes.setdefault((tuned.dataset, papers_name(name)), set()).add(tuned.n_components)
    together: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for (dataset, name), found in sizes.items():
        together.setdefault((dataset, tuple(sorted(found))), []).append(name)
    return [
        f"Searched with {' and with '.join(map(str, found))} topics as well, on {dataset}: {', '.join(names)}; what "
        "was found there is used for sizes nearer to it."
        for (dataset, found), names in together.items()
    ]


def _page_facts(plan: RunPlan, chosen: Mapping[str, Record]) -> list[str]:
    here = machine()
    finished = max((record.get("finished", "") for record in chosen.values()), default="")
    facts = [
        f"Kate {kate.__version__}",
        f"{len(plan.seeds)} seed{'s' if len(plan.seeds) > 1 else ''}",
        f"{here['processor']}, {here['cores']} cores",
    ]
    return facts + ([f"last run {finished[:16].replace('T', ' ')} UTC"] if finished else [])


def _figures(page: Page) -> list[Figure]:
    blocks = [*page.opening, *(block for section in page.sections for block in section.blocks)]
    return [block for block in blocks if isinstance(block, Figure)]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
