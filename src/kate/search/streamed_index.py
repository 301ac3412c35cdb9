"""An index folder of a corpus that is larger than memory: what ``kate index`` writes.

Of the documents one batch is held. What waits for the last of them (whether ids are unique, whether a column is of
numbers, in which order words come) waits on disk. What grows with the corpus in memory: 20 bytes for each document (two
hashes of its id, its length), the distinct words with their forms, and with ``ann`` the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.model.text_model import TextModel
from kate.progress import Report, report_nothing
from kate.search.building import (
    SeenValues,
    encoded,
    topic_columns,
    warn_of_unknown,
    words_of,
)
from kate.search.document_texts import TextWriter
from kate.search.index_folder import (
    DOCUMENTS,
    GRAPH,
    POSTINGS,
    SCALES,
    TEXT_OFFSETS,
    TEXT_ROWS,
    TEXTS,
    VECTORS,
    WORD_TABLE,
    write_checksums,
)
from kate.search.neighbour_graph import NeighbourGraph, require_usearch
from kate.search.posting_pieces import PostingPieces
from kate.search.small_vectors import Int8Facts, Int8Vectors, eight_bits
from kate.search.store import DOCUMENT_COLUMNS
from kate.storage.growing_arrays import GrowingArray
from kate.text.corpus_batches import CorpusBatches, documents_of
from kate.text.document_tables import PLACE, READ_COLUMNS, SOURCE, TEXT
from kate.text.documents import Documents
from kate.text.table_files import write_arrow
from kate.text.table_spool import TableSpool

__all__ = ["StreamedColumns", "write_streamed_files", "write_streamed_lance"]

Floats = NDArray[np.float32]

_TOPIC, _TEXT, _LINES = "kate:topic:", "kate:text", "kate:lines"


class StreamedColumns:
    """The columns of all documents, on disk until it is known what they are."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._spool = TableSpool(folder)
        # of columns of the files: whether they say what the text says
        self._are_text: dict[str, int] = {}

    def add(self, table: pl.DataFrame, added: Iterable[pl.Series]) -> None:
        """The columns of a batch, as the readers make them, and others that belong to it."""
        for column in table.select(pl.col(f"^{SOURCE}.*$")):
            if column.dtype == pl.String and column.equals(table["text"]):
                self._are_text[column.name] = self._are_text.get(column.name, 0) + 1
        kept = table.drop("text", *(name for name in table.columns if name.startswith(TEXT)))
        self._spool.add(kept.with_columns(added))

    @property
    def n_documents(self) -> int:
        return self._spool.n_rows

    def tables(self, repeated_ids: bool) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """For each batch the columns of the index, as ``build_store`` makes them, and what else was added."""
        schema = self._spool.schema
        names = self._names(schema)
        seen = {stored: SeenValues() for stored in names}
        for table in self._spool.tables():
            for stored, values in seen.items():
                values.note(table[stored])
        topics = [
            name
            for name in schema
            if name.startswith(_TOPIC) and name.removeprefix(_TOPIC) not in names.values()
        ]
        for table in self._spool.tables():
            ids = table[PLACE] if repeated_ids else table["id"].fill_null(table[PLACE])
            own = [
                ids.alias("id"),
                *(table[name].cast(pl.String) for name in DOCUMENT_COLUMNS if name != "id"),
            ]
            others = [seen[stored].typed(table[stored]).alias(name) for stored, name in names.items()]
            labels = [table[name].alias(name.removeprefix(_TOPIC)) for name in topics]
            rest = table.select(name for name in (_TEXT, _LINES) if name in schema)
            yield pl.DataFrame([*own, *others, *labels]), rest

    def _names(self, schema: dict[str, pl.DataType]) -> dict[str, str]:
        """The columns beside id, label and title: as they are stored here, and as the index calls them."""
        ours = {*READ_COLUMNS, _TEXT, _LINES}
        names = {name: name for name in schema if name not in ours and not name.startswith((SOURCE, _TOPIC))}
        taken = {"text", *DOCUMENT_COLUMNS, *names}
        for stored, kind in schema.items():
            name = stored.removeprefix(SOURCE)
            if (
                stored.startswith(SOURCE)
                and name not in taken
                and not kind.is_nested()
                and kind not in {pl.Binary, pl.Object}
                and self._are_text.get(stored) != self._spool.n_tables
            ):
                names[stored] = name
        return names


def write_streamed_files(
    part: Path,
    scratch: Path,
    model: TextModel,
    batches: CorpusBatches,
    *,
    ann: bool,
    int8: bool,
    n_jobs: int | None,
    report: Report = report_nothing,
) -> dict[str, Any]:
    """Write the files of the store of files; what index.json says about them."""
    if ann:
        require_usearch()
    pieces, columns = PostingPieces(_made(scratch / "words")), StreamedColumns(scratch / "columns")
    vectors = GrowingArray((scratch if int8 else part) / VECTORS, np.float32, (model.encoder_.n_components,))
    with vectors, TextWriter(part / TEXTS) as texts:
        for table, documents, units in _encoded_batches(model, batches, n_jobs, report):
            vectors.add(units)
            texts.add(documents.texts)
            pieces.add(words_of(model, documents, n_jobs))
            columns.add(table, _topics(model, units))
    rows, offsets = texts.groups()
    np.save(part / TEXT_ROWS, rows)
    np.save(part / TEXT_OFFSETS, offsets)
    words = pieces.merge({name: part / file for name, file in POSTINGS.items()}, report)
    words.write_ipc(part / WORD_TABLE)
    frames = (frame for frame, _ in columns.tables(batches.has_repeated_ids))
    write_arrow(_told(frames, "writing columns", columns.n_documents, report), part / DOCUMENTS)
    facts: dict[str, Any] = {"n_documents": columns.n_documents, "graph": None, "int8": None}
    stored: Floats = vectors.mapped()
    if int8:
        facts["int8"] = _write_int8(part, stored, report).as_dict()
    if ann:
        report("linking neighbours", 0)
        graph = NeighbourGraph.build(stored, n_jobs)
        graph.save(part / GRAPH)
        facts["graph"] = graph.facts.as_dict()
    return facts | write_checksums(part)


def write_streamed_lance(
    part: Path,
    scratch: Path,
    model: TextModel,
    batches: CorpusBatches,
    *,
    ann: bool,
    n_jobs: int | None,
    report: Report = report_nothing,
) -> dict[str, Any]:
    """Write the table of the store of lance; what index.json says about it."""
    from kate.search.lance_table import write_rows

    columns = StreamedColumns(scratch / "columns")
    with GrowingArray(scratch / VECTORS, np.float32, (model.encoder_.n_components,)) as vectors:
        for table, documents, units in _encoded_batches(model, batches, n_jobs, report):
            vectors.add(units)
            lines = pl.Series(_LINES, list(words_of(model, documents, n_jobs).lines()), dtype=pl.String)
            columns.add(table, [*_topics(model, units), documents.texts.alias(_TEXT), lines])
    stored: Floats = vectors.mapped()

    def rows() -> Iterator[tuple[pl.DataFrame, pl.Series, list[str], Floats]]:
        first = 0
        report("writing", 0, 0.0)
        for frame, rest in columns.tables(batches.has_repeated_ids):
            yield frame, rest[_TEXT], rest[_LINES].to_list(), np.asarray(stored[first : first + len(frame)])
            first += len(frame)
            report("writing", first, first / columns.n_documents)

    return write_rows(part, rows(), ann=ann)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _encoded_batches(
    model: TextModel, batches: CorpusBatches, n_jobs: int | None, report: Report
) -> Iterator[tuple[pl.DataFrame, Documents, Floats]]:
    """Batches of documents with their vectors of length 1, and one warning about those without a known word."""
    n_empty = 0
    report("indexing", 0, batches.share)
    for table in batches.tables():
        documents = documents_of(table, table[PLACE])
        units = encoded(model, documents, n_jobs)
        n_empty += int((~units.any(axis=1)).sum())
        yield table, documents, units
        report("indexing", batches.n_documents, batches.share)
    warn_of_unknown(n_empty, batches.n_documents, stacklevel=2)


def _topics(model: TextModel, units: Floats) -> list[pl.Series]:
    return [one.alias(f"{_TOPIC}{one.name}") for one in topic_columns(model, units)]


def _told(
    frames: Iterable[pl.DataFrame], phase: str, n_documents: int, report: Report
) -> Iterator[pl.DataFrame]:
    n_done = 0
    report(phase, 0, 0.0)
    for frame in frames:
        yield frame
        n_done += len(frame)
        report(phase, n_done, n_done / n_documents)


def _write_int8(part: Path, vectors: Floats, report: Report) -> Int8Facts:
    at_once = 65_536
    report("writing vectors", 0, 0.0)
    with (
        GrowingArray(part / VECTORS, np.int8, vectors.shape[1:]) as codes_file,
        GrowingArray(part / SCALES, np.float32) as scales_file,
    ):
        for first in range(0, len(vectors), at_once):
            codes, scales = eight_bits(np.asarray(vectors[first : first + at_once]))
            codes_file.add(codes)
            scales_file.add(scales)
            n_done = first + len(scales)
            report("writing vectors", n_done, n_done / len(vectors))
    return Int8Vectors(codes_file.mapped(), scales_file.mapped()).measured(vectors)
