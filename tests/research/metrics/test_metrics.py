from __future__ import annotations

import pytest

from kate.research.metrics import NEEDS, why_skipped


def test_every_task_runs_when_all_is_there() -> None:
    everything = {need for groups in NEEDS.values() for group in groups for need in group}
    assert [why_skipped(task, everything) for task in NEEDS] == [None] * len(NEEDS)


def test_what_is_missing_is_named() -> None:
    assert why_skipped("classification", {"vectors", "labels:sets"}) == "classification needs labels:classes"
    assert why_skipped("words", set()) == "words needs words"
    assert why_skipped("retrieval", {"vectors", "labels:classes"}) is None


def test_an_unknown_task_is_named() -> None:
    with pytest.raises(ValueError, match="there is no task 'clustering'"):
        why_skipped("clustering", set())
