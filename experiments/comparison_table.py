"""The tables of docs/comparison.md, from what benchmarks/comparison.py printed.

python experiments/comparison_table.py --update     # puts experiments/comparison.jsonl into the page, between its marks
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE, RUNS = HERE.parent / "docs" / "comparison.md", HERE / "comparison.jsonl"
START, END = "<!-- comparison: from experiments/comparison_table.py -->", "<!-- end of comparison -->"
COLUMNS = {
    "NMI": ("clusters_nmi", "{:.3f}"),
    "NPMI": ("topics_npmi", "{:.3f}"),
    "coverage": ("topics_coverage", "{:.3f}"),
    "probe": ("classification_accuracy", "{:.3f}"),
    "P@1 %": ("retrieval_precision@1%", "{:.3f}"),
    "processor seconds": ("cpu_seconds_fit", "{:,.1f}"),
    "memory, MB": ("memory_mb", "{:,.0f}"),
}


def table() -> str:
    """One table per corpus, in the order of the file; of a model's lines for a corpus the last counts."""
    corpora: dict[str, dict[str, dict[str, Any]]] = {}
    for line in RUNS.read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        corpora.setdefault(run["corpus"], {})[run["model"]] = run
    return "\n\n".join(_of_corpus(corpus, runs) for corpus, runs in corpora.items())


def _of_corpus(corpus: str, runs: dict[str, dict[str, Any]]) -> str:
    lines = [f"## {corpus}", "", f"| model | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for name, run in runs.items():
        if run.get("failed"):
            lines.append(f"| `{name}` | {run['failed']} |" + " |" * (len(COLUMNS) - 1))
            continue
        cells = [form.format(run[key]) if run.get(key) is not None else "–" for key, form in COLUMNS.values()]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def update() -> None:
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    PAGE.write_text(f"{before}{START}\n\n{table()}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    update() if sys.argv[1:] == ["--update"] else print(table())
