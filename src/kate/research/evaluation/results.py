"""Results: a file with one JSON line per run that survives any interruption, and tables made of it.

A line is appended whole and forced to disk. A line that a kill cut short is no run: it is skipped when the file is
read, the next line starts on a line of its own, and the run is made again.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from kate.errors import quoted
from kate.research.metrics.clusters import adjusted_rand

__all__ = [
    "LINE_FORMAT",
    "Record",
    "Score",
    "Summary",
    "append_result",
    "preferred",
    "read_results",
    "summarise",
]

LINE_FORMAT = 2
"""The version of a line; lines of another one are refused rather than misread."""

Record = dict[str, Any]


def read_results(path: str | os.PathLike[str]) -> list[Record]:
    """The runs in a file of results, each once: the last line of a run counts, but no failure hides a success.

    A file that is not there yet holds no runs.

    >>> read_results("no-results-yet.jsonl")
    []
    """
    latest: dict[str, Record] = {}
    for record in _whole_lines(Path(path)):
        key = record["key"]
        latest[key] = preferred(latest.get(key), record)
    return list(latest.values())


def preferred(before: Record | None, now: Record) -> Record:
    """The one of two lines of the same run that counts."""
    if before is not None and before["status"] == "done" and now["status"] == "failed":
        return before
    return now


def _whole_lines(path: Path) -> Iterable[Record]:
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                record = json.loads(line)
            except ValueError:  # a kill tore it, in the middle of a character perhaps
                continue
            if not isinstance(record, dict) or "key" not in record or "status" not in record:
                raise ValueError(f"{path}, line {number} is no run of kate evaluate; choose another folder")
            if record.get("format") != LINE_FORMAT:
                raise ValueError(_other_format(path, number, record.get("format")))
            yield record


def _other_format(path: Path, number: int, found: Any) -> str:
    if found == 1:
        return (
            f"{path}, line {number} was written by Kate 0.1, which did not keep the device and the precision of a "
            "run; choose another folder to make the runs anew, or read the file with Kate 0.1"
        )
    return (
        f"{path}, line {number} has format {quoted(found)} and this version of Kate reads {LINE_FORMAT}; choose "
        "another folder, or use the version that wrote it"
    )


def append_result(path: str | os.PathLike[str], record: Mapping[str, Any]) -> None:
    """Add a line to the file, in one write, and wait until it is on the disk."""
    line = json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    with Path(path).open("a+b") as file:
        file.seek(0, os.SEEK_END)
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":  # the rest of a torn line must not swallow this one
                line = b"\n" + line
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


@dataclass(frozen=True)
class Score:
    """The mean over seeds, the standard deviation (of a sample: None for a single run) and how many there are.

    >>> str(Score.of([0.74, 0.75, 0.76]))
    '0.750 ± 0.010'
    """

    mean: float
    sd: float | None
    n: int

    @classmethod
    def of(cls, values: list[float]) -> Score:
        sd = statistics.stdev(values) if len(values) > 1 else None
        return cls(statistics.fmean(values), sd, len(values))

    def __str__(self) -> str:
        return f"{self.mean:.3f}" if self.sd is None else f"{self.mean:.3f} ± {self.sd:.3f}"


@dataclass(frozen=True)
class Summary:
    """The runs that differ in their seed alone, or in the device that made them."""

    dataset: str
    dataset_settings: dict[str, Any]
    model: str
    n_components: int
    parameters: dict[str, Any]  # as they were asked for
    n_runs: int
    n_failed: int
    scores: dict[str, dict[str, Score]]  # task → name → score
    skipped: dict[str, str]  # task → why
    n_topics: int | None = None  # where tasks need such a number

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def summarise(results: Iterable[Mapping[str, Any]]) -> list[Summary]:
    """Mean, standard deviation and number of every score over the seeds, in the order of the results.

    A run that failed in one task still counts with its other tasks. The task topics gets one score more: how the test
    documents' topics of any two seeds agree (``seeds_ari``).
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for record in results:
        dataset, model = record["dataset"], record["model"]
        same = [
            *(dataset["name"], dataset["settings"]),
            *(model["name"], model["n_components"], model["parameters"], model["revision"]),
            record.get("n_topics"),
        ]
        groups.setdefault(json.dumps(same, sort_keys=True), []).append(record)
    return [_summary(group) for group in groups.values()]


def _summary(group: list[Mapping[str, Any]]) -> Summary:
    dataset, model = group[0]["dataset"], group[0]["model"]
    values: dict[str, dict[str, list[float]]] = {}
    skipped: dict[str, str] = {}
    for record in group:
        skipped |= record["skipped"]
        for task, scores in record["scores"].items():
            of_task = values.setdefault(task, {})
            for name, value in scores.items():
                if value is not None:
                    of_task.setdefault(name, []).append(value)
    if agreements := _seed_agreements(group):
        values["topics"]["seeds_ari"] = agreements
    return Summary(
        dataset=dataset["name"],
        dataset_settings=dataset["settings"],
        model=model["name"],
        n_components=model["n_components"],
        parameters=model["parameters"],
        n_runs=len(group),
        n_failed=sum(record["status"] == "failed" for record in group),
        scores={
            task: {name: Score.of(numbers) for name, numbers in of_task.items()}
            for task, of_task in values.items()
        },
        skipped=skipped,
        n_topics=group[0].get("n_topics"),
    )


def _seed_agreements(group: list[Mapping[str, Any]]) -> list[float]:
    """The adjusted Rand index of the test documents' topics, for any two runs that kept them."""
    kept = [
        record["details"]["topics"]["documents"]
        for record in group
        if "topics" in record["scores"] and "documents" in record["details"].get("topics", {})
    ]
    return [adjusted_rand(one, other) for one, other in combinations(kept, 2)]
