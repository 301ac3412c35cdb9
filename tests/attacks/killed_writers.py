"""A writer that is killed before one of its file operations: the old folder or the new one is there, whole.

One process does many kills: it has imported Kate and used nothing of it, and forks for every kill. The child writes
and is killed; a second child reads what is there, and writes once more, which removes what the first one left.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

import kate
import kate.search
from attacks.attacked_folders import FOLDERS, AttackedFolder
from attacks.fault_layer import FaultLayer
from kate.storage import replacing
from kate.storage.files import whole_file

__all__ = ["KilledWriter"]

# A child inherits the locks that another thread of this process held when it was forked, of an allocator say: it may
# wait for ever, which is no fault of what it does. It is tried again, and counted: an attack fails if many were.
_ATTEMPTS, _SECONDS = 3, 12.0
# What there is before: nothing, another folder of the kind, an empty folder, a link to one of the kind.
_BEFORE = ("nothing", "old", "empty", "link")


def _write_file(path: Path, data: bytes) -> None:
    with whole_file(path) as part:
        part.write_bytes(data)


_FILE = AttackedFolder("file", lambda path, seed=0: None, lambda path: [path.read_bytes()])


class KilledWriter:
    """Kill number i at step i; when all steps are through, the next way of writing."""

    def __init__(self, kind: str, old: str, new: str, root: str) -> None:
        self._kind, self._old, self._new = (FOLDERS | {"file": _FILE})[kind], Path(old), Path(new)
        self._root = Path(root)
        self._ways = [(before, how) for before in _BEFORE for how in ("exchange", "renames")]
        if kind == "file":
            self._ways = [("nothing", "replace"), ("old", "replace"), ("link", "replace")]
        self._n_steps: dict[tuple[str, str], int] = {}
        self._known = {
            self._in_child(lambda: repr(self._kind.read(self._old))): "old",
            self._in_child(lambda: repr(self._kind.read(self._new))): "new",
        }
        self.shown, self.outcome, self.is_retried = "", "", False

    def case(self, number: int, random: np.random.Generator) -> str | None:
        for _ in range(_ATTEMPTS):
            try:
                return self._case(number)
            except TimeoutError:
                self.is_retried = True
        return f"{self.shown}: no child came to an end, {_ATTEMPTS} times"

    def _case(self, number: int) -> str | None:
        way = self._ways[number % len(self._ways)]
        if way not in self._n_steps:
            self._n_steps[way] = int(self._in_child(lambda: str(self._write(way, -1, None).n)))
        n = self._n_steps[way]
        turn = number // len(self._ways)
        step, what = turn % n, ("kill", "half")[turn // n % 2]
        self.shown = f"{self._kind.name}, {way[0]}, {way[1]}: {what} before step {step} of {n}"
        died = self._fork(lambda: self._write(way, step, what))
        if died != -signal.SIGKILL:
            return f"{self.shown}: the writer ended with {died}"
        try:
            found = self._in_child(lambda: self._look(way))
        except RuntimeError as error:
            return f"{self.shown}: {error}"
        self.outcome = found.split("\n")[0]
        return None if found in ("old", "new", "nothing") else f"{self.shown}: {found}"

    def _target(self, way: tuple[str, str]) -> Path:
        return self._root / ("link" if way[0] == "link" else "target")

    def _write(self, way: tuple[str, str], step: int, what: str | None) -> FaultLayer:
        """Prepare the place and write the new folder, with a fault."""
        shutil.rmtree(self._root, ignore_errors=True)
        self._root.mkdir()
        if way[0] in ("old", "link"):
            copy = shutil.copy if self._old.is_file() else shutil.copytree
            copy(self._old, self._root / "target")
        elif way[0] == "empty":
            (self._root / "target").mkdir()
        if way[0] == "link":
            (self._root / "link").symlink_to("target")
        save = self._saver()
        if way[1] == "renames":
            replacing.exchanged = lambda one, other: False
        with FaultLayer(self._root, step, what) as layer:
            save(self._target(way))
        return layer

    def _saver(self) -> Callable[[Path], None]:
        """Writes the new folder somewhere."""
        if self._kind.name == "model":
            return kate.load(self._new).save
        if self._kind.name == "estimator":
            return kate.KATE.load(self._new).save
        if self._kind.name == "file":
            return lambda target: _write_file(target, self._new.read_bytes())
        return kate.Index.load(self._new).save

    def _look(self, way: tuple[str, str]) -> str:
        """What a reader finds, and whether the next writer cleans up."""
        target = self._target(way)
        try:
            found = self._known.get(repr(self._kind.read(target)), "something else than the old or the new")
        except FileNotFoundError:
            found = "nothing"
        except kate.FolderError as error:
            empty = way[0] == "empty" and not any((self._root / "target").iterdir())
            found = "nothing" if empty else f"refused: {error}"
        if found == "nothing" and way[0] in ("old", "link"):
            return "the old folder is lost"
        self._saver()(target)
        names = sorted(path.name for path in self._root.iterdir())
        if names != (["link", "target"] if way[0] == "link" else ["target"]):
            return f"left behind by the next writer: {names}"
        if way[0] == "link" and not target.is_symlink():
            return "the link is gone"
        if self._known.get(repr(self._kind.read(target))) != "new":
            return "the next writer did not write"
        return found

    def _fork(self, work: Callable[[], object]) -> int:
        """Do it in a child; how the child ended."""
        child = os.fork()
        if child == 0:
            try:
                work()
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        return self._ended(child)

    def _ended(self, child: int) -> int:
        """How a child ends; TimeoutError if it does not."""
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise TimeoutError

    def _in_child(self, work: Callable[[], str]) -> str:
        """What a child says; this process must not use Polars, whose threads no child would have."""
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reads)
            code = 0
            try:
                said = work()
            except BaseException as error:
                said, code = f"{type(error).__name__}: {error}\n{traceback.format_exc()[-600:]}", 1
            with os.fdopen(writes, "w", errors="replace") as pipe:
                pipe.write(said)
            sys.stderr.flush()
            os._exit(code)
        os.close(writes)
        parts: list[bytes] = []
        end = time.monotonic() + _SECONDS
        while select.select([reads], [], [], max(0.0, end - time.monotonic()))[0] and (
            part := os.read(reads, 65_536)
        ):
            parts.append(part)
        os.close(reads)
        code, said = self._ended(child), b"".join(parts).decode(errors="replace")
        if code:
            raise RuntimeError(f"a reader ended with {code}: {said}")
        return said
