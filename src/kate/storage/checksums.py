"""Checksums: whether a file is still the one that was written."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

__all__ = ["sha256_of_bytes", "sha256_of_file"]


def sha256_of_bytes(data: bytes) -> str:
    """The SHA-256 of bytes, as 64 hexadecimal digits.

    >>> sha256_of_bytes(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(data).hexdigest()


def sha256_of_file(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file, which may be larger than the memory."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
