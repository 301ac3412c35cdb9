"""How long an attack goes on, and with which seed: KATE_ATTACK_SEED and KATE_ATTACK_CASES, set by ``make attack``.

Without them an attack is quick and always the same. A failure prints what to type to see it again.
KATE_ATTACK_LOG names a file to which every attack adds a line: what was run and what came of it.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cases", "is_long", "log", "seed"]


def seed() -> int:
    return int(os.environ.get("KATE_ATTACK_SEED", "0"))


def cases(quick: int, share: float = 1.0) -> int:
    """``quick`` in CI; in the long mode this attack's share of KATE_ATTACK_CASES."""
    return max(quick, int(share * float(os.environ.get("KATE_ATTACK_CASES", "0"))))


def is_long() -> bool:
    return float(os.environ.get("KATE_ATTACK_CASES", "0")) > 0


def log() -> Path | None:
    """Where a line about every attack is to be added."""
    path = os.environ.get("KATE_ATTACK_LOG")
    return Path(path) if path else None
