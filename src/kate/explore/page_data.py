"""The data of a page: a manifest, which is plain JSON, and named parts, each compressed by itself.

A page reads a part when it first needs it; docs/explorer.md lists the parts and what they hold.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kate.storage.json_values import as_json

__all__ = ["PAGE_FORMAT", "VERSION", "PageData", "array_bytes", "compressed", "json_bytes"]

PAGE_FORMAT, VERSION = "kate-explorer", 1
_LEVEL = 6  # of gzip: 9 takes three times as long and saves a hundredth


@dataclass(frozen=True, eq=False)
class PageData:
    """Everything that a page shows.

    manifest : what the page is, and the list of its parts with their sizes
    parts : compressed (gzip), by name
    """

    manifest: Mapping[str, Any]
    parts: Mapping[str, bytes]

    @classmethod
    def of(cls, facts: Mapping[str, Any], parts: Mapping[str, bytes]) -> PageData:
        """``facts`` are the manifest without the list of the parts."""
        listed = [{"name": name, "bytes": len(data)} for name, data in parts.items()]
        head = {"format": PAGE_FORMAT, "version": VERSION}
        return cls(as_json(head | dict(facts) | {"parts": listed}), parts)

    def json(self, name: str) -> Any:
        """A part that is JSON."""
        return json.loads(gzip.decompress(self.parts[name]))

    def array(self, name: str, kind: type[np.generic]) -> NDArray[Any]:
        """A part that is numbers of a kind."""
        little = np.dtype(kind).newbyteorder("<")
        return np.frombuffer(gzip.decompress(self.parts[name]), little).astype(kind)

    @property
    def n_bytes(self) -> int:
        """Of all parts as a file holds them: base64 makes four bytes of three."""
        return sum(-(-len(data) // 3) * 4 for data in self.parts.values())


def compressed(data: bytes) -> bytes:
    """By gzip, without the time, so that the same data give the same bytes."""
    return gzip.compress(data, _LEVEL, mtime=0)


def json_bytes(value: Any) -> bytes:
    """Compressed JSON."""
    text = json.dumps(as_json(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return compressed(text.encode("utf-8", errors="replace"))


def array_bytes(array: NDArray[Any]) -> bytes:
    """Compressed numbers, little-endian whatever the machine is.

    >>> gzip.decompress(array_bytes(np.array([1, 2], dtype=np.uint16)))
    b'\\x01\\x00\\x02\\x00'
    """
    return compressed(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes())
