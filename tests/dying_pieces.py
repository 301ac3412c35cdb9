"""A piece of a corpus whose first reader is killed, as by a machine that is switched off."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from kate.cluster.corpus_pieces import CorpusPiece


@dataclass(frozen=True)
class DyingPiece(CorpusPiece):
    """Kills the process that reads it, unless that has happened: ``marker`` is there from then on."""

    marker: Path = Path()

    def read(self, rules):
        if not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().read(rules)
