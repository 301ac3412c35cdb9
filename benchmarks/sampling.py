"""Reconstruction sampling: what a document costs as the vocabulary grows, and what the vectors lose by it.

    python benchmarks/sampling.py [--no-quality] [--seeds 3]      # KATE_DATA=... names the folder of 20 Newsgroups

Prints one JSON line per vocabulary size: microseconds per document of a training step with sampling, on made-up
documents that follow Zipf's law, beside the same step over all words, for vocabularies of up to 100,000. Then one line
per run on 20 Newsgroups with 20,000 words, with sampling and without: the accuracy of a probe, as in
benchmarks/quality.py.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np

from kate import KATE, load_dataset
from kate.engines.cpu.cpu_engine import CPUEngine
from kate.engines.network import Optimizer, Recipe
from kate.research.metrics.classification import classify
from kate.research.metrics.retrieval import retrieve
from kate.threads import thread_count
from quality import data_folder
from train import Shape, best_milliseconds, make_documents, make_network

VOCABULARIES = (20_000, 100_000, 1_000_000)
LARGEST_FULL = 100_000
SAMPLES = (4_000, 1_000)
SHAPE = Shape(20_000, 128, 32, 200, "softmax")
N_DOCUMENTS, N_STEPS = 20_000, 20

Run = Callable[[], float]


def runs_of(n_words: int, samples: tuple[int, ...]) -> dict[int, Run]:
    """A function that runs some steps for each size of the sample (0 for all words), all with the same network."""
    X = make_documents(N_DOCUMENTS, n_words)
    rng = np.random.default_rng(3)
    batches = [
        rng.choice(N_DOCUMENTS, size=SHAPE.batch, replace=False).astype(np.int64) for _ in range(N_STEPS)
    ]
    rates, seeds = np.full(N_STEPS, 1e-3), np.arange(N_STEPS)
    network = make_network(n_words, SHAPE.topics)
    optimizer = Optimizer.adam(network)

    def steps(n: int) -> Run:
        engine = CPUEngine(network, Recipe(SHAPE.loss, "tanh", SHAPE.winners, 0.5, 0.7, n))
        return lambda: engine.train(X, batches, rates, optimizer, seeds)

    return {n: steps(n) for n in samples}


def quality(n_sampled: int | None, seed: int) -> dict[str, float]:
    corpus = load_dataset("20news", vocabulary_size=SHAPE.words, data_home=data_folder())
    model = KATE(SHAPE.topics, reconstruction_sampling=n_sampled, random_state=seed)
    start = time.perf_counter()
    model.fit(corpus.X[corpus.fitting])
    seconds = time.perf_counter() - start
    parts = {part: corpus.part(part) for part in ("train", "fitting", "validation", "test")}
    vectors = {part: model.transform(corpus.X) for part, corpus in parts.items()}
    probe = classify(
        *(x for part in ("fitting", "validation", "test") for x in (vectors[part], parts[part].y))
    )
    found = retrieve(
        vectors["train"], parts["train"].y, vectors["test"], parts["test"].y, fractions=(0.001,), full=False
    )
    return {
        "accuracy": round(probe.accuracy, 4),
        "precision@0.1%": round(found.precision[0.001], 4),
        "seconds": round(seconds, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--no-quality", action="store_true", help="measure only the time")
    parser.add_argument("--no-time", action="store_true", help="measure only the quality")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    if not arguments.no_time:
        print_costs()
    if not arguments.no_quality:
        print_quality(arguments.seeds)


def print_costs() -> None:
    """All vocabularies take turns, so that a busy moment of the machine affects all of them."""
    runs: dict[tuple[int, int], Run] = {}
    for n_words in VOCABULARIES:
        samples = (*SAMPLES, 0) if n_words <= LARGEST_FULL else SAMPLES
        runs |= {(n_words, n): run for n, run in runs_of(n_words, samples).items()}
    best = {key: round(1000 * ms / SHAPE.batch, 2) for key, ms in best_milliseconds(runs, N_STEPS).items()}
    for n_sampled in SAMPLES:
        for n_words in VOCABULARIES:
            row = {"sampled_us_a_document": best[n_words, n_sampled]}
            if n_words <= LARGEST_FULL:
                row["full_us_a_document"] = best[n_words, 0]
            shared = {
                "words": n_words,
                "sampled": n_sampled,
                "batch": SHAPE.batch,
                "threads": thread_count(None),
            }
            growth = {
                "times_the_first": round(best[n_words, n_sampled] / best[VOCABULARIES[0], n_sampled], 2)
            }
            print(json.dumps({"benchmark": "sampling, time", **shared, **row, **growth}), flush=True)


def print_quality(n_seeds: int) -> None:
    means: dict[int | None, float] = {}
    for sampled in (None, *SAMPLES):
        runs = [quality(sampled, seed) for seed in range(n_seeds)]
        for seed, run in enumerate(runs):
            print(
                json.dumps({"benchmark": "sampling, quality", "sampled": sampled, "seed": seed, **run}),
                flush=True,
            )
        means[sampled] = float(np.mean([run["accuracy"] for run in runs]))
    for sampled in SAMPLES:
        row = {"sampled": sampled, "accuracy_minus_full": round(means[sampled] - means[None], 4)}
        print(json.dumps({"benchmark": "sampling, quality", **row}), flush=True)


if __name__ == "__main__":
    main()
