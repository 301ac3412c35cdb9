"""Kate beside what people would pick today: scores, seconds and memory of each model, in a process of its own.

    pip install 'kate-text[paper,rivals]'
    KATE_DATA=... python benchmarks/comparison.py bbc 20news --models kate,lsa,bertopic --topics 20 >> comparison.jsonl

One JSON line per corpus, model and seed. Topics as in benchmarks/topics.py, all models through ``kate evaluate``'s own
code; models whose vectors are of any length are also probed for labels and searched by. A model that fails, or takes
longer than ``--limit`` seconds, has a line that says so.

seconds_fit     on the documents for fitting; of those with embeddings, the embedding of these documents included
cpu_seconds_fit the same in processor time of all threads, which says more where other work shares the machine
seconds_topics  to find topics and their words after the fit
memory_mb       the most that the process held while it fitted and was scored, above what it held with the corpus loaded
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from kate.research.evaluation import evaluate
from kate.research.registry import MODELS, make_model
from topic_corpora import topic_corpus

VECTORS = ("kate", "lsa", "minilm", "model2vec", "tfidf")
TODAY = (
    "kate",
    "lsa",
    "nmf",
    "lda-tomotopy",
    "topica",
    "minilm",
    "model2vec",
    "bertopic",
    "top2vec",
    "fastopic",
)
TOPICS = ["clusters", "topics"]


def held_mb(name: str) -> float:
    """What this process holds: VmRSS now, VmHWM at the most (of Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(name)) / 1024


def one(name: str, corpus_name: str, seed: int, n_topics: int, settings: dict[str, str]) -> dict[str, Any]:
    """One model on one corpus, with what it was fitted by; evaluated in this process."""
    corpus = topic_corpus(corpus_name)
    model: Any = make_model(name, 128, settings, random_state=seed)
    if "verbose" in model.get_params(deep=False):
        model.set_params(verbose=False)
    before = held_mb("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins here
    tasks = [*TOPICS, "classification", "retrieval"] if name in VECTORS else TOPICS
    used: dict[str, float] = {}  # processor time when each stage began
    run = evaluate(
        corpus,
        model,
        tasks,
        random_state=seed,
        n_topics=n_topics,
        on_stage=lambda stage: used.update({stage: time.process_time()}),
    )
    scores = {f"{task}_{key}": value for task, found in run.scores.items() for key, value in found.items()}
    seconds = {"seconds_fit": run.seconds["fit"], "seconds_topics": scores.pop("topics_seconds", None)}
    seconds["cpu_seconds_fit"] = used["encode"] - used["fit"]
    return scores | seconds | {"memory_mb": held_mb("VmHWM") - before, "errors": run.errors}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--models", default=",".join(TODAY))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--setting", action="append", default=[], metavar="MODEL.NAME=VALUE")
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)  # of the one run of this process
    arguments = parser.parse_args()
    settings = dict(one.split("=", 1) for one in arguments.setting)
    names = arguments.models.split(",")
    if arguments.seed is not None:
        found = one(names[0], arguments.corpora[0], arguments.seed, arguments.topics, settings)
        print(json.dumps(found))
        return
    for corpus in arguments.corpora:
        for name in names:
            for seed in range(arguments.seeds):
                print(json.dumps(measured(corpus, name, seed, arguments)), flush=True)


def measured(corpus: str, name: str, seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """The line of one run, whatever becomes of it."""
    assert name in MODELS, name
    facts = {
        "benchmark": "comparison",
        "corpus": corpus,
        "model": name,
        "seed": seed,
        "cores": os.cpu_count(),
    }
    command = [sys.executable, __file__, corpus, "--models", name, "--seed", str(seed)]
    command += ["--topics", str(arguments.topics), *(f"--setting={one}" for one in arguments.setting)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=arguments.limit)
    except subprocess.TimeoutExpired:
        return facts | {"failed": f"not done after {arguments.limit:.0f} s"}
    if done.returncode:
        return facts | {"failed": done.stderr.strip().splitlines()[-1]}
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return facts | {
        key: round(value, 4) if isinstance(value, float) else value for key, value in found.items()
    }


if __name__ == "__main__":
    main()
