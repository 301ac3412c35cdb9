"""Reading archives, which may be truncated, damaged or not the expected ones."""

from __future__ import annotations

import gzip
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["decode_text", "files_in", "lines_of", "require_count"]

_DAMAGE = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


def files_in(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every file of a tar archive (compressed or not) or of a folder: its path inside, its bytes.

    Archives are read from front to back and never unpacked to disk. A folder is read in order of names.
    """
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file():
                yield file.relative_to(path).as_posix(), file.read_bytes()
        return
    with _damage_named(path), tarfile.open(path, "r:*") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name.removeprefix("./"), content.read()


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a gzip-compressed or plain file, numbered from 1, without their line ends."""
    with path.open("rb") as raw, _damage_named(path):
        is_gzip = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        with gzip.open(raw) if is_gzip else raw as lines:
            for number, line in enumerate(lines, start=1):
                yield number, line.rstrip(b"\r\n")


def require_count(found: int, expected: int, of_what: str, otherwise: str) -> None:
    """Refuse contents that are not the published ones.

    >>> require_count(11_313, 11_314, "documents in 20news-bydate-train", "the archive is truncated")
    Traceback (most recent call last):
    ValueError: found 11,313 documents in 20news-bydate-train, expected 11,314: the archive is truncated
    """
    if found != expected:
        raise ValueError(f"found {found:,} {of_what}, expected {expected:,}: {otherwise}")


def decode_text(content: bytes) -> str:
    """Text in UTF-8, or else in Windows-1252, which many old English files use.

    >>> decode_text("naïve".encode()), decode_text("naïve".encode("cp1252"))
    ('naïve', 'naïve')
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise ValueError(f"{path} is truncated or damaged ({error}); delete it and fetch it again") from error
