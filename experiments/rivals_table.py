"""The tables of docs/reproduction.md that compare all models with the paper.

    python experiments/rivals_table.py results/results.jsonl                    # of the runs of `kate evaluate`
    python experiments/rivals_table.py --pack paper/results.jsonl               # keeps those of `kate reproduce` in
                                                                                # experiments/reproduction.jsonl.xz
    python experiments/rivals_table.py --update                                 # puts the tables of these into the page

One row per model: what the paper reports, ours with the paper's settings (or, where the paper lacks the model, with
the defaults of the package), ours with tuned settings, which are the same runs where the search found nothing better;
mean ± standard deviation over five seeds, or over as many as stand in brackets. The best of a column is bold, whichever
model it is, and a difference of more than 0.03 from the paper is flagged.
"""

from __future__ import annotations

import json
import lzma
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kate.research.datasets.loading import DATASETS
from kate.research.evaluation.corpora import CorpusSource
from kate.research.evaluation.grid import PlannedRun, plan_runs
from kate.research.evaluation.paper_scores import paper_score
from kate.research.evaluation.results import Record, Score, Summary, read_results, summarise
from kate.research.evaluation.run_keys import KeptRuns, keys_of
from kate.research.registry import MODELS, TUNED, tuned_models
from kate.research.reproduce.plan import RunPlan
from kate.research.reproduce.spec import read_grid
from kate.research.reproduce.variants import without_vain_tuning
from kate.storage.files import whole_file

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "reproduction.md"
START, END = "<!-- rivals: from experiments/rivals_table.py -->", "<!-- end of rivals -->"
RUNS = HERE / "reproduction.jsonl.xz"  # the runs of `kate reproduce` so far, 4 kB each when they are unpacked
N_SEEDS = 5
SHOWN = ("20news", 128)

MAIN_SCORES = {  # data set: (task, score, title)
    "20news": [
        ("classification", "accuracy", "accuracy"),
        ("classification", "paper_probe_accuracy", "accuracy by the paper's probe"),
        ("retrieval", "precision@1%", "precision of the nearest 1 %"),
        ("neurons", "mscd", "mean squared cosine deviation of topics, lower is better"),
        ("neurons", "npmi", "coherence of topics (NPMI)"),
    ],
    "movies": [("regression", "r2", "r²")],
    "reuters21578": [("multilabel", "micro_f1", "micro-F1"), ("multilabel", "macro_f1", "macro-F1")],
    "rcv1": [("multilabel", "micro_f1", "micro-F1"), ("multilabel", "macro_f1", "macro-F1")],
    "wiki10": [("multilabel", "micro_f1", "micro-F1"), ("multilabel", "macro_f1", "macro-F1")],
}
LOWER_IS_BETTER = {"mscd"}
REPORTED_AS = {"paper_probe_accuracy": "accuracy"}  # the paper reports one accuracy, by its own probe
NOTABLE = 0.03


@dataclass(frozen=True)
class Row:
    """One model: its three scores, as far as they are there."""

    model: str
    paper: float | None
    start: Score | None
    tuned: Score | None


def table_rows(summaries: list[Summary], task: str, name: str) -> list[Row]:
    """The models of one data set and size, in the order of the registry."""
    by_model = {row.model: row.scores.get(task, {}).get(name) for row in summaries}
    first = summaries[0]
    own_words = DATASETS[first.dataset].vocabulary_size == first.dataset_settings.get("vocabulary_size")
    searched, rows = tuned_models(), []
    for model in MODELS:
        start, tuned = by_model.get(model), None
        if model in searched:
            tuned = by_model.get(without_vain_tuning(model + TUNED, first.n_components))
        if start is None and tuned is None:
            continue
        reported = None
        if own_words:
            reported = paper_score(
                first.dataset, model, first.n_components, task, REPORTED_AS.get(name, name)
            )
        rows.append(Row(model, reported, start, tuned))
    return rows


def as_markdown(rows: list[Row], name: str) -> str:
    best: Callable[[list[float]], float] = min if name in LOWER_IS_BETTER else max
    paper = _best(best, (row.paper for row in rows))
    start = _best(best, (row.start and row.start.mean for row in rows))
    tuned = _best(best, (row.tuned and row.tuned.mean for row in rows))
    lines = [
        "| model | paper | ours, the paper's settings | ours, tuned | difference |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        label = row.model if MODELS[row.model].start == "paper" else f"{row.model} (defaults)"
        cells = [
            label,
            "–" if row.paper is None else _bold(f"{row.paper:.3f}", row.paper == paper),
            "–" if row.start is None else _bold(_told(row.start), row.start.mean == start),
            "–" if row.tuned is None else _bold(_told(row.tuned), row.tuned.mean == tuned),
            _difference(row),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _best(best: Callable[[list[float]], float], values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return best(known) if known else None


def _told(score: Score) -> str:
    return str(score) if score.n >= N_SEEDS else f"{score} ({score.n})"


def _bold(cell: str, is_best: bool) -> str:
    return f"**{cell}**" if is_best else cell


def _difference(row: Row) -> str:
    """Ours with the paper's settings less the paper's; of the tuned settings where there are no others."""
    ours = row.start or row.tuned
    if ours is None or row.paper is None:
        return "–"
    difference = ours.mean - row.paper
    return f"{difference:+.3f}{' ⚑' if abs(difference) > NOTABLE else ''}"


def groups(summaries: list[Summary]) -> Iterator[tuple[str, list[Summary]]]:
    """The runs that stand in one table, with its heading: one data set, one vocabulary, one number of topics."""
    together: dict[tuple[str, str, int], list[Summary]] = {}
    for row in summaries:
        together.setdefault((row.dataset, str(row.dataset_settings), row.n_components), []).append(row)
    for (dataset, _, topics), rows in together.items():
        words = rows[0].dataset_settings.get("vocabulary_size")
        yield f"{dataset}, {topics} topics, {words:,} words", rows


def tables(records: Iterable[Record]) -> Iterator[str]:
    for heading, rows in groups(summarise(records)):
        for task, name, title in MAIN_SCORES.get(rows[0].dataset, []):
            found = table_rows(rows, task, name)
            if found:
                yield f"## {heading}: {title}\n\n{as_markdown(found, name)}\n"


def kept_runs() -> list[Record]:
    """What `kate reproduce` found so far."""
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Path(folder) / "results.jsonl"
        unpacked.write_bytes(lzma.decompress(RUNS.read_bytes()))
        return read_results(unpacked)


def plain_runs() -> list[PlannedRun]:
    """The runs of the models of the paper's time, with the settings that they start from and with tuned ones."""
    names = [name for name, entry in MODELS.items() if not entry.must_set and entry.extra != "rivals"]
    searched = dict.fromkeys(name.partition("/")[0] for name in tuned_models())
    names += [without_vain_tuning(name + TUNED, SHOWN[1]) for name in searched]
    source = CorpusSource.dataset(SHOWN[0])
    return plan_runs([source], names, [SHOWN[1]], range(N_SEEDS))


def page_tables() -> str:
    """Of the runs that were kept those of the models as they are: the sweeps of a figure have other settings."""
    kept = KeptRuns({record["key"]: record for record in kept_runs()})
    found = [kept.find(run.keys()) for run in plain_runs()]
    return "\n".join(tables(record for record in found if record is not None)).strip()


def pack(path: str) -> None:
    """Keep the runs of a file, on whatever device they were made; runs of earlier settings are left behind."""
    wanted = {run.keys().any_device for run in plain_runs()}
    wanted |= {demand.keys.any_device for demand in RunPlan(read_grid(None)).demands.values()}
    kept = [record for record in read_results(path) if keys_of(record).any_device in wanted]
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in kept)
    with whole_file(RUNS) as part:
        part.write_bytes(lzma.compress(lines.encode()))


def main() -> None:
    if len(sys.argv) != (3 if "--pack" in sys.argv else 2):
        sys.exit(__doc__)
    if sys.argv[1] == "--pack":
        pack(sys.argv[2])
    elif sys.argv[1] == "--update":
        before, rest = PAGE.read_text().split(START)
        PAGE.write_text(f"{before}{START}\n\n{page_tables()}\n\n{END}{rest.split(END)[1]}")
    else:
        print("\n".join(tables(read_results(sys.argv[1]))))


if __name__ == "__main__":
    main()
