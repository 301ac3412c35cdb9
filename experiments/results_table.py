"""The tables of docs/results.md, from the runs of `kate evaluate`.

python experiments/results_table.py results/results.jsonl
"""

from __future__ import annotations

import sys

from kate.research.evaluation.results import Summary, read_results, summarise

COLUMNS = {
    "20news": [
        "classification accuracy",
        "retrieval precision@0.1%",
        "retrieval precision@1%",
        "retrieval map",
    ],
    "reuters21578": ["multilabel macro_f1", "multilabel micro_f1", "retrieval precision@1%", "retrieval map"],
    "movies": ["regression r2", "regression ridge_r2"],
}
CENTRED = ["retrieval centred_precision@0.1%", "retrieval centred_precision@1%", "retrieval centred_map"]
TOPICS = ["neurons mscd", "neurons npmi", "neurons npmi_test", "neurons c_v_documents", "neurons diversity"]
FORMER_NAMES = {"c_v_documents": "c_v", "weights_c_v_documents": "weights_c_v"}  # in older files of results


def cell(row: Summary, column: str) -> str:
    task, name = column.split(" ", 1)
    scores = row.scores.get(task, {})
    score = scores.get(name, scores.get(FORMER_NAMES.get(name, name)))
    return "–" if score is None else str(score)


def table(rows: list[Summary], columns: list[str]) -> str:
    columns = [column for column in columns if any(cell(row, column) != "–" for row in rows)]
    lines = [
        "| model | words | topics | seeds | " + " | ".join(columns) + " |",
        "|---" * (4 + len(columns)) + "|",
    ]
    for row in rows:
        words = row.dataset_settings.get("vocabulary_size")
        head = [
            row.model,
            f"{words:,}" if words else "–",
            str(row.n_components),
            str(row.n_runs - row.n_failed),
        ]
        lines.append("| " + " | ".join(head + [cell(row, column) for column in columns]) + " |")
    return "\n".join(lines)


def main() -> None:
    rows = summarise(read_results(sys.argv[1]))
    for dataset, columns in COLUMNS.items():
        chosen = [row for row in rows if row.dataset == dataset]
        print(f"### {dataset}\n\n{table(chosen, columns + CENTRED)}\n\n{table(chosen, TOPICS)}\n")


if __name__ == "__main__":
    main()
