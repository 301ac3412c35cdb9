from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kate.research.datasets.archives import files_in, lines_of

Pack = Callable[[Path, dict[str, bytes]], Path]


def test_a_folder_and_its_archive_read_alike(tmp_path: Path, make_tar: Pack) -> None:
    files = {"a/1": b"one", "b/2": b"two"}
    for name, content in files.items():
        (tmp_path / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / name).write_bytes(content)

    assert dict(files_in(make_tar(tmp_path / "x.tar.gz", files))) == files
    assert dict(files_in(tmp_path / "folder")) == files


def test_an_archive_cut_anywhere_is_named(tmp_path: Path, make_tar: Pack) -> None:
    noise = np.random.default_rng(0).bytes(100_000)  # incompressible, so that a cut is a cut in the middle
    whole = make_tar(tmp_path / "whole.tar.gz", {f"{n}": noise for n in range(3)}).read_bytes()
    for share in (0.0, 0.01, 0.5, 0.9):
        cut = tmp_path / "cut.tar.gz"
        cut.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(ValueError, match=r"(?s)cut\.tar\.gz is truncated or damaged .*fetch it again"):
            list(files_in(cut))


def test_a_web_page_in_place_of_an_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_text("<html>404</html>")

    with pytest.raises(ValueError, match=r"x\.tar\.gz is truncated or damaged"):
        list(files_in(tmp_path / "x.tar.gz"))


def test_lines_are_numbered_compressed_or_not(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"a\r\nb\n")
    (tmp_path / "packed.gz").write_bytes(gzip.compress(b"a\r\nb\n", mtime=0))

    assert list(lines_of(tmp_path / "plain")) == [(1, b"a"), (2, b"b")]
    assert list(lines_of(tmp_path / "packed.gz")) == [(1, b"a"), (2, b"b")]


def test_a_truncated_gzip_is_named(tmp_path: Path) -> None:
    packed = gzip.compress(np.random.default_rng(0).bytes(10_000))
    (tmp_path / "cut.gz").write_bytes(packed[:5_000])

    with pytest.raises(ValueError, match=r"cut\.gz is truncated or damaged"):
        list(lines_of(tmp_path / "cut.gz"))
