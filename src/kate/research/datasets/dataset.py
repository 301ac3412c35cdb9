"""What a data set is: files to obtain, expected counts, and a function that makes a Corpus of them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kate.errors import quoted
from kate.research.datasets.corpus import Corpus

__all__ = ["ArchiveSource", "DataSet", "Expected", "Preparation"]


class ArchiveSource(Protocol):
    """A file or folder that a data set is read from: an archive, or the data of an installed package."""

    @property
    def name(self) -> str: ...

    @property
    def only_with(self) -> str | None: ...

    def find(self, data_home: str | os.PathLike[str] | None = None) -> Path | None: ...

    def obtain(self, data_home: str | os.PathLike[str] | None = None) -> Path: ...


@dataclass(frozen=True)
class Expected:
    """How many documents and classes the published data has; ``train`` counts validation documents too."""

    train: int
    validation: int
    test: int
    classes: int | None = None

    @property
    def documents(self) -> int:
        return self.train + self.test


@dataclass(frozen=True)
class Preparation:
    """What the preparing function of a data set is given."""

    name: str
    paths: Mapping[str, Path]
    expected: Expected
    vocabulary_size: int
    seed: int = 0
    keep_texts: bool = False


@dataclass(frozen=True)
class DataSet:
    """A data set that Kate can load. ``prepare``'s keyword-only parameters are the options it offers."""

    name: str
    title: str
    task: str
    split: str
    licence: str
    sources: tuple[ArchiveSource, ...]
    expected: Expected
    vocabulary_size: int
    prepare: Callable[..., Corpus]
    comes_by: str | None = None
    """How to get it, if not by putting files into a folder."""

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All options with their values; an unknown or mistyped one is refused."""
        parameters = inspect.signature(self.prepare).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
        for name, value in given.items():
            if name not in defaults:
                offered = ", ".join(defaults) or "none of its own"
                raise TypeError(f"{self.name} has no option {quoted(name)}; its options are: {offered}")
            if type(value) is not type(defaults[name]):
                kind = type(defaults[name]).__name__
                raise TypeError(
                    f"{name} is {quoted(value)}; expected a {kind}, such as {quoted(defaults[name])}"
                )
        return defaults | dict(given)

    def sources_for(self, options: Mapping[str, Any]) -> list[ArchiveSource]:
        """The files that these options need."""
        return [source for source in self.sources if source.only_with is None or options[source.only_with]]
