"""How several workers train: when their copies are averaged, what becomes of the optimizer, and the rate.

    python experiments/averaging.py choose averaging.jsonl     # 20 Newsgroups: training documents alone
    python experiments/averaging.py test averaging_test.jsonl  # 20 Newsgroups: test documents, once
    python experiments/averaging.py report averaging.jsonl     # the tables of docs/scale.md

Workers take their turns in one process (kate.model.averaged_training.InProcessTeam), which gives the bits that workers
on many machines give. A line holds the accuracy of a linear probe, whose strength is chosen on other documents. The
learning rate is that of one process times (number of workers) ** rate. "split": every worker takes its part of each
batch ("batches"), or whole batches and so fewer steps ("steps").
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import kate
from kate.engines.averaging import mean_of_copies
from kate.model import averaged_training
from kate.model.averaged_training import AveragedTraining, InProcessTeam, shares_of
from kate.model.fitting import fit_network
from kate.model.local_worker import RoundResult, Schedule
from kate.research.metrics.classification import classify

SEEDS = (0, 1, 2)


class ResetTeam(InProcessTeam):
    """The same, but the optimizer begins anew in every round."""

    def together(self, results: list[RoundResult]) -> Any:
        flat = super().together(results)
        flat[len(flat) // 3 :] = 0
        return flat


class OwnMomentsTeam(InProcessTeam):
    """The same, but every worker keeps its own moments."""

    kept: list[Any] | None = None

    def train_round(self, steps: Any) -> tuple[float, int]:
        n = len(self.flat) // 3
        starts = self.kept or [self.flat[n:]] * len(self.workers)
        results = [
            worker.train_round(np.concatenate([self.flat[:n], moments]), steps)
            for worker, moments in zip(self.workers, starts, strict=True)
        ]
        self.kept = [result.flat[n:].copy() for result in results]
        self.flat = mean_of_copies(
            [result.flat for result in results], shares_of([result.n_documents for result in results])
        )
        return sum(result.loss for result in results), sum(result.n_documents for result in results)


class SplitSteps(Schedule):
    """Whole batches, of which every worker takes one of so many."""

    @classmethod
    def of(cls, settings: dict[str, Any], n_documents: int, n_workers: int) -> Schedule:
        most = settings["max_steps"]
        shared = settings | {"max_steps": None if most is None else -(-most // n_workers)}
        return cls(shared, -(-n_documents // (settings["batch_size"] * n_workers)))


TEAMS = {"average": InProcessTeam, "reset": ResetTeam, "own": OwnMomentsTeam}
SCHEDULES = {"steps": SplitSteps, "batches": Schedule}


def shared_by(n_workers: int, moments: str, split: str, rate: float) -> Any:
    @contextmanager
    def share_out(
        learner: Any, counts: csr_matrix, max_epochs: int, machine: Any
    ) -> Iterator[AveragedTraining]:
        schedule = SCHEDULES[split].of(learner.settings, counts.shape[0], n_workers)
        schedule.settings["learning_rate"] = learner.settings["learning_rate"] * n_workers**rate
        team = TEAMS[moments].of(learner, counts, schedule, max_epochs, n_workers, machine)
        yield AveragedTraining(learner, team, schedule, max_epochs)

    return share_out


def rows_of(corpus: Any, part: str) -> tuple[Any, Any, Any]:
    """To fit on, to choose the probe's strength on, to ask for: to choose by, all three are training documents."""
    if part == "test":
        return corpus.fitting, corpus.validation, corpus.test
    rows = np.random.default_rng(0).permutation(corpus.train)
    sixth = len(rows) // 6
    return np.sort(rows[2 * sixth :]), rows[:sixth], rows[sixth : 2 * sixth]


def measure(
    corpus: Any, part: str, seed: int, n_workers: int, every: int, moments: str, split: str, rate: float
) -> dict[str, Any]:
    """One fit and its probe; 0 workers: training as it is without any of this."""
    averaged_training.STEPS_OF_A_ROUND = every
    fitting, held, asked = rows_of(corpus, part)
    counts = csr_matrix(corpus.X[fitting], dtype=np.float32)
    model = kate.KATE(random_state=seed, verbose=False, device="cpu")
    start = time.perf_counter()
    share_out = shared_by(n_workers, moments, split, rate) if n_workers else None
    fitted = fit_network(model, counts, None, share_out=share_out)
    seconds = time.perf_counter() - start
    encoder = fitted.finished.encoder

    def vectors(rows: Any) -> Any:
        return encoder.vectors(csr_matrix(corpus.X[rows], dtype=np.float32))

    labels = np.asarray(corpus.labels)
    parts = [given for rows in (fitting, held, asked) for given in (vectors(rows), labels[rows].tolist())]
    found = classify(*parts)
    facts = {"corpus": corpus.name, "part": part, "seed": seed, "workers": n_workers, "every": every}
    facts |= {"moments": moments, "split": split, "rate": rate}
    return facts | {"accuracy": round(found.accuracy, 5), "seconds": round(seconds, 2)}


def append(path: Path, rows: list[dict[str, Any]], corpora: dict[str, Any], part: str) -> None:
    """Measure what the file lacks, one line each."""
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    for row in rows:
        if any(all(line[name] == value for name, value in row.items()) for line in known):
            continue
        given = {name: value for name, value in row.items() if name not in {"corpus", "part", "workers"}}
        found = measure(corpora[row["corpus"]], part, n_workers=row["workers"], **given)
        with path.open("a") as file:
            file.write(json.dumps(found) + "\n")
        print(json.dumps(found), flush=True)


def choices() -> list[dict[str, Any]]:
    """What is compared on validation documents."""
    plain = {"every": 8, "moments": "average", "split": "batches", "rate": 0.5}
    rows = [plain | {"workers": 0}]
    rows += [plain | {"workers": 4, "rate": rate} for rate in (0.5, 0.0, 1.0)]
    rows += [plain | {"workers": 4, "split": "steps", "rate": rate} for rate in (0.0, 0.5, 1.0)]
    rows += [plain | {"workers": 4, "every": every} for every in (16, 32, 64)]
    rows += [plain | {"workers": 4, "every": 16, "moments": moments} for moments in ("reset", "own")]
    rows += [plain | {"workers": 2, "every": 16}, plain | {"workers": 8, "every": 16}]
    return [
        {"corpus": "20news", "part": "validation", "seed": seed} | row for seed in SEEDS[:2] for row in rows
    ]


def final() -> list[dict[str, Any]]:
    """What was chosen, on test documents."""
    chosen = {
        "every": averaged_training.STEPS_OF_A_ROUND,
        "moments": "average",
        "split": "batches",
        "rate": 0.5,
    }
    return [
        {"corpus": "20news", "part": "test", "seed": seed, "workers": workers} | chosen
        for seed in SEEDS
        for workers in (0, 1, 2, 4)
    ]


def report(path: Path) -> None:
    """Means and deviations over the seeds, and the distance from one process."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    groups: dict[tuple[Any, ...], list[float]] = {}
    for line in lines:
        key = tuple(line[name] for name in ("corpus", "workers", "split", "every", "moments", "rate"))
        groups.setdefault(key, []).append(line["accuracy"])
    one = {key[0]: float(np.mean(values)) for key, values in groups.items() if key[1] == 0}
    print("| corpus | workers | split | averaged every | moments | rate | probe | difference |")
    print("|---|---|---|---|---|---|---|---|")
    for key, values in groups.items():
        mean = float(np.mean(values))
        shown = " | ".join(str(part) for part in key)
        print(f"| {shown} | {mean:.4f} ± {np.std(values):.4f} | {mean - one[key[0]]:+.4f} |")


def main() -> None:
    command, path = sys.argv[1], Path(sys.argv[2])
    if command == "report":
        report(path)
        return
    rows, part = (choices(), "validation") if command == "choose" else (final(), "test")
    corpora = {"20news": kate.load_dataset("20news", vocabulary_size=20_000)}
    append(path, rows, corpora, part)


if __name__ == "__main__":
    main()
