"""An array of NumPy that grows in its file: rows are added, and none of them is held."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["GrowingArray"]


class GrowingArray:
    """A ``.npy`` file, byte for byte that of ``np.save``; its header says the number of rows when it is closed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with GrowingArray(Path(folder, "rows.npy"), np.float32, (2,)) as array:
    ...         array.add([[1, 2]])
    ...         array.add([[3, 4], [5, 6]])
    ...     np.load(Path(folder, "rows.npy")).shape
    (3, 2)
    """

    def __init__(self, path: Path, dtype: DTypeLike, row_shape: tuple[int, ...] = ()) -> None:
        self.path = path
        self._dtype = np.dtype(dtype)
        self._row_shape = row_shape
        self._length = 0
        self._file = path.open("wb")
        self._write_header()
        self._start = self._file.tell()

    def __len__(self) -> int:
        return self._length

    def add(self, rows: ArrayLike) -> None:
        """Some more rows."""
        array = np.ascontiguousarray(rows, self._dtype)
        if array.shape[1:] != self._row_shape:
            raise ValueError(f"rows have shape {array.shape[1:]}; expected {self._row_shape}")
        array.tofile(self._file)
        self._length += len(array)

    def close(self) -> None:
        """Write how many rows there are; the header has the room for it."""
        if self._file.closed:
            return
        self._file.seek(0)
        self._write_header()
        if self._file.tell() != self._start:
            raise RuntimeError(f"{self.path}: the header of {self._length:,} rows needs more room")
        self._file.close()

    def mapped(self) -> NDArray[Any]:
        """All rows, read from the file where they are asked for; the array is closed."""
        self.close()
        found: NDArray[Any] = np.load(self.path, mmap_mode="r")
        return found

    def _write_header(self) -> None:
        np.lib.format.write_array_header_1_0(
            self._file,
            {
                "descr": np.lib.format.dtype_to_descr(self._dtype),
                "fortran_order": False,
                "shape": (self._length, *self._row_shape),
            },
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._file.close()
