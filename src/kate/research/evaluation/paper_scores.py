"""The numbers that the paper reports, from paper_scores.toml: shown beside those of our runs."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from kate.research.registry import find_entry

__all__ = ["paper_file", "paper_score"]


@cache
def paper_file() -> dict[str, Any]:
    """All that paper_scores.toml holds; its comments say how it is laid out."""
    text = (resources.files("kate.research.evaluation") / "paper_scores.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def paper_score(dataset: str, model: str, topics: int, task: str, metric: str) -> float | None:
    """What the paper reports for a model of the registry, tuned or not; None where it reports nothing.

    >>> paper_score("20news", "kate-paper", 128, "classification", "accuracy")
    0.744
    >>> paper_score("20news", "lsa", 128, "classification", "accuracy") is None
    True
    """
    file = paper_file()
    reported = file["scores"].get(dataset, {}).get(task, {}).get(metric, {}).get(str(topics), {})
    if not reported:
        return None
    by_name = {file["names"][row]: float(score) for row, score in reported.items()}
    return by_name.get(find_entry(model).paper_name or "")
