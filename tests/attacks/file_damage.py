"""Damage of one file, drawn from what disks, copies, editors and strangers do to files."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["BYTE_DAMAGE", "JSON_DAMAGE", "PLACE_DAMAGE", "damaged_bytes", "damaged_json", "put_in_place"]

Random = np.random.Generator


def _place(data: bytes, random: Random) -> int:
    """The first bytes, the last ones, or any."""
    kind = random.integers(4)
    size = len(data)
    if size == 0:
        return 0
    if kind == 0:
        return int(random.integers(min(size, 128)))
    if kind == 1:
        return size - 1 - int(random.integers(min(size, 64)))
    return int(random.integers(size))


def _changed(data: bytes, place: int, new: bytes) -> bytes:
    return data[:place] + new + data[place + len(new) :]


def _flip_bit(data: bytes, random: Random) -> bytes:
    place = _place(data, random)
    return _changed(data, place, bytes([data[place] ^ (1 << random.integers(8))])) if data else b"\1"


def _flip_byte(data: bytes, random: Random) -> bytes:
    place = _place(data, random)
    return _changed(data, place, bytes([data[place] ^ int(random.integers(1, 256))])) if data else b"\1"


def _special_byte(data: bytes, random: Random) -> bytes:
    """A byte of another class: NUL, line feed, quote, bracket, digit, letter, high bit, 0xff."""
    place = _place(data, random)
    return _changed(data, place, bytes([random.choice(list(b'\0\n\t"{[]0-9aZ\x7f\x80\xc3\xff '))]))


def _zeros(data: bytes, random: Random) -> bytes:
    place = _place(data, random)
    return _changed(data, place, bytes(min(len(data) - place, int(random.integers(1, 4097)))))


def _noise(data: bytes, random: Random) -> bytes:
    place = _place(data, random)
    return _changed(data, place, random.bytes(min(len(data) - place, int(random.integers(1, 4097)))))


def _huge_number(data: bytes, random: Random) -> bytes:
    """Eight bytes that are a length, an offset or a count for whoever trusts them."""
    place = _place(data, random) // 8 * 8
    values = (2**63 - 1, 2**64 - 1, 2**62, 2**40, 2**32, 2**31 - 1, 0)
    value = values[random.integers(len(values))]
    return _changed(data, place, value.to_bytes(8, "little"))[: max(len(data), 1)]


def _cut(data: bytes, random: Random) -> bytes:
    return data[: _place(data, random)]


def _empty(data: bytes, random: Random) -> bytes:
    return b""


def _longer(data: bytes, random: Random) -> bytes:
    return data + random.bytes(int(random.integers(1, 200)))


def _without_a_piece(data: bytes, random: Random) -> bytes:
    place = _place(data, random)
    return data[:place] + data[place + int(random.integers(1, 65)) :]


def _piece_twice(data: bytes, random: Random) -> bytes:
    place = _place(data, random)
    return data[:place] + data[max(0, place - 64) : place] + data[place:]


def _pieces_exchanged(data: bytes, random: Random) -> bytes:
    half = len(data) // 2
    return data[half:] + data[:half]


BYTE_DAMAGE: dict[str, Callable[[bytes, Random], bytes]] = {
    one.__name__.strip("_"): one
    for one in (
        _flip_bit, _flip_byte, _special_byte, _zeros, _noise, _huge_number, _cut, _empty, _longer, _without_a_piece,
        _piece_twice, _pieces_exchanged,
    )
}  # fmt: skip


def damaged_bytes(data: bytes, kind: str, random: Random) -> bytes:
    return BYTE_DAMAGE[kind](data, random)


def _folder(path: Path) -> None:
    path.mkdir()


def _full_folder(path: Path) -> None:
    path.mkdir()
    (path / path.name).write_bytes(b"1")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    here = os.open(path.parent, os.O_RDONLY)  # a socket's address has at most 107 characters
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


def _link_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def _giant(size: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)

    return make


# What stands where the file was.
PLACE_DAMAGE: dict[str, Callable[[Path], None]] = {
    "nothing": lambda path: None,
    "a folder": _folder,
    "a folder with a file": _full_folder,
    "a pipe": _pipe,
    "a socket": _socket,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nothing": _link_to("nowhere"),
    "a link to its folder": _link_to("."),
    "a link to zeros": _link_to("/dev/zero"),
    "a link to a full device": _link_to("/dev/full"),
    "a link to the memory of the process": _link_to("/proc/self/mem"),
    "a sparse giant": _giant(1 << 40),
    "zeros of 400 MB": _giant(400 << 20),
}


def put_in_place(path: Path, kind: str) -> None:
    """Put something else where a file is."""
    clear(path)
    PLACE_DAMAGE[kind](path)


def clear(path: Path) -> None:
    """Whatever is there, not what it points at."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _deep(depth: int) -> Any:
    found: Any = 1
    for _ in range(depth):
        found = [found]
    return found


# Values of other types and sizes; NaN and infinity are written as Python's json writes them, which no JSON has.
_VALUES: tuple[Callable[[Random], Any], ...] = (
    lambda random: None,
    lambda random: bool(random.integers(2)),
    lambda random: (0, -1, 1, 2, 7, 255, 2**31, 2**53, 2**63, -(2**63), 2**64, 10**30)[random.integers(12)],
    lambda random: 10 ** int(random.integers(100, 4000)),
    lambda random: float(random.choice([0.5, -0.0, 1e-300, 1e300, -3.25])),
    lambda random: float(random.choice([np.nan, np.inf, -np.inf])),
    lambda random: "",
    lambda random: str(
        random.choice(["x", "root", "\0", "\x1b[2J", "../../etc", "\ud800", "ﷺ" * 50, "NaN", "1"])
    ),
    lambda random: "long " * 20_000,
    lambda random: [],
    lambda random: {},
    lambda random: [1, "a", None],
    lambda random: {"a": 1, "": {}, "bytes": 1},
    lambda random: _deep(200),
    lambda random: list(range(3000)),
)


def _paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value of a JSON value."""
    found = [here] if here else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        found += _paths(item, (*here, name))
    return found


JSON_DAMAGE = (
    "value",
    "missing",
    "renamed",
    "added",
    "exchanged",
    "whole",
    "nested text",
    "number text",
    "twice",
)


def damaged_json(data: bytes, kind: str, random: Random) -> tuple[Any, str]:
    """A JSON value with one thing changed, or its text where no value can say it; and what was changed."""
    value = json.loads(data)
    paths = [path for path in _paths(value) if path[0] != "sha256"]
    way = paths[random.integers(len(paths))] if paths else ()
    if kind == "whole" or not way:
        new = _VALUES[random.integers(len(_VALUES))](random)
        return new, f"all is {repr(new)[:40]}"
    shown = ".".join(map(str, way))
    if kind == "nested text":
        return json.dumps(value).replace(
            "{", "[" * int(random.choice([900, 100_000])) + "{", 1
        ), "deep nesting"
    if kind == "number text":
        text = "9" * int(random.choice([5_000, 100_000])) if random.integers(2) else "1e999"
        return _with(value, way, "@@").replace('"@@"', text), f"{shown} is {text[:6]}…"
    if kind == "twice":
        text = json.dumps(value)
        return text[:-1] + ", " + text[1:], "every name twice"
    value = json.loads(data)
    parent = value
    for step in way[:-1]:
        parent = parent[step]
    last = way[-1]
    if kind == "missing":
        del parent[last]
    elif kind == "renamed" and isinstance(parent, dict):
        parent[f"{last}_"] = parent.pop(last)
    elif kind == "added" and isinstance(parent, dict):
        parent["a strange name"] = _VALUES[random.integers(len(_VALUES))](random)
    elif kind == "exchanged":
        other = paths[random.integers(len(paths))]
        taken = json.loads(data)
        for step in other:
            taken = taken[step]
        parent[last] = taken
        shown += " has the value of " + ".".join(map(str, other))
    else:
        parent[last] = _VALUES[random.integers(len(_VALUES))](random)
        shown += f" is {repr(parent[last])[:40]}"
    return value, f"{kind}: {shown}"


def _with(value: Any, way: tuple[Any, ...], new: Any) -> str:
    parent = value
    for step in way[:-1]:
        parent = parent[step]
    parent[way[-1]] = new
    return json.dumps(value)
