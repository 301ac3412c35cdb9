"""How long work tells how far it is: a callback that the command line shows as lines, and anybody else as he likes."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Report", "report_nothing"]


class Report(Protocol):
    """Called again and again while documents are worked on."""

    def __call__(self, phase: str, documents: int, share: float | None = None) -> None:
        """``documents`` are done so far in this phase, a ``share`` (0 to 1) of its work; None: nobody knows how much.

        Another name than before begins a new phase.
        """
        ...


def report_nothing(phase: str, documents: int, share: float | None = None) -> None:
    """The report of who does not want to know.

    >>> report_nothing("reading", 20_000, 0.4)
    """
