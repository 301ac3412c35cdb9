"""The topics of a corpus through time, batch by batch: what kate trends does.

What waits for the last document waits on disk: its columns (which periods there are, only all dates tell) and the words
that it holds. In memory are the column of dates, a number for each document, and the sums of periods and topics.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.model.text_model import TextModel
from kate.progress import Report, report_nothing
from kate.text.corpus_batches import CorpusBatches, documents_of
from kate.text.document_tables import PLACE
from kate.text.table_spool import TableSpool
from kate.topics.over_time import OverTime, topics_over
from kate.topics.periods import Periods, column_of, find_periods
from kate.topics.topic_set import Topics

__all__ = ["topics_of_corpus"]


def topics_of_corpus(
    model: TextModel,
    topics: Topics,
    batches: CorpusBatches,
    by: str = "date",
    every: str | None = None,
    *,
    scratch: Path,
    report: Report = report_nothing,
) -> OverTime:
    """What ``topics.over_time`` gives, for a corpus that may be larger than memory.

    scratch : an empty folder for what waits; it belongs to who made it
    """
    spool, counts = TableSpool(scratch), _CountsOnDisk(scratch)
    places: list[NDArray[np.int64]] = []
    tables: list[pl.DataFrame] = []

    def texts() -> Iterator[pl.Series]:
        report("reading", 0, batches.share)
        for table in batches.tables():
            tables.append(table)
            yield table["text"]
            report("reading", batches.n_documents, batches.share)

    for read in model.read_batches(texts()):
        spool.add(tables.pop())
        counts.add(read.counts)
        places.append(np.where(read.known, topics.cut.nearest(read.vectors), -1))
    periods = _periods(spool, by, every, batches.has_repeated_ids)
    readable = model.vocabulary_.readable

    def blocks() -> Iterator[csr_matrix]:
        n_done = 0
        report("comparing periods", 0, 0.0)
        for block in counts.blocks():
            yield block
            n_done += block.shape[0]
            report("comparing periods", n_done, n_done / spool.n_rows)

    return topics_over(periods, list(topics), np.concatenate(places), blocks(), readable)


def _periods(spool: TableSpool, by: str, every: str | None, repeated_ids: bool) -> Periods:
    columns = []
    for table in spool.tables():
        documents = documents_of(table, table[PLACE])
        columns.append(
            column_of(
                by, [documents.frame if documents.source is None else documents.source, documents.frame]
            )
        )
    column = pl.concat(columns)
    try:
        return find_periods(column, every)
    except ValueError:
        # once more for the message, which names the document: ids are not held for that
        ids = [
            table[PLACE] if repeated_ids else table["id"].fill_null(table[PLACE]) for table in spool.tables()
        ]
        return find_periods(column, every, pl.concat([one.alias("id") for one in ids]))


class _CountsOnDisk:
    """Sparse rows, of which one block is in memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shapes: list[tuple[int, int]] = []

    def add(self, counts: csr_matrix) -> None:
        for name, array in (("words", counts.indices), ("starts", counts.indptr)):
            np.save(self._folder / f"{len(self._shapes):06d}.{name}.npy", array)
        self._shapes.append(counts.shape)

    def blocks(self) -> Iterator[csr_matrix]:
        """The rows as they were added; an entry says that a document has the word, and not how often."""
        for number, shape in enumerate(self._shapes):
            words, starts = (
                np.load(self._folder / f"{number:06d}.{name}.npy") for name in ("words", "starts")
            )
            yield csr_matrix((np.ones(len(words), np.float32), words, starts), shape=shape)
