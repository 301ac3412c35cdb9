"""Folders of ours: one JSON file says what they are, and files are checked against it before they are used."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

import kate
from kate.errors import KateError, quoted
from kate.storage.bounded_files import physical_memory, read_bounded, read_json
from kate.storage.checksums import sha256_of_bytes
from kate.storage.files import whole_folder
from kate.storage.replacing import recover

__all__ = ["FolderError", "FolderKind", "StrPath", "require_finite"]

StrPath: TypeAlias = str | os.PathLike[str]
Result = TypeVar("Result")

_CHECKSUM = "sha256"
# A reader begins again for so long while somebody replaces the folder again and again.
_PATIENCE, _A_MOMENT = 10.0, 0.01


class FolderError(KateError, ValueError):
    """A folder that is damaged, of another kind, or of a format that this version does not read.

    >>> import tempfile, kate
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         kate.load(folder)
    ...     except kate.FolderError as error:
    ...         print("no model" if "model" in str(error) else error)
    no model
    """


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder of ours: its JSON file names the format and the version, so that no other folder is mistaken.

    ``files`` are the names that such a folder may hold beside ``config``; ``remedy`` says how to make one. Folders of
    another ``version`` than this are refused.
    """

    name: str
    config: str
    version: int
    files: tuple[str, ...]
    remedy: str

    def head(self) -> dict[str, Any]:
        """The first lines of the JSON file."""
        return {
            "format": f"kate-{self.name}",
            "format_version": self.version,
            "kate_version": kate.__version__,
        }

    def read_config(self, folder: Path) -> dict[str, Any]:
        """The JSON file of a folder, if the folder is of this kind, of a version that can be read, and undamaged."""
        if not folder.exists() and not recover(folder):
            raise FileNotFoundError(f"there is no {self.name} folder {folder}; {self.remedy}")
        if not folder.is_dir():
            raise NotADirectoryError(f"{folder} is a file; expected a Kate {self.name} folder: {self.remedy}")
        config = self._config(folder)
        found = config.get("format_version")
        if type(found) is int and 0 < found < self.version:
            writer = ".".join(str(config.get("kate_version")).split(".")[:2])
            raise FolderError(
                f"{folder} was written by Kate {writer} (format version {found}), whose {self.name} folders Kate "
                f"{kate.__version__} does not read: {self.remedy}, or use kate-text {writer} for it"
            )
        if type(found) is not int or found != self.version:
            raise FolderError(
                f"{folder} has format version {quoted(found)}; Kate {kate.__version__} reads version {self.version}: "
                "install the Kate that wrote it, or a newer one (pip install -U kate-text)"
            )
        if config.pop(_CHECKSUM, None) != _checksum(config):
            raise FolderError(
                f"{folder / self.config} is not the file that was saved (its checksum differs): it was edited or "
                f"damaged; copy the {self.name} again or {self.remedy}"
            )
        return config

    def config_text(self, config: Mapping[str, Any]) -> str:
        """The JSON file: what the folder is, ``config``, and a checksum of all that."""
        whole = self.head() | dict(config)
        # as a reader finds it: JSON has no tuples, and only strings as names
        whole = json.loads(json.dumps(whole, allow_nan=False))
        return json.dumps(whole | {_CHECKSUM: _checksum(whole)}, indent=2, ensure_ascii=False) + "\n"

    @contextmanager
    def writing(self, folder: StrPath) -> Iterator[Path]:
        """A place to write a folder of this kind, whole or not at all."""
        with whole_folder(folder, replaces=self.config, check=self.require_replaceable) as part:
            yield part

    def unless_replaced(self, folder: Path, read: Callable[[], Result]) -> Result:
        """Read a folder; once more if it was replaced meanwhile, so that the old and the new are never mixed.

        What was read without an error counts only if the folder is still the same: one that was replaced twice, by
        another and then by an equal one, fits together in every check and may yet hold a part of the other.
        """
        patience = time.monotonic() + _PATIENCE
        while True:
            before = self._identity(folder)
            try:
                found = read()
                if self._identity(folder) == before:
                    return found
                if time.monotonic() > patience:
                    raise FolderError(
                        f"{folder} was replaced again and again for {_PATIENCE:.0f} seconds while it was read; try "
                        "again when nobody writes it"
                    )
            except (FolderError, FileNotFoundError):
                if self._identity(folder) == before or time.monotonic() > patience:
                    raise
            time.sleep(_A_MOMENT)

    def _identity(self, folder: Path) -> tuple[int, int] | None:
        """What changes when a folder is replaced; None while it is not there."""
        try:
            found = (folder / self.config).stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns

    def require_replaceable(self, folder: Path) -> None:
        """Refuse to write over anything but a folder of this kind that holds nothing else."""
        if not folder.is_dir() or not any(folder.iterdir()):
            return
        try:
            self._config(folder)
        except FolderError as error:
            raise FileExistsError(
                f"cannot write {folder}: {error}; choose another name or empty it"
            ) from None
        strange = sorted({path.name for path in folder.iterdir()} - {self.config, *self.files})
        if strange:
            raise FileExistsError(
                f"cannot replace the {self.name} {folder}: {strange[0]} in it is not part of a {self.name} "
                "and would be lost; move it away or choose another name"
            )

    def require_size(self, file: Path, config: Mapping[str, Any]) -> None:
        """Refuse a file that is missing or has another length than the JSON file says."""
        if not file.is_file():
            raise FolderError(
                f"{file} is missing: the {self.name} is damaged; copy it again or {self.remedy}"
            )
        size = file.stat().st_size
        files = config.get("files")
        entry = files.get(file.name) if isinstance(files, dict) else None
        expected = entry.get("bytes") if isinstance(entry, dict) else None
        if size != expected:
            raise FolderError(
                f"{file} is {size} bytes long and {self.config} expects {expected}: the {self.name} is "
                f"damaged; copy it again or {self.remedy}"
            )

    def write(
        self,
        folder: StrPath,
        config: Mapping[str, Any],
        checked: Mapping[str, bytes],
        unchecked: Mapping[str, bytes] | None = None,
    ) -> None:
        """Write a folder, whole or not at all; only an empty folder or one of this kind is replaced.

        The size and checksum of the ``checked`` files are written into the JSON file, which also holds ``config``.
        """
        entries = {
            name: {"bytes": len(data), "sha256": sha256_of_bytes(data)} for name, data in checked.items()
        }
        text = self.config_text(dict(config) | {"files": entries})
        contents = {**checked, **(unchecked or {}), self.config: text.encode()}
        with self.writing(folder) as part:
            for name, data in contents.items():
                (part / name).write_bytes(data)

    def read_checked(self, file: Path, config: Mapping[str, Any]) -> bytes:
        """The content of a file, if it is the one that was written."""
        self.require_size(file, config)
        try:
            data = read_bounded(file, physical_memory())
        except ValueError as error:
            raise FolderError(f"{error}; copy the {self.name} again or {self.remedy}") from None
        if sha256_of_bytes(data) != config["files"][file.name].get("sha256"):
            raise FolderError(
                f"{file} is not the file that was saved (its sha256 differs from {self.config}): it was "
                f"edited or damaged; copy the {self.name} again or fit it anew"
            )
        return data

    def _config(self, folder: Path) -> dict[str, Any]:
        path = folder / self.config
        try:
            there = path.is_file()
        except (OSError, ValueError):  # links in a circle, a NUL in the name
            there = False
        if not there:
            raise FolderError(f"{folder} is not a Kate {self.name}: no {self.config} in it; {self.remedy}")
        try:
            config = read_json(path)
        except ValueError as error:
            raise FolderError(f"{path} is not valid JSON ({error}); {self.remedy}") from None
        if not isinstance(config, dict) or config.get("format") != f"kate-{self.name}":
            raise FolderError(f'{path} is not of a Kate {self.name} (no "format": "kate-{self.name}")')
        return config


def require_finite(folder: Path, arrays: Mapping[str, Any]) -> None:
    """Refuse NaN and infinity among numbers that were read: they would spoil every answer without a word."""
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise FolderError(f"{folder}: {name} holds NaN or infinity: it is damaged; copy it again")


def _checksum(config: Mapping[str, Any]) -> str:
    return sha256_of_bytes(json.dumps(config, sort_keys=True).encode())
