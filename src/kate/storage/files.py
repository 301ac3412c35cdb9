"""Files and folders that appear whole or not at all, and files with one writer.

What is written goes into a temporary file or folder beside the target, which is renamed when it is complete.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["only_writer", "whole_file", "whole_folder"]


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; on success it is renamed to ``path``, on failure it is deleted.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/vectors.bin") as part:
    ...         n_written = part.write_bytes(b"...")
    ...     os.listdir(folder)
    ['vectors.bin']
    """
    target = Path(path)
    _require_parent(target)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; give the name of a file to write")
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        _flush_to_disk(part)
        part.chmod(0o666 & ~_umask())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: str | os.PathLike[str], *, replaces: str | None = None) -> Iterator[Path]:
    """Yield an empty temporary folder beside ``path``; on success it is renamed to ``path``, on failure it is deleted.

    An existing folder that is not empty is replaced only if it holds a file named ``replaces``, which marks it as one
    of the same kind: a typing error must never delete somebody's home directory.
    """
    target = Path(path)
    _require_parent(target)
    _require_replaceable(target, replaces)
    part = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield part
        for file in part.rglob("*"):
            if file.is_file():
                _flush_to_disk(file)
        part.chmod(0o777 & ~_umask())
        _swap_in(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextmanager
def only_writer(path: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other programs from writing to ``path`` meanwhile; the file is created if it does not exist.

    The second program is refused. If a program is killed, its lock ends at once, so that the next one can go on. On
    Windows, and on disks without locks, nobody is refused.
    """
    with Path(path).open("ab") as file:  # fails now rather than after hours of work
        if not _hold(file.fileno()):
            raise BlockingIOError(
                f"{path} is being written by another program, another kate perhaps; wait until it is done or stop it, "
                "or choose another folder"
            )
        yield  # closing the file ends the lock


def _hold(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # no locks on this disk
        return True
    return True


def _swap_in(part: Path, target: Path) -> None:
    if not target.exists():
        part.rename(target)
        return
    if _exchanged(part, target):
        # the old folder is now at the temporary place and removed with it
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    try:
        target.rename(old / "was")
        part.rename(target)
    except BaseException:  # also an interrupt between the two
        if (old / "was").exists():
            (old / "was").rename(target)
        raise
    finally:
        # if the old folder could not be put back, a stray copy is better than none
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders in one step, which Linux can: nobody sees a moment without a folder. Whether it was done."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        exchange = 2  # RENAME_EXCHANGE
        here = -100  # AT_FDCWD: paths are relative to the working directory
        return bool(library.renameat2(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)
    except (AttributeError, OSError, TypeError):  # another system, or a library without it
        return False


def _require_parent(target: Path) -> None:
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {target}: the folder {target.parent} does not exist; create it"
        )


def _require_replaceable(target: Path, marker: str | None) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise NotADirectoryError(f"cannot write the folder {target}: a file of that name is there")
    if any(target.iterdir()) and not (marker and (target / marker).is_file()):
        raise FileExistsError(
            f"cannot write {target}: the folder is there and holds something else"
            + (f" (no {marker} in it)" if marker else "")
            + "; choose another name or empty it"
        )


def _flush_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
