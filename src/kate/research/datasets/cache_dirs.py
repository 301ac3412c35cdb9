"""Where data sets are on this machine: archives of the user, downloads, and counted data sets."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder", "data_folders", "prepared_folder"]


def cache_folder() -> Path:
    """``KATE_CACHE``, or a folder ``kate`` where this platform keeps caches.

    >>> import os
    >>> os.environ["KATE_CACHE"] = "somewhere"
    >>> cache_folder().name
    'somewhere'
    >>> del os.environ["KATE_CACHE"]
    """
    chosen = os.environ.get("KATE_CACHE")
    return Path(chosen).expanduser() if chosen else _platform_cache() / "kate"


def data_folders(data_home: str | os.PathLike[str] | None = None) -> list[Path]:
    """The folders to look for archives in, in order: ``data_home``, ``KATE_DATA``, then the cache.

    >>> [folder.name for folder in data_folders("archives")][0]
    'archives'
    """
    chosen = [data_home, os.environ.get("KATE_DATA") or None, cache_folder() / "data"]
    return [Path(folder).expanduser() for folder in chosen if folder is not None]


def prepared_folder() -> Path:
    """Where counted data sets are kept; not beside the archives, whose folder may be read-only or shared."""
    return cache_folder() / "prepared"


def _platform_cache() -> Path:
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
