"""Files as plain bytes, compressed or not; a damaged file is named, with what to do."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import zstandard

__all__ = ["COMPRESSED", "borrowed", "decompressed"]

# Endings of names of files that are decompressed.
COMPRESSED = {".gz", ".zst"}


@contextmanager
def decompressed(path: Path) -> Iterator[io.BufferedReader]:
    """The bytes of a file, decompressed if its name says that it is compressed."""
    with path.open("rb") as file:
        try:
            if path.suffix.lower() == ".gz":
                with gzip.GzipFile(fileobj=file) as stream:
                    yield io.BufferedReader(stream)
            elif path.suffix.lower() == ".zst":
                yield io.BufferedReader(_ZstdReader(file), 1 << 17)
            else:
                yield file
        except EOFError:
            raise ValueError(
                f"{path} is cut short: the compressed data ends too early; copy or download it again"
            ) from None
        except (gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
            raise ValueError(
                f"{path} is not what its name says or is damaged ({error}); check it, or copy it again"
            ) from None


def borrowed(stream: BinaryIO) -> io.BufferedReader:
    """The same bytes; closing the reader does not close the stream, which belongs to somebody else."""
    return io.BufferedReader(_Borrowed(stream))


class _Borrowed(io.RawIOBase):
    """A stream that belongs to somebody else: closing this one does not close it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any writable buffer in the stubs
        read = self._stream.read(len(buffer))
        buffer[: len(read)] = read
        return len(read)


class _ZstdReader(io.RawIOBase):
    """Decompressed bytes of a .zst file. The library's own reader does not notice that a file is cut short."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._in_frame = False
        # a view: a few compressed bytes may give many, and taking some of them must not copy the rest
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any writable buffer in the stubs
        while not self._ready:
            compressed = (self._frame.unused_data if self._frame.eof else b"") or self._file.read(1 << 16)
            if not compressed:
                if self._in_frame:
                    raise EOFError
                return 0
            if self._frame.eof:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            self._ready = memoryview(self._frame.decompress(compressed))
            self._in_frame = not self._frame.eof
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size
