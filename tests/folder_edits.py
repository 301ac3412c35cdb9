"""Edits of our folders by somebody who knows how: checksums are made to fit again, as a stranger could."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kate.storage.checked_files import CheckedArray, block_checksums
from kate.storage.checksums import sha256_of_bytes, sha256_of_file
from kate.storage.folders import _checksum

__all__ = ["edit_json", "seal_file", "write_sealed"]


def write_sealed(path: Path, config: dict[str, Any]) -> None:
    """Write a config.json or index.json with its own checksum."""
    plain = {name: value for name, value in config.items() if name != "sha256"}
    plain = json.loads(json.dumps(plain))
    path.write_text(json.dumps(plain | {"sha256": _checksum(plain)}))


def edit_json(path: Path, **changes: Any) -> None:
    """Change entries of a config.json or index.json; the checksum fits."""
    write_sealed(path, json.loads(path.read_text()) | changes)


def seal_file(folder: Path, name: str, *, describe: bool = False) -> None:
    """Make every checksum of a model, estimator or index folder fit one of its files, which was changed.

    describe : index.json says the kind and shape of the array anew, too
    """
    path = folder / name
    if path.name == "topic_edits.json":
        _seal_edits(path)
    config = path.parent / "config.json"
    if path.name not in ("config.json", "index.json") and config.is_file():
        written = json.loads(config.read_text())
        if path.name in written["files"]:
            written["files"][path.name] = {"bytes": path.stat().st_size, "sha256": sha256_of_file(path)}
        write_sealed(config, written)
    index = folder / "index.json"
    if index.is_file() and name != "index.json":
        written = json.loads(index.read_text())
        written["model_sha256"] = sha256_of_file(folder / "model" / "config.json")
        if "files" in written:
            if describe and name.endswith(".npy"):
                written["files"][name] |= CheckedArray.describe(folder / name)
            _seal_blocks(folder, written, name)
        write_sealed(index, written)


def _seal_blocks(folder: Path, written: dict[str, Any], changed: str) -> None:
    """Write checksums.bin anew; a file that was changed keeps what is said of its array."""
    if changed != "checksums.bin":
        checksums = b""
        for name, entry in written["files"].items():
            entry |= {"bytes": (folder / name).stat().st_size, "first_checksum": len(checksums)}
            checksums += block_checksums(folder / name)
            entry["last_checksum"] = len(checksums)
        (folder / "checksums.bin").write_bytes(checksums)
    written["checksums_sha256"] = sha256_of_file(folder / "checksums.bin")


def _seal_edits(path: Path) -> None:
    try:
        found = json.loads(path.read_text())
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict):
        plain = {name: value for name, value in found.items() if name != "sha256"}
        text = json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
        path.write_text(
            json.dumps({"sha256": sha256_of_bytes(text.encode("utf-8", "surrogatepass"))} | plain)
        )
