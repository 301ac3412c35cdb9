"""A layer under Python's file operations: it counts them, and at one of them kills the process or fails.

Every step of ``kate.storage`` goes through it: folders, opening, writing (the first half of the bytes may be written),
fsync, renames, links, locks, removal. What libraries write by themselves (a table of Polars, a graph of usearch) is
between two steps, and lies in a part that nobody reads.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kate.storage import replacing

__all__ = ["FaultLayer"]

_STEPS = (
    "mkdir", "open", "close", "rename", "replace", "unlink", "remove", "rmdir", "fsync", "truncate", "symlink", "link",
)  # fmt: skip
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class FaultLayer:
    """Counts file operations below ``root``; at number ``at`` of them something happens.

    what : "kill"; "half", which writes half of the bytes (if it is a write) and kills; "ENOSPC" or "EIO", an error,
        once; "full", ENOSPC from there on for everything that takes space; None counts
    """

    def __init__(self, root: Path, at: int = -1, what: str | None = None) -> None:
        self.n, self._root, self._at, self._what = 0, str(root), at, what
        self.steps: list[str] = []
        self._undo: list[Callable[[], None]] = []

    def __enter__(self) -> FaultLayer:
        for name in _STEPS:
            self._replace(os, name, self._wrapped(name, getattr(os, name)))
        self._replace(io, "open", self._open_file)
        self._replace(builtins, "open", self._open_file)
        exchanged = replacing.exchanged
        self._replace(
            replacing, "exchanged", lambda one, other: self._step("exchange", one) or exchanged(one, other)
        )
        return self

    def __exit__(self, *_: object) -> None:
        while self._undo:
            self._undo.pop()()

    def _replace(self, module: Any, name: str, new: Any) -> None:
        old = getattr(module, name)
        setattr(module, name, new)
        self._undo.append(lambda: setattr(module, name, old))

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any, **named: Any) -> Any:
            if name == "open" and not (len(given) > 1 and given[1] & _WRITES):
                return real(*given, **named)  # to read
            self._step(name, given[0] if given else "", takes_space=name in ("mkdir", "open", "fsync"))
            return real(*given, **named)

        return step

    def _open_file(self, file: Any, mode: str = "r", *given: Any, **named: Any) -> Any:
        here = isinstance(file, str | os.PathLike) and str(file).startswith(self._root)
        if not here or not set(mode) & set("wax+"):
            return self._real_open(file, mode, *given, **named)
        self._step("open", file, takes_space=True)
        raw = _CountedFile(self, str(file), mode.replace("b", "").replace("t", ""))
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)  # type: ignore[type-var]
        return (
            buffered if "b" in mode else io.TextIOWrapper(buffered, encoding=named.get("encoding") or "utf-8")
        )

    @staticmethod
    def _real_open(*given: Any, **named: Any) -> Any:
        return _OPEN(*given, **named)

    def _step(
        self, name: str, path: Any, *, takes_space: bool = False, half: Callable[[], Any] | None = None
    ) -> bool:
        """Count an operation; False, so that it goes on."""
        number, self.n = self.n, self.n + 1
        self.steps.append(f"{name} {Path(str(path)).name}")
        if self._what == "full" and number >= self._at >= 0 and takes_space:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        if number != self._at:
            return False
        if self._what == "half" and half is not None:
            half()
        if self._what in ("kill", "half"):
            os.kill(os.getpid(), signal.SIGKILL)
        if self._what in ("ENOSPC", "EIO"):
            number = getattr(errno, self._what)
            raise OSError(number, os.strerror(number), str(path))
        return False


class _CountedFile(io.FileIO):
    def __init__(self, layer: FaultLayer, path: str, mode: str) -> None:
        super().__init__(path, mode)
        self._layer = layer

    def write(self, data: Any) -> int:  # type: ignore[override]  # any buffer
        def half() -> None:
            super(_CountedFile, self).write(memoryview(data)[: len(data) // 2])

        self._layer._step("write", self.name, takes_space=True, half=half)
        return super().write(data) or 0


_OPEN = io.open
