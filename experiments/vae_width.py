"""How wide the VAE's tanh layer should be, which the paper does not say, on 20news' validation documents.

    python experiments/vae_width.py >> experiments/vae_width.jsonl
    python experiments/vae_width.py --update     # puts them into docs/rivals.md as a table, between its marks

Every width is fitted by the paper's other settings with four seeds, on the training documents without the validation
documents, and the paper's probe is scored on the latter. The test documents are not touched.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "rivals.md"
START, END = "<!-- width: from experiments/vae_width.py -->", "<!-- end of width -->"
TOPICS, WIDTHS, SEEDS = (20, 128, 512), (256, 512, 1024, 2048), range(4)


def table() -> str:
    """Mean and standard deviation of every width and size, and how long the runs went on."""
    runs = [json.loads(line) for line in (HERE / "vae_width.jsonl").read_text().splitlines()]
    lines = [
        "| neurons of the tanh layer | " + " | ".join(f"{topics} topics" for topics in TOPICS) + " |",
        "|---" * (1 + len(TOPICS)) + "|",
    ]
    for width in WIDTHS:
        cells = []
        for topics in TOPICS:
            same = [run for run in runs if (run["n_hidden"], run["topics"]) == (width, topics)]
            scores, epochs = (
                [run["accuracy_with_the_papers_probe"] for run in same],
                [run["epochs"] for run in same],
            )
            cells.append(f"{fmean(scores):.3f} ± {stdev(scores):.3f} ({min(epochs)} to {max(epochs)} epochs)")
        lines.append(f"| {width:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def update() -> None:
    before, rest = PAGE.read_text().split(START)
    PAGE.write_text(f"{before}{START}\n\n{table()}\n\n{END}{rest.split(END)[1]}")


def main() -> None:
    from kate import load_dataset
    from kate.evaluation.feeding import encode, fit
    from kate.models.registry import make_model
    from kate.tasks.classification import fit_classes

    corpus = load_dataset("20news")
    fitting, validation = corpus.part("fitting"), corpus.part("validation")
    for topics, width, seed in product(TOPICS, WIDTHS, SEEDS):
        model: Any = make_model("vae", topics, {"n_hidden": width}, random_state=seed)
        fit(model, corpus)
        codes = encode(model, corpus, ("fitting", "validation"))
        probe = fit_classes(codes["fitting"], fitting.y, codes["validation"], validation.y, probe="paper")
        row = {
            "n_hidden": width,
            "topics": topics,
            "seed": seed,
            "epochs": len(model.history_),
            "accuracy_with_the_papers_probe": round(probe.validation_accuracy, 4),
        }
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    update() if sys.argv[1:] == ["--update"] else main()
