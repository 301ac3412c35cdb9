"""A corpus batch by batch → its vectors or its topics in a file; what kate encode and kate label do.

Only a batch is in memory. What waits for the last document (whether ids are unique, whether a column is of numbers)
waits on disk, beside the file that is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.model.text_model import TextModel
from kate.progress import Report, report_nothing
from kate.storage.files import scratch_folder, whole_file
from kate.storage.growing_arrays import GrowingArray
from kate.text.corpus_batches import CorpusBatches, documents_of
from kate.text.document_tables import PLACE
from kate.text.frames import moved_names
from kate.text.table_files import write_tables
from kate.text.table_spool import TableSpool

__all__ = [
    "VECTOR_SUFFIXES",
    "LabelledCorpus",
    "encode_corpus",
    "label_corpus",
    "write_encoded",
    "write_labelled",
]

VECTOR_SUFFIXES = (".parquet", ".npy", ".jsonl")
_TOPIC = "kate:topic:"


def encode_corpus(
    model: TextModel,
    batches: CorpusBatches,
    output: Path,
    *,
    normalize: bool = False,
    truncate_dim: int | None = None,
    report: Report = report_nothing,
) -> tuple[int, int]:
    """Write the vectors of all documents into a .parquet, .npy or .jsonl file; their number and length."""
    if output.suffix not in VECTOR_SUFFIXES:
        raise ValueError(f"{output} ends in none of {', '.join(VECTOR_SUFFIXES)}")
    n_components = model.encoder_.n_components if truncate_dim is None else truncate_dim
    tables: list[pl.DataFrame] = []
    texts = _drawn(batches, tables, "encoding", report)
    found = model.encode_batches(texts, normalize=normalize, truncate_dim=truncate_dim)
    encoded = ((tables.pop(), vectors) for vectors in found)
    write_encoded(encoded, output, n_components, lambda: batches.has_repeated_ids, report)
    return batches.n_documents, n_components


def write_encoded(
    encoded: Iterable[tuple[pl.DataFrame, NDArray[np.float32]]],
    output: Path,
    n_components: int,
    has_repeated_ids: Callable[[], bool],
    report: Report = report_nothing,
) -> None:
    """Write the vectors of some tables of documents; whether ids are there twice is asked behind the last."""
    with whole_file(output) as part:
        if output.suffix == ".npy":
            with GrowingArray(part, np.float32, (n_components,)) as array:
                for _, vectors in encoded:
                    array.add(vectors)
        else:
            with scratch_folder(output) as folder:
                spool = TableSpool(folder)
                for table, vectors in encoded:
                    spool.add(table.select("id", PLACE, "label").with_columns(_as_column(vectors)))
                _write_vectors(spool, has_repeated_ids(), part, report)


def _drawn(
    batches: CorpusBatches, tables: list[pl.DataFrame], phase: str, report: Report
) -> Iterator[pl.Series]:
    """The texts of each batch, whose table is put where the caller finds it; the report follows who draws."""
    report(phase, 0, batches.share)
    for table in batches.tables():
        tables.append(table)
        yield table["text"]
        report(phase, batches.n_documents, batches.share)


def _as_column(vectors: NDArray[np.float32]) -> pl.Series:
    # a list and not a fixed-size array: every reader of parquet understands lists
    column = pl.Series("vector", vectors, dtype=pl.Array(pl.Float32, vectors.shape[1]))
    return column.cast(pl.List(pl.Float32))


def _write_vectors(spool: TableSpool, repeated: bool, path: Path, report: Report) -> None:
    has_labels = spool.has_values("label")

    def tables() -> Iterator[pl.DataFrame]:
        for table in spool.tables():
            ids = table[PLACE] if repeated else table["id"].fill_null(table[PLACE])
            labels = [table["label"]] if has_labels else []
            yield pl.DataFrame([ids.alias("id"), *labels, table["vector"]])

    write_tables(_told(tables(), spool, report), path, spool.most_rows)


def _told(tables: Iterable[pl.DataFrame], spool: TableSpool, report: Report) -> Iterator[pl.DataFrame]:
    n_written = 0
    report("writing", 0, 0.0)
    for table in tables:
        yield table
        n_written += len(table)
        report("writing", n_written, n_written / spool.n_rows)


class LabelledCorpus(NamedTuple):
    """How many documents there were, and how many of them have no topic."""

    n_documents: int
    n_without: int


def label_corpus(
    model: TextModel,
    batches: CorpusBatches,
    output: Path,
    n: int | None = None,
    *,
    topics: Mapping[str, str | Sequence[str]] | None = None,
    report: Report = report_nothing,
) -> LabelledCorpus:
    """Write all columns of the documents and their topics into a .csv, .parquet or .jsonl file."""
    tables: list[pl.DataFrame] = []
    texts = _drawn(batches, tables, "labelling", report)
    found = model.label_batches(texts, n, topics=topics)
    return write_labelled(((tables.pop(), columns) for columns in found), output, report)


def write_labelled(
    labelled: Iterable[tuple[pl.DataFrame, pl.DataFrame]], output: Path, report: Report = report_nothing
) -> LabelledCorpus:
    """Write some tables of documents, each with its columns of topics."""
    with whole_file(output) as part, scratch_folder(output) as folder:
        spool = TableSpool(folder)
        n_documents = n_without = 0
        for table, columns in labelled:
            n_documents, n_without = n_documents + len(table), n_without + columns["topic_name"].null_count()
            added = columns.with_columns(pl.col("topic_share").round(4))
            spool.add(table.with_columns(one.alias(f"{_TOPIC}{one.name}") for one in added))
        _write_labelled(spool, part, report)
    return LabelledCorpus(n_documents, n_without)


def _write_labelled(spool: TableSpool, path: Path, report: Report) -> None:
    """The columns as the files have them, and the topics behind them."""
    added = [name for name in spool.schema if name.startswith(_TOPIC)]
    names = {name: name.removeprefix(_TOPIC) for name in added}
    moved: dict[str, str] | None = None

    def tables() -> Iterator[pl.DataFrame]:
        nonlocal moved
        for table in spool.tables():
            given = documents_of(table.drop(added), table[PLACE]).source
            if given is None:
                raise TypeError("documents of files have a source")
            if moved is None:
                moved = moved_names(given.columns, list(names.values()))
            yield given.rename(moved).with_columns(table.select(added).rename(names))

    write_tables(_told(tables(), spool, report), path, spool.most_rows)
