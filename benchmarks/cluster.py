"""What each phase of a large corpus takes: processor time and bytes of the functions that workers of a cluster run.

    python benchmarks/cluster.py [--documents 1000000] [--piece 100000] > experiments/cluster.jsonl

Every phase runs here, on one thread, piece after piece, and is measured in seconds of processor time, which other
programs on the machine hardly change. Bytes are those that a worker would send or keep. Documents are those of
large.py. experiments/cluster_table.py works out from the lines what 1, 16 and 256 workers would take.

    python benchmarks/cluster.py --steps >> experiments/cluster.jsonl   # a training step, by the size of its batch
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["POLARS_MAX_THREADS"] = "1"

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix, vstack

import kate
from kate.cluster.corpus_pieces import CorpusPieces
from kate.cluster.piece_counting import columns_of_piece, count_piece, most_frequent_forms, sum_words
from kate.cluster.piece_encoding import EncodePieces, IndexPieces, LabelPieces
from kate.model.packed_model import PackedModel
from kate.model.settings import settings_for
from kate.model.step_plan import StepPlan
from kate.model.training import KATETraining, Machine
from kate.search.building import store_of
from kate.search.search_words import WordSequences
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary
from large import documents

GROUPS = 4


def size_of(*values: Any) -> int:
    """Bytes as Ray would send them."""
    return sum(len(pickle.dumps(value, protocol=5)) for value in values)


class Lines:
    """Measured phases, and the bytes that they leave; each is printed as a line of JSON."""

    def __init__(self, n: int) -> None:
        self.n = n

    def show(self, name: str, **facts: Any) -> None:
        print(json.dumps({"benchmark": "cluster", "phase": name, "documents": self.n} | facts), flush=True)

    @contextmanager
    def phase(self, name: str) -> Iterator[dict[str, Any]]:
        facts: dict[str, Any] = {}
        start, wall = time.process_time(), time.perf_counter()
        yield facts
        seconds = {"cpu_seconds": round(time.process_time() - start, 2)}
        seconds["wall_seconds"] = round(time.perf_counter() - wall, 2)
        self.show(name, **seconds, **facts)


def write_corpus(path: Path, n: int, piece: int) -> None:
    pl.DataFrame({"text": list(documents(n))}).write_parquet(path, row_group_size=piece)


def run(folder: Path, n: int, piece: int) -> None:
    corpus = folder / "corpus.parquet"
    write_corpus(corpus, n, piece)
    lines, pieces = Lines(n), CorpusPieces.of(corpus, piece_size=1)
    with lines.phase("count") as facts:
        found = [count_piece(one, pieces.rules, Tokenizer(), GROUPS) for one in pieces]
    facts = {"corpus_bytes": corpus.stat().st_size, "pieces": len(pieces)}
    facts |= {"counts_bytes": size_of(*(of_piece[1].counts for of_piece in found))}
    facts |= {"words_bytes": size_of(*(table for of_piece in found for table in of_piece[2:]))}
    lines.show("count, sizes", **facts)
    with lines.phase("words") as facts:
        groups = [
            sum_words(7, n, 20_000, *[of_piece[2 + group] for of_piece in found]) for group in range(GROUPS)
        ]
        kept = pl.concat([group.kept for group in groups]).sort("total", "stem", descending=[True, False])
        kept = kept.head(20_000)
        facts |= {"distinct": sum(group.n_distinct for group in groups), "words": len(kept)}
    with lines.phase("columns") as facts:
        columns = [columns_of_piece(of_piece[1], kept["stem"]) for of_piece in found]
    counts = vstack([counts for counts, _ in columns], format="csr")
    forms = size_of(*(forms for _, forms in columns))
    facts = {"bytes": size_of(counts), "forms_bytes": forms, "entries": int(counts.nnz)}
    lines.show("columns, sizes", **facts)
    words = kept["stem"].to_list()
    readable = most_frequent_forms([forms for _, forms in columns])
    totals = (kept["documents"].to_numpy(), kept["total"].to_numpy())
    vocabulary = Vocabulary(words, readable, *totals, n, Tokenizer())
    with lines.phase("fit on one node") as facts:
        model = kate.TextModel(device="cpu", n_jobs=1, verbose=False).fit_counted(vocabulary, counts)
        facts["training_seconds"] = round(sum(row["seconds"] for row in model.history_), 2)
        settings = model.settings_
        facts["steps"] = min(settings["max_steps"], len(model.history_) * -(-n // settings["batch_size"]))
        facts["state_bytes"] = 3 * 4 * (model.neurons_.W.size + len(model.neurons_.b) + len(vocabulary))
    facts = {"model_bytes": len(PackedModel.of(model).folder)}
    model = PackedModel.of(model).load()
    model.n_jobs = 1
    lines.show("model, sizes", **facts)
    with lines.phase("encode") as facts:
        encoded = [EncodePieces(False, 128).work(model, one.read(pieces.rules)) for one in pieces]
    vectors_bytes = sum(one.vectors.nbytes for one in encoded)
    with lines.phase("label") as facts:
        labelled = [LabelPieces(20, None).work(model, one.read(pieces.rules)) for one in pieces]
    facts = {"vectors_bytes": vectors_bytes, "topics_bytes": size_of(*(one.columns for one in labelled))}
    lines.show("encode, sizes", **facts)
    with lines.phase("index") as facts:
        indexed = [IndexPieces().work(model, one.read(pieces.rules)) for one in pieces]
    in_bytes = size_of(*([one.vectors, one.words, one.read.tables] for one in indexed))
    lines.show("index, sizes", bytes=in_bytes)
    with lines.phase("index, put together") as facts:
        found_words = WordSequences.joined([one.words for one in indexed])
        read = pieces.joined([one.read for one in indexed])
        vectors = np.concatenate([one.vectors for one in indexed])
        store_of(model, read, vectors, found_words, ann=False, int8=False, n_jobs=1)


def steps(n: int) -> None:
    """Processor time of a training step on one thread, by the documents of a batch."""
    vocabulary, counts = Vocabulary.learn(list(documents(n)))
    X = csr_matrix(counts, dtype=np.float32)
    settings = settings_for(kate.TextModel(start="random"), n)
    learner = KATETraining.start(settings, X, None, np.random.RandomState(0), None, Machine(1, "cpu"))
    lines = Lines(n)
    for size in (1_000, 500, 250, 125, 63, 31, 16, 4):
        plan = StepPlan.draw(np.random.RandomState(0), n, size).part(0, 20).with_rates(np.full(20, 1e-3))
        learner.take_steps(plan)
        start = time.process_time()
        learner.take_steps(plan)
        seconds = (time.process_time() - start) / 20
        lines.show("step", batch=size, words=len(vocabulary), cpu_milliseconds=round(1e3 * seconds, 3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--piece", type=int, default=100_000)
    parser.add_argument("--steps", action="store_true")
    given = parser.parse_args()
    if given.steps:
        steps(100_000)
        return
    with tempfile.TemporaryDirectory(prefix="kate-cluster-") as folder:
        run(Path(folder), given.documents, given.piece)


if __name__ == "__main__":
    main()
