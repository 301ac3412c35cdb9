"""Damage to one file of a folder: what is read is what was written, or it is refused by an error of Kate's family."""

from __future__ import annotations

import json
from linecache import getline
from pathlib import Path
from typing import Any

import numpy as np

from attacks.array_damage import ARRAY_DAMAGE, damaged_arrays
from attacks.attacked_folders import FOLDERS
from attacks.file_damage import (
    BYTE_DAMAGE,
    JSON_DAMAGE,
    PLACE_DAMAGE,
    clear,
    damaged_bytes,
    damaged_json,
    put_in_place,
)
from folder_edits import seal_file, write_sealed
from kate.errors import KateError

__all__ = ["DamagedFolder", "DamagedTable", "StrangersFolder", "raised_by_kate"]


class DamagedFolder:
    """One file is damaged, in all ways in turn; no answer may differ from those of the whole folder."""

    def __init__(self, kind: str, folder: str) -> None:
        self._kind, self._folder = FOLDERS[kind], Path(folder)
        self._contents = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(self._folder.rglob("*"))
            if path.is_file()
        }
        self._expected = repr(self._kind.read(self._folder))
        self._put_back()
        self._ways = [(name, damage) for name in self._contents for damage in (*BYTE_DAMAGE, *PLACE_DAMAGE)]
        self.shown, self.outcome = "", ""

    def case(self, number: int, random: np.random.Generator) -> str | None:
        name, damage = self._ways[number % len(self._ways)]
        path = self._folder / name
        self.shown = f"{self._kind.name}: {damage} in {name}"
        try:
            if damage in PLACE_DAMAGE:
                put_in_place(path, damage)
            else:
                data = damaged_bytes(self._contents[name], damage, random)
                if data == self._contents[name]:
                    return None
                clear(path)
                path.write_bytes(data)
            return self._refused_or_same(name, damage)
        finally:
            clear(path)
            if not self._kind.is_used_up:
                path.write_bytes(self._contents[name])
            self._put_back()

    def _put_back(self) -> None:
        """All of a folder that was used up, by reading it."""
        if self._kind.is_used_up:
            clear(self._folder)
            for name, data in self._contents.items():
                (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
                (self._folder / name).write_bytes(data)

    def _refused_or_same(self, name: str, damage: str) -> str | None:
        try:
            found = repr(self._kind.read(self._folder))
        except KateError:
            self.outcome = "refused"
            return None
        except OSError:
            if name not in self._kind.unchecked:  # a lock is opened, and the system may refuse that
                raise
            self.outcome = "refused by the system"
            return None
        if found == self._expected:
            self.outcome = "same"
            return None
        if name == "topic_edits.json" and damage == "nothing":  # the user may delete his changes
            return None
        return f"{self.shown}: other answers"


def raised_by_kate(error: Exception) -> bool:
    """Whether Kate itself said what is wrong, and not a library or a built-in that was handed nonsense."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None or "kate" not in Path(place.tb_frame.f_code.co_filename).parts:
        return False
    return getline(place.tb_frame.f_code.co_filename, place.tb_lineno).lstrip().startswith("raise ")


class StrangersFolder:
    """A stranger wrote the folder, and every checksum fits: it is refused, or it answers and harms nobody.

    ``only`` files whose names hold this are changed.
    """

    def __init__(self, kind: str, folder: str, only: str = "") -> None:
        self._kind, self._folder = FOLDERS[kind], Path(folder)
        self._contents = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(self._folder.rglob("*"))
            if path.is_file()
        }
        configs = [name for name in self._contents if Path(name).name in ("config.json", "index.json")]
        self._ways: list[tuple[str, str]] = [(name, kind) for name in configs for kind in JSON_DAMAGE] * 6
        others = [name for name in self._contents if name not in configs and Path(name).name != "README.md"]
        self._ways += [(name, damage) for name in others for damage in BYTE_DAMAGE]
        arrays = [name for name in others if name.endswith((".safetensors", ".npy", ".arrow"))]
        self._ways += [(name, damage) for name in arrays for damage in ARRAY_DAMAGE] * 3
        self._ways = [way for way in self._ways if only in way[0]]
        self.shown, self.outcome = "", ""

    def case(self, number: int, random: np.random.Generator) -> str | None:
        name, damage = self._ways[number % len(self._ways)]
        try:
            is_array = damage in ARRAY_DAMAGE
            if damage in JSON_DAMAGE and Path(name).suffix == ".json":
                self._change_json(name, damage, random)
            elif is_array:
                data, which = damaged_arrays(name, self._contents[name], damage, random)
                self.shown = f"{self._kind.name}: {which} {damage} in {name}, sealed"
                (self._folder / name).write_bytes(data)
            else:
                self.shown = f"{self._kind.name}: {damage} in {name}, sealed"
                data = damaged_bytes(self._contents[name], damage, random)
                clear(self._folder / name)
                (self._folder / name).write_bytes(data)
            seal_file(self._folder, name, describe=is_array)
            try:
                self._kind.read(self._folder)
            except KateError:
                self.outcome = "refused"
            except ValueError as error:
                if not raised_by_kate(error):
                    raise
                self.outcome = "answered by an error"
            return None
        finally:
            for other, data in self._contents.items():
                if (path := self._folder / other).read_bytes() != data:
                    clear(path)
                    path.write_bytes(data)

    def _change_json(self, name: str, damage: str, random: np.random.Generator) -> None:
        path = self._folder / name
        value, what = damaged_json(self._contents[name], damage, random)
        self.shown = f"{self._kind.name}: {what} in {name}, sealed"
        clear(path)
        if isinstance(value, dict) and damage != "whole":
            write_sealed(path, value)
        else:
            text: Any = value if isinstance(value, str) else json.dumps(value)
            path.write_text(text, encoding="utf-8", errors="surrogatepass")


class DamagedTable(DamagedFolder):
    """A table of LanceDB, which has no checksums: a changed answer is no failure, a crash and a hang are."""

    def __init__(self, kind: str, folder: str) -> None:
        super().__init__(kind, folder)
        self._ways = [way for way in self._ways if way[0].startswith("tables")]

    def _refused_or_same(self, name: str, damage: str) -> str | None:
        try:
            self._kind.read(self._folder)
        except (KateError, ValueError, RuntimeError, OSError) as error:
            self.outcome = type(error).__name__
        return None
