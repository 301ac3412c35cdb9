"""Progress of long work for the log: a line when a phase is over, and one every ten seconds until then."""

from __future__ import annotations

import logging
import time

from kate.progress import Report, report_nothing

__all__ = ["PhaseLog"]

_logger = logging.getLogger(__name__)
_EVERY = 10.0


class PhaseLog:
    """A report that is logged, too, and passed on.

    >>> report = PhaseLog()
    >>> report("counting", 20_000, 0.4)
    >>> report.end()
    """

    def __init__(self, report: Report = report_nothing) -> None:
        self._report = report
        self._phase: str | None = None
        self._documents = 0
        self._begin = self._told = time.monotonic()

    def __call__(self, phase: str, documents: int, share: float | None = None) -> None:
        """``documents`` are done so far in this phase, a ``share`` of its work; another name begins a new phase."""
        self._report(phase, documents, share)
        now = time.monotonic()
        if phase != self._phase:
            self.end()
            self._phase, self._begin, self._told = phase, now, now
        self._documents = documents
        if now - self._told >= _EVERY:
            self._told, seconds = now, now - self._begin
            left = f", {seconds * (1 - min(share, 1)) / share:,.0f} s left" if share else ""
            _logger.info(
                "%s: %s documents, %s/s%s", phase, f"{documents:,}", f"{documents / seconds:,.0f}", left
            )

    def end(self) -> None:
        """The phase is over."""
        if self._phase is not None:
            seconds = max(time.monotonic() - self._begin, 1e-9)
            rate = f"{self._documents / seconds:,.0f}"
            _logger.info(
                "%s: %s documents in %.1f s, %s/s", self._phase, f"{self._documents:,}", seconds, rate
            )
        self._phase = None
