"""Checksums of files that nobody publishes one for: the first download is trusted, and later ones must be the same.

They stand in ``first_downloads.json`` beside the archives: ``{"scale_data.tar.gz": "<sha256>"}``. Delete the entry of a
file that its publishers have changed.
"""

from __future__ import annotations

import json
from pathlib import Path

from kate.storage.bounded_files import read_json
from kate.storage.checksums import sha256_of_file
from kate.storage.files import only_writer, whole_file

__all__ = ["remember_checksum", "remembered_checksum"]

_FILE = "first_downloads.json"


def remembered_checksum(archive: Path) -> str | None:
    """The SHA-256 of the first download of a file of this name; None if there was none."""
    found = _read(archive.with_name(_FILE)).get(archive.name)
    return found if isinstance(found, str) else None


def remember_checksum(archive: Path) -> None:
    """Remember what was downloaded."""
    path = archive.with_name(_FILE)
    with only_writer(path.with_suffix(".lock")):
        known = _read(path) | {archive.name: sha256_of_file(archive)}
        with whole_file(path) as part:
            part.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


def _read(path: Path) -> dict[str, object]:
    if not path.is_file():
        return {}
    try:
        found = read_json(path)
    except ValueError as error:
        raise ValueError(
            f"{path} is damaged ({error}); delete it, and downloads are trusted once more"
        ) from None
    return found if isinstance(found, dict) else {}
