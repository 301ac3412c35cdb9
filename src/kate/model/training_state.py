"""What ``partial_fit`` needs to go on exactly where it was, and how a fit that fails leaves a model as it was."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kate.engines.network import Network, Optimizer
from kate.errors import quoted
from kate.model.settings import NETWORK_PARAMETERS, check_settings, generator_from
from kate.storage.folders import FolderError

__all__ = ["TrainingState", "misfit", "new_optimizer", "resumed", "unchanged_on_failure"]

_KEY, _POSITION, _GAUSS = "generator.key", "generator.position", "generator.gauss"
_STEPS, _START = "optimizer.n_steps", "start"
_KEYS = 624  # of a Mersenne twister


@dataclass(frozen=True, eq=False)
class TrainingState:
    """The random generator, and the optimizer with its moments.

    ``optimizer`` is None after ``fit``, whose learning rate has come down to zero: what follows starts with a new one.
    """

    generator: np.random.RandomState
    optimizer: Optimizer | None = None
    start: NDArray[np.float32] | None = None  # W at the start, where vectors go part of the way back to it

    def copy(self) -> TrainingState:
        """To train with: what goes wrong must not spoil the state that is there."""
        optimizer = self.optimizer
        if optimizer is not None:
            optimizer = replace(optimizer, first=optimizer.first.copy(), second=optimizer.second.copy())
        return TrainingState(deepcopy(self.generator), optimizer, self.start)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything as arrays by name, to be written beside the weights.

        A generator of another kind than NumPy's usual one (MT19937) cannot be written down: nothing is given then.
        """
        state: Any = self.generator.get_state(legacy=False)
        if state["bit_generator"] != "MT19937":
            return {}
        arrays: dict[str, NDArray[Any]] = {
            _KEY: state["state"]["key"],
            _POSITION: np.array([state["state"]["pos"]], dtype=np.int64),
            _GAUSS: np.array([state["has_gauss"], state["gauss"]], dtype=np.float64),
        }
        if self.start is not None:
            arrays[_START] = self.start.astype(np.float16)  # its values are of half precision
        if self.optimizer is not None:
            arrays[_STEPS] = np.array([self.optimizer.n_steps], dtype=np.int64)
            for moment in ("first", "second"):
                network: Network = getattr(self.optimizer, moment)
                arrays |= {f"optimizer.{moment}.{name}": array for name, array in network._asdict().items()}
        return arrays

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], settings: Mapping[str, Any]
    ) -> TrainingState | None:
        """What :meth:`to_arrays` gave, None where it gave nothing; ``settings`` say which optimizer it is.

        A generator that could not be is refused: NumPy would read where its position points.
        """
        if _KEY not in arrays:
            return None
        _require_generator(arrays)
        generator = np.random.RandomState()
        has_gauss, gauss = arrays[_GAUSS].tolist()
        generator.set_state(
            ("MT19937", arrays[_KEY], int(arrays[_POSITION][0]), int(has_gauss), float(gauss))
        )
        start = arrays[_START].astype(np.float32) if _START in arrays else None
        if _STEPS not in arrays:
            return cls(generator, start=start)
        moments = [
            Network(*(arrays[f"optimizer.{moment}.{name}"] for name in Network._fields))
            for moment in ("first", "second")
        ]
        empty = new_optimizer(settings, Network(*3 * [np.zeros(0, np.float32)]))
        steps = int(arrays[_STEPS][0])
        return cls(generator, replace(empty, first=moments[0], second=moments[1], n_steps=steps), start)


def _require_generator(arrays: Mapping[str, NDArray[Any]]) -> None:
    key, position, gauss = (arrays[name] for name in (_KEY, _POSITION, _GAUSS))
    steps = arrays.get(_STEPS, np.zeros(1, np.int64))
    kinds = [(array.dtype.name, *array.shape) for array in (key, position, gauss, steps)]
    whole = (
        kinds == [("uint32", _KEYS), ("int64", 1), ("float64", 2), ("int64", 1)]
        and 0 <= position[0] <= _KEYS
        and steps[0] >= 0
    )
    if not whole:
        raise ValueError("the random generator or the steps of the optimizer are none")


def misfit(arrays: Mapping[str, NDArray[Any]], n_words: int, n_neurons: int, n_components: int) -> str | None:
    """What is wrong with the first array that does not fit such a network, None if all fit.

    Compiled code that trusts the shapes would read past the end of such an array.
    """
    shapes = {
        "W": (n_words, n_neurons),
        "c": (n_words,),
        "map": (n_words, n_components),
        "weights": (n_words,),
    }
    for name, array in arrays.items():
        if name.startswith("generator.") or name == _STEPS:
            continue
        if name == _START:
            if array.shape != shapes["W"] or array.dtype != np.float16:
                return f"{name} should be float16 {shapes['W']}, but it is {array.dtype} {array.shape}"
            continue
        expected = shapes.get(name.rpartition(".")[2], (n_neurons,))
        if array.shape != expected or array.dtype != np.float32:
            return f"{name} should be float32 {expected}, but it is {array.dtype} {array.shape}"
    return None


def new_optimizer(settings: Mapping[str, Any], network: Network) -> Optimizer:
    """The optimizer that the settings ask for, before its first step."""
    maker = Optimizer.adam if settings["optimizer"] == "adam" else Optimizer.adadelta
    return maker(network, epsilon=settings["epsilon"])


def resumed(state: TrainingState | None, settings: Mapping[str, Any], n_neurons: int) -> TrainingState:
    """A copy of the state to train on with; where none was saved a new one, and a warning.

    Settings that no training of ``n_neurons`` can have had, those of a stranger's folder say, are refused.
    """
    _require_settings(settings, n_neurons)
    if state is not None:
        return state.copy()
    warnings.warn(
        "this model was saved without what partial_fit needs to go on exactly (the optimizer and the random "
        "generator): it goes on from the saved weights with new ones",
        UserWarning,
        stacklevel=3,
    )
    return TrainingState(generator_from(settings.get("random_state"))[1])


def _require_settings(settings: Mapping[str, Any], n_neurons: int) -> None:
    """Refuse what was read from a folder and would lead a training anywhere."""
    try:
        used = {name: settings[name] for name in NETWORK_PARAMETERS}
        check_settings(SimpleNamespace(**used, device="auto"))
        for name in ("n_winners", "amplification", "learning_rate", "max_epochs", "batch_size"):
            if used[name] is None:
                raise ValueError(f"{name} is missing")
        if used["n_neurons"] != n_neurons:
            raise ValueError(f"n_neurons is {quoted(used['n_neurons'])}, and there are {n_neurons}")
    except (KeyError, TypeError, ValueError) as error:
        raise FolderError(
            f"the settings that the model was saved with cannot be trained on ({error}): it is damaged; copy it again, "
            "or fit it anew"
        ) from None


@contextmanager
def unchanged_on_failure(model: object) -> Iterator[None]:
    """Give a model its attributes back if what is done to it fails or is interrupted (Ctrl-C).

    Attributes may be replaced meanwhile; what they held before must not be changed in place.
    """
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise
