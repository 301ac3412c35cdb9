"""-v and -vv: what the library logs to ``kate.*``, as lines on standard error."""

from __future__ import annotations

import logging

from kate.cli.output import say

__all__ = ["show_logs"]

_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


class LogLines(logging.Handler):
    """One line per message; those below a warning say when and where."""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.levelno >= logging.WARNING:
            say(f"warning: {message}")
        else:
            say(f"{record.relativeCreated / 1000:.2f} s {record.name.removeprefix('kate.')}: {message}")


def show_logs(verbosity: int) -> None:
    """Show what is logged: warnings; with 1 what is done, with 2 details."""
    logger = logging.getLogger("kate")
    logger.setLevel(_LEVELS[min(verbosity, 2)])
    if not any(isinstance(handler, LogLines) for handler in logger.handlers):
        logger.addHandler(LogLines())
