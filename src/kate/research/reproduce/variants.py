"""Which model of the registry a cell of the tables is run with, and with which settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kate.research.registry import MODELS, TUNED, make_model, settings_of, tuned_models

if TYPE_CHECKING:
    from kate.research.reproduce.plan import GridCell
    from kate.research.reproduce.spec import Grid, Protocol

__all__ = ["NOT_TUNED", "NotAvailable", "variant", "without_vain_tuning"]

NOT_TUNED = "not tuned yet; kate tune --model NAME does it"
_NO_AMPLIFICATION = "2/k"


class NotAvailable(Exception):  # noqa: N818  not an error: the cell says why it is empty
    """A model cannot be made here."""


def variant(cell: GridCell, grid: Grid) -> tuple[str, dict[str, Any]]:
    """The name and the settings of the model that a cell is run with: of several, the first that can run here."""
    reasons: list[str] = []
    for name in _names(cell.model, cell.protocol, grid):
        if name.endswith(TUNED) and name.removesuffix(TUNED) not in tuned_models():
            reasons.append(NOT_TUNED)
            continue
        try:
            settings = _settings(name, cell, grid)
            chosen = without_vain_tuning(name, cell.tuned_for or cell.topics, settings)
            if cell.tuned_for is not None:
                settings = settings_of(chosen, None, cell.tuned_for) | settings
            return chosen, settings
        except (ImportError, ValueError) as error:
            reasons.append(str(error))
    raise NotAvailable(reasons[0])


def _names(model: str, protocol: Protocol, grid: Grid) -> Sequence[str]:
    named = grid.models[model].names(protocol) if model in grid.models else ()
    if named:
        return named
    has_nothing_to_tune = model in MODELS and not MODELS[model].space
    return [model if protocol == "paper" or has_nothing_to_tune else f"{model}{TUNED}"]


def without_vain_tuning(name: str, n_components: int, settings: Mapping[str, Any] | None = None) -> str:
    """NAME for NAME:tuned if the search found nothing better than the settings of NAME: so nothing is fitted twice.

    >>> without_vain_tuning("nmf:tuned", 128), without_vain_tuning("ae:tuned", 128)
    ('nmf', 'ae:tuned')
    """
    plain = name.removesuffix(TUNED)
    parameters, plain_ones = (
        make_model(each, n_components, settings).get_params(deep=False) for each in (name, plain)
    )
    return plain if parameters == plain_ones else name


def _settings(name: str, cell: GridCell, grid: Grid) -> dict[str, Any]:
    """The settings of the grid, those of a quick look before them, and before all what a sweep changes."""
    own = grid.models[cell.model].all_settings(cell.protocol) if cell.model in grid.models else {}
    if grid.quick is not None:
        own |= _known(name, cell.topics, own, grid.quick.settings)
    settings = own | dict(cell.changes)
    if settings.get("amplification") == _NO_AMPLIFICATION:
        settings["amplification"] = 2 / _n_winners(name, cell.topics, settings)
    return settings


def _known(name: str, n_components: int, own: dict[str, Any], offered: Any) -> dict[str, Any]:
    """Those of the offered settings that the model has."""
    plain = {key: value for key, value in own.items() if value != _NO_AMPLIFICATION}
    parameters = make_model(name, n_components, plain).get_params(deep=False)
    return {key: value for key, value in offered.items() if key in parameters}


def _n_winners(name: str, n_components: int, settings: dict[str, Any]) -> int:
    """KATE's k: its default depends only on the number of components."""
    from kate.model.settings import settings_for

    rest = {key: value for key, value in settings.items() if key != "amplification"}
    return int(settings_for(make_model(name, n_components, rest), n_documents=1)["n_winners"])
