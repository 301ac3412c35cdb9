"""Does a model that was fitted from shards know as much as one that was fitted in memory?

    python experiments/streaming.py choose >> experiments/streaming.jsonl   # validation documents
    python experiments/streaming.py test >> experiments/streaming.jsonl     # test documents, once
    python experiments/streaming.py table < experiments/streaming.jsonl     # the tables of docs/scale.md

Corpora: 20 Newsgroups (by date) and BBC News, fitted on the training documents without the validation documents. One
JSON line per fit: the accuracy of a softmax probe on the vectors, and whether the vocabulary is the one of the fit in
memory. "choose" makes windows and samples as small as they never are in these corpora, to see what that costs: the
share of the documents that the network starts from, and the share that is in memory at a time.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from kate import TextModel
from kate.research.datasets.newsgroups import read_posts
from kate.research.metrics.classification import classify
from kate.streaming.memory_limit import MemoryLimit

SEEDS = {"validation": range(3), "test": range(5)}
PARTS = ("fit", "validation", "test")
Corpus = dict[str, tuple[list[str], list[str]]]


def corpora() -> Iterator[tuple[str, Corpus]]:
    """Texts and labels of the parts of both corpora; a tenth of the training documents is for validation."""
    data = Path(os.environ["KATE_DATA"])
    train, test = (
        [(post.text, post.group) for post in part] for part in read_posts(data / "20news-bydate.tar.gz")
    )
    yield "20news", split(train, test)
    with gzip.open(data / "bbc.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    of = {
        part: [(row["text"], row["label"]) for row in rows if row["split"] == part]
        for part in ("train", "test")
    }
    yield "bbc", split(of["train"], of["test"])


def split(train: list[tuple[str, str]], test: list[tuple[str, str]]) -> Corpus:
    order = np.random.default_rng(0).permutation(len(train))
    n_held_out = len(train) // 10
    rows = {"fit": np.sort(order[n_held_out:]), "validation": np.sort(order[:n_held_out])}
    parts = {part: [train[row] for row in chosen] for part, chosen in rows.items()} | {"test": test}
    return {
        part: ([text for text, _ in found], [label for _, label in found]) for part, found in parts.items()
    }


def fitted(corpus: Corpus, seed: int, sample: float | None, window: float | None) -> TextModel:
    """In memory, or (with shares of the documents) from shards."""
    texts, _ = corpus["fit"]
    model = TextModel(random_state=seed)
    if sample is None or window is None:
        return model.fit(texts)
    n_characters = sum(map(len, texts))
    n_entries = int(n_characters / 10)  # about
    with (
        patch.object(MemoryLimit, "text_at_once", n_characters // 12),
        patch.object(MemoryLimit, "sample_size", lambda *_: int(sample * len(texts)) + 1),
        patch.object(MemoryLimit, "window_entries", lambda *_: max(1, int(window * n_entries))),
    ):
        return model.fit_stream(texts, memory="2GB")


def score(model: TextModel, corpus: Corpus, on: str) -> float:
    found = {part: model.encode(corpus[part][0]) for part in PARTS}
    last = "validation" if on == "validation" else "test"
    order = ("fit", "validation", last)
    return float(classify(*(x for part in order for x in (found[part], corpus[part][1]))).accuracy)


def run(on: str) -> None:
    shares: list[tuple[float | None, float | None]] = [(None, None), (1.0, 1.0)]
    if on == "validation":
        shares += [(1.0, 0.1), (0.5, 0.1), (0.25, 0.1), (0.1, 0.1)]
    for name, corpus in corpora():
        for seed in SEEDS[on]:
            words: list[str] = []
            for sample, window in shares:
                start = time.perf_counter()
                model = fitted(corpus, seed, sample, window)
                seconds = time.perf_counter() - start
                lines = list(model.vocabulary_.to_lines())
                words = words or lines
                row: dict[str, Any] = {"experiment": "streaming", "on": on, "corpus": name, "seed": seed}
                row |= {"sample": sample, "window": window, "same_vocabulary": lines == words}
                row |= {"probe": round(score(model, corpus, on), 4), "seconds": round(seconds, 1)}
                print(json.dumps(row), flush=True)


def table(lines: list[str]) -> None:
    found: dict[tuple[str, str, Any, Any], list[float]] = defaultdict(list)
    for row in map(json.loads, lines):
        found[row["on"], row["corpus"], row["sample"], row["window"]].append(row["probe"])
    print("| documents | corpus | starts from | at a time | probe |\n|---|---|---|---|---|")
    for (on, corpus, sample, window), probes in found.items():
        how = ("in memory", "") if sample is None else (f"{sample:.0%}", f"{window:.0%}")
        print(f"| {on} | {corpus} | {how[0]} | {how[1]} | {np.mean(probes):.4f} ± {np.std(probes):.4f} |")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["choose"]:
            run("validation")
        case ["test"]:
            run("test")
        case _:
            table(sys.stdin.readlines())
