"""Progress on a terminal: documents per second and the time that is left; nothing anywhere else."""

from __future__ import annotations

import io
import re
import sys

import pytest

from kate.cli.progress_lines import progress_lines
from kate.progress import report_nothing


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown_on(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard error is this; not in a fixture: pytest sets its own again before the test begins."""
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")


def test_each_phase_has_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_on(terminal := Terminal(), monkeypatch)
    with progress_lines() as report:
        report("encoding", 0, 0.0)
        report("encoding", 20_000, 0.25)
        report("writing", 20_000)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
    assert re.search(r"encoding +\S+ +100% 20,000 documents  [\d,]+/s took 0:0\d", plain)
    assert re.search(r"writing +\S+ +100% 20,000 documents", plain)


def test_the_time_that_is_left_follows_the_share(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_on(terminal := Terminal(), monkeypatch)
    with progress_lines() as report:
        report("encoding", 0, 0.0)
        report("encoding", 10, 0.5)
        lines = report._bar.tasks[0].fields  # type: ignore[attr-defined]
        assert lines["left"] == "0:00 left"
    assert "encoding" in terminal.getvalue()


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch, quiet: bool) -> None:
    # quiet on a terminal; and what is no terminal
    shown_on(stream := Terminal() if quiet else io.StringIO(), monkeypatch)
    with progress_lines(quiet=quiet) as report:
        assert report is report_nothing
        report("encoding", 1, 0.5)
    assert not stream.getvalue()
