"""Did you mean …? Close names for one that is not known, in the words of every error of ours."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["close_names", "did_you_mean"]


def close_names(name: str, known: Iterable[str], n: int = 2, cutoff: float = 0.5) -> list[str]:
    """At most ``n`` of the known names that look like ``name``, the closest first; 1 as ``cutoff`` is the same name.

    >>> close_names("max_epoch", ["max_epochs", "dropout"])
    ['max_epochs']
    """
    return difflib.get_close_matches(name, list(known), n=n, cutoff=cutoff)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What an error says after an unknown name: the close ones, or else all that there are, as they are given.

    >>> did_you_mean("max_epoch", ["max_epochs", "dropout"])
    'did you mean max_epochs?'
    >>> did_you_mean("zzz", ["max_epochs", "dropout"])
    'choose from max_epochs, dropout'
    """
    names = list(known)
    close = close_names(name, names)
    return f"did you mean {' or '.join(close)}?" if close else f"choose from {', '.join(names)}"
