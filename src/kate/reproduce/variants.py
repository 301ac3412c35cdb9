"""Which model of the registry, with which settings, a cell of the tables stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kate.models.registry import MODELS, TUNED, make_model
from kate.models.tuned import tuned_models

if TYPE_CHECKING:
    from kate.reproduce.plan import Cell
    from kate.reproduce.spec import Grid, Protocol

__all__ = ["NOT_TUNED", "NotAvailable", "variant"]

NOT_TUNED = "not tuned yet; kate tune --model NAME does it"


class NotAvailable(Exception):  # noqa: N818  no error: the cell says why it is empty
    """A model cannot be made here."""


def variant(cell: Cell, grid: Grid) -> tuple[str, dict[str, Any]]:
    """The name and the settings of the model that a cell is run with: of several the first that can run here."""
    reasons: list[str] = []
    for name in _names(cell.model, cell.protocol, grid):
        if name.endswith(TUNED) and name.removesuffix(TUNED) not in tuned_models():
            reasons.append(NOT_TUNED)
            continue
        try:
            settings = _settings(name, cell, grid)
            make_model(name, cell.topics, settings)
            return name, settings
        except (ImportError, ValueError) as error:
            reasons.append(str(error))
    raise NotAvailable(reasons[0])


def _names(model: str, protocol: Protocol, grid: Grid) -> Sequence[str]:
    named = grid.models.get(model, {}).get(protocol)
    if named is not None:
        return named
    has_nothing_to_tune = model in MODELS and not MODELS[model].space
    return [model if protocol == "paper" or has_nothing_to_tune else f"{model}{TUNED}"]


def _settings(name: str, cell: Cell, grid: Grid) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if grid.quick is not None:
        known: Mapping[str, Any] = make_model(name, cell.topics).get_params(deep=False)
        settings |= {key: value for key, value in grid.quick.settings.items() if key in known}
    return settings | dict(cell.changes)
