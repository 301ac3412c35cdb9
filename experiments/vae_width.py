"""How wide the VAE's tanh layer should be, which the paper does not say, on 20news' validation documents.

    python experiments/vae_width.py >> experiments/vae_width.jsonl
    python experiments/vae_width.py --update     # puts them into docs/rivals.md as a table, between its marks

Every width is fitted by the paper's other settings with four seeds, on the training documents without the validation
documents, and both probes are scored on the latter; the table shows the paper's. The test documents are not used.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from statistics import fmean, stdev

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
            scores = [run["accuracy_with_the_papers_probe"] for run in same]
            epochs = [run["epochs"] for run in same]
            cells.append(f"{fmean(scores):.3f} ± {stdev(scores):.3f} ({min(epochs)} to {max(epochs)} epochs)")
        lines.append(f"| {width:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def update() -> None:
    before, rest = PAGE.read_text().split(START)
    PAGE.write_text(f"{before}{START}\n\n{table()}\n\n{END}{rest.split(END)[1]}")


def main() -> None:
    from why_rivals_differ import fit_and_probe

    from kate import load_dataset
    from kate.research.registry import make_model

    corpus = load_dataset("20news")
    for topics, width, seed in product(TOPICS, WIDTHS, SEEDS):
        model = make_model("vae", topics, {"n_hidden": width}, random_state=seed)
        _, found = fit_and_probe(model, corpus)
        print(json.dumps({"n_hidden": width, "topics": topics, "seed": seed, **found}), flush=True)


if __name__ == "__main__":
    update() if sys.argv[1:] == ["--update"] else main()
