"""A fit in a work folder that is killed before one of its file operations: the next one goes on to the same bits."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

from attacks.attacked_folders import bits_of, fit_streamed
from attacks.fault_layer import FaultLayer
from attacks.killed_writers import KilledWriter

__all__ = ["KilledFit"]


class KilledFit(KilledWriter):
    """Kill number i at step i of a fit: shards, vocabulary and checkpoints; the shards are many, and small."""

    def __init__(self, root: str) -> None:
        self._root = Path(root)
        self._expected = self._in_child(self._go_on)
        self._n = int(self._in_child(lambda: str(self._fit(-1, None).n)))
        self.shown, self.outcome, self.is_retried = "", "", False

    def _case(self, number: int) -> str | None:
        step, what = number % self._n, ("kill", "half")[number // self._n % 2]
        self.shown = f"a fit: {what} before step {step} of {self._n}"
        died = self._fork(lambda: self._fit(step, what))
        if died != -signal.SIGKILL:
            return f"{self.shown}: it ended with {died}"
        try:
            found = self._in_child(self._go_on)
        except RuntimeError as error:
            return f"{self.shown}: {error}"
        self.outcome = "the same bits" if found == self._expected else "failure"
        return None if found == self._expected else f"{self.shown}: {found}, expected {self._expected}"

    def _fit(self, step: int, what: str | None) -> FaultLayer:
        """A fit from the beginning, with a fault."""
        shutil.rmtree(self._root, ignore_errors=True)
        self._root.mkdir()
        with FaultLayer(self._root, step, what) as layer:
            fit_streamed(self._root / "work")
        return layer

    def _go_on(self) -> str:
        """The bits that it comes to, and what is left in the end."""
        self._root.mkdir(exist_ok=True)
        bits = bits_of(fit_streamed(self._root / "work"))
        return f"{bits} {sorted(path.name for path in self._root.rglob('*'))}"
