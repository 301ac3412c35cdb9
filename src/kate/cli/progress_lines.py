"""Progress on a terminal: a line for each phase with documents, documents per second and the time that is left."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kate.cli.output import counted
from kate.progress import Report, report_nothing

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["progress_lines"]


@contextmanager
def progress_lines(quiet: bool = False) -> Iterator[Report]:
    """What long work reports to. Nothing is shown unless standard error is a terminal, or if it shall be quiet.

    The lines stay as long as the command works: its result is the last word.
    """
    if quiet or not sys.stderr.isatty():
        yield report_nothing
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        TaskProgressColumn(),
        TextColumn("{task.fields[done]}"),
        TextColumn("{task.fields[left]}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        lines = _PhaseLines(bar)
        yield lines
        lines.end()


class _PhaseLines:
    """One line per phase; the line of a phase that is over says how long it took."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._phase: str | None = None

    def __call__(self, phase: str, documents: int, share: float | None = None) -> None:
        if phase != self._phase:
            self.end()
            self._phase = phase
            # one of unknown length pulses
            self._task = self._bar.add_task(phase, total=None, done="", left="")
        seconds = self._bar.tasks[-1].elapsed or 0.0
        done = counted(documents, "document")
        if seconds > 0 and documents:
            done += f"  {documents / seconds:,.0f}/s"
        self._bar.update(self._task, done=done, left=time_left(seconds, share))
        if share is not None:
            self._bar.update(self._task, total=1.0, completed=min(share, 1.0))

    def end(self) -> None:
        """The phase is over."""
        if self._phase is not None:
            seconds = self._bar.tasks[-1].elapsed or 0.0
            self._bar.update(self._task, total=1.0, completed=1.0, left=f"took {_clock(seconds)}")
            self._bar.stop_task(self._task)


def time_left(seconds: float, share: float | None) -> str:
    """How long the rest takes if it goes on as it did.

    >>> time_left(30, 0.25), time_left(30, None), time_left(4000, 0.5)
    ('1:30 left', '', '1:06:40 left')
    """
    return f"{_clock(seconds * (1 - min(share, 1.0)) / share)} left" if share else ""


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
