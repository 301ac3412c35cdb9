"""How the runs were made, for the end of the page: settings, versions, seconds, and what went wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kate.research.evaluation.results import Record, Summary, summarise
from kate.research.report.blocks import Block, Code, Folded, Items, Section

__all__ = ["failures", "runs"]


def failures(records: Iterable[Record]) -> list[Section]:
    """A section with every error in full; none if nothing failed."""
    rows = [
        f"{_title(record)}: `{error['type']}` in {stage}: {error['message']}"
        for record in records
        for stage, error in record["errors"].items()
    ]
    return [Section("failed", "What failed", (Items(tuple(rows)),))] if rows else []


def _title(record: Record) -> str:
    model = record["model"]
    return (
        f"{model['name']}, {record['dataset']['name']}, {model['n_components']} topics, seed {record['seed']}"
    )


def runs(records: Iterable[Record]) -> list[Block]:
    """One fold per model; in it one fold per data set and size, with the settings and versions of its runs."""
    listed = list(records)
    versions: list[dict[str, str]] = []
    for record in listed:
        if record["versions"] and record["versions"] not in versions:
            versions.append(record["versions"])
    blocks: list[Block] = [
        Folded(f"versions-{place}", f"Versions {place}", (Code(json.dumps(one, indent=1)),))
        for place, one in enumerate(versions, 1)
    ]
    models: dict[str, list[Record]] = {}
    for record in listed:
        models.setdefault(record["model"]["name"], []).append(record)
    for name in sorted(models):
        folds = [
            _fold(name, place, summary, models[name], versions)
            for place, summary in enumerate(summarise(models[name]))
        ]
        blocks.append(
            Folded(f"runs-{name}", f"**{name}**: {_counted(len(models[name]), 'run')}", tuple(folds))
        )
    return blocks


def _fold(
    name: str, place: int, summary: Summary, records: Sequence[Record], versions: Sequence[Mapping[str, str]]
) -> Folded:
    same = [
        record
        for record in records
        if record["dataset"]["settings"] == summary.dataset_settings
        and record["dataset"]["name"] == summary.dataset
        and record["model"]["parameters"] == summary.parameters
        and record["model"]["n_components"] == summary.n_components
    ]
    shown = {
        "settings": same[0]["model"].get("settings", summary.parameters),
        "data": {"name": summary.dataset} | summary.dataset_settings,
        "runs": [
            {
                "seed": one["seed"],
                "status": one["status"],
                "seconds": {stage: round(value, 2) for stage, value in one["seconds"].items()},
                "epochs": one["model"].get("training", {}).get("epochs"),
                "device": one["model"]["device"],
                "threads": one.get("threads"),
                "versions": versions.index(one["versions"]) + 1 if one["versions"] in versions else None,
                "finished": one.get("finished"),
                **({"warnings": one["warnings"]} if one["warnings"] else {}),
            }
            for one in same
        ],
    }
    title = f"{summary.dataset}, {summary.n_components} topics, {_counted(summary.n_runs, 'seed')}"
    return Folded(f"runs-{name}-{place}", title, (Code(_compact(shown)),))


def _counted(count: int, what: str) -> str:
    """A count with its noun.

    >>> _counted(1, "run"), _counted(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _compact(shown: Mapping[str, Any]) -> str:
    """One line per value: readable, and a tenth of the height of indented JSON."""
    lines = []
    for name, value in shown.items():
        if isinstance(value, list):
            lines += [f"{name}:", *(f"  {json.dumps(one, ensure_ascii=False)}" for one in value)]
        else:
            lines.append(f"{name}: {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines)
