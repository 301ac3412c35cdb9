"""The training loop of every model: epochs, validation, early stopping, history, progress.

It knows nothing of the model that it trains; :class:`Learner` is all that it asks for.
"""

from __future__ import annotations

import logging
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["EpochReport", "HistoryRow", "Learner", "LoopState", "progress_bar", "train"]

HistoryRow = dict[str, float | int | None]

_logger = logging.getLogger(__name__)


class Learner(Protocol):
    """What the loop trains."""

    n_documents: int

    def train_epoch(self, epoch: int) -> float:
        """One pass over the training documents; the mean loss of a document."""

    def validation_loss(self) -> float | None:
        """The mean loss of the held-out documents, None where there are none."""

    def snapshot(self) -> Any:
        """A copy of what has been learned."""

    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot."""


class EpochReport(Protocol):
    def __call__(self, row: HistoryRow) -> None: ...


@dataclass
class LoopState:
    """Where the loop is after some epochs: all that it needs to go on, beside the learner."""

    history: list[HistoryRow] = field(default_factory=list)
    best: Any = None  # a snapshot of the learner
    best_loss: float = math.inf
    n_stale: int = 0  # epochs since the best one

    def is_over(self, max_epochs: int, patience: int | None) -> bool:
        return len(self.history) >= max_epochs or (patience is not None and self.n_stale >= patience)


def train(
    learner: Learner,
    max_epochs: int,
    patience: int | None,
    report: EpochReport | None = None,
    *,
    keep_on_interrupt: bool = False,
    state: LoopState | None = None,
    after_epoch: Callable[[], None] = lambda: None,
) -> list[HistoryRow]:
    """Train until ``max_epochs``, or until ``patience`` epochs have passed without a better validation loss.

    With a patience the best epoch is kept, otherwise the last. Ctrl-C is raised like any other exception. With
    ``keep_on_interrupt`` it ends the training instead: the learner goes back to the best epoch so far (without a
    patience: to the last complete one), and a warning says so. Before the first epoch is complete there is nothing
    to keep, and Ctrl-C is raised in any case.

    ``state`` is where to go on; it is kept up to date, and ``after_epoch`` is called whenever it has changed.
    """
    state = LoopState() if state is None else state
    try:
        while not state.is_over(max_epochs, patience):
            row = _one_epoch(learner, len(state.history))
            if patience is None or row["validation_loss"] is None:
                state.best = learner.snapshot() if keep_on_interrupt else None
            elif row["validation_loss"] < state.best_loss:
                state.best, state.best_loss, state.n_stale = learner.snapshot(), row["validation_loss"], 0
            else:
                state.n_stale += 1
            state.history.append(row)
            _logger.info(
                "epoch %d of %d: loss %.4f, %.2f s", row["epoch"], max_epochs, row["loss"], row["seconds"]
            )
            if report is not None:
                report(row)
            after_epoch()
    except KeyboardInterrupt:
        if not keep_on_interrupt or state.best is None:
            raise
        warnings.warn(
            f"training was interrupted after {len(state.history)} of at most {max_epochs} epochs; "
            + ("the last complete" if patience is None else "the best")
            + " epoch so far is kept",
            UserWarning,
            stacklevel=3,
        )
    if state.best is not None:
        learner.restore(state.best)
    return state.history


def _one_epoch(learner: Learner, epoch: int) -> HistoryRow:
    start = time.perf_counter()
    loss = learner.train_epoch(epoch)
    seconds = time.perf_counter() - start
    if not math.isfinite(loss):
        raise ValueError(
            f"training diverged: the loss of epoch {epoch + 1} is {loss}; lower learning_rate or amplification"
        )
    return {
        "epoch": epoch + 1,
        "loss": loss,
        "validation_loss": learner.validation_loss(),
        "seconds": seconds,
        "documents_per_second": learner.n_documents / max(seconds, 1e-9),
    }


@contextmanager
def progress_bar(verbose: bool | None, max_epochs: int) -> Iterator[EpochReport | None]:
    """A progress bar with loss and documents per second on standard error.

    ``verbose`` None shows it if standard error is a terminal. Without a bar there is nothing to report to: None.
    """
    if verbose is False or (verbose is None and not sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("training"),
        BarColumn(),
        TextColumn("epoch {task.completed}/{task.total}  {task.fields[note]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("training", total=max_epochs, note="compiling or loading kernels")

        def report(row: HistoryRow) -> None:
            note = f"loss {row['loss']:.3f}"
            if row["validation_loss"] is not None:
                note += f"  validation {row['validation_loss']:.3f}"
            bar.update(task, advance=1, note=f"{note}  {row['documents_per_second']:,.0f} documents/s")

        yield report
