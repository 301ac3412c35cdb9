"""``kate fit`` from files that are larger than memory, and ``--resume``."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kate.cli.output import say
from kate.cli.progress_lines import progress_lines

if TYPE_CHECKING:
    from kate.model.text_model import TextModel
    from kate.text.text_stream import FileTexts

__all__ = ["fit_and_save_streamed", "is_too_large", "work_folder_of"]

TERMINATED = 128 + signal.SIGTERM
"""The exit code after SIGTERM, as the shell has it."""
# A fit in memory takes at least so many times the bytes of the texts (experiments/large.jsonl).
_MEMORY_OF_TEXT = 4


def is_too_large(texts: FileTexts) -> bool:
    """Whether the texts surely do not fit into the memory of this machine."""
    from kate.streaming.memory_limit import machine_memory

    return texts.n_characters * _MEMORY_OF_TEXT > machine_memory()


def work_folder_of(output: Path) -> Path:
    """Where a streamed fit works: beside the model."""
    return output.with_name(f"{output.name}.work")


def fit_and_save_streamed(
    model: TextModel,
    texts: FileTexts,
    output: Path,
    memory: str | None,
    resume: bool,
    keep_on_interrupt: bool,
    quiet: bool,
) -> float:
    """Fit in a work folder beside the model, which is removed when the model is written; the seconds of the fit."""
    from kate.streaming.work_folder import WorkFolder, WorkStopped

    if resume and not texts.can_be_read_again:
        raise ValueError("--resume reads the texts again, and standard input cannot be; write it into a file")
    start = time.perf_counter()
    folder = WorkFolder(work_folder_of(output), resume=resume)
    try:
        with folder as work, _asked_to_stop() as asked, progress_lines(quiet) as report:
            if not quiet and not work.is_new:
                say(f"going on in {work.path}, begun {work.begun}")
            model.fit_stream(
                texts,
                memory=memory,
                work=work,
                keep_on_interrupt=keep_on_interrupt,
                report=report,
                stop=asked.is_set,
            )
            seconds = time.perf_counter() - start
            model.save(output)
    except WorkStopped:
        _say_what_is_left(folder, texts)
        raise typer.Exit(TERMINATED) from None
    except (OSError, KeyboardInterrupt, MemoryError):
        if folder.was_entered:
            _say_what_is_left(folder, texts)
        raise
    if texts.n_skipped:
        say(f"warning: left out {texts.n_skipped:,} malformed rows, first {texts.skipped[0]}")
    return seconds


def _say_what_is_left(folder: Any, texts: FileTexts) -> None:
    if folder.path.exists():
        again = "--resume goes on with it" if texts.can_be_read_again else "delete it"
        say(f"what is done is in {folder.path}; {again}")


@contextmanager
def _asked_to_stop() -> Iterator[threading.Event]:
    """Set by SIGTERM; a second one ends the process at once."""
    asked = threading.Event()

    def ask(number: int, frame: object) -> None:
        asked.set()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    before = signal.signal(signal.SIGTERM, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGTERM, before)
