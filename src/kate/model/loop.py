"""THE training loop: epochs, validation, early stopping, history, progress. It knows nothing of the model."""

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
    learner: Learner, max_epochs: int, patience: int | None, report: EpochReport | None = None
) -> list[HistoryRow]:
    """Train until ``max_epochs``, or until ``patience`` epochs have passed without a better validation loss.

    With a patience the best epoch is kept, otherwise the last. Ctrl-C ends the training in the same way: what is kept
    is the best epoch so far (or the work so far), and a warning says so.
    """
    history: list[HistoryRow] = []
    best, best_loss, stale = None, math.inf, 0
    try:
        for epoch in range(max_epochs):
            row = _one_epoch(learner, epoch)
            history.append(row)
            if report is not None:
                report(row)
            if patience is None or row["validation_loss"] is None:
                continue
            if row["validation_loss"] < best_loss:
                best, best_loss, stale = learner.snapshot(), row["validation_loss"], 0
            else:
                stale += 1
                if stale >= patience:
                    break
    except KeyboardInterrupt:
        warnings.warn(
            f"training was interrupted after {len(history)} of at most {max_epochs} epochs; "
            + ("the best epoch so far is kept" if best is not None else "what was learned so far is kept"),
            UserWarning,
            stacklevel=2,
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
    """A bar with loss and documents per second on standard error; None (no bar) when quiet or not on a terminal."""
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
