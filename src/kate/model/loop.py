"""The training loop of every model: epochs, validation, early stopping, history, progress.

It knows nothing of the model that it trains; :class:`Learner` is all that it asks for.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

__all__ = ["EpochReport", "HistoryRow", "Learner", "progress_bar", "train"]

HistoryRow = dict[str, float | int | None]


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


def train(
    learner: Learner,
    max_epochs: int,
    patience: int | None,
    report: EpochReport | None = None,
    *,
    keep_on_interrupt: bool = False,
) -> list[HistoryRow]:
    """Train until ``max_epochs``, or until ``patience`` epochs have passed without a better validation loss.

    With a patience the best epoch is kept, otherwise the last. Ctrl-C is raised like any other exception. With
    ``keep_on_interrupt`` it ends the training instead: the learner goes back to the best epoch so far (without a
    patience: to the last complete one), and a warning says so. Before the first epoch is complete there is nothing
    to keep, and Ctrl-C is raised in any case.
    """
    history: list[HistoryRow] = []
    best, best_loss, stale = None, math.inf, 0
    try:
        for epoch in range(max_epochs):
            row = _one_epoch(learner, epoch)
            if patience is None or row["validation_loss"] is None:
                best = learner.snapshot() if keep_on_interrupt else None
            elif row["validation_loss"] < best_loss:
                best, best_loss, stale = learner.snapshot(), row["validation_loss"], 0
            else:
                stale += 1
            history.append(row)
            if report is not None:
                report(row)
            if patience is not None and stale >= patience:
                break
    except KeyboardInterrupt:
        if not keep_on_interrupt or best is None:
            raise
        warnings.warn(
            f"training was interrupted after {len(history)} of at most {max_epochs} epochs; "
            + ("the last complete" if patience is None else "the best")
            + " epoch so far is kept",
            UserWarning,
            stacklevel=3,
        )
    if best is not None:
        learner.restore(best)
    return history


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
