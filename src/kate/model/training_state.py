"""What ``partial_fit`` needs to go on exactly where it was, and how a fit that fails leaves a model as it was."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kate.engines.network import Network, Optimizer
from kate.model.settings import generator_from

__all__ = ["TrainingState", "misfit", "new_optimizer", "resumed", "unchanged_on_failure"]

_KEY, _POSITION, _GAUSS = "generator.key", "generator.position", "generator.gauss"
_STEPS, _START = "optimizer.n_steps", "start"


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
        """What :meth:`to_arrays` gave, None where it gave nothing; ``settings`` say which optimizer it is."""
        if _KEY not in arrays:
            return None
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


def resumed(state: TrainingState | None, settings: Mapping[str, Any]) -> TrainingState:
    """A copy of the state to train on with; where none was saved a new one, and a warning."""
    if state is not None:
        return state.copy()
    warnings.warn(
        "this model was saved without what partial_fit needs to go on exactly (the optimizer and the random "
        "generator): it goes on from the saved weights with new ones",
        UserWarning,
        stacklevel=3,
    )
    return TrainingState(generator_from(settings.get("random_state"))[1])


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
