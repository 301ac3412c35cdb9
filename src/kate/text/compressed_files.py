"""Bytes of files, decompressed and counted; a damaged file is named, with what to do."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import zstandard

from kate.errors import KateError

__all__ = ["COMPRESSED", "CorpusError", "InputMeter", "decompressed"]

# Endings of names of files that are decompressed.
COMPRESSED = {".gz", ".zst"}
# Text shrinks to a tenth, logs to a fiftieth. A file that grows by more than this is a bomb, unless it stays small.
_MOST_EXPANSION, _ALWAYS_ALLOWED = 200, 1 << 28
# A block of zstd has 4 bytes at least and gives 128 KiB at most: so few bytes at once give 128 MiB at most.
_COMPRESSED_AT_ONCE = 1 << 12


class CorpusError(KateError, ValueError):
    """Documents that cannot be read; the message names the file.

    >>> import kate
    >>> try:
    ...     kate.Documents.from_texts(["a treaty", "gold"], ids=[7, 7])
    ... except kate.CorpusError as error:
    ...     print(error)
    the id '7' is given to several documents; ids must be unique
    """


class InputMeter:
    """How many bytes of the input were read, of how many; None if nobody knows, as with standard input."""

    def __init__(self, total: int | None = None) -> None:
        self.total = total
        self.done = 0

    def add(self, n_bytes: int) -> None:
        self.done += n_bytes

    @property
    def share(self) -> float | None:
        """From 0 to 1."""
        return None if not self.total else min(1.0, self.done / self.total)


@contextmanager
def decompressed(
    file: BinaryIO, compression: str | None, shown: str, size: int | None, meter: InputMeter | None = None
) -> Iterator[io.BufferedReader]:
    """The bytes of an open file, decompressed (".gz", ".zst", None) and counted; errors show it as ``shown``.

    size : of the compressed file, if it is known
    """
    counted = _Counted(file, meter)
    raw: io.BufferedReader = io.BufferedReader(counted, 1 << 17)
    try:
        if compression == ".gz":
            with gzip.GzipFile(fileobj=raw) as stream:
                yield io.BufferedReader(_Limited(stream, shown, size, counted), 1 << 17)
        elif compression == ".zst":
            yield io.BufferedReader(_Limited(_ZstdReader(raw), shown, size, counted), 1 << 17)
        else:
            yield raw
    except EOFError:
        raise CorpusError(
            f"{shown} is cut short: the compressed data ends too early; copy or download it again"
        ) from None
    except (gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
        raise CorpusError(
            f"{shown} is not what its name says or is damaged ({error}); check it, or copy it again"
        ) from None


class _Counted(io.RawIOBase):
    """A stream that belongs to somebody else, who closes it; its bytes are counted as they are read."""

    def __init__(self, stream: BinaryIO, meter: InputMeter | None) -> None:
        self._stream = stream
        self._meter = meter
        self.n_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any writable buffer in the stubs
        read = self._stream.read(len(buffer))
        buffer[: len(read)] = read
        self.n_read += len(read)
        if self._meter is not None:
            self._meter.add(len(read))
        return len(read)


class _Limited(io.RawIOBase):
    """Decompressed bytes, up to a limit: a small file must not fill the memory."""

    def __init__(
        self, stream: io.RawIOBase | gzip.GzipFile, shown: str, size: int | None, compressed: _Counted
    ) -> None:
        self._stream: Any = stream
        self._shown = shown
        self._size = size or 0
        self._compressed = compressed
        self._n_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any writable buffer in the stubs
        size = int(self._stream.readinto(buffer))
        self._n_read += size
        most = max(_ALWAYS_ALLOWED, _MOST_EXPANSION * max(self._size, self._compressed.n_read))
        if self._n_read > most:
            raise CorpusError(
                f"{self._shown} decompresses to more than {most:,} bytes, {_MOST_EXPANSION} times its size, as no "
                "text does; if it is what you want, decompress it first"
            )
        return size


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
            compressed = (self._frame.unused_data if self._frame.eof else b"") or self._file.read(
                _COMPRESSED_AT_ONCE
            )
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
