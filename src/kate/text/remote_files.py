"""Files elsewhere, by addresses such as s3://bucket/news.jsonl, through fsspec (extra ``remote``).

Rows of text are read from there as they come; a Parquet file, which is read from its end, is copied to a temporary file
first and removed after it was read.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from kate.extras import install_command
from kate.text.compressed_files import CorpusError

__all__ = ["RemoteFile", "is_address", "remote_folder_files", "remote_glob"]

# one letter would be a drive of Windows
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")
_SECRET = re.compile(r"(?<=://)[^/@]*@")
_AT_ONCE = 1 << 20


def is_address(text: str) -> bool:
    """Whether a path says how to get it.

    >>> is_address("s3://bucket/news.parquet"), is_address("news.parquet"), is_address("C://news.parquet")
    (True, False, False)
    """
    return _SCHEME.match(text) is not None


@dataclass(frozen=True)
class RemoteFile:
    """A file that a file system of fsspec gives."""

    address: str
    system: Any
    place: str  # as the system calls it
    listed_size: int | None = None  # what a list of the folder said

    @classmethod
    def at(cls, address: str) -> RemoteFile:
        """The file or folder at an address; an error says which package is missing, or that nobody knows the scheme."""
        try:
            import fsspec
        except ImportError as error:
            raise ImportError(
                f"{_shown(address)} needs the package fsspec: {install_command('remote')}"
            ) from error
        scheme = address.partition("://")[0].lower()
        if scheme not in {*fsspec.available_protocols(), *fsspec.registry}:
            raise CorpusError(
                f"{_shown(address)[:200]}: nobody knows the scheme {scheme[:40]}://; expected a path, or an address "
                "such as s3://, gs:// or https://"
            )
        try:
            system, place = fsspec.core.url_to_fs(address)
        except ImportError as error:
            # fsspec names its package
            raise ImportError(f"{_shown(address)} cannot be read here: {error}") from error
        return cls(address, system, place)

    @property
    def shown(self) -> str:
        return _shown(self.address)

    @property
    def path(self) -> PurePosixPath:
        return PurePosixPath(urlsplit(self.shown).path)

    @cached_property
    def size(self) -> int | None:
        if self.listed_size is not None:
            return self.listed_size
        with _told(self.shown):
            size = self.system.info(self.place).get("size")
        return size if isinstance(size, int) else None

    @property
    def exists(self) -> bool:
        with _told(self.shown):
            return bool(self.system.exists(self.place))

    @property
    def is_folder(self) -> bool:
        with _told(self.shown):
            return bool(self.system.isdir(self.place))

    def open(self) -> BinaryIO:
        with _told(self.shown):
            stream: BinaryIO = self.system.open(self.place, "rb")
        return _RemoteStream(stream, self.shown)  # type: ignore[return-value]  # it can read and be closed

    @contextmanager
    def local(self) -> Iterator[Path]:
        with tempfile.NamedTemporaryFile(prefix="kate-", suffix=self.path.suffix) as copy:
            with self.open() as stream:
                shutil.copyfileobj(stream, copy, _AT_ONCE)
            copy.flush()
            yield Path(copy.name)

    def other(self, place: str, details: Mapping[str, Any]) -> RemoteFile:
        """Another file of the same system."""
        found = str(self.system.unstrip_protocol(place))
        address = found if is_address(found) else f"{self.address.partition('://')[0]}://{place}"
        size = details.get("size")
        return RemoteFile(address, self.system, place, size if isinstance(size, int) else None)


class _RemoteStream:
    """A stream whose errors name the file."""

    def __init__(self, stream: BinaryIO, shown: str) -> None:
        self._stream = stream
        self._shown = shown

    def read(self, size: int = -1) -> bytes:
        with _told(self._shown):
            return self._stream.read(size)

    def __enter__(self) -> _RemoteStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


def remote_glob(pattern: RemoteFile) -> list[RemoteFile]:
    """The files and folders whose names are of a pattern."""
    with _told(pattern.shown):
        found = pattern.system.glob(pattern.place, detail=True)
    return [pattern.other(place, found[place]) for place in sorted(found)]


def remote_folder_files(folder: RemoteFile) -> list[tuple[str, RemoteFile]]:
    """All files of a folder, in the order of their paths in it."""
    with _told(folder.shown):
        details = folder.system.find(folder.place, detail=True)
    base = folder.place.rstrip("/") + "/"
    return [(place.removeprefix(base), folder.other(place, details[place])) for place in sorted(details)]


def _shown(address: str) -> str:
    """An address without what may be secret in it: a name and password, and a signature behind the path."""
    bare = _SECRET.sub("", address)
    return bare.partition("?")[0] if bare.lower().startswith("http") else bare


@contextmanager
def _told(shown: str) -> Iterator[None]:
    """Say in our words what went wrong far away: each system has errors of its own."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"{shown} does not exist; check the address") from None
    except ImportError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise CorpusError(
            f"{shown} cannot be read ({reason}); check the address, the network and your rights"
        ) from error
