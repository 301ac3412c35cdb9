"""The key of a run: all that its result depends on, in one short name. Kept runs are found by their keys.

A result depends on the data set and its settings, on the model, its parameters and the revision of its code, on the
device that computes it, on the seed, and on the number of topics where one was asked for. Parameters that only say how
to compute (threads, a progress bar) are left out; of the device it is the one that "auto" became.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from kate.engines.devices import choose_device
from kate.model.settings import MACHINE_PARAMETERS
from kate.research.evaluation.results import Record, preferred
from kate.research.registry import Model, find_entry
from kate.storage.json_values import as_json

__all__ = ["KeptRuns", "RunKeys", "digest", "key_of", "keys_of", "model_identity"]

_OF_THE_DATASET = ("name", "settings")
_OF_THE_MODEL = ("name", "n_components", "parameters", "revision", "device")
# Parameters that came later: with these values a run is the one that it always was, and keeps its key.
_AS_ALWAYS = {"n_devices": 1}
_DIFFERS = object()


class RunKeys(NamedTuple):
    """The key of a run, and the key that the same run has on every device."""

    own: str
    any_device: str


def model_identity(name: str, n_components: int, model: Model) -> dict[str, Any]:
    """What a result depends on of the model, as it stands in the line of a run.

    ``device`` is None for a model that can only use the CPU. A device that is not there is refused.
    """
    parameters = model.get_params(deep=False)
    left_out = (*MACHINE_PARAMETERS, "random_state")
    return {
        "name": name,
        "n_components": n_components,
        "parameters": {
            key: as_json(value, strict=False)
            for key, value in parameters.items()
            if key not in left_out and _AS_ALWAYS.get(key, _DIFFERS) != value
        },
        "revision": find_entry(name).revision,
        "device": choose_device(parameters["device"]) if "device" in parameters else None,
    }


def key_of(run: Mapping[str, Any]) -> str:
    """The key of a run, from its identity or from its line: the same run has the same key, whenever it is made."""
    return keys_of(run).own


def keys_of(run: Mapping[str, Any]) -> RunKeys:
    """Both keys of a run, from its identity or from its line."""
    dataset = {name: run["dataset"].get(name) for name in _OF_THE_DATASET}
    model = {name: run["model"].get(name) for name in _OF_THE_MODEL}
    anywhere = {name: value for name, value in model.items() if name != "device"}
    rest = {"seed": run["seed"]}
    if run.get("n_topics") is not None:  # a run without such a number keeps the key that it always had
        rest["n_topics"] = run["n_topics"]
    return RunKeys(*(digest({"dataset": dataset, "model": one, **rest}) for one in (model, anywhere)))


def digest(value: Any) -> str:
    """A short name for a value that JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


class KeptRuns:
    """Lines of results, found by the key of a run, or else as the same run on another device."""

    def __init__(self, records: Mapping[str, Record]) -> None:
        self._by_key = records
        self._on_any_device: dict[str, Record] = {}
        for record in records.values():
            key = keys_of(record).any_device
            self._on_any_device[key] = preferred(self._on_any_device.get(key), record)

    def find(self, keys: RunKeys | None) -> Record | None:
        """The line of a run; None where it has not been made on any device."""
        if keys is None:
            return None
        return self._by_key.get(keys.own) or self._on_any_device.get(keys.any_device)
