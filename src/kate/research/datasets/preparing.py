"""A data set is counted once; afterwards it is read from the cache in a moment.

The cache is used only while everything that it depends on is unchanged: the settings, the source files (by size
and time), the code that reads and counts. Otherwise, or if it is damaged, the data set is counted again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import logging
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import kate.research.datasets
import kate.text
from kate.research.datasets.cache_dirs import prepared_folder
from kate.research.datasets.corpus import Corpus
from kate.research.datasets.corpus_files import MARKER, DamagedCorpusError, load_corpus, save_corpus
from kate.research.datasets.dataset import DataSet, Preparation
from kate.storage.files import whole_folder

__all__ = ["prepare"]

logger = logging.getLogger(__name__)


def prepare(
    dataset: DataSet,
    *,
    vocabulary_size: int | None = None,
    data_home: str | os.PathLike[str] | None = None,
    seed: int = 0,
    keep_texts: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Corpus:
    """The Corpus of a data set, from the cache if it is there and up to date."""
    all_options = dataset.options(options or {})
    paths = {source.name: source.obtain(data_home) for source in dataset.sources_for(all_options)}
    preparation = Preparation(
        name=dataset.name,
        paths=paths,
        expected=dataset.expected,
        vocabulary_size=dataset.vocabulary_size if vocabulary_size is None else vocabulary_size,
        seed=seed,
        keep_texts=keep_texts,
    )
    _require_positive(preparation.vocabulary_size)
    settings = {
        "vocabulary_size": preparation.vocabulary_size,
        "seed": seed,
        "keep_texts": keep_texts,
        **all_options,
    }
    folder = prepared_folder() / f"{dataset.name}-{_digest(settings)[:12]}"
    fingerprint = _fingerprint(dataset, paths)
    corpus = _load_if_fresh(folder, fingerprint)
    if corpus is None:
        corpus = dataclasses.replace(dataset.prepare(preparation, **all_options), settings=settings)
        _save_if_possible(corpus, folder, fingerprint)
    return corpus


def _load_if_fresh(folder: Path, fingerprint: str) -> Corpus | None:
    if not (folder / MARKER).is_file():
        return None
    try:
        return load_corpus(folder, fingerprint)
    except DamagedCorpusError as error:
        logger.info("%s is counted anew: %s", folder.name, error)
        return None


def _save_if_possible(corpus: Corpus, folder: Path, fingerprint: str) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with whole_folder(folder, replaces=MARKER) as part:
            save_corpus(corpus, part, fingerprint)
    except OSError as error:  # with a full or read-only disk, the corpus is counted again next time
        logger.warning("%s is counted but could not be kept for next time: %s", corpus.name, error)


def _fingerprint(dataset: DataSet, paths: Mapping[str, Path]) -> str:
    sources = {name: _size_and_time(path) for name, path in sorted(paths.items())}
    return _digest(
        {"sources": sources, "expected": dataclasses.asdict(dataset.expected), "code": _code(dataset)}
    )


def _size_and_time(path: Path) -> list[int]:
    """Size and newest time of a file, or of all files in a folder."""
    stats = [file.stat() for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()]
    return [len(stats), sum(s.st_size for s in stats), max((s.st_mtime_ns for s in stats), default=0)]


def _code(dataset: DataSet) -> str:
    """A digest of the source of everything between the archive and the counts."""
    reader = inspect.getsourcefile(dataset.prepare)
    return _shared_code() + (_digest(Path(reader).read_text(encoding="utf-8")) if reader else "")


@cache
def _shared_code() -> str:
    text = Path(next(iter(kate.text.__path__)))
    datasets = Path(next(iter(kate.research.datasets.__path__)))
    shared = [datasets / f"{name}.py" for name in ("raw_documents", "archives", "splits")]
    files = [*sorted(text.glob("*.py")), *shared]
    return _digest([file.read_text(encoding="utf-8") for file in files])


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _require_positive(vocabulary_size: int) -> None:
    if vocabulary_size < 1:
        raise ValueError(
            f"vocabulary_size is {vocabulary_size}; expected at least 1, or None for the default"
        )
