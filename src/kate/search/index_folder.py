"""The folder of an index: what both stores have in common (index.json, the model), and the files of the store of files.

    index.json         what the folder is, the files with their sizes, and a checksum of itself
    model/             the model that encodes the queries
    checksums.bin      checksums of the blocks of the files below
    vectors.npy        (n_docs, n_components); int8 with scales.npy if that was asked for
    documents.arrow    id, label, title and the other columns
    texts.zst          the texts, compressed in groups (text_rows.npy, text_offsets.npy)
    words.arrow        every word: its stem and its most frequent form
    word_*.npy, place*.npy, document_starts.npy     the postings
    graph.usearch      the graph of neighbours, if that was asked for

The store of lance has tables/ instead of the files below checksums.bin.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from kate.model.model_folder import MODEL_FOLDER
from kate.model.text_model import TextModel, load
from kate.search.document_texts import TextFile, write_texts
from kate.search.files_store import FilesStore
from kate.search.neighbour_graph import GraphFacts, NeighbourGraph
from kate.search.postings import Postings
from kate.search.small_vectors import Int8Facts, Int8Vectors
from kate.storage.checked_files import BlockFile, CheckedArray, block_checksums
from kate.storage.checksums import sha256_of_bytes, sha256_of_file
from kate.storage.folders import FolderError, FolderKind
from kate.threads import thread_count

__all__ = [
    "INDEX_FOLDER",
    "TABLES",
    "WRITER",
    "all_texts",
    "read_config",
    "read_files",
    "read_model",
    "unless_replaced",
    "write_config",
    "write_files",
]

Result = TypeVar("Result")

MODEL = "model"
TABLES = "tables"
WRITER = "writer.lock"
_VECTORS, _SCALES, _DOCUMENTS, _WORDS, _GRAPH = (
    "vectors.npy", "scales.npy", "documents.arrow", "words.arrow", "graph.usearch",
)  # fmt: skip
_TEXTS, _TEXT_ROWS, _TEXT_OFFSETS = "texts.zst", "text_rows.npy", "text_offsets.npy"
_POSTINGS = {
    "starts": "word_starts.npy",
    "rows": "word_rows.npy",
    "weights": "word_weights.npy",
    "place_starts": "place_starts.npy",
    "places": "places.npy",
    "document_starts": "document_starts.npy",
}
_CHECKSUMS = "checksums.bin"
_CHECKED = (
    _VECTORS,
    _SCALES,
    _DOCUMENTS,
    _WORDS,
    _TEXTS,
    _TEXT_ROWS,
    _TEXT_OFFSETS,
    *_POSTINGS.values(),
    _GRAPH,
)

INDEX_FOLDER = FolderKind(
    "index",
    config="index.json",
    version=3,
    files=(*_CHECKED, _CHECKSUMS, MODEL, TABLES, WRITER),
    remedy="make one with `kate index MODEL CORPUS -o INDEX` or Index.save",
)
# A folder that is replaced may be away for a moment, where the system cannot exchange two folders.
_ATTEMPTS, _A_MOMENT = 4, 0.03
_REMEDY = "copy the index again or index the documents anew"


def write_config(part: Path, model: TextModel, store: str, facts: dict[str, Any]) -> None:
    """Write the model and then index.json, which says all that must hold together."""
    model.save(part / MODEL)
    config = INDEX_FOLDER.head() | {
        "store": store,
        "n_components": model.encoder_.n_components,
        "model_sha256": sha256_of_file(part / MODEL / MODEL_FOLDER.config),
        **facts,
    }
    config["sha256"] = _own_checksum(config)
    (part / INDEX_FOLDER.config).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def read_config(folder: Path) -> dict[str, Any]:
    """index.json, if it is as it was written."""
    config = INDEX_FOLDER.read_config(folder)
    if config.pop("sha256", None) != _own_checksum(config):
        raise FolderError(
            f"{folder / INDEX_FOLDER.config} is not the file that was saved (its checksum differs): it was edited or "
            f"damaged; {_REMEDY}"
        )
    return config


def read_model(folder: Path, config: dict[str, Any]) -> TextModel:
    """The model of an index."""
    model = load(folder / MODEL)
    if sha256_of_file(folder / MODEL / MODEL_FOLDER.config) != config.get("model_sha256"):
        raise FolderError(f"{folder / MODEL} is not the model that made the vectors of this index; {_REMEDY}")
    return model


def unless_replaced(folder: Path, read: Callable[[], Result]) -> Result:
    """Read a folder; once more if it was replaced meanwhile, so that the old and the new are never mixed."""
    for _ in range(_ATTEMPTS):
        before = _identity(folder)
        try:
            return read()
        except (FolderError, FileNotFoundError):
            time.sleep(_A_MOMENT)
            if _identity(folder) == before:
                raise
    return read()


def _identity(folder: Path) -> tuple[int, int] | None:
    """What changes when a folder is replaced; None while it is not there."""
    try:
        found = (folder / INDEX_FOLDER.config).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def write_files(part: Path, store: FilesStore) -> dict[str, Any]:
    """Write the files of a store; what index.json says about them."""
    vectors = store.vectors
    facts: dict[str, Any] = {"n_documents": len(store), "graph": None, "int8": None}
    if isinstance(vectors, Int8Vectors):
        facts["int8"] = None if vectors.facts is None else vectors.facts.as_dict()
        _write_array(part / _SCALES, vectors.scales)
        vectors = vectors.codes
    _write_array(part / _VECTORS, vectors)
    for name, file in _POSTINGS.items():
        _write_array(part / file, getattr(store.postings, name))
    # uncompressed: it is read in a moment
    store.frame.write_ipc(part / _DOCUMENTS)
    store.words.write_ipc(part / _WORDS)
    texts = store.texts if isinstance(store.texts, pl.Series) else all_texts(store.texts)
    rows, offsets = write_texts(part / _TEXTS, texts)
    _write_array(part / _TEXT_ROWS, rows)
    _write_array(part / _TEXT_OFFSETS, offsets)
    if store.graph is not None:
        store.graph.save(part / _GRAPH)
        facts["graph"] = store.graph.facts.as_dict()
    return facts | _write_checksums(part)


def _write_checksums(part: Path) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    checksums = b""
    for name in _CHECKED:
        if not (part / name).exists():
            continue
        entry: dict[str, Any] = {"bytes": (part / name).stat().st_size, "first_checksum": len(checksums)}
        checksums += block_checksums(part / name)
        entry["last_checksum"] = len(checksums)
        entries[name] = entry | (CheckedArray.describe(part / name) if name.endswith(".npy") else {})
    (part / _CHECKSUMS).write_bytes(checksums)
    return {"files": entries, "checksums_sha256": sha256_of_bytes(checksums)}


def read_files(folder: Path, config: dict[str, Any], n_components: int) -> FilesStore:
    """The store of files of a folder. All files are opened now; what they hold is checked when it is touched."""
    try:
        return _read_files(folder, config, n_components)
    except (KeyError, TypeError) as error:
        raise FolderError(
            f"{folder / INDEX_FOLDER.config} has strange entries ({type(error).__name__} {error}); {_REMEDY}"
        ) from None


def _read_files(folder: Path, config: dict[str, Any], n_components: int) -> FilesStore:
    if not (folder / _CHECKSUMS).is_file():
        raise FolderError(f"{folder / _CHECKSUMS} is missing: the index is damaged; {_REMEDY}")
    checksums = (folder / _CHECKSUMS).read_bytes()
    if sha256_of_bytes(checksums) != config.get("checksums_sha256"):
        raise FolderError(f"{folder / _CHECKSUMS} is not the file that was saved: it is damaged; {_REMEDY}")
    entries = config["files"]

    def opened(name: str) -> BlockFile:
        INDEX_FOLDER.require_size(folder / name, config)
        entry = entries[name]
        part = checksums[entry["first_checksum"] : entry["last_checksum"]]
        return BlockFile(folder / name, part, n_threads=thread_count(None))

    def array(name: str) -> CheckedArray:
        return CheckedArray(opened(name), entries[name])

    stored = array(_VECTORS)
    vectors = Int8Vectors(stored, array(_SCALES), Int8Facts(**config["int8"])) if config["int8"] else stored
    arrays: dict[str, Any] = {name: array(file) for name, file in _POSTINGS.items()}
    postings = Postings(**arrays).opened()
    texts = TextFile(opened(_TEXTS), array(_TEXT_ROWS), array(_TEXT_OFFSETS))
    shape = (config["n_documents"], n_components)
    if stored.shape != shape or len(texts) != shape[0] or postings.n_documents != shape[0]:
        raise FolderError(
            f"{folder} does not hold together: {stored.shape} vectors, expected {shape}; {_REMEDY}"
        )
    documents, words = opened(_DOCUMENTS), opened(_WORDS)
    graph = None
    if config["graph"]:
        graph = NeighbourGraph.load(opened(_GRAPH), GraphFacts(**config["graph"]), shape)
    return FilesStore(vectors, postings, lambda: _table(words), lambda: _table(documents), texts, graph)


def _table(file: BlockFile) -> pl.DataFrame:
    """A table, checked as a whole before Polars reads it."""
    file.check()
    return pl.read_ipc(io.BytesIO(file.buffer))


def _write_array(path: Path, array: Any) -> None:
    np.save(path, array.whole() if isinstance(array, CheckedArray) else np.asarray(array))


def all_texts(texts: TextFile) -> pl.Series:
    """Every text of a file, in memory."""
    return pl.Series("text", texts.take(np.arange(len(texts))), dtype=pl.String)


def _own_checksum(config: dict[str, Any]) -> str:
    return sha256_of_bytes(json.dumps(config, sort_keys=True).encode())
