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
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kate.model.model_folder import MODEL_FOLDER
from kate.model.text_model import TextModel, load
from kate.search.document_texts import TextFile, write_texts
from kate.search.files_store import FilesStore
from kate.search.neighbour_graph import GraphFacts, NeighbourGraph
from kate.search.postings import Postings
from kate.search.small_vectors import Int8Facts, Int8Vectors
from kate.storage.bounded_files import MOST_JSON, read_bounded
from kate.storage.checked_files import BlockFile, CheckedArray, block_checksums
from kate.storage.checksums import sha256_of_bytes, sha256_of_file
from kate.storage.folders import FolderError, FolderKind
from kate.threads import thread_count

__all__ = [
    "DOCUMENTS",
    "GRAPH",
    "INDEX_FOLDER",
    "POSTINGS",
    "SCALES",
    "TABLES",
    "TEXTS",
    "TEXT_OFFSETS",
    "TEXT_ROWS",
    "VECTORS",
    "WORD_TABLE",
    "WRITER",
    "all_texts",
    "read_files",
    "read_index_model",
    "table_changed",
    "write_checksums",
    "write_config",
    "write_files",
]

MODEL = "model"
TABLES = "tables"
WRITER = "writer.lock"
VECTORS, SCALES, DOCUMENTS, WORD_TABLE, GRAPH = (
    "vectors.npy", "scales.npy", "documents.arrow", "words.arrow", "graph.usearch",
)  # fmt: skip
TEXTS, TEXT_ROWS, TEXT_OFFSETS = "texts.zst", "text_rows.npy", "text_offsets.npy"
POSTINGS = {
    "starts": "word_starts.npy",
    "rows": "word_rows.npy",
    "weights": "word_weights.npy",
    "place_starts": "place_starts.npy",
    "places": "places.npy",
    "document_starts": "document_starts.npy",
}
_CHECKSUMS = "checksums.bin"
_CHECKED = (
    VECTORS,
    SCALES,
    DOCUMENTS,
    WORD_TABLE,
    TEXTS,
    TEXT_ROWS,
    TEXT_OFFSETS,
    *POSTINGS.values(),
    GRAPH,
)

# What the numbers of an array may be, where it is not whole ones with a sign: compiled code and slices trust that.
_KINDS = {VECTORS: "fi", SCALES: "f", POSTINGS["weights"]: "f", POSTINGS["places"]: "iu"}

INDEX_FOLDER = FolderKind(
    "index",
    config="index.json",
    version=3,
    files=(*_CHECKED, _CHECKSUMS, MODEL, TABLES, WRITER),
    remedy="make one with `kate index MODEL CORPUS -o INDEX` or Index.save",
)
_REMEDY = "copy the index again or index the documents anew"


def write_config(part: Path, model: TextModel, store: str, facts: dict[str, Any]) -> None:
    """Write the model and then index.json, which says all that must hold together."""
    model.save(part / MODEL)
    config = {
        "store": store,
        "n_components": model.encoder_.n_components,
        "model_sha256": sha256_of_file(part / MODEL / MODEL_FOLDER.config),
        **facts,
    }
    (part / INDEX_FOLDER.config).write_text(INDEX_FOLDER.config_text(config), encoding="utf-8")


def table_changed(folder: Path) -> int:
    """When the table of an index in the store lance was changed last, in nanoseconds; 0 for other folders."""
    # a version is a file of its own there, and a new file changes its folder
    return max((place.stat().st_mtime_ns for place in folder.glob(f"{TABLES}/*.lance/_versions")), default=0)


def read_index_model(folder: Path, config: dict[str, Any]) -> TextModel:
    """The model of an index."""
    model = load(folder / MODEL)
    if sha256_of_file(folder / MODEL / MODEL_FOLDER.config) != config.get("model_sha256"):
        raise FolderError(f"{folder / MODEL} is not the model that made the vectors of this index; {_REMEDY}")
    return model


def write_files(part: Path, store: FilesStore) -> dict[str, Any]:
    """Write the files of a store; what index.json says about them."""
    vectors = store.vectors
    facts: dict[str, Any] = {"n_documents": len(store), "graph": None, "int8": None}
    if isinstance(vectors, Int8Vectors):
        facts["int8"] = None if vectors.facts is None else vectors.facts.as_dict()
        _write_array(part / SCALES, vectors.scales)
        vectors = vectors.codes
    _write_array(part / VECTORS, vectors)
    for name, file in POSTINGS.items():
        _write_array(part / file, getattr(store.postings, name))
    # uncompressed: it is read in a moment
    store.frame.write_ipc(part / DOCUMENTS)
    store.words.write_ipc(part / WORD_TABLE)
    texts = store.texts if isinstance(store.texts, pl.Series) else all_texts(store.texts)
    rows, offsets = write_texts(part / TEXTS, texts)
    _write_array(part / TEXT_ROWS, rows)
    _write_array(part / TEXT_OFFSETS, offsets)
    if store.graph is not None:
        store.graph.save(part / GRAPH)
        facts["graph"] = store.graph.facts.as_dict()
    return facts | write_checksums(part)


def write_checksums(part: Path) -> dict[str, Any]:
    """Write the checksums of the files that are there; what index.json says about them."""
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
    except (FolderError, OSError, MemoryError):
        raise
    except Exception as error:  # whatever strange contents lead to
        raise FolderError(
            f"{folder / INDEX_FOLDER.config} has strange entries ({type(error).__name__} {error}); {_REMEDY}"
        ) from None


def _read_files(folder: Path, config: dict[str, Any], n_components: int) -> FilesStore:
    entries = config["files"]
    checksums = _read_checksums(folder, config)

    def opened(name: str) -> BlockFile:
        INDEX_FOLDER.require_size(folder / name, config)
        entry = entries[name]
        part = checksums[entry["first_checksum"] : entry["last_checksum"]]
        return BlockFile(folder / name, part, n_threads=thread_count(None))

    def array(name: str) -> CheckedArray:
        found = CheckedArray(opened(name), entries[name])
        if found.dtype.kind not in _KINDS.get(name, "i") or len(found.shape) != 1 + (name == VECTORS):
            raise FolderError(f"{folder / name} holds {found.shape} of {found.dtype}; {_REMEDY}")
        return found

    stored = array(VECTORS)
    vectors = Int8Vectors(stored, array(SCALES), Int8Facts(**config["int8"])) if config["int8"] else stored
    arrays: dict[str, Any] = {name: array(file) for name, file in POSTINGS.items()}
    postings = Postings(**arrays).opened()
    texts = TextFile(opened(TEXTS), array(TEXT_ROWS), array(TEXT_OFFSETS))
    shape = (config["n_documents"], n_components)
    if stored.shape != shape or len(texts) != shape[0] or postings.n_documents != shape[0]:
        raise FolderError(
            f"{folder} does not hold together: {stored.shape} vectors, expected {shape}; {_REMEDY}"
        )
    documents, words = opened(DOCUMENTS), opened(WORD_TABLE)
    graph = None
    if config["graph"]:
        graph = NeighbourGraph.load(opened(GRAPH), GraphFacts(**config["graph"]), shape)
    n_words = len(postings.starts) - 1
    return FilesStore(
        vectors,
        postings,
        lambda: _table(words, ("stem", "readable"), n_words),
        lambda: _table(documents, ("id", "label", "title"), shape[0]),
        texts,
        graph,
    )


def _read_checksums(folder: Path, config: dict[str, Any]) -> bytes:
    path = folder / _CHECKSUMS
    if not path.is_file():
        raise FolderError(f"{path} is missing: the index is damaged; {_REMEDY}")
    try:
        checksums = read_bounded(path, _n_checksum_bytes(config))
    except ValueError as error:
        raise FolderError(f"{error}: it is damaged; {_REMEDY}") from None
    if sha256_of_bytes(checksums) != config.get("checksums_sha256"):
        raise FolderError(f"{path} is not the file that was saved: it is damaged; {_REMEDY}")
    return checksums


def _n_checksum_bytes(config: dict[str, Any]) -> int:
    files = config["files"] if isinstance(config["files"], dict) else {}
    return max((entry["last_checksum"] for entry in files.values()), default=MOST_JSON)


def _table(file: BlockFile, columns: tuple[str, ...], n_rows: int) -> pl.DataFrame:
    """A table with at least these columns of texts, checked as a whole before Polars reads it."""
    file.check()
    try:
        table = pl.read_ipc(io.BytesIO(file.buffer))
    except (pl.exceptions.PolarsError, OSError, ValueError, pl.exceptions.PanicException) as error:
        reason = str(error).splitlines()[0][:100] if str(error) else type(error).__name__
        raise file.damaged(f"is not a table that Polars can read ({reason})") from None
    if len(table) != n_rows or any(table.schema.get(name) != pl.String for name in columns):
        raise file.damaged(f"is not a table of {n_rows:,} rows with the texts {', '.join(columns)}")
    return table


def _write_array(path: Path, array: Any) -> None:
    np.save(path, array.whole() if isinstance(array, CheckedArray) else np.asarray(array))


def all_texts(texts: TextFile) -> pl.Series:
    """Every text of a file, in memory."""
    return pl.Series("text", texts.take(np.arange(len(texts))), dtype=pl.String)
