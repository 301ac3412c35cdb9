"""The revision of a model is raised when its results change for the same settings: kept runs are found by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kate.research.registry import MODELS
from research.registry.kept_numbers import FILE, NAMES, agree, numbers_of

KEPT = json.loads(FILE.read_text(encoding="utf-8"))
WRITE = "python tests/research/registry/kept_numbers.py --write"


def test_every_model_has_kept_numbers() -> None:
    assert list(KEPT) == NAMES, f"write the numbers anew: {WRITE}"


@pytest.mark.parametrize("name", NAMES)
def test_results_are_those_of_the_revision(name: str, tmp_path: Path) -> None:
    entry, kept = MODELS[name], KEPT[name]
    reason = entry.why_not(dict.fromkeys(entry.must_set, "given"))
    if reason is not None:
        pytest.skip(reason)
    assert entry.revision == kept["revision"], (
        f"the revision of {name} was raised; write the numbers anew: {WRITE}"
    )
    found = numbers_of(name, tmp_path)
    assert agree(name, found, kept["numbers"]), (
        f"{name} gives other results than before for the same settings. If that is meant, raise its revision in "
        f"registry/catalogue.py, so that kept runs are not taken for runs of this code, and then: {WRITE}"
        f"\nfound {found}\nkept  {kept['numbers']}"
    )


def test_other_results_are_noticed() -> None:
    kept = KEPT["lsa"]["numbers"]
    assert agree("lsa", kept, kept)
    assert agree("lsa", [[value + 1e-4 for value in row] for row in kept], kept)
    assert not agree("lsa", [[-value for value in row] for row in kept], kept)
    assert not agree("lsa", [row[:-1] for row in kept], kept)
