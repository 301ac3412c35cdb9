"""Runs many cases of an attack in one process of their own; a crash or a hang is a failure with the case named.

An attack is a class whose ``case(number, random)`` returns what is wrong, or None. A case depends on the seed and its
number alone, so that one line shows it again:

    PYTHONPATH=src:tests python -m attacks.case_runner attacks.damaged_folders:DamagedFolder SEED NUMBER ARGUMENT...
"""

from __future__ import annotations

import hashlib
import importlib
import json
import multiprocessing
import os
import resource
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

import kate
from attacks.attack_budget import log

__all__ = ["Report", "attack"]

# Of one case. A machine that does ten other things is slow, not hanging.
SECONDS = 45.0
# Cases of a hundred that may be tried again because a child of theirs did not end: a machine can be that slow.
_RETRIED = 0.01
# What a case may ask for beyond what the process has when it begins: damage must not become a bomb. A thread sets
# aside a part of the address space that it does not use, and there may be one for each core.
MEMORY = (3 << 30) + (os.cpu_count() or 1) * (128 << 20)
_MOST_FAILURES = 10


@dataclass
class Report:
    """What came of an attack."""

    attack: str
    seed: int
    arguments: tuple[str, ...]
    n_cases: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0
    slowest_cpu: float = 0.0
    retried: list[int] = field(default_factory=list)

    def add(
        self,
        number: int,
        problem: str | None,
        outcome: str,
        seconds: float,
        is_retried: bool = False,
        cpu: float = 0.0,
    ) -> None:
        self.n_cases += 1
        self.retried += [number] * is_retried
        self.outcomes[outcome] += 1
        self.slowest, self.slowest_cpu = max(self.slowest, seconds), max(self.slowest_cpu, cpu)
        if problem is not None:
            self.failures.append(f"{problem}\n    again: {self.again(number)}")

    def again(self, number: int) -> str:
        line = [
            "PYTHONPATH=src:tests python -m attacks.case_runner",
            self.attack,
            str(self.seed),
            str(number),
        ]
        return " ".join([*line, *self.arguments])

    def require_none(self) -> None:
        """Fail with the cases that went wrong, or if many were tried again."""
        shown = "\n".join(self.failures[:_MOST_FAILURES])
        assert not self.failures, f"{len(self.failures)} of {self.n_cases:,} cases went wrong:\n{shown}"
        again = "\n    ".join(map(self.again, self.retried[:_MOST_FAILURES]))
        assert len(self.retried) <= max(1, _RETRIED * self.n_cases), (
            f"{len(self.retried)} of {self.n_cases:,} cases ended only when they were tried again:\n    {again}"
        )

    def as_dict(self) -> dict[str, Any]:
        """A line of experiments/attack.jsonl."""
        name = self.attack.partition(":")[2]
        # the first argument is a kind of folder, or a folder
        kind = name if not self.arguments or Path(self.arguments[0]).is_absolute() else self.arguments[0]
        return {
            "experiment": "attack",
            "attack": name,
            "kind": kind,
            "seed": self.seed,
            "version": kate.__version__,
            "code": code_of_kate(),
            "cases": self.n_cases,
            "outcomes": dict(self.outcomes),
            "slowest_seconds": round(self.slowest, 2),
            # on a machine that does ten other things only this tells whether a case takes long
            "slowest_cpu_seconds": round(self.slowest_cpu, 2),
            "retried": len(self.retried),
            "went_wrong": len(self.failures),
        }


@lru_cache(maxsize=1)
def code_of_kate() -> str:
    """A checksum of Kate's source and of the attacks, so that a line tells what it was run on."""
    digest = hashlib.sha256()
    for root in (Path(kate.__file__).parent, Path(__file__).parent):
        for path in sorted(root.rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def attack(
    name: str, numbers: Iterable[int], seed: int, *arguments: str, stop_after: int = _MOST_FAILURES
) -> Report:
    """Run cases of the attack ``module:Class``, made with ``arguments`` in a fresh process."""
    report = Report(name, seed, arguments)
    waiting = list(numbers)[::-1]
    while waiting and len(report.failures) < stop_after:
        _run_in_child(name, seed, arguments, waiting, report)
    if path := log():
        with path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(report.as_dict()) + "\n")
    return report


def _run_in_child(
    name: str, seed: int, arguments: tuple[str, ...], waiting: list[int], report: Report
) -> None:
    """Run cases until none is left, or the process is gone."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    child = spawn.Process(target=_serve, args=(theirs, name, seed, arguments), daemon=True)
    child.start()
    theirs.close()
    try:
        try:
            ours.recv()  # it is ready
        except EOFError:  # what a case before left is too much for it
            child.join(5)
            number = waiting.pop()
            report.add(
                number, f"case {number}: the attack ended with {child.exitcode} as it began", "crash", 0.0
            )
            return
        while waiting and len(report.failures) < _MOST_FAILURES:
            number = waiting.pop()
            start = time.monotonic()
            try:
                ours.send(number)
                if not ours.poll(SECONDS):
                    report.add(number, f"case {number}: no answer within {SECONDS:g} s", "hang", SECONDS)
                    return
                problem, outcome, is_retried, cpu = ours.recv()
            except (EOFError, ConnectionError):
                child.join(5)
                message = f"case {number}: the process ended with {child.exitcode}"
                report.add(number, message, "crash", time.monotonic() - start)
                return
            report.add(number, problem, outcome, time.monotonic() - start, is_retried, cpu)
    finally:
        child.kill()
        child.join()
        ours.close()


def _serve(pipe: Connection, name: str, seed: int, arguments: tuple[str, ...]) -> None:
    made = _made(name, arguments)
    _limit_memory()
    pipe.send("ready")
    while True:
        try:
            number = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send(_run(made, seed, number))


def _run(made: Any, seed: int, number: int) -> tuple[str | None, str, bool, float]:
    """What is wrong, one word of what happened, whether it was tried again, and seconds of processors."""
    start = _processor_seconds()
    made.outcome, made.is_retried = "fine", False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = made.case(number, np.random.default_rng([seed, number]))
    except MemoryError as error:
        problem = f"{made.shown}: MemoryError {error}"
    except BaseException as error:  # Polars raises panics that are no Exception
        problem = f"{made.shown}: {type(error).__name__} {str(error)[:300]}"
    if problem is not None:
        return f"case {number}: {problem}", "failure", made.is_retried, _processor_seconds() - start
    return None, made.outcome, made.is_retried, _processor_seconds() - start


def _processor_seconds() -> float:
    """Of this process and of children that have ended."""
    return sum(os.times()[:4])


def _made(name: str, arguments: tuple[str, ...]) -> Any:
    module, _, kind = name.partition(":")
    made = getattr(importlib.import_module(module), kind)(*arguments)
    made.shown = ""
    return made


def _limit_memory() -> None:
    now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, resource.RLIM_INFINITY))


if __name__ == "__main__":
    case_attack, case_seed, case_number, *rest = sys.argv[1:]
    one = _made(case_attack, tuple(rest))
    found = _run(one, int(case_seed), int(case_number))
    sys.stdout.write(f"{one.shown}\n{found}\n")
    sys.exit(found[0] is not None)
