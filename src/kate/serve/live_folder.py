"""The model or index that is served. When the folder is replaced, the new one is loaded and takes over; so is an index
whose documents came, changed or went (the store lance).

A request works with the one that was current when it came, to its end: nothing is dropped and nothing is mixed.
"""

from __future__ import annotations

import logging
import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

from kate.model.encoder import EmptyDocumentsWarning
from kate.model.model_folder import MODEL_FOLDER
from kate.model.text_model import TextModel, load
from kate.search import Index
from kate.search.index_folder import table_changed
from kate.storage.folders import FolderError, StrPath

__all__ = ["LiveFolder", "Served"]

_logger = logging.getLogger("kate.serve")
_INDEX_FILE = "index.json"


@dataclass(frozen=True, eq=False)
class Served:
    """What answers a request."""

    name: str
    model: TextModel
    index: Index | None
    loaded: int  # seconds since 1970


class LiveFolder:
    """A folder that is watched.

    >>> LiveFolder("no/such/folder")
    Traceback (most recent call last):
    ...
    FileNotFoundError: there is no folder no/such/folder; give a model of `kate fit` or an index of `kate index`
    """

    def __init__(self, folder: StrPath, name: str | None = None) -> None:
        self.folder = Path(folder)
        self._name = name or self.folder.resolve().name
        self._lock = threading.Lock()
        self._mark = self._read_mark()
        self.current = self._load()
        self.n_reloads = 0

    def refresh(self) -> bool:
        """Load what replaced the folder since the last look; whether there was something new.

        One that cannot be loaded is reported, and the old one goes on answering.
        """
        with self._lock:
            try:
                mark = self._read_mark()
                if mark == self._mark:
                    return False
                self.current = self._load()
            except (OSError, ValueError) as error:
                _logger.warning("%s was replaced by something that cannot be served: %s", self.folder, error)
                return False
            self._mark = mark
            self.n_reloads += 1
        _logger.info("serving the new %s", self.folder)
        return True

    def _load(self) -> Served:
        if (self.folder / _INDEX_FILE).is_file():
            index = Index.load(self.folder)
            model = index.model
        else:
            index, model = None, load(self.folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyDocumentsWarning)
            model.encode(["warm up"])  # the first answer is not slower than the others
        return Served(self._name, model, index, int(time.time()))

    def _read_mark(self) -> tuple[int, ...]:
        """What changes when the folder is replaced, or the table of an index changed."""
        if not self.folder.is_dir():
            raise FileNotFoundError(
                f"there is no folder {self.folder}; give a model of `kate fit` or an index of `kate index`"
            )
        for name in (_INDEX_FILE, MODEL_FOLDER.config):
            path = self.folder / name
            if path.is_file():
                found = path.stat()
                return found.st_ino, found.st_mtime_ns, found.st_size, table_changed(self.folder)
        raise FolderError(
            f"{self.folder} is neither a model nor an index of Kate; give a folder of `kate fit` or `kate index`"
        )
