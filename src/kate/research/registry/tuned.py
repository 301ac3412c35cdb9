"""Tuned settings: what `kate tune` found, one table per model and number of components: tuned.toml, and the user's own.

A model's first table has its name; what was found with another number of components stands beside it, as "ae/512".
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import log
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kate.errors import quoted
from kate.storage.files import whole_file

__all__ = [
    "Tuned",
    "as_toml",
    "nearest_tuned",
    "own_file",
    "packaged_file",
    "read_tuned",
    "tuned_models",
    "update_tuned",
]

_HEAD = """\
# Settings that `kate tune` found on validation documents: one table per model, with the data set, the budget and
# the score that they were chosen by. `--model NAME:tuned` uses them; `kate tune ... --update` writes them.
"""


@dataclass(frozen=True)
class Tuned:
    """The settings of one model, and what they were chosen by."""

    settings: Mapping[str, Any]
    dataset: str
    n_components: int
    trials: int
    seeds: int
    objective: str
    score: float


def packaged_file() -> Path:
    """The tuned.toml of this package, which nobody changes: others may use the same installation."""
    return Path(str(resources.files("kate.research.registry") / "tuned.toml"))


def own_file() -> Path:
    """The user's own tuned.toml: ``KATE_TUNED``, or in the folder ``kate`` where this platform keeps settings."""
    if chosen := os.environ.get("KATE_TUNED"):
        return Path(chosen).expanduser()
    settings = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CONFIG_HOME")
    return (Path(settings) if settings else Path.home() / ".config") / "kate" / "tuned.toml"


@cache
def tuned_models() -> Mapping[str, Tuned]:
    """The models that have tuned settings: those of the package, and before them those of the user."""
    own = own_file()
    return MappingProxyType(read_tuned(packaged_file()) | (read_tuned(own) if own.is_file() else {}))


def nearest_tuned(tables: Mapping[str, Tuned], name: str, n_components: int | None) -> Tuned:
    """The table of a model that was searched with the number of components nearest to this one, by their ratio."""
    of_model = [tuned for key, tuned in tables.items() if key.partition("/")[0] == name]
    if n_components is None:
        return tables[name]
    return min(of_model, key=lambda tuned: abs(log(tuned.n_components / n_components)))


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


def as_toml(name: str, tuned: Tuned) -> str:
    """The table of a model as it stands in a file.

    >>> print(as_toml("lda", Tuned({"passes": 20, "alpha": "auto"}, "20news", 128, 20, 1, "accuracy", 0.69)))
    [lda]
    dataset = "20news"
    n_components = 128
    trials = 20
    seeds = 1
    objective = "accuracy"
    score = 0.69
    [lda.settings]
    passes = 20
    alpha = "auto"
    <BLANKLINE>
    """
    facts = {key: value for key, value in vars(tuned).items() if key != "settings"}
    header = json.dumps(name) if "/" in name else name
    lines = [f"[{header}]", *(f"{key} = {_value(value)}" for key, value in facts.items())]
    lines += [f"[{header}.settings]", *(f"{key} = {_value(value)}" for key, value in tuned.settings.items())]
    return "\n".join(lines) + "\n"


def update_tuned(path: Path, name: str, tuned: Tuned) -> None:
    """Write the table of a model into a file, in place of the one that it had for as many components."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone_in(path.parent):
        tables = read_tuned(path) if path.exists() else {}
        first = tables.get(name) or read_tuned(packaged_file()).get(name, tuned)
        tables[name if first.n_components == tuned.n_components else f"{name}/{tuned.n_components}"] = tuned
        text = "\n".join([_HEAD, *(as_toml(model, tables[model]) for model in sorted(tables))])
        with whole_file(path) as part:
            part.write_text(text, encoding="utf-8")


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One process at a time: models are tuned side by side, and none may overwrite what another one found."""
    try:
        import fcntl
    except ImportError:  # Windows, which has no such lock: there one search at a time may update
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _value(value: Any) -> str:
    """Text, a number, true or false as TOML writes it; JSON writes these in the same way."""
    if not isinstance(value, str | int | float | bool):
        raise ValueError(
            f"a file of tuned settings cannot hold {quoted(value)}; use text, numbers, true or false"
        )
    return json.dumps(value, ensure_ascii=False)
