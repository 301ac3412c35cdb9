"""How good the vectors are on 20 Newsgroups; the test documents are used once per reported seed.

    KATE_DATA=... python benchmarks/quality.py [paper] [defaults] [--seeds 3]

Prints one JSON line per run, and one per setting with mean and standard deviation: the accuracy of a softmax probe (its
strength chosen on 1,000 validation documents), the precision of the nearest 0.1 % and 1 % of the training set for every
test document by cosine, and the MSCD of the neurons. Topics are measured by benchmarks/topics.py.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np

from kate import KATE, load_dataset
from kate.research.datasets.corpus import Corpus
from kate.research.metrics.classification import classify
from kate.research.metrics.retrieval import retrieve
from kate.research.metrics.topic_scores import mscd

SETTINGS = {"paper": (KATE.paper, 2_000), "defaults": (KATE, 20_000)}
N_DIMENSIONS = 128


def measure(corpus: Corpus, model: KATE) -> dict[str, float]:
    start = time.perf_counter()
    model.fit(corpus.X[corpus.fitting], validation=corpus.X[corpus.validation])
    seconds = time.perf_counter() - start
    vectors = {
        part: model.transform(corpus.part(part).X) for part in ("train", "fitting", "validation", "test")
    }
    labels = {part: corpus.part(part).y for part in vectors}
    probe = classify(
        *(x for part in ("fitting", "validation", "test") for x in (vectors[part], labels[part]))
    )
    found = retrieve(
        vectors["train"],
        labels["train"],
        vectors["test"],
        labels["test"],
        fractions=(0.001, 0.01),
        full=False,
    )
    return {
        "accuracy": probe.accuracy,
        "precision@0.1%": found.precision[0.001],
        "precision@1%": found.precision[0.01],
        "mscd": mscd(model.neurons_.W.T),
        "epochs": len(model.history_),
        "seconds": seconds,
    }


def summary(runs: list[dict[str, float]]) -> dict[str, list[float]]:
    return {
        name: [round(float(f([run[name] for run in runs])), 4) for f in (np.mean, np.std)]
        for name in runs[0]
        if name != "seed"
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("settings", nargs="*", default=list(SETTINGS), help=f"of {', '.join(SETTINGS)}")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    for name in arguments.settings:
        make, vocabulary_size = SETTINGS[name]
        corpus = load_dataset("20news", vocabulary_size=vocabulary_size, data_home=data_folder())
        runs = []
        for seed in range(arguments.seeds):
            scores = measure(corpus, make(N_DIMENSIONS, random_state=seed))
            runs.append({"seed": seed} | {key: round(float(value), 4) for key, value in scores.items()})
            print(
                json.dumps({"benchmark": "quality", "settings": name, "words": vocabulary_size} | runs[-1]),
                flush=True,
            )
        print(
            json.dumps({"benchmark": "quality", "settings": name, "mean_and_sd": summary(runs)}), flush=True
        )


def data_folder() -> Path | None:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return None if "KATE_DATA" in os.environ or not beside.is_dir() else beside


if __name__ == "__main__":
    main()
