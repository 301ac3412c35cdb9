"""Tuned settings: what `kate tune` found, packaged in tuned.toml, a table a model."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

__all__ = ["Tuned", "packaged_file", "read_tuned", "tuned_models"]


@dataclass(frozen=True)
class Tuned:
    """The settings of one model, and what they were chosen by."""

    settings: Mapping[str, Any]
    dataset: str
    topics: int
    trials: int
    seeds: int
    objective: str
    score: float


def packaged_file() -> Path:
    """The tuned.toml of this package."""
    return Path(str(resources.files("kate.models") / "tuned.toml"))


@cache
def tuned_models() -> Mapping[str, Tuned]:
    """The models that have tuned settings in this package."""
    return MappingProxyType(read_tuned(packaged_file()))


def read_tuned(path: Path) -> dict[str, Tuned]:
    """The tables of a file of tuned settings, by model; a table that lacks something is refused."""
    found = {}
    for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
        try:
            found[name] = Tuned(**table)
        except TypeError as error:
            raise ValueError(
                f"{path}: the table of {name} is not what kate tune writes ({error}); tune it anew"
            ) from None
    return found
