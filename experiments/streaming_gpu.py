"""Training from shards on a GPU beside training in memory: the time of an epoch, and the bits after a stop.

    python experiments/streaming_gpu.py [cuda] [300000] >> experiments/large.jsonl

Documents are drawn at random, and pieces of shards are rows of one matrix, so that a machine with PyTorch and without
Polars will do. Prints one JSON line per size of window (numbers that are in memory at a time), and one about the bits.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
from scipy.sparse import csr_matrix

for package in (
    "polars",
    "zstandard",
    "Stemmer",
    "stop_words",
    "threadpoolctl",
    "safetensors",
    "safetensors.numpy",
):
    try:
        __import__(package)
    except ImportError:  # it is imported with what is measured, but not used
        sys.modules[package] = MagicMock()
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from kate.model.settings import settings_for  # noqa: E402
from kate.model.streamed_training import StreamedTraining  # noqa: E402
from kate.model.training import KATETraining, Machine, idf_weights  # noqa: E402
from kate.streaming.count_shards import CountShards  # noqa: E402

N_WORDS, LENGTH, EPOCHS, PIECE = 20_000, 30, 4, 800
PARAMETERS = {
    "n_components": 128, "n_neurons": None, "n_winners": None, "amplification": None, "loss": "softmax",
    "activation": "tanh", "scaling": "root", "weighting": "idf", "start": "random", "start_share": 0.35, "dropout": 0.5,
    "reconstruction_sampling": None, "output_bias": "frequency", "optimizer": "adam", "learning_rate": None,
    "epsilon": 1e-8, "warmup": 0.05, "decay": "linear", "max_epochs": EPOCHS, "max_steps": 10**9, "batch_size": None,
    "validation_fraction": 0.0, "patience": None, "output": "projection", "mean": "project", "precision": "float32",
    "n_devices": 1,
}  # fmt: skip


class RowShards(CountShards):
    """Shards that are rows of a matrix."""

    def __init__(self, X: csr_matrix) -> None:
        super().__init__([], X.shape[1])
        n = X.shape[0]
        sizes = [min(PIECE, n - start) for start in range(0, n, PIECE)]
        known = {"X": X, "places": [(0, start) for start in range(0, n, PIECE)], "sizes": np.array(sizes)}
        self.__dict__.update(known)

    @property
    def mean_words(self) -> float:
        return self.__dict__["X"].nnz / self.__dict__["X"].shape[0]

    def _rows(self, place: tuple[int, int], file: Any = None) -> csr_matrix:
        return self.__dict__["X"][place[1] : place[1] + PIECE]


def made_counts(n: int) -> csr_matrix:
    random = np.random.default_rng(0)
    chances = np.cumsum(1 / (np.arange(N_WORDS) + 10.0))
    words = np.searchsorted(chances / chances[-1], random.random((n, LENGTH))).astype(np.int32)
    starts = np.arange(0, n * LENGTH + 1, LENGTH, dtype=np.int32)
    X = csr_matrix((np.ones(n * LENGTH, np.float32), words.ravel(), starts), shape=(n, N_WORDS))
    X.sum_duplicates()
    return X


class Pause(Exception):  # noqa: N818
    """Ends an epoch between two steps."""


class Trial:
    def __init__(self, n: int, device: Any) -> None:
        self.X, self.machine = made_counts(n), Machine(device=device)
        self.settings = settings_for(SimpleNamespace(**PARAMETERS), n)
        self.weights = idf_weights(self.X)

    def streamed(self, X: csr_matrix, window_entries: int) -> StreamedTraining:
        given = self.settings, RowShards(X), X[:1000], None, np.random.RandomState(0)
        return StreamedTraining.begin(*given, self.machine, self.weights, window_entries)

    def epochs(self, window_entries: int) -> None:
        whole = KATETraining.start(
            self.settings, self.X, None, np.random.RandomState(0), EPOCHS, self.machine
        )
        learners = {"in memory": whole, "shards": self.streamed(self.X, window_entries)}
        times: dict[str, list[float]] = {name: [] for name in learners}
        for epoch in range(EPOCHS):
            for name, learner in learners.items():
                start = time.perf_counter()
                learner.train_epoch(epoch)
                learner.learned()
                times[name].append(round(time.perf_counter() - start, 3))
        ratios = [
            over / within for over, within in zip(times["shards"][1:], times["in memory"][1:], strict=True)
        ]
        row = {
            "benchmark": "large",
            "phase": "epoch",
            "device": self.machine.device,
            "documents": self.X.shape[0],
        }
        row |= {
            "words": N_WORDS,
            "window_entries": window_entries,
            "ratio": round(float(np.median(ratios)), 3),
        }
        print(json.dumps(row | {f"seconds {name}": each[1:] for name, each in times.items()}), flush=True)

    def bits(self) -> None:
        def with_stop(at: int) -> Any:
            learner = self.streamed(self.X[: len(self.weights)], 2**18)
            learner.between_steps = stop_at(at)
            try:
                learner.train_epoch(0)
            except Pause:
                network, optimizer = learner.learned().copy(), learner.optimizer
                optimizer = replace(optimizer, first=optimizer.first.copy(), second=optimizer.second.copy())
                place, random, shards = learner.place, learner.random, learner.shards
                given = self.settings, network, optimizer, shards, None, random, EPOCHS
                learner = StreamedTraining(*given, self.machine, self.weights, None, 2**18)
                learner.place = place
                learner.train_epoch(0)
            return learner.learned().copy()

        one, other = with_stop(0), with_stop(2)
        same = all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
        row = {"benchmark": "large", "phase": "bits after a stop", "device": self.machine.device}
        print(json.dumps(row | {"same": same, "mean_weight": float(np.abs(one.W).mean())}), flush=True)


def stop_at(number: int) -> Callable[[], None]:
    n_calls = 0

    def between_steps() -> None:
        nonlocal n_calls
        n_calls += 1
        if n_calls == number:
            raise Pause

    return between_steps


if __name__ == "__main__":
    trial = Trial(
        int(sys.argv[2]) if len(sys.argv) > 2 else 300_000, sys.argv[1] if len(sys.argv) > 1 else "cuda"
    )
    for entries in (2**23, 2**21):
        trial.epochs(entries)
    trial.bits()
