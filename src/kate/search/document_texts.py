"""The texts of documents on disk: compressed some dozens at a time, of which only those of the hits are unpacked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl
import zstandard
from numpy.typing import NDArray

from kate.search.exact_search import VectorRows
from kate.storage.checked_files import BlockFile

__all__ = ["TextFile", "TextWriter", "write_texts"]

# Documents that are compressed together, and the most characters of them: more compress better, fewer are quicker.
_DOCUMENTS_AT_ONCE = 64
_CHARACTERS_AT_ONCE = 32_768
# A text may be long and repeat itself, so that it compresses well; beyond both limits the file is taken for damaged.
_ALWAYS_UNPACKED, _MOST_EXPANSION = 1 << 29, 200


def write_texts(path: Path, texts: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Write the texts; where each group of documents begins: its first row and its first byte, with the ends."""
    with TextWriter(path) as writer:
        writer.add(texts)
    return writer.groups()


class TextWriter:
    """Writes texts that are added some at a time; the file is the same as if they had come at once."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._compressor = zstandard.ZstdCompressor(level=3)
        self._rows, self._offsets = [0], [0]
        # what may be the beginning of a group
        self._waiting = pl.Series("text", [], dtype=pl.String)

    def add(self, texts: pl.Series) -> None:
        """Some more texts."""
        self._write(pl.concat([self._waiting, texts.alias("text")]), at_end=False)

    def _write(self, texts: pl.Series, *, at_end: bool) -> None:
        lengths = texts.str.len_bytes().to_numpy()
        first = 0
        while first < len(texts):
            ahead = np.cumsum(lengths[first : first + _DOCUMENTS_AT_ONCE])
            fits = int(np.searchsorted(ahead, _CHARACTERS_AT_ONCE, side="right"))
            if not at_end and fits == len(ahead) < _DOCUMENTS_AT_ONCE:
                break  # the next text may belong to it
            self._write_group(texts.slice(first, max(1, fits)).to_list())
            first += max(1, fits)
        self._waiting = texts.slice(first)

    def _write_group(self, group: list[str]) -> None:
        packed = self._compressor.compress(json.dumps(group, ensure_ascii=False).encode())
        self._file.write(packed)
        self._rows.append(self._rows[-1] + len(group))
        self._offsets.append(self._offsets[-1] + len(packed))

    def groups(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each group of documents begins: its first row and its first byte, with the ends."""
        return np.array(self._rows, np.int64), np.array(self._offsets, np.int64)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._write(self._waiting, at_end=True)
        self._file.close()


class TextFile:
    """The texts that :func:`write_texts` wrote."""

    def __init__(self, file: BlockFile, rows: VectorRows, offsets: VectorRows) -> None:
        self._file = file
        self._rows = np.asarray(rows[:])
        self._offsets = np.asarray(offsets[:])
        if self._rows.shape != self._offsets.shape or self._rows.ndim != 1 or not self._rows.size:
            raise file.damaged("and its groups do not hold together")
        for starts, end in ((self._rows, self._rows[-1]), (self._offsets, file.size)):
            if starts[0] != 0 or starts[-1] != end or (np.diff(starts) < 0).any():
                raise file.damaged("and its groups do not hold together")

    def __len__(self) -> int:
        return int(self._rows[-1])

    def take(self, rows: NDArray[np.int64]) -> list[str]:
        """The texts of some rows, in this order."""
        unpack = zstandard.ZstdDecompressor()
        groups = np.searchsorted(self._rows, rows, side="right") - 1
        unpacked: dict[int, list[str]] = {}
        for group in sorted(set(groups.tolist())):
            packed = self._file.read(int(self._offsets[group]), int(self._offsets[group + 1]))
            unpacked[group] = self._texts_of(packed, int(self._rows[group + 1] - self._rows[group]), unpack)
        return [
            unpacked[group][row - int(self._rows[group])]
            for row, group in zip(rows.tolist(), groups.tolist(), strict=True)
        ]

    def _texts_of(self, packed: bytes, count: int, unpack: zstandard.ZstdDecompressor) -> list[str]:
        """The texts of a group; a small one of a stranger that would fill the memory is refused."""
        try:
            if zstandard.frame_content_size(packed) > max(_ALWAYS_UNPACKED, _MOST_EXPANSION * len(packed)):
                raise ValueError("it would fill the memory")
            texts = json.loads(unpack.decompress(packed))
            if (
                not isinstance(texts, list)
                or len(texts) != count
                or not all(isinstance(one, str) for one in texts)
            ):
                raise ValueError("it holds something else")
        except (zstandard.ZstdError, ValueError, RecursionError) as error:
            raise self._file.damaged(f"does not hold the texts of the documents ({error})") from None
        return texts
