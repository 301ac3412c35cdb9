"""Files that are checked block by block when they are first touched: damage is noticed before it can lie or crash.

A block of 64 KiB has a checksum of its own (eight bytes of its SHA-256). A search that reads some rows of a file of
gigabytes checks the blocks of these rows, once. The checksums of all files of a folder stand in one file, whose own
checksum stands in the JSON file of the folder. Files are opened and mapped at once: whoever replaces the folder later
does not take them away.
"""

from __future__ import annotations

import hashlib
import math
import mmap
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from kate.storage.bounded_files import open_plain
from kate.storage.folders import FolderError

__all__ = ["BLOCK_SIZE", "BlockFile", "CheckedArray", "block_checksums"]

BLOCK_SIZE = 65_536
_DIGEST = 8
# Fewer blocks are checked before threads would have started.
_BLOCKS_FOR_THREADS = 256


def block_checksums(path: Path) -> bytes:
    """The checksums of the blocks of a file, one after the other."""
    with path.open("rb") as file:
        return b"".join(_digest(block) for block in iter(lambda: file.read(BLOCK_SIZE), b""))


class BlockFile:
    """A file, mapped into memory, of which every block is checked when it is first read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "some.bin")
    ...     n_written = path.write_bytes(b"abc")
    ...     BlockFile(path, block_checksums(path)).read(1, 3)
    b'bc'
    """

    def __init__(self, path: Path, checksums: bytes, *, n_threads: int = 1) -> None:
        self.path = path
        self._n_threads = n_threads
        with _opened(path) as file:
            self.size = file.seek(0, 2)
            # an empty file cannot be mapped
            self._data: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self.size else b""
        self.n_blocks = -(-self.size // BLOCK_SIZE)
        if len(checksums) != _DIGEST * self.n_blocks:
            raise self.damaged(f"has {self.n_blocks} blocks and checksums for {len(checksums) // _DIGEST}")
        self._checksums = checksums
        self._is_checked = np.zeros(self.n_blocks, dtype=bool)
        self._is_whole = self.n_blocks == 0
        self._numbers: tuple[np.dtype[Any], int] | None = None

    def holds(self, dtype: np.dtype[Any], offset: int) -> None:
        """Say what the bytes are: floating point numbers are then checked to be numbers, too."""
        if dtype.kind == "f" and BLOCK_SIZE % dtype.itemsize == 0 and offset % dtype.itemsize == 0:
            self._numbers = dtype, offset

    @property
    def buffer(self) -> memoryview:
        """The bytes, which are not checked by looking at them: call :meth:`check` before."""
        return memoryview(self._data)

    def read(self, start: int, stop: int) -> bytes:
        """Some bytes, checked."""
        self.check(start, stop)
        return bytes(self._data[start:stop])

    def check(self, start: int = 0, stop: int | None = None) -> None:
        """Refuse the file if a block between two bytes is not the one that was written."""
        if self._is_whole:
            return
        stop = self.size if stop is None else stop
        self.check_blocks(np.arange(start // BLOCK_SIZE, -(-stop // BLOCK_SIZE)))

    def check_blocks(self, blocks: NDArray[np.integer[Any]]) -> None:
        """The same for the blocks of these numbers."""
        if self._is_whole:
            return
        new = blocks[~self._is_checked[blocks]]
        if not new.size:
            return
        if new.size < _BLOCKS_FOR_THREADS or self._n_threads == 1:
            self._check(new)
        else:
            with ThreadPoolExecutor(self._n_threads) as pool:
                list(pool.map(self._check, np.array_split(new, self._n_threads)))
        self._is_whole = bool(self._is_checked.all())

    def _check(self, blocks: NDArray[np.integer[Any]]) -> None:
        with memoryview(self._data) as data:
            for block in blocks.tolist():
                found = _digest(data[block * BLOCK_SIZE : (block + 1) * BLOCK_SIZE])
                if found != self._checksums[block * _DIGEST : (block + 1) * _DIGEST]:
                    raise self.damaged(f"differs from what was written near byte {block * BLOCK_SIZE:,}")
                self._require_finite(data, block)
                self._is_checked[block] = True

    def _require_finite(self, data: memoryview, block: int) -> None:
        """NaN and infinity would spoil every answer without a word."""
        if self._numbers is None:
            return
        dtype, offset = self._numbers
        start, stop = max(offset, block * BLOCK_SIZE), min(self.size, (block + 1) * BLOCK_SIZE)
        if stop > start and not np.isfinite(np.frombuffer(data[start:stop], dtype)).all():
            raise self.damaged(f"holds NaN or infinity near byte {start:,}")

    def damaged(self, what: str) -> FolderError:
        return FolderError(f"{self.path} {what}: it is damaged; copy the folder again or make it anew")


class CheckedArray:
    """The array of a ``.npy`` file, of which only the rows that are asked for are read and checked.

    It is indexed by a slice, a row or an array of rows, as a NumPy array is.
    """

    def __init__(self, file: BlockFile, entry: Mapping[str, Any]) -> None:
        """``entry`` says dtype, shape and the byte where the numbers begin, as :meth:`describe` gives it."""
        self.file = file
        self.dtype = np.dtype(str(entry["dtype"]))
        self.shape = tuple(int(length) for length in entry["shape"])
        self._offset = int(entry["offset"])
        if self.dtype.kind not in "fiub" or not self.shape or min(*self.shape, self._offset) < 0:
            raise file.damaged(f"should hold {self.shape} of {self.dtype}")
        self._stride = self.dtype.itemsize * math.prod(self.shape[1:])
        if file.size != self._offset + self._stride * self.shape[0]:
            raise file.damaged(f"does not hold {self.shape} numbers")
        file.holds(self.dtype, self._offset)
        flat = np.frombuffer(file.buffer, dtype=self.dtype, offset=min(self._offset, file.size))
        self._array: NDArray[Any] = flat.reshape(self.shape)

    @staticmethod
    def describe(path: Path) -> dict[str, Any]:
        """What stands in the JSON file about an array that was just written."""
        array = np.load(path, mmap_mode="r")
        return {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "offset": path.stat().st_size - array.nbytes,
        }

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(len(self))
            self.file.check(self._offset + start * self._stride, self._offset + stop * self._stride)
        else:
            asked = np.asarray(rows)
            where = np.flatnonzero(asked) if asked.dtype == bool else asked.ravel()
            first = self._offset + where.astype(np.int64) * self._stride
            touched = np.zeros(self.file.size // BLOCK_SIZE + 1, np.bool_)
            touched[first // BLOCK_SIZE] = touched[(first + self._stride - 1) // BLOCK_SIZE] = True
            self.file.check_blocks(np.flatnonzero(touched))  # np.unique would import numpy.ma
        found: NDArray[Any] = self._array[rows]
        return found

    def whole(self) -> NDArray[Any]:
        """All of it, checked: a view of the mapped file."""
        self.file.check()
        return self._array


def _opened(path: Path) -> BinaryIO:
    try:
        return open_plain(path)
    except ValueError as error:
        raise FolderError(f"{error}; copy the folder again or make it anew") from None


def _digest(block: Any) -> bytes:
    return hashlib.sha256(block).digest()[:_DIGEST]
