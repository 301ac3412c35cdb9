"""What the registry says of a model, before any of it is imported."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, Protocol

from kate.extras import install_command
from kate.research.registry.search_spaces import Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kate.research.rivals.base import Inputs

__all__ = ["Model", "ModelEntry", "lazily"]


class Model(Protocol):
    """The least that a model offers."""

    def fit(self, X: Any) -> Any: ...

    def transform(self, X: Any) -> NDArray[Any]: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...


@dataclass(frozen=True)
class ModelEntry:
    """One line of the registry: ``make(n_components, **parameters)`` gives a model that is not fitted yet.

    ``start``       the settings that ``make`` starts from: the "paper"'s, or the "default"s of the package
    ``paper_name``  the name of its row in the paper's tables; None where the paper does not have it
    ``needs``       packages beyond the core, by the names they are imported by
    ``extra``       the extra that brings them
    ``inputs``      "counts" (n_docs, n_words), "sequences": the words of each document in their order, or "texts"
    ``must_set``    settings without which it cannot run, with what they are
    ``space``       what `kate tune` may try, from setting to range
    ``revision``    the version of the model's code, part of the key of a kept run: raise it whenever the model gives
                    other results for the same settings (tests/research/registry/test_kept_numbers.py notices)
    """

    name: str
    title: str
    make: Callable[..., Model]
    start: Literal["paper", "default"] = "default"
    paper_name: str | None = None
    needs: tuple[str, ...] = ()
    extra: str = "paper"
    inputs: Inputs = "counts"
    must_set: Mapping[str, str] = field(default_factory=dict)
    space: Space = field(default_factory=dict)
    revision: int = 1

    def why_not(self, settings: Mapping[str, Any] | None = None) -> str | None:
        """Why the model cannot run here with these settings, and what to do; None where it can."""
        try:
            self.require_runnable(settings or {})
        except (ImportError, ValueError) as reason:
            return str(reason)
        return None

    def require_runnable(self, settings: Mapping[str, Any]) -> None:
        """Refuse a model whose packages are not installed, or that lacks a setting it cannot do without."""
        missing = [package for package in self.needs if importlib.util.find_spec(package) is None]
        if missing:
            raise ImportError(f"{self.name} needs {' and '.join(missing)}: {install_command(self.extra)}")
        for name, what in self.must_set.items():
            if not settings.get(name):
                raise ValueError(f"{self.name} needs {what}: set {self.name}.{name}=…")


def lazily(path: str) -> Callable[..., Model]:
    """A maker given by its place, ``"module:Class"`` or ``"module:Class.method"``, imported when it is called.

    A list of names must not wait for scikit-learn, the compiler and torch.

    >>> lazily("kate.research.rivals.lsa:LSA")(2)
    LSA(n_components=2)
    """
    module, _, attribute = path.partition(":")

    def make(*arguments: Any, **parameters: Any) -> Model:
        maker: Any = reduce(getattr, attribute.split("."), importlib.import_module(module))
        model: Model = maker(*arguments, **parameters)
        return model

    return make
