"""scikit-learn's rules for an estimator, without importing scikit-learn."""

from __future__ import annotations

import inspect
from typing import Any, Self

from kate.errors import quoted
from kate.spelling import did_you_mean

__all__ = ["PlainEstimator"]


class PlainEstimator:
    """Parameters are those of ``__init__``, which stores each under its name and does nothing else.

    ``sklearn.base.clone``, Pipeline, GridSearchCV and ``check_is_fitted`` take such an object for one of their own.
    Importing scikit-learn takes longer than a search: so a model that only answers does without it.
    """

    @classmethod
    def parameter_names(cls) -> list[str]:
        """The parameters in the order of the signature."""
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters as they were given. None of them is an estimator, so ``deep`` changes nothing."""
        return {name: getattr(self, name) for name in self.parameter_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters for the next fit; what was fitted before stays as it is."""
        known = self.parameter_names()
        for name in parameters:
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {quoted(name)}; {did_you_mean(name, sorted(known))}"
                )
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        """Texts in, vectors (float32) out; no target is needed."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=["float32"]),
            input_tags=InputTags(string=True, two_d_array=False),
        )

    def _refuse(self, unknown: dict[str, Any]) -> None:
        """For ``__init__``: no parameters but its own, with the one that may be meant."""
        for name in unknown:
            raise TypeError(
                f"{type(self).__name__} has no parameter {quoted(name)}; "
                f"{did_you_mean(name, sorted(self.parameter_names()))}"
            )
