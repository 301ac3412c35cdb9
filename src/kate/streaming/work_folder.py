"""The folder in which a long fit works: it says what it is, and the same fit goes on in it after an interruption.

    work.json         what this is, whose fit it is and since when; sizes and checksums of the files
    words/            shards as texts were counted, until they are written anew
    counts/           shards of the vocabulary's columns
    vocabulary.txt    the vocabulary, once all texts are counted
    checkpoint-…      what training goes on from
    lock              held by the process that works here

Files appear whole or not at all, and work.json is written after the files that it names: whatever kills the process,
the folder is as it was after one of its steps.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kate.errors import KateError
from kate.storage.checksums import sha256_of_bytes
from kate.storage.files import only_writer, whole_file
from kate.storage.folders import FolderError, FolderKind, StrPath
from kate.storage.json_values import as_json
from kate.streaming.shard_files import Shard

__all__ = ["WorkFolder", "WorkStopped"]

_CONFIG = "work.json"
_BEGUN = f".{_CONFIG}.kate-"
_LOCK = "lock"
_WORDS, _COUNTS = "words", "counts"
_ABOUT = (
    "Kate is fitting a model and keeps here what it has done so far. If the process was killed, the same command with "
    "--resume goes on from here. The folder is removed when the model is written; without a process that works in it, "
    "it may be deleted."
)
_KIND = FolderKind(
    "work", config=_CONFIG, version=1, files=(), remedy="delete it and begin again without --resume"
)


class WorkStopped(KateError, RuntimeError):  # noqa: N818  nothing is wrong: somebody asked for it
    """A fit was asked to stop, and has written what it goes on from."""


class WorkFolder:
    """A folder to fit in; used by ``with``, it is removed when all went well, and stays if something went wrong.

    It stays after an interruption, a kill or a full disk. After an error in the texts or the settings, which would come
    again, it goes if nothing is counted yet.

    path : beside the model, on a disk with room for the counts, about a third of the text
    resume : go on with what is there; if nothing is there, begin

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with WorkFolder(f"{folder}/model.work") as work:
    ...         work.begin({"seed": 0})
    ...         work.keep({"vocabulary.txt": b"gold"}, phase="vocabulary")
    ...         work.read("vocabulary.txt"), work.phase
    ...     work.path.exists()
    (b'gold', 'vocabulary')
    False
    """

    def __init__(self, path: StrPath, *, resume: bool = False) -> None:
        self.path = Path(path)
        self.resume = resume
        self.is_new = True
        self.was_entered = False
        self._config: dict[str, Any] = {}
        self._held = ExitStack()

    def __enter__(self) -> Self:
        self.is_new = not self.path.exists()
        if not self.is_new:
            self._require_ours()
        elif not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"cannot write {self.path}: the folder {self.path.parent} does not exist; create it"
            )
        else:
            self.path.mkdir()
        try:
            self._held.enter_context(only_writer(self.path / _LOCK))
        except BlockingIOError:
            raise BlockingIOError(
                f"{self.path} is being worked in by another process; wait until it is done or stop it"
            ) from None
        if not (self.path / _CONFIG).exists():
            self.is_new = True  # killed before the first word was written
        if not self.is_new:
            self._config = _KIND.read_config(self.path)
            self._remove_strays()
        for name in (_WORDS, _COUNTS):
            (self.path / name).mkdir(exist_ok=True)
        self.was_entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_early = self.is_new and self._config.get("phase", "counting") == "counting"
        if error is None or (is_early and isinstance(error, ValueError)):
            shutil.rmtree(self.path, ignore_errors=True)
        self._held.close()

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Say what is fitted here, or refuse to go on with something else.

        facts : all that the result depends on, as JSON can hold it; those that differ are named
        """
        given = json.loads(json.dumps(as_json(facts)))
        if self.is_new:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._config = {"about": _ABOUT, "begun": now, "phase": "counting", "fit": given, "files": {}}
            self._write_config()
            return
        found = self._config["fit"]
        for name in dict.fromkeys([*found, *given]):
            if found.get(name) != given.get(name):
                raise FolderError(
                    f"{self.path} belongs to another fit, begun {self._config['begun']}: "
                    f"{_difference(name, found, given)}; go on with what it was begun with, or delete the folder and "
                    "begin again"
                )

    @property
    def begun(self) -> str:
        """When, as people read it."""
        return str(self._config["begun"])

    @property
    def begun_with(self) -> Mapping[str, Any]:
        """What :meth:`begin` was told first; empty in a new folder."""
        found: Mapping[str, Any] = self._config.get("fit", {})
        return found

    @property
    def phase(self) -> str:
        """What was done last: "counting", "vocabulary", "training"."""
        return str(self._config["phase"])

    @property
    def facts(self) -> Mapping[str, Any]:
        """What was kept with the files."""
        found: Mapping[str, Any] = self._config.get("facts", {})
        return found

    def keep(
        self,
        files: Mapping[str, bytes],
        phase: str,
        facts: Mapping[str, Any] | None = None,
        instead_of: Sequence[str] = (),
    ) -> None:
        """Write files and say in what phase the work is; ``facts`` replace those of the same name.

        instead_of : names of files that are removed once the new ones are there
        """
        for name, data in files.items():
            with whole_file(self.path / name) as part:
                part.write_bytes(data)
        entries = {
            name: {"bytes": len(data), "sha256": sha256_of_bytes(data)} for name, data in files.items()
        }
        known = {name: entry for name, entry in self._config["files"].items() if name not in instead_of}
        self._config |= {"phase": phase, "files": known | entries}
        if facts is not None:
            self._config["facts"] = {**self.facts, **as_json(facts)}
        self._write_config()
        for name in instead_of:
            (self.path / name).unlink(missing_ok=True)

    def read(self, name: str) -> bytes:
        """A file that was kept; it is refused if it is not as it was written."""
        return _KIND.read_checked(self.path / name, self._config)

    @property
    def words(self) -> Path:
        """The folder of the shards as texts were counted."""
        return self.path / _WORDS

    @property
    def counts(self) -> Path:
        """The folder of the shards of the vocabulary's columns."""
        return self.path / _COUNTS

    @staticmethod
    def shards_in(folder: Path) -> list[Shard]:
        """The shards of a folder in their order."""
        return [Shard.open(path) for path in sorted(folder.glob("*.shard"))]

    def _write_config(self) -> None:
        with whole_file(self.path / _CONFIG) as part:
            part.write_text(_KIND.config_text(self._config), encoding="utf-8")

    def _require_ours(self) -> None:
        if not self.path.is_dir():
            raise NotADirectoryError(
                f"{self.path} is a file; Kate works in a folder of that name: move it away"
            )
        # killed while it wrote its first word: that is a beginning, too
        names = {path.name for path in self.path.iterdir() if not path.name.startswith(_BEGUN)}
        if not names - {_LOCK, _WORDS, _COUNTS} and not any(
            any((self.path / name).iterdir()) for name in names & {_WORDS, _COUNTS}
        ):
            return
        config = _KIND.read_config(self.path)
        if not self.resume:
            raise FileExistsError(
                f"{self.path} holds a fit that was begun {config['begun']} and is not done: --resume goes on with it; "
                "or delete the folder to begin again"
            )

    def _remove_strays(self) -> None:
        """Remove what a killed process left half-written; nobody else writes here."""
        for folder in (self.path, self.words, self.counts):
            if folder.is_dir():
                for stray in folder.glob(".*"):
                    with suppress(OSError):
                        stray.unlink()


def _difference(name: str, found: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """What is another now, in words."""
    before, now = found.get(name), given.get(name)
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        inner = next(key for key in [*before, *now] if before.get(key) != now.get(key))
        return _difference(inner, before, now)
    shown = [json.dumps(value, ensure_ascii=False)[:60] for value in (before, now)]
    return f"{name} was {shown[0]} and is {shown[1]}"
