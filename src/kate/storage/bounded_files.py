"""Files that are read with a bound on their size, and never if they are a pipe, a device or a folder."""

from __future__ import annotations

import errno
import json
import math
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["MOST_JSON", "open_plain", "physical_memory", "read_bounded", "read_json"]

# Our JSON files hold settings and are short; a longer one is not ours, and is refused.
MOST_JSON = 1 << 26
# Links in a circle, a socket, a folder (on Windows).
_NO_FILE = {errno.ELOOP, errno.ENXIO, errno.EISDIR}


def read_bounded(path: Path, most: int) -> bytes:
    """The content of a file of at most so many bytes; ValueError says why it is not read.

    >>> read_bounded(Path("/dev/zero"), 10)
    Traceback (most recent call last):
    ...
    ValueError: /dev/zero is not a plain file
    """
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise ValueError(f"{path} has {size:,} bytes; at most {most:,} are read")
        return file.read(size)


def open_plain(path: Path) -> BinaryIO:
    """A file opened for reading; ValueError if it is a pipe, a device, a folder or a link in a circle."""
    # without waiting: a pipe would let us wait for somebody who writes
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno in _NO_FILE:
            raise ValueError(f"{path} is not a plain file") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError(f"{path} is not a plain file")
    return os.fdopen(descriptor, "rb")


def read_json(path: Path, most: int = MOST_JSON) -> Any:
    """What a JSON file holds; ValueError if it is too long, nested too deep, no JSON, or holds NaN or half letters."""
    data = read_bounded(path, most)
    try:
        found = json.loads(data, parse_constant=_refused, parse_float=_finite)
        if b"\\ud" in data.lower():  # half a character cannot be written, nor searched for
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    return found


def physical_memory() -> int:
    """Bytes of memory that this machine has; a number that nothing reaches where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 62


def _finite(written: str) -> float:
    number = float(written)
    return number if math.isfinite(number) else _refused(written)


def _refused(written: str) -> Any:
    raise ValueError(f"{written[:40]} is not a number")
