"""A grid over a tiny corpus of newsgroups, and lines of results without running anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from kate.research.evaluation.results import LINE_FORMAT
from kate.research.reproduce.plan import RunPlan
from kate.research.reproduce.spec import Grid, read_grid

SUBJECTS = {
    "rec.hockey": "hockey goal team season player coach league score puck skate arena referee trophy match",
    "sci.space": "space orbit rocket moon launch engine planet comet probe lander crater astronaut telescope",
    "misc.forsale": "price market offer sale credit dollar ship sell buyer used cheap condition asking manual",
}

GRID = """
seeds = 2

[models.kate]
paper = ["kate-paper"]
tuned = ["kate"]

[main_groups]
recreation = ["rec."]
science = ["sci."]
"for sale" = ["misc."]

[corpora.toy]
file = "toy.jsonl"
label = "group"

[outputs.datasets]
kind = "datasets"
title = "The data sets"
datasets = ["toy", "wiki10"]

[outputs.table3]
kind = "topics"
title = "Table 3: topics"
dataset = "toy"
topics = 4
models = ["kate", "lsa"]
groups = ["rec.hockey", "sci.space"]

[outputs.table4]
kind = "neighbours"
title = "Table 4: words"
dataset = "toy"
topics = 4
models = ["kate"]
words = ["hockey", "space", "weapon"]

[outputs.figure2]
kind = "maps"
title = "Figure 2: PCA"
projection = "pca"
dataset = "toy"
topics = 4
models = ["kate", "lsa"]

[outputs.table5]
kind = "scores"
title = "Table 5: MSCD"
datasets = ["toy"]
topics = [4]
models = ["kate-noamp", "kate"]
best = "lowest"
scores = [{ title = "MSCD", name = "neurons.mscd" }]

[outputs.table6]
kind = "scores"
title = "Table 6: accuracy"
datasets = ["toy", "wiki10"]
topics = [4]
models = ["no-such-model", "kate"]
beside = ["lsa"]
best = "highest"
[[outputs.table6.scores]]
title = "accuracy"
name = "classification.accuracy"
paper = "classification.paper_probe_accuracy"

[outputs.figure4]
kind = "retrieval"
title = "Figure 4: retrieval"
dataset = "toy"
topics = 4
models = ["kate"]
beside = ["lsa"]
fractions = [0.01, 0.1, 1.0]

[outputs.table9]
kind = "scores"
title = "Table 9: time"
datasets = ["toy"]
topics = [4]
models = ["kate"]
beside = ["lsa"]
best = "lowest"
multiples_of = "kate"
alone = true
scores = [{ title = "seconds", name = "time.fit_seconds" }]

[outputs.figure5]
kind = "sweeps"
title = "Figure 5: hyper-parameters"
dataset = "toy"
topics = 4
model = "kate"
score = { title = "accuracy", name = "classification.accuracy" }
[[outputs.figure5.panels]]
title = "amplification"
parameter = "amplification"
values = [0.0625, 6.26]
[[outputs.figure5.panels]]
title = "activation"
parameter = "activation"
values = ["tanh", "sigmoid"]

[quick]
documents = { fitting = 60, validation = 12, test = 24 }
topics = { 4 = 3 }
[quick.settings]
max_epochs = 2
"""


def write_grid(folder: Path, n_each: int = 40, text: str = GRID) -> Path:
    """The grid and its corpus as files; the path of the grid."""
    random = np.random.default_rng(0)
    lines = []
    for number in range(n_each):
        for group, words in SUBJECTS.items():
            chosen = " ".join(random.choice(words.split(), size=12))
            lines.append(json.dumps({"text": f"{chosen} {number}", "group": group}))
    (folder / "toy.jsonl").write_text("\n".join(lines), encoding="utf-8")
    path = folder / "toy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def toy_grid(folder: Path) -> Grid:
    return read_grid(write_grid(folder))


def invented(plan: RunPlan, value: float = 0.5, **changes: Any) -> dict[str, dict[str, Any]]:
    """A line for every run of a plan, with made-up scores that grow with the seed; nothing is fitted."""
    return {key: invented_record(plan, key, value, **changes) for key in plan.demands}


def invented_record(plan: RunPlan, key: str, value: float, **changes: Any) -> dict[str, Any]:
    run = plan.runs()[key]
    identity = run.identity()
    score = value + 0.1 * run.seed
    random = np.random.default_rng(0)
    groups = [group for group in ("recreation", "science", "for sale") for _ in range(8)]
    plane = random.uniform(-1, 1, size=(24, 2)).round(3).tolist()
    record = {
        "format": LINE_FORMAT,
        "key": key,
        "status": "done",
        "dataset": identity["dataset"],
        "model": identity["model"] | {"settings": {"max_epochs": 3}, "training": {"epochs": 3}},
        "seed": run.seed,
        "scores": {
            "neurons": {"mscd": score},
            "classification": {"accuracy": score, "paper_probe_accuracy": score - 0.01},
            "retrieval": {f"precision@{share}%": score / 2 for share in ("0.1", "1", "10", "100")},
            "time": {"fit_seconds": 2 * score, "encode_seconds": 0.1},
            "map": {"pca_purity": score, "tsne_purity": score},
            "class_topics": {"correlation": 0.5},
            "words": {},
        },
        "details": {
            "words": {"hockey": ["goal", "team", "puck", "coach", "<b>bold</b>"], "space": ["orbit"] * 5},
            "map": {"pca": plane, "tsne": plane, "groups": groups, "labels": groups},
            "class_topics": {
                "rec.hockey": {
                    "topic": "1+",
                    "correlation": 0.7,
                    "weights": ["goal", "puck"],
                    "wins": ["team"],
                },
                "sci.space": {"topic": "0-", "correlation": 0.6, "weights": ["orbit"], "wins": []},
            },
        },
        "skipped": {},
        "errors": {},
        "seconds": {"fit": 2 * score, "encode": 0.1},
        "warnings": [],
        "versions": {"kate": "0.1.0", "python": "3.11"},
        "finished": "2026-01-02T03:04:05+00:00",
        "threads": 1,
        "alone": True,
    }
    return record | changes


LIGHT = """
seeds = 1

[corpora.toy]
file = "toy.jsonl"
label = "group"

[outputs.table6]
kind = "scores"
title = "Table 6: accuracy"
datasets = ["toy"]
topics = [2, 3, 4]
models = ["lsa"]
best = "highest"
scores = [{ title = "accuracy", name = "classification.accuracy" }]
"""
"""Three runs of a model that needs no compiler."""
