from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kate.research.datasets.cache_dirs import cache_folder, data_folders, prepared_folder


def test_the_order_of_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KATE_DATA", str(tmp_path / "shared"))
    monkeypatch.setenv("KATE_CACHE", str(tmp_path / "cache"))

    others = [tmp_path / "shared", tmp_path / "cache" / "data"]
    assert data_folders(tmp_path / "mine") == [tmp_path / "mine", *others]
    assert data_folders() == others


def test_prepared_counts_never_lie_among_the_archives(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KATE_DATA", str(tmp_path / "shared"))

    assert tmp_path / "shared" not in prepared_folder().parents


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "given/kate"),
        ("linux", None, "home/.cache/kate"),
        ("darwin", None, "home/Library/Caches/kate"),
        ("win32", "LOCALAPPDATA", "given/kate"),
        ("win32", None, "home/AppData/Local/kate"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_caches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, variable: str | None, expected: str
) -> None:
    for name in ("KATE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "given"))
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")

    assert cache_folder() == tmp_path / expected
