"""Files and folders that appear whole or not at all, and files with one writer.

What is written goes into a temporary file or folder beside the target, which takes its place when it is complete and on
disk (``replacing.py`` says how). A link is followed: what it points at is replaced, and the link stays.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kate.storage.replacing import flush, flush_tree, hold, new_part, remove_leftovers, swap_in

__all__ = ["only_writer", "scratch_folder", "whole_file", "whole_folder"]


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; on success it is renamed to ``path``, on failure it is deleted.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/vectors.bin") as part:
    ...         n_written = part.write_bytes(b"...")
    ...     os.listdir(folder)
    ['vectors.bin']
    """
    target = _real(path)
    _require_parent(target)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; give the name of a file to write")
    if target.exists() and not target.is_file():
        raise FileExistsError(f"{target} is a device or a pipe; give the name of a file to write")
    remove_leftovers(target)
    part, lock = _begun(target, folder=False)
    try:
        yield part
        flush(part)
        part.replace(target)
        flush(target.parent)
    finally:
        part.unlink(missing_ok=True)
        _release(lock)


@contextmanager
def whole_folder(
    path: str | os.PathLike[str],
    *,
    replaces: str | None = None,
    check: Callable[[Path], None] = lambda target: None,
) -> Iterator[Path]:
    """Yield an empty temporary folder beside ``path``; on success it takes its place, on failure it is deleted.

    An existing folder that is not empty is replaced only if it holds a file named ``replaces``, which marks it as one
    of the same kind: a typing error must never delete somebody's home directory. ``check`` may refuse as well. Both are
    asked before anything is written, and again before the old folder goes.
    """
    target = _real(path)

    def require() -> None:
        _require_replaceable(target, replaces)
        check(target)

    _require_parent(target)
    require()
    remove_leftovers(target)
    part, lock = _begun(target, folder=True)
    try:
        yield part
        flush_tree(part)
        swap_in(part, target, require)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        _release(lock)


@contextmanager
def scratch_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield an empty folder beside ``path``, for what is needed until that is written; it is removed at the end.

    It lies on the same disk, which must have room for the result anyway. What a killed program left is removed by the
    next one that writes to ``path``.
    """
    target = _real(path)
    _require_parent(target)
    remove_leftovers(target)
    part, lock = _begun(target, folder=True)
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)
        _release(lock)


@contextmanager
def only_writer(path: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other programs from writing to ``path`` meanwhile; the file is created if it does not exist.

    The second program is refused. If a program is killed, its lock ends at once, so that the next one can go on. On
    Windows, and on disks without locks, nobody is refused.
    """
    if Path(path).exists() and not Path(path).is_file():  # opening a pipe would wait for a reader
        raise FileExistsError(f"{path} is a folder, a device or a pipe; move it away")
    with Path(path).open("ab") as file:  # fails now rather than after hours of work
        if hold(file.fileno()) is False:
            raise BlockingIOError(
                f"{path} is being written by another program, another kate perhaps; wait until it is done or stop it, "
                "or choose another folder"
            )
        yield  # closing the file ends the lock


def _begun(target: Path, *, folder: bool) -> tuple[Path, int | None]:
    """A part to write to; whoever may not write there is told where, and not by the name of the part."""
    try:
        return new_part(target, folder=folder)
    except OSError as error:
        refused = type(error)(
            f"cannot write {target}: the folder {target.parent} takes nothing new ({error.strerror}); choose another "
            "folder, or make room and rights for it"
        )
        refused.errno = error.errno
        raise refused from error


def _real(path: str | os.PathLike[str]) -> Path:
    """What is to be replaced: the target of a link, and not the link; "." by its name."""
    target = Path(path)
    return target.resolve() if target.is_symlink() or target.name in {"", ".."} else target


def _release(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)


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
    if target.is_mount():
        raise FileExistsError(
            f"cannot replace {target}: a disk is mounted there, and a folder takes its place as a whole; give the name "
            f"of a folder inside it: {target / 'model'}"
        )
    if any(target.iterdir()) and not (marker and (target / marker).is_file()):
        raise FileExistsError(
            f"cannot write {target}: the folder is there and holds something else"
            + (f" (no {marker} in it)" if marker else "")
            + "; choose another name or empty it"
        )
