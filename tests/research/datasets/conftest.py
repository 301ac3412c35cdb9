"""Tests of data sets: no network, a cache of their own, the real archives where they are."""

from __future__ import annotations

import io
import socket
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from real_data import real_data_folder


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that reaches for the network fails at once instead of downloading."""
    connect = socket.create_connection

    def connect_to_loopback(address: tuple[str, int], *args: Any, **kwargs: Any) -> socket.socket:
        if address[0] != "127.0.0.1":
            raise ConnectionRefusedError(f"no network in tests: {address[0]}")
        return connect(address, *args, **kwargs)

    monkeypatch.setattr(socket, "create_connection", connect_to_loopback)


@pytest.fixture(autouse=True)
def own_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the person's archives nor the person's cache are seen or touched."""
    monkeypatch.delenv("KATE_DATA", raising=False)
    monkeypatch.setenv("KATE_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with the real archives; tests that need it are skipped where there is none."""
    return real_data_folder()


@pytest.fixture(scope="module")
def module_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One cache for a module of tests that share a load."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KATE_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def make_tar() -> Callable[[Path, Mapping[str, bytes]], Path]:
    """Packs files into a tar archive, compressed as its name says."""

    def pack(path: Path, files: Mapping[str, bytes]) -> Path:
        with tarfile.open(path, f"w:{path.suffix[1:]}") as archive:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        return path

    return pack
