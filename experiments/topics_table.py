"""The tables of topics in docs/results.md, from what benchmarks/topics.py printed.

python experiments/topics_table.py experiments/topics_test.jsonl
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

LONG = ("20news", "reuters21578", "sotu", "bbc", "reviews")
SHORT = ("reuters titles", "bbc, 12 words", "reviews, 12 words")
NO_TOPICS = ("reviews", "reviews, 12 words")  # their labels are good and bad
SCORES = {
    "nmi": "NMI with the labels",
    "ari": "ARI with the labels",
    "purity": "Purity",
    "npmi": "NPMI of ten words in test documents",
    "coverage": "Coverage: test documents that hold one of their topic's ten words",
    "diversity": "Diversity: distinct words among those listed",
    "seeds_ari": "Two seeds: ARI of the test documents' topics",
    "majority_label": "The majority label of a document's topic is its label",
    "strongest_share": "The share that the strongest topic has of a document",
}
WITH_LABELS = ("nmi", "ari", "purity", "majority_label")


def main(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in lines:
        if "model" in line:  # runs, and one line with their means, which alone knows how seeds agree
            found.setdefault((line["model"], line["corpus"]), []).append(line)
    for score, title in SCORES.items():
        print(f"### {title}\n")
        print(f"| model | {' | '.join(LONG)} | mean, long | {' | '.join(SHORT)} | mean, short |")
        print("|---" * (len(LONG) + len(SHORT) + 3) + "|")
        for model in dict.fromkeys(model for model, _ in found):
            cells: list[str] = []
            for corpora in (LONG, SHORT):
                values = {corpus: values_of(found.get((model, corpus), []), score) for corpus in corpora}
                cells += [cell(own) for own in values.values()]
                counted = [
                    own
                    for corpus, own in values.items()
                    if score not in WITH_LABELS or corpus not in NO_TOPICS
                ]
                cells.append(f"{np.mean([np.mean(own) for own in counted]):.3f}" if all(counted) else "–")
            if set(cells) != {"–"}:
                print(f"| {model} | {' | '.join(cells)} |")
        print()
    for line in lines:
        if "what" in line:
            print(f"- {line['what']}: {line['seconds']:.2g} s (at most {line['must']:g} s)")


def values_of(lines: list[dict[str, Any]], score: str) -> list[float]:
    kind = "seeds" if score == "seeds_ari" else "seed"
    return [line[score] for line in lines if kind in line and line.get(score) is not None]


def cell(values: list[float]) -> str:
    if not values:
        return "–"
    mean = f"{np.mean(values):.3f}"
    return mean if len(values) == 1 else f"{mean} ± {np.std(values, ddof=1):.3f}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
