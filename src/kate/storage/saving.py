"""``save`` and ``load`` for every estimator: config.json and weights.safetensors in a folder, never pickle."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kate.errors import quoted
from kate.storage.folders import FolderError, FolderKind, StrPath, require_finite
from kate.storage.json_values import as_json

__all__ = ["ESTIMATOR_FOLDER", "Arrays", "Saveable"]

Arrays = dict[str, NDArray[Any]]

_WEIGHTS = "weights.safetensors"

ESTIMATOR_FOLDER = FolderKind(
    "estimator",
    config="config.json",
    version=2,
    files=(_WEIGHTS,),
    remedy="fit a model again and save it",
)


class Saveable:
    """Gives an estimator ``save`` and ``load``.

    config.json holds the parameters as they were given and what was fitted (attributes that end in an underscore);
    arrays among these go into weights.safetensors. An estimator with other fitted state overrides
    :meth:`_fitted_state` and :meth:`_restore_state`; arrays of bytes (``np.frombuffer(data, np.uint8)``) may hold
    another library's format.

    >>> import tempfile
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> class Mean(Saveable, BaseEstimator):
    ...     def fit(self, X):
    ...         self.mean_, self.n_features_in_ = X.mean(axis=0), X.shape[1]
    ...         return self
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Mean().fit(np.eye(2)).save(folder)
    ...     Mean.load(folder).mean_
    array([0.5, 0.5])
    """

    def save(self, folder: StrPath) -> None:
        """Write the fitted model into a folder, whole or not at all; only such a folder or an empty one is replaced."""
        import safetensors.numpy  # to train and to encode it is not needed
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        arrays, facts = self._fitted_state()
        contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        config = {
            "model": type(self).__name__,
            "parameters": as_json(self._parameters()),
            "fitted": as_json(facts),
        }
        ESTIMATOR_FOLDER.write(folder, config, {_WEIGHTS: safetensors.numpy.save(contiguous)})

    @classmethod
    def load(cls, folder: StrPath) -> Self:
        """Read a model that ``save`` wrote; it gives the same vectors. Every file is checked before it is used."""
        return ESTIMATOR_FOLDER.unless_replaced(Path(folder), lambda: cls._load(Path(folder)))

    @classmethod
    def _load(cls, folder: Path) -> Self:
        import safetensors.numpy

        config = ESTIMATOR_FOLDER.read_config(folder)
        if config.get("model") != cls.__name__:
            raise FolderError(
                f"{folder} holds a model of the class {quoted(config.get('model'))}, not {cls.__name__}: "
                f"load it with {config.get('model')}.load"
            )
        data = ESTIMATOR_FOLDER.read_checked(folder / _WEIGHTS, config)
        try:
            model = cls(**_known_parameters(cls, config["parameters"]))
            arrays = safetensors.numpy.load(data)
            require_finite(folder, arrays)
            model._restore_state(arrays, dict(config["fitted"]))
        except (FolderError, OSError, MemoryError):
            raise
        except Exception as error:  # whatever strange contents lead to
            raise FolderError(
                f"{folder} is not a whole {cls.__name__}: {type(error).__name__} {error}; "
                f"{ESTIMATOR_FOLDER.remedy}"
            ) from error
        return model

    def _fitted_state(self) -> tuple[Arrays, dict[str, Any]]:
        """What was fitted: arrays by name, and all else by name as JSON can hold it."""
        state = {
            name: value
            for name, value in vars(self).items()
            if name.endswith("_") and not name.startswith("_")
        }
        state.pop("feature_names_in_", None)  # names of columns are the caller's, and no array of numbers
        arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
        return arrays, {name: value for name, value in state.items() if name not in arrays}

    def _restore_state(self, arrays: Arrays, facts: dict[str, Any]) -> None:
        """Take back what :meth:`_fitted_state` gave."""
        for name, value in (arrays | facts).items():
            setattr(self, name, value)

    def _parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]  # an estimator's
        if not isinstance(parameters.get("random_state"), Integral | None):
            parameters["random_state"] = None  # a generator that has been drawn from is no seed any more
        return parameters


def _known_parameters(cls: type, parameters: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(parameters) - set(inspect.signature(cls).parameters))
    if unknown:
        raise ValueError(f"this version of {cls.__name__} has no parameter {quoted(unknown[0])}")
    if not isinstance(parameters.get("n_jobs"), int | None):
        raise ValueError(f"n_jobs is {quoted(parameters['n_jobs'], 40)} and no number of threads")
    return dict(parameters)
