"""How much memory a run may use, and what each of its phases may take of that.

Everything follows from the limit alone and not from what happens to be free, so that the same limit gives the same
model.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from kate.errors import quoted

__all__ = ["LEAST_MEMORY", "MemoryLimit", "machine_memory", "parse_size"]

_UNITS = {"": 1, "B": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", re.IGNORECASE)
# Python, Polars, the compiler and what they keep.
_OF_THE_PROGRAM = 420 * 2**20
LEAST_MEMORY = 640 * 2**20
# More documents make the start no better (experiments/streaming.jsonl), and windows shuffle no better.
_MOST_SAMPLED = 200_000
_MOST_IN_WINDOW = 2**21


def parse_size(given: str | int) -> int:
    """Bytes of "2GB", "512M" or a number; a kilobyte has 1,024 bytes.

    >>> parse_size("2GB") == 2 * 1024**3, parse_size("1.5 GiB"), parse_size(1000)
    (True, 1610612736, 1000)
    """
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    found = _SIZE.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        raise ValueError(f"memory={quoted(given)} is no size; give one such as '2GB' or '512MB'")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def machine_memory() -> int:
    """The memory of this machine in bytes, or of its container where that is less."""
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 8 * 2**30
    limits = [pages]
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limits.append(int(Path(name).read_text()))
        except (OSError, ValueError):  # no cgroup, or "max"
            continue
    return min(limits)


@dataclass(frozen=True)
class MemoryLimit:
    """A limit in bytes, and its parts.

    >>> MemoryLimit.of("2GB").text_at_once // 2**20
    64
    """

    total: int

    @classmethod
    def of(cls, given: str | int | None) -> MemoryLimit:
        """What the user gave; None is half of the machine."""
        total = machine_memory() // 2 if given is None else parse_size(given)
        if total < LEAST_MEMORY:
            raise ValueError(
                f"memory={quoted(given)} is too little: the program itself takes most of {LEAST_MEMORY >> 20} MB; "
                "give that at least, better 2GB"
            )
        return cls(total)

    @property
    def free(self) -> int:
        """What is left for documents."""
        return self.total - _OF_THE_PROGRAM

    @property
    def text_at_once(self) -> int:
        """Characters that are counted together: they take a dozen times as many bytes while threads work on them."""
        return max(2**20, min(2**26, self.free // 24))

    @property
    def rows_of_words(self) -> int:
        """Rows (word, occurrences) that are put together at once."""
        return max(100_000, self.free // 400)

    def for_network(self, n_words: int, n_neurons: int) -> int:
        """What is left beside a network, its optimizer, its start, and copies of it while it is written."""
        return max(self.free - 10 * 4 * n_words * n_neurons, self.free // 8)

    def require_network(self, n_words: int, n_neurons: int) -> None:
        """Refuse a network that does not fit beside its optimizer, its start and the copy that is written."""
        needed = _OF_THE_PROGRAM + 9 * 4 * n_words * n_neurons
        if needed > self.total:
            raise ValueError(
                f"a network of {n_words:,} words and {n_neurons} neurons takes {needed >> 20:,} MB in training, but "
                f"memory is {self.total >> 20:,} MB; give more, or fewer words (vocabulary_size=...)"
            )

    def sample_size(self, n_words: int, n_neurons: int, mean_words: float) -> int:
        """Documents from which a network may start: with products of them, and each as its counts several times."""
        of_document = 40 * mean_words + 5 * n_neurons
        return max(1_000, min(_MOST_SAMPLED, int(self.for_network(n_words, n_neurons) / of_document)))

    def window_entries(self, n_words: int, n_neurons: int) -> int:
        """Entries of the documents that are trained on at a time; the next ones are made ready meanwhile."""
        return max(2**18, min(_MOST_IN_WINDOW, self.for_network(n_words, n_neurons) // 48))
