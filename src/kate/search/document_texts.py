"""The texts of documents on disk: compressed some dozens at a time, of which only those of the hits are unpacked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import zstandard
from numpy.typing import NDArray

from kate.search.exact_search import VectorRows
from kate.storage.checked_files import BlockFile

__all__ = ["TextFile", "write_texts"]

# Documents that are compressed together, and the most characters of them: more compress better, fewer are quicker.
_DOCUMENTS_AT_ONCE = 64
_CHARACTERS_AT_ONCE = 32_768


def write_texts(path: Path, texts: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Write the texts; where each group of documents begins: its first row and its first byte, with the ends."""
    rows, offsets = [0], [0]
    compressor = zstandard.ZstdCompressor(level=3)
    lengths = texts.str.len_bytes().to_numpy()
    with path.open("wb") as file:
        while rows[-1] < len(texts):
            first = rows[-1]
            ahead = np.cumsum(lengths[first : first + _DOCUMENTS_AT_ONCE])
            count = max(1, int(np.searchsorted(ahead, _CHARACTERS_AT_ONCE, side="right")))
            group = texts.slice(first, count).to_list()
            packed = compressor.compress(json.dumps(group, ensure_ascii=False).encode())
            file.write(packed)
            rows.append(first + len(group))
            offsets.append(offsets[-1] + len(packed))
    return np.array(rows, np.int64), np.array(offsets, np.int64)


class TextFile:
    """The texts that :func:`write_texts` wrote."""

    def __init__(self, file: BlockFile, rows: VectorRows, offsets: VectorRows) -> None:
        self._file = file
        self._rows = np.asarray(rows[:])
        self._offsets = np.asarray(offsets[:])

    def __len__(self) -> int:
        return int(self._rows[-1])

    def take(self, rows: NDArray[np.int64]) -> list[str]:
        """The texts of some rows, in this order."""
        unpack = zstandard.ZstdDecompressor()
        groups = np.searchsorted(self._rows, rows, side="right") - 1
        unpacked: dict[int, list[str]] = {}
        for group in np.unique(groups).tolist():
            packed = self._file.read(int(self._offsets[group]), int(self._offsets[group + 1]))
            unpacked[group] = json.loads(unpack.decompress(packed))
        return [
            unpacked[group][row - int(self._rows[group])]
            for row, group in zip(rows.tolist(), groups.tolist(), strict=True)
        ]
