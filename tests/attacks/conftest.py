"""Folders of every kind, made once and copied for each attack."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attacks.attacked_folders import FOLDERS

_ROOM = 1 << 28  # containers have 64 MiB of it, mostly


@pytest.fixture(scope="session")
def whole_folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a kind, not to be touched."""
    root, made = tmp_path_factory.mktemp("whole"), set[str]()

    def folder(kind: str) -> Path:
        if kind not in made:
            if FOLDERS[kind].missing:
                pytest.skip(str(FOLDERS[kind].missing))
            FOLDERS[kind].make(root / kind)
            made.add(kind)
        return root / kind

    return folder


@pytest.fixture
def place() -> Iterator[Path]:
    """An empty folder in memory, where there is one: a disk that is flushed a thousand times takes its time."""
    shared = Path("/dev/shm")
    has_memory = os.access(shared, os.W_OK | os.X_OK) and shutil.disk_usage(shared).free > _ROOM
    with tempfile.TemporaryDirectory(dir=shared if has_memory else None) as folder:
        yield Path(folder)


@pytest.fixture
def attacked(whole_folders: Callable[[str], Path], place: Path) -> Callable[[str], Path]:
    """A copy of the folder of a kind, to be damaged."""
    return lambda kind: Path(shutil.copytree(whole_folders(kind), place / kind))
