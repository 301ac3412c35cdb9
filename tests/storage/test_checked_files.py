"""Files that are checked block by block."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kate.storage import checked_files
from kate.storage.checked_files import BLOCK_SIZE, BlockFile, CheckedArray, block_checksums
from kate.storage.folders import FolderError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "some.npy"
    np.save(path, np.arange(100_000, dtype=np.float32).reshape(-1, 10))
    return path


def opened(path: Path, checksums: bytes | None = None, n_threads: int = 1) -> CheckedArray:
    checksums = block_checksums(path) if checksums is None else checksums
    return CheckedArray(BlockFile(path, checksums, n_threads=n_threads), CheckedArray.describe(path))


@pytest.mark.parametrize(
    "rows",
    [slice(3, 5), slice(None), np.array([9_999, 0, 5_000]), 17, np.arange(10_000) % 3_000 == 0, slice(7, 3)],
)
def test_rows_are_those_of_the_array(path: Path, rows: object) -> None:
    array, expected = opened(path), np.load(path)
    np.testing.assert_array_equal(array[rows], expected[rows])
    assert (array.shape, len(array), array.dtype) == (expected.shape, 10_000, np.float32)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_damage_is_noticed_where_it_is_touched(
    path: Path, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked_files, "_BLOCKS_FOR_THREADS", 2)
    checksums = block_checksums(path)
    data = bytearray(path.read_bytes())
    data[3 * BLOCK_SIZE + 5] ^= 1
    path.write_bytes(data)
    array = opened(path, checksums, n_threads)
    assert array[:100].shape == (100, 10)
    assert array[np.array([0, 9_999])].shape == (2, 10)
    for rows in (slice(None), np.array([3 * BLOCK_SIZE // 40])):
        with pytest.raises(FolderError, match=f"near byte {3 * BLOCK_SIZE:,}"):
            array[rows]
    with pytest.raises(FolderError):
        array.whole()


def test_a_file_stays_readable_when_it_is_replaced(path: Path, tmp_path: Path) -> None:
    array, expected = opened(path), np.load(path)
    (tmp_path / "other").write_bytes(b"other")
    (tmp_path / "other").replace(path)
    np.testing.assert_array_equal(array.whole(), expected)


def test_an_empty_array_and_an_empty_file(tmp_path: Path) -> None:
    np.save(tmp_path / "empty.npy", np.zeros((0, 4), np.int8))
    assert opened(tmp_path / "empty.npy")[:].shape == (0, 4)
    (tmp_path / "nothing").write_bytes(b"")
    file = BlockFile(tmp_path / "nothing", b"")
    file.check()
    assert file.read(0, 0) == b""


def test_what_does_not_fit_is_refused(path: Path) -> None:
    with pytest.raises(FolderError, match="checksums for 1"):
        BlockFile(path, b"12345678")
    file = BlockFile(path, block_checksums(path))
    with pytest.raises(FolderError, match="does not hold"):
        CheckedArray(file, CheckedArray.describe(path) | {"shape": [10_001, 10]})
