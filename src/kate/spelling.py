"""Did you mean …? Close names for one that is not known, in the words of every error of ours."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["close_names", "did_you_mean"]

# Names may be columns of a stranger's file: thousands, or of any length.
_MOST, _LONGEST = 40, 60


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
    names = [
        known_name if len(known_name) <= _LONGEST else f"{known_name[:_LONGEST]}…" for known_name in known
    ]
    close = close_names(name[: 4 * _LONGEST], names)
    if close:
        return f"did you mean {' or '.join(close)}?"
    more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
    return f"choose from {', '.join(names[:_MOST])}{more}"
