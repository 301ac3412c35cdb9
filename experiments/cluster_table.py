"""What a billion documents would take on 1, 16 and 256 workers: worked out on paper from what a million took here.

    python experiments/cluster_table.py experiments/cluster.jsonl   # the tables of docs/scale.md

benchmarks/cluster.py writes the lines. A phase that every worker has a share of takes processor time · documents /
workers; what comes to one machine takes its bytes over that machine's network; whichever is longer is the time.
"""

from __future__ import annotations

import json
import math
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

DOCUMENTS = 10**9
WORKERS = (1, 16, 256)
NETWORK = 1.25e9  # bytes a second in and out of a machine: 10 Gbit/s
DISK = 0.5e9  # bytes a second, of one machine's disk or of what a worker gets of a store
ROUND = 16  # steps between two averages
BATCH = 1_000  # documents of a step, at this size of corpus
N_STEPS = 500  # steps of the defaults


def read(path: Path) -> tuple[dict[str, dict[str, Any]], dict[int, float]]:
    """The lines by their phase; the seconds of a step by the documents of its batch."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    phases = {line["phase"]: line for line in lines if line["phase"] != "step"}
    steps = {line["batch"]: line["cpu_milliseconds"] / 1e3 for line in lines if line["phase"] == "step"}
    return phases, steps


def shown(seconds: float) -> str:
    """Time as people say it.

    >>> shown(0.2), shown(75), shown(7_500)
    ('0.20 s', '1.2 min', '2.1 h')
    """
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds >= 1 else f"{seconds:.2f} s"
    return f"{seconds / 60:.2g} min" if seconds < 3_600 else f"{seconds / 3_600:.2g} h"


def size(n_bytes: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if n_bytes < 1_000 or unit == "TB":
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1_000
    raise AssertionError


def step_seconds(steps: dict[int, float], batch: float) -> float:
    """Between two measured sizes by a straight line."""
    sizes = sorted(steps)
    for low, high in pairwise(sizes):
        if batch <= high:
            share = max(0.0, (batch - low) / (high - low))
            return steps[low] + share * (steps[high] - steps[low])
    return steps[sizes[-1]] * batch / sizes[-1]


def shared_phases(phases: dict[str, dict[str, Any]]) -> list[tuple[str, float, float, float, str]]:
    """(name, processor seconds, bytes read by all workers, bytes that come to one machine, what those are)."""
    times = DOCUMENTS / phases["count"]["documents"]
    corpus = phases["count, sizes"]["corpus_bytes"] * times
    words = (phases["count, sizes"]["words_bytes"] + phases["columns, sizes"]["forms_bytes"]) * times
    encoded = phases["encode, sizes"]
    return [
        ("count", phases["count"]["cpu_seconds"] * times, corpus, words, "words and forms of pieces"),
        (
            "columns",
            phases["columns"]["cpu_seconds"] * times,
            0.0,
            phases["columns, sizes"]["bytes"] * times,
            "counts",
        ),
        (
            "encode",
            phases["encode"]["cpu_seconds"] * times,
            corpus,
            encoded["vectors_bytes"] * times,
            "vectors",
        ),
        (
            "label",
            phases["label"]["cpu_seconds"] * times,
            corpus,
            encoded["topics_bytes"] * times + corpus,
            "topics and texts",
        ),
        (
            "index, pieces",
            phases["index"]["cpu_seconds"] * times,
            corpus,
            phases["index, sizes"]["bytes"] * times,
            "vectors, words, texts",
        ),
    ]


def phase_table(phases: dict[str, dict[str, Any]]) -> None:
    print(
        "| phase | processor time in all | read | comes to one machine | "
        + " | ".join(f"{n} worker{'s' if n > 1 else ''}" for n in WORKERS)
        + " |"
    )
    print("|---|---|---|---|" + "---|" * len(WORKERS))
    for name, seconds, n_read, n_gathered, what in shared_phases(phases):
        cells = []
        for n_workers in WORKERS:
            # one worker has its results at home
            gathered = n_gathered / NETWORK if n_workers > 1 else 0.0
            parts = {
                "": seconds / n_workers,
                " (reading)": n_read / DISK / n_workers,
                " (network)": gathered,
            }
            longest = max(parts, key=lambda part: parts[part])
            cells.append(f"{shown(parts[longest])}{longest}")
        print(
            f"| {name} | {shown(seconds)} | {size(n_read) if n_read else '–'} | {size(n_gathered)}: {what} | "
            + " | ".join(cells)
            + " |"
        )
    times = DOCUMENTS / phases["count"]["documents"]
    alone = phases["index, put together"]["cpu_seconds"] * times
    print(
        f"| index, put together | {shown(alone)} | – | – | "
        + " | ".join([shown(alone)] * len(WORKERS))
        + " |"
    )


def disk_table(phases: dict[str, dict[str, Any]]) -> None:
    """What has to lie somewhere: shared out among the workers, or written by the machine that starts the command."""
    times = DOCUMENTS / phases["count"]["documents"]
    corpus, words = (phases["count, sizes"][f"{name}_bytes"] * times for name in ("corpus", "words"))
    counts = phases["count, sizes"]["counts_bytes"] * times
    columns, forms = (phases["columns, sizes"][name] * times for name in ("bytes", "forms_bytes"))
    encoded, index = phases["encode, sizes"], phases["index, sizes"]["bytes"] * times
    vectors, topics = (encoded[f"{name}_bytes"] * times for name in ("vectors", "topics"))
    rows = [
        (
            "fit",
            "counts before and after the columns, tables of words",
            counts + words + columns + forms,
            0.0,
        ),
        ("encode", "the file of vectors", 0.0, vectors),
        ("label", "texts and topics", 0.0, topics + corpus),
        ("index", "vectors, words, texts", 0.0, index),
    ]
    print(
        "| command | what lies on disk | workers, each of "
        + ", ".join(map(str, WORKERS))
        + " | one machine |"
    )
    print("|---|---|---|---|")
    for name, what, of_workers, of_one in rows:
        each = ", ".join(size(of_workers / n) for n in WORKERS) if of_workers else "–"
        print(f"| {name} | {what} | {each} | {size(of_one) if of_one else '–'} |")


def training_table(phases: dict[str, dict[str, Any]], steps: dict[int, float]) -> None:
    state = phases["fit on one node"]["state_bytes"]
    print(
        "| workers | documents of a step, each | a step | 500 steps | averages | bytes per worker | their time | all |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for n_workers in (1, 2, 4, 16, 256):
        batch = BATCH / n_workers
        step = step_seconds(steps, batch)
        rounds = math.ceil(N_STEPS / ROUND) if n_workers > 1 else 0
        # out and in: the parts of its copy to the others, then the mean of its part; and back
        moved = 2 * state * rounds
        seconds = moved / NETWORK
        total = N_STEPS * step + seconds
        print(
            f"| {n_workers} | {batch:.0f} | {1e3 * step:.2g} ms | {shown(N_STEPS * step)} | {rounds} | "
            f"{size(moved) if moved else '–'} | {shown(seconds) if moved else '–'} | {shown(total)} |"
        )


def main() -> None:
    phases, steps = read(Path(sys.argv[1]))
    phase_table(phases)
    print()
    disk_table(phases)
    print()
    training_table(phases, steps)


if __name__ == "__main__":
    main()
