"""The grid file: what ``paper.toml`` may contain; it is read and checked before anything is run."""

from __future__ import annotations

import dataclasses
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from kate.errors import quoted
from kate.spelling import did_you_mean

__all__ = [
    "PROTOCOLS",
    "DatasetsOutput",
    "Grid",
    "MapsOutput",
    "ModelNames",
    "NeighboursOutput",
    "Output",
    "Panel",
    "Protocol",
    "Quick",
    "RetrievalOutput",
    "ScoreColumn",
    "ScoresOutput",
    "SweepsOutput",
    "TopicsOutput",
    "read_grid",
]

Protocol: TypeAlias = Literal["paper", "tuned"]
PROTOCOLS: tuple[Protocol, ...] = ("paper", "tuned")


@dataclass(frozen=True)
class ScoreColumn:
    """A number of a run, ``task.score`` as in results.jsonl; the paper's number is filed under ``name``."""

    title: str
    name: str
    paper: str | None = None
    tuned: str | None = None

    def of(self, protocol: Protocol) -> tuple[str, str]:
        """Task and score by which a protocol is measured.

        >>> ScoreColumn("F1", "multilabel.macro_f1", tuned="multilabel.tuned_macro_f1").of("tuned")
        ('multilabel', 'tuned_macro_f1')
        """
        task, _, score = (getattr(self, protocol) or self.name).partition(".")
        return task, score


@dataclass(frozen=True)
class Output:
    """A table or a figure: its name in the grid file and on the command line, and its heading."""

    key: str
    title: str


@dataclass(frozen=True)
class DatasetsOutput(Output):
    datasets: tuple[str, ...]


@dataclass(frozen=True)
class TopicsOutput(Output):
    dataset: str
    topics: int
    models: tuple[str, ...]
    groups: tuple[str, ...]


@dataclass(frozen=True)
class NeighboursOutput(Output):
    dataset: str
    topics: int
    models: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True)
class MapsOutput(Output):
    projection: Literal["pca", "tsne"]
    dataset: str
    topics: int
    models: tuple[str, ...]


@dataclass(frozen=True)
class ScoresOutput(Output):
    datasets: tuple[str, ...]
    topics: tuple[int, ...]
    models: tuple[str, ...]
    scores: tuple[ScoreColumn, ...]
    best: Literal["highest", "lowest"]
    beside: tuple[str, ...] = ()  # models that the paper does not have
    multiples_of: str | None = None
    alone: bool = False


@dataclass(frozen=True)
class RetrievalOutput(Output):
    dataset: str
    topics: int
    models: tuple[str, ...]
    fractions: tuple[float, ...]
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Panel:
    title: str
    parameter: str
    values: tuple[Any, ...]
    quick: tuple[Any, ...] = ()  # in a quick look


@dataclass(frozen=True)
class SweepsOutput(Output):
    dataset: str
    topics: int
    model: str
    score: ScoreColumn
    panels: tuple[Panel, ...]


_KINDS: Mapping[str, type[Output]] = MappingProxyType(
    {
        "datasets": DatasetsOutput,
        "topics": TopicsOutput,
        "neighbours": NeighboursOutput,
        "maps": MapsOutput,
        "scores": ScoresOutput,
        "retrieval": RetrievalOutput,
        "sweeps": SweepsOutput,
    }
)


@dataclass(frozen=True)
class Quick:
    """How the grid is made small for a quick look."""

    seeds: int = 1
    documents: Mapping[str, int] = field(default_factory=dict)
    topics: Mapping[int, int] = field(default_factory=dict)  # how many are run instead
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelNames:
    """The models of a row of the tables (names of the registry: the first that can run is taken) and their settings."""

    paper: tuple[str, ...] = ()
    tuned: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    tuned_settings: Mapping[str, Any] = field(default_factory=dict)
    topics: int | None = None  # if its vectors always have the same length: one run for all sizes

    def names(self, protocol: Protocol) -> tuple[str, ...]:
        return self.paper if protocol == "paper" else self.tuned

    def all_settings(self, protocol: Protocol) -> dict[str, Any]:
        return dict(self.settings) | (dict(self.tuned_settings) if protocol == "tuned" else {})


@dataclass(frozen=True)
class Grid:
    """The contents of the grid file; ``quick`` is None in a full run."""

    seeds: int
    outputs: Mapping[str, Output]
    models: Mapping[str, ModelNames]
    main_groups: Mapping[str, tuple[str, ...]]
    corpora: Mapping[str, Mapping[str, Any]]  # files that the grid names, by the name of the data set
    quick_settings: Quick
    quick: Quick | None = None

    def chosen(self, only: Sequence[str] | None) -> list[Output]:
        """The outputs by their names, all for None, in the order of the file."""
        for name in only or ():
            if name not in self.outputs:
                raise ValueError(f"there is no output {quoted(name)}; {did_you_mean(name, self.outputs)}")
        return [output for name, output in self.outputs.items() if not only or name in only]

    def made_quick(self) -> Grid:
        return dataclasses.replace(self, seeds=self.quick_settings.seeds, quick=self.quick_settings)

    def size(self, n_components: int) -> int:
        """How many topics are run where the grid says ``n_components``."""
        return n_components if self.quick is None else self.quick.topics.get(n_components, n_components)


def read_grid(path: str | os.PathLike[str] | None = None) -> Grid:
    """The grid of a file, or the paper's, which comes with the package.

    >>> list(read_grid().outputs)[:3]
    ['datasets', 'table3', 'table4']
    >>> read_grid().outputs["table6"].topics
    (128, 512)
    """
    where = str(path) if path is not None else "paper.toml"
    text = Path(path).read_text("utf-8") if path is not None else _packaged()
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{where} is no TOML file: {error}") from None
    known = {"seeds", "models", "main_groups", "corpora", "outputs", "quick"}
    for name in content.keys() - known:
        raise ValueError(f"{where}: unknown part {quoted(name)}; {did_you_mean(name, known)}")
    folder = Path(path).parent if path is not None else Path()
    quick = dict(content.get("quick", {}))
    quick["topics"] = {int(size): instead for size, instead in quick.get("topics", {}).items()}
    return Grid(
        seeds=content.get("seeds", 5),
        outputs={name: _output(name, part, where) for name, part in content.get("outputs", {}).items()},
        models={
            name: _made(ModelNames, part, f"{where}, [models.{name}]")
            for name, part in content.get("models", {}).items()
        },
        main_groups={name: tuple(starts) for name, starts in content.get("main_groups", {}).items()},
        corpora={
            name: _corpus(part, folder, f"{where}, [corpora.{name}]")
            for name, part in content.get("corpora", {}).items()
        },
        quick_settings=_made(Quick, quick, f"{where}, [quick]"),
    )


def _packaged() -> str:
    return resources.files("kate.research.reproduce").joinpath("paper.toml").read_text("utf-8")


def _corpus(part: Mapping[str, Any], folder: Path, place: str) -> dict[str, Any]:
    """A file, its field of labels, and options of ``corpus_of``; the path is relative to the grid file."""
    for name in ("file", "label"):
        if name not in part:
            raise ValueError(f"{place} lacks {name}")
    return dict(part) | {"file": str(folder / part["file"])}


def _output(name: str, part: Mapping[str, Any], where: str) -> Output:
    place = f"{where}, [outputs.{name}]"
    values = dict(part)
    kind = values.pop("kind", None)
    if kind not in _KINDS:
        raise ValueError(f"{place}: kind is {quoted(kind)}; choose from {', '.join(_KINDS)}")
    if "scores" in values:
        values["scores"] = [_made(ScoreColumn, one, place) for one in values["scores"]]
    if "score" in values:
        values["score"] = _made(ScoreColumn, values["score"], place)
    if "panels" in values:
        values["panels"] = [_made(Panel, one, place) for one in values["panels"]]
    output: Output = _made(_KINDS[kind], values | {"key": name}, place)
    return output


def _made(kind: type[Any], values: Mapping[str, Any], place: str) -> Any:
    """An object of a part of the file: lists as tuples, unknown and missing names refused."""
    fields = {one.name: one for one in dataclasses.fields(kind)}
    for name in values:
        if name not in fields:
            raise ValueError(f"{place}: unknown setting {quoted(name)}; {did_you_mean(name, fields)}")
    missing = [
        name
        for name, one in fields.items()
        if name not in values
        and one.default is dataclasses.MISSING
        and one.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise ValueError(f"{place} lacks {', '.join(missing)}")
    return kind(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    )
