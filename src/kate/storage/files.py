"""Files and folders that appear whole or not at all (write beside the target, then rename); files with one writer."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["only_writer", "whole_file", "whole_folder"]


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; on success it takes the place of ``path``, on failure it goes.

    >>> with whole_file("vectors.bin") as part:  # doctest: +SKIP
    ...     part.write_bytes(b"...")
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
    """Yield an empty temporary folder beside ``path``; on success it becomes ``path``, on failure it goes.

    An existing non-empty ``path`` is replaced only when it holds a file named ``replaces`` (a folder of the
    same kind): a slip of the keyboard must never delete somebody's home directory.
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
    """Keep other programs from adding to ``path`` meanwhile; it is made where it is not there.

    Whoever comes second is refused. A program that is killed loses its hold at once, so that the next one can go on.
    On Windows, and on disks that cannot lock, nobody is kept out.
    """
    with Path(path).open("ab") as file:  # better to fail now than after hours of work
        if not _hold(file.fileno()):
            raise BlockingIOError(
                f"{path} is being written by another program, another kate perhaps; wait until it is done or stop it, "
                "or choose another folder"
            )
        yield  # closing the file lets go


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
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    try:
        target.rename(old / "was")
        part.rename(target)
    except BaseException:  # an interrupt between the two as well
        if (old / "was").exists():
            (old / "was").rename(target)
        raise
    finally:
        if target.exists():  # otherwise the old folder could not be put back: better a stray copy than none
            shutil.rmtree(old, ignore_errors=True)


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
