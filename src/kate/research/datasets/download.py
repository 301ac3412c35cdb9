"""Finds an archive on this machine or downloads it: downloads are checked, resumed, and never left half finished."""

from __future__ import annotations

import email.utils
import http.client
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from kate.research.datasets.cache_dirs import data_folders
from kate.research.datasets.first_downloads import remember_checksum, remembered_checksum
from kate.storage.checksums import sha256_of_file

__all__ = ["Archive", "BytesReport", "download"]

BytesReport: TypeAlias = Callable[[int, int | None], None]
"""Called with the bytes received so far and the total (None if the server does not say)."""

_BLOCK = 1 << 17
_ATTEMPTS = 4  # how often a broken connection is resumed before the download fails
_TIMEOUT_S = 30


@dataclass(frozen=True)
class Archive:
    """A published file: where it comes from and how to recognise it.

    ``sha256`` and ``size`` are those of the published file, left None where no trustworthy source states
    them: then the first download is trusted, and every later one must be the same (``first_downloads.json``). They are
    checked on downloads only. A file that a user put into the folder may be packed differently; its
    contents are checked when it is read.

    >>> Archive("20news-bydate.tar.gz", ("http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",)).name
    '20news-bydate.tar.gz'
    """

    name: str
    urls: tuple[str, ...] = ()
    sha256: str | None = None
    size: int | None = None
    also: tuple[str, ...] = ()
    """Other names to accept, such as the folder the archive unpacks to."""
    only_with: str | None = None
    """The option that needs this file; None: always needed."""

    def find(self, data_home: str | os.PathLike[str] | None = None) -> Path | None:
        """The file, or one of the other names it may have, in the first data folder that holds one."""
        for folder in data_folders(data_home):
            for name in (self.name, *self.also):
                if (folder / name).exists():
                    return folder / name
        return None

    def obtain(self, data_home: str | os.PathLike[str] | None = None) -> Path:
        """Find the file or download it; the error says what to put where."""
        found = self.find(data_home)
        if found is not None:
            return found
        target = _folder_to_write(data_home) / self.name
        failures = []
        for url in self.urls:
            try:
                with _terminal_bar(self.name) as progress:
                    sha256 = self.sha256 or remembered_checksum(target)
                    found = download(url, target, sha256=sha256, size=self.size, progress=progress)
                if sha256 is None:
                    remember_checksum(found)
                return found
            except (OSError, ValueError) as error:
                failures.append(f"{url}: {error}")
        raise FileNotFoundError(self._how_to_get_it(data_home, failures))

    def _how_to_get_it(self, data_home: str | os.PathLike[str] | None, failures: list[str]) -> str:
        looked = " or ".join(str(folder) for folder in data_folders(data_home))
        tried = "".join(f"\n  {failure}" for failure in failures) or "\n  no address is known for it"
        return (
            f"{self.name} is not on this machine and could not be downloaded:{tried}\n"
            f"Get it another way and put it into {looked}, or point KATE_DATA at the folder that has it."
        )


def download(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    size: int | None = None,
    progress: BytesReport | None = None,
) -> Path:
    """Download ``url`` to ``target``, which appears only when it is whole and its checksum is right.

    The bytes arrive in ``target`` + ``.part``; what is there already is resumed, within one call when the
    connection breaks and in the next call when the process did.
    """
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"{url} is no address of the web; data sets are downloaded by http and https alone")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _receive(url, part, progress, can_check=sha256 is not None or size is not None)
            break
        except _LengthUnknownError:
            raise  # trying again would not help
        except (ConnectionError, TimeoutError, http.client.HTTPException) as error:
            if attempt == _ATTEMPTS:
                raise ConnectionError(f"{error}; run it again to resume") from error
    _require_as_published(part, sha256, size)
    return part.replace(target)


class _LengthUnknownError(ConnectionError):
    """A whole file could not be told from the beginning of one."""


def _receive(url: str, part: Path, progress: BytesReport | None, *, can_check: bool) -> None:
    """Append to ``part`` what is missing, or start again if the server cannot resume this file.

    ``can_check``: a checksum or a size will tell whether the file is whole; otherwise the server must say its length.
    """
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "kate"} | _resume_headers(part, have)
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - download() takes http and https alone
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT_S)  # noqa: S310
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not have:
            raise
        if error.headers.get("Content-Range") == f"bytes */{have}":
            return None  # nothing is missing: the last run ended after the last byte, before the file was renamed
        part.unlink()
        return _receive(url, part, progress, can_check=can_check)
    with response:
        is_rest = response.status == http.HTTPStatus.PARTIAL_CONTENT
        if is_rest and not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            part.unlink(missing_ok=True)
            raise ConnectionError("the server sent another part than the one asked for")
        if not is_rest:
            have = 0
        length = response.headers.get("Content-Length")
        total = have + int(length) if length else None
        is_chunked = response.headers.get("Transfer-Encoding", "").lower() == "chunked"
        if total is None and not is_chunked and not can_check:
            raise _LengthUnknownError(
                "the server does not say how long the file is, so a broken connection would go unnoticed"
            )
        try:
            with part.open("ab" if have else "wb") as file:
                while block := response.read(_BLOCK):
                    file.write(block)
                    have += len(block)
                    if progress:
                        progress(have, total)
        finally:
            _remember_version(part, response.headers.get("Last-Modified"))
    if total is not None and have != total:
        raise ConnectionError(f"the connection ended after {have:,} of {total:,} bytes")
    return None


def _resume_headers(part: Path, have: int) -> dict[str, str]:
    # If-Range: a server whose file has changed since sends it whole instead of the tail of another file.
    if not have:
        return {}
    version = email.utils.formatdate(part.stat().st_mtime, usegmt=True)
    return {"Range": f"bytes={have}-", "If-Range": version}


def _remember_version(part: Path, last_modified: str | None) -> None:
    """Give the partial file the time stamp of the server's file, which If-Range compares."""
    if last_modified and part.exists():
        stamp = email.utils.parsedate_to_datetime(last_modified).timestamp()
        os.utime(part, (stamp, stamp))


def _require_as_published(part: Path, sha256: str | None, size: int | None) -> None:
    found_size = part.stat().st_size
    if size is not None and found_size != size:
        part.unlink()
        raise ValueError(f"got {found_size:,} bytes, expected {size:,}: not the published file")
    if sha256 is not None:
        found = sha256_of_file(part)
        if found != sha256:
            part.unlink()
            raise ValueError(f"its sha256 is {found}, expected {sha256}: not the published file")


def _folder_to_write(data_home: str | os.PathLike[str] | None) -> Path:
    folders = data_folders(data_home)
    for folder in folders:
        existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        if os.access(existing, os.W_OK):
            return folder
    return folders[-1]


@contextmanager
def _terminal_bar(name: str) -> Iterator[BytesReport | None]:
    """A progress bar if standard error is a terminal, nothing otherwise."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import console, progress

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
    )
    with progress.Progress(*columns, console=console.Console(stderr=True), transient=True) as bars:
        task = bars.add_task(name, total=None)
        yield lambda here, total: bars.update(task, completed=here, total=total)
