"""How a file or folder takes the place of another one, so that a kill or a power cut leaves the old or the new, whole.

What is written goes into a *part*, ``.NAME.kate-XXXXXXXX`` beside the target, which its writer keeps locked. When it is
complete and on disk, it is exchanged with the target in one step (Linux, macOS). Where the system cannot do that,
the old folder is moved aside, into ``.NAME.kate-old-XXXXXXXX``, and a reader or the next writer moves it back if
nothing took its place. Parts that nobody has locked are left from a program that was killed: the next writer removes
them.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["flush", "flush_tree", "hold", "locked", "new_part", "recover", "remove_leftovers", "swap_in"]

_PART, _OLD = "kate-", "kate-old-"
_WAS = "was"
# Where there are no locks, a part that has not changed for so long is taken for a leftover.
_A_DAY = 86_400.0


def new_part(target: Path, *, folder: bool) -> tuple[Path, int | None]:
    """An empty file or folder beside the target, and the lock that says that its writer lives (None: no locks)."""
    while True:
        suffix = "" if folder else target.suffix
        part = target.with_name(f".{target.name}.{_PART}{secrets.token_hex(4)}{suffix}")
        try:
            if folder:
                part.mkdir()
            else:
                os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except FileExistsError:
            continue
        lock, held = _locked_part(part)
        # another writer may have taken it for a leftover before it was locked
        if held is not False and part.exists():
            return part, lock
        if lock is not None:
            os.close(lock)


def remove_leftovers(target: Path) -> None:
    """Put back an old folder that a kill left aside, and remove what other killed programs left of this target."""
    recover(target)
    for left in _siblings(target, _PART):
        if left.name.startswith(f".{target.name}.{_OLD}") and (left / _WAS).exists() and not target.exists():
            continue  # an old folder that could not be put back: the only copy
        _remove_if_left(left)


def recover(target: Path) -> bool:
    """Put back the old folder if a kill between two renames left nothing in its place; whether it was done."""
    # nearly always there is nothing to put back, and then nobody has to wait for a lock
    if target.exists():
        return False
    if target.is_symlink():  # what it points at was moved aside, and lies beside that
        target = target.resolve()
    if not _siblings(target, _OLD):
        return False
    with locked(target.parent):
        for left in _siblings(target, _OLD):
            if (left / _WAS).exists() and not target.exists():
                with suppress(OSError):
                    (left / _WAS).rename(target)
                    flush(target.parent)
                    left.rmdir()
                    return True
    return False


def swap_in(part: Path, target: Path, check: Callable[[], None] = lambda: None) -> None:
    """Put a folder in the place of the target; what was there lies in ``part`` then, to be removed.

    ``check`` is called when nobody else can swap any more, and may refuse.
    """
    with locked(target.parent):
        check()
        if not target.exists():
            part.rename(target)
        elif not exchanged(part, target):
            _moved_aside(part, target)
        flush(target.parent)


def _moved_aside(part: Path, target: Path) -> None:
    """The same in two steps. A kill in between leaves the old folder where :func:`recover` finds it."""
    old = target.with_name(f".{target.name}.{_OLD}{secrets.token_hex(4)}")
    old.mkdir()
    try:
        target.rename(old / _WAS)
        part.rename(target)
    except BaseException:  # also an interrupt between the two
        if (old / _WAS).exists() and not target.exists():
            (old / _WAS).rename(target)
        raise
    finally:
        # if the old folder could not be put back, a stray copy is better than none
        if target.exists():
            flush(target.parent)
            shutil.rmtree(old, ignore_errors=True)


def exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders in one step: nobody sees a moment without a folder. Whether it was done."""
    exchange = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
    names = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(library.renamex_np(*names, exchange) == 0)
        here = -100  # AT_FDCWD: paths are relative to the working directory
        return bool(library.renameat2(here, names[0], here, names[1], exchange) == 0)
    except (AttributeError, OSError, TypeError):  # another system, or a library without it
        return False


def flush_tree(folder: Path) -> None:
    """Bring every file of a folder to the disk, and the names of the files."""
    for place, _, names in os.walk(folder):
        for name in names:
            flush(Path(place, name))
        flush(Path(place))


def flush(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk."""
    is_folder = path.is_dir()
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        if is_folder:  # on Windows, or without the right to list it: there is no way
            return
        raise
    try:
        os.fsync(descriptor)
    except OSError as error:
        if not is_folder or error.errno not in {22, 95}:  # EINVAL, EOPNOTSUPP: this disk cannot
            raise
    finally:
        os.close(descriptor)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One program at a time swaps in a folder. The lock is on the folder itself: no file is left.

    A part has a lock already: that of its writer, who alone knows it.
    """
    descriptor = None
    if folder.name.startswith(".") and f".{_PART}" in folder.name:
        yield
        return
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except (ImportError, OSError):  # no locks here: one step is one step all the same
        pass
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def hold(descriptor: int) -> bool | None:
    """Lock an open file at once; False if another program has locked it, None where there are no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # no locks on this disk
        return None
    return True


def _locked_part(part: Path) -> tuple[int | None, bool | None]:
    """A part, opened and locked: its descriptor, and what :func:`hold` says."""
    try:
        descriptor = os.open(part, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None, False
    except OSError:  # Windows opens no folders
        return None, None
    return descriptor, hold(descriptor)


def _remove_if_left(part: Path) -> None:
    """Remove a part to which nobody writes any more; it is locked meanwhile."""
    descriptor, held = _locked_part(part)
    try:
        if held or (held is None and _is_old(part)):
            _remove(part)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _is_old(part: Path) -> bool:
    try:
        return time.time() - part.stat().st_mtime > _A_DAY
    except OSError:
        return False


def _siblings(target: Path, mark: str) -> list[Path]:
    """Parts of a target, of whichever program."""
    prefix = f".{target.name}.{mark}"
    try:
        with os.scandir(target.parent) as entries:
            return sorted(target.parent / one.name for one in entries if one.name.startswith(prefix))
    except OSError:
        return []


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
