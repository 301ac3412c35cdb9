"""One process that encodes, searches, loads and fits again and again: memory, threads and open files stay flat.

    python benchmarks/soak.py                      # a million encodes, 100,000 searches, 1,000 loads, 100 fits
    python benchmarks/soak.py --encodes 100000 --searches 10000 --loads 100 --fits 10

A line of JSON for every tenth of the way; the last one compares the end with the first tenth, when everything is warm.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kate

ROOTS = ("gold", "peace", "ship", "law", "coin", "bank")
WORDS = [f"{root}{end}" for root in ROOTS for end in ("", "en", "ly", "er")]


def texts(n: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, size=10)) for _ in range(n)]


def measured() -> dict[str, float]:
    """Memory in MiB, threads and open files of this process."""
    gc.collect()
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    facts = dict(line.split(":", 1) for line in status)
    return {
        "rss_mib": round(int(facts["VmRSS"].split()[0]) / 1024, 1),
        "threads": int(facts["Threads"]),
        "python_threads": threading.active_count(),
        "files": len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - a count, and no paths
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, many in (("encodes", 1_000_000), ("searches", 100_000), ("loads", 1_000), ("fits", 100)):
        parser.add_argument(f"--{name}", type=int, default=many)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        soak(given, Path(folder))


def soak(given: argparse.Namespace, folder: Path) -> None:
    model = kate.TextModel(16, max_epochs=2, verbose=False, device="cpu").fit(texts(500, 0))
    kate.Index.build(model, texts(2_000, 1)).save(folder / "index")
    index = kate.Index.load(folder / "index")
    queries = texts(997, 2)
    many = texts(100, 3)

    def encode(number: int) -> None:
        # one text after the other, and now and then a hundred together
        model.encode(many if number % 1000 == 0 else [queries[number % 997]])

    def search(number: int) -> None:
        index.search(queries[number % 997])

    def load(number: int) -> None:
        kate.Index.load(folder / "index").search("gold")

    def fit(number: int) -> None:
        kate.TextModel(16, max_epochs=2, verbose=False, device="cpu").fit(texts(500, number)).save(
            folder / "model"
        )

    work: dict[str, tuple[Callable[[int], None], int]] = {
        "encodes": (encode, given.encodes),
        "searches": (search, given.searches),
        "loads": (load, given.loads),
        "fits": (fit, given.fits),
    }
    first: dict[str, Any] = {}
    start = time.perf_counter()
    for tenth in range(1, 11):
        for do, total in work.values():
            for number in range(total * (tenth - 1) // 10, total * tenth // 10):
                do(number)
        found = measured()
        first = first or found
        done = {name: total * tenth // 10 for name, (_, total) in work.items()}
        line = {"benchmark": "soak", **done, **found, "seconds": round(time.perf_counter() - start, 1)}
        print(json.dumps(line), flush=True)
    growth = {name: round(found[name] - first[name], 1) for name in found}
    print(json.dumps({"benchmark": "soak", "after": "the first tenth", "growth": growth}), flush=True)


if __name__ == "__main__":
    main()
