"""Encoding, labelling and indexing: a map over pieces by Ray Data, whose workers keep the model that they have loaded.

Here Ray Data serves: it keeps a pool of workers busy, holds no more pieces than fit, and replaces workers that die.
What comes back is put together in the order of the documents, and is what the same call gives without a cluster.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.cluster.corpus_pieces import CorpusPieces, PieceTables
from kate.cluster.piece_encoding import (
    EncodePieces,
    IndexPieces,
    LabelPieces,
    ModelWorker,
    PieceJob,
)
from kate.cluster.ray_cluster import RayCluster, original_error
from kate.model.corpus_outputs import LabelledCorpus, write_encoded, write_labelled
from kate.model.encoder import warn_of_empty
from kate.model.packed_model import PackedModel
from kate.model.text_model import TextModel
from kate.model.topic_answers import warn_of_no_topic
from kate.progress import Report, report_nothing
from kate.search.building import store_of
from kate.search.index import Index
from kate.search.search_words import WordSequences
from kate.text.corpus_batches import repeated_id, require_some
from kate.text.document_tables import PLACE
from kate.text.documents import Documents
from kate.text.repeated_ids import SeenIds

__all__ = ["encode_on_cluster", "index_on_cluster", "label_on_cluster", "results_in_order"]

Floats = NDArray[np.float32]


def encode_on_cluster(
    cluster: RayCluster,
    model: TextModel,
    pieces: CorpusPieces,
    output: Path,
    *,
    normalize: bool = False,
    truncate_dim: int | None = None,
    n_workers: int | None = None,
    report: Report = report_nothing,
) -> tuple[int, int]:
    """Write the vectors of all documents into a .parquet, .npy or .jsonl file; their number and length.

    The file is the one that :func:`kate.model.corpus_outputs.encode_corpus` writes.

    n_workers : each loads the model once and has one processor; by default as many as can be kept busy
    """
    n_components = model.kept_components(truncate_dim)
    done = _on_pieces(cluster, model, pieces, EncodePieces(normalize, n_components), n_workers)
    seen, n_documents, n_empty = _Seen(pieces), 0, 0

    def encoded() -> Iterator[tuple[pl.DataFrame, Floats]]:
        nonlocal n_documents, n_empty
        for number, piece in enumerate(done, 1):
            seen.add(piece.read)
            start = 0
            for table in piece.read.tables:
                yield table, piece.vectors[start : start + len(table)]
                start += len(table)
            n_documents, n_empty = n_documents + start, n_empty + piece.n_empty
            report("encoding", n_documents, number / len(pieces))

    write_encoded(encoded(), output, n_components, lambda: seen.has_repeated_ids, report)
    warn_of_empty(n_empty, n_documents, stacklevel=3)
    return n_documents, n_components


def label_on_cluster(
    cluster: RayCluster,
    model: TextModel,
    pieces: CorpusPieces,
    output: Path,
    n: int | None = None,
    *,
    topics: Mapping[str, str] | None = None,
    n_workers: int | None = None,
    report: Report = report_nothing,
) -> LabelledCorpus:
    """Write all columns of the documents and their topics into a .csv, .parquet or .jsonl file."""
    pieces.keep_nested()
    done = _on_pieces(cluster, model, pieces, LabelPieces(n, topics), n_workers)
    seen, n_documents = _Seen(pieces), 0

    def labelled() -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        nonlocal n_documents
        for number, piece in enumerate(done, 1):
            seen.add(piece.read)
            start = 0
            for table in piece.read.tables:
                yield table, piece.columns[start : start + len(table)]
                start += len(table)
            n_documents += start
            report("labelling", n_documents, number / len(pieces))

    found = write_labelled(labelled(), output, report)
    if topics is None:
        warn_of_no_topic(found.n_without, found.n_documents, stacklevel=2)
    return found


def index_on_cluster(
    cluster: RayCluster,
    model: TextModel,
    pieces: CorpusPieces,
    *,
    ann: bool = False,
    int8: bool = False,
    n_jobs: int | None = None,
    n_workers: int | None = None,
) -> tuple[Documents, Index]:
    """The documents of files, and their index as :meth:`kate.Index.build` makes it.

    Vectors and lists of words are made where the documents are; here they are put together.
    """
    done = [*_on_pieces(cluster, model, pieces, IndexPieces(), n_workers)]
    documents = pieces.joined([piece.read for piece in done])
    vectors = np.concatenate([piece.vectors for piece in done])
    words = WordSequences.joined([piece.words for piece in done])
    n_jobs = model.n_jobs if n_jobs is None else n_jobs
    store = store_of(model, documents, vectors, words, ann=ann, int8=int8, n_jobs=n_jobs)
    return documents, Index(model, store)


class _Seen:
    """What is noticed of the pieces as they pass: malformed rows, and ids that are there twice."""

    def __init__(self, pieces: CorpusPieces) -> None:
        self._pieces, self._ids = pieces, SeenIds()
        self.has_repeated_ids = False

    def add(self, read: PieceTables) -> None:
        self._pieces.note(read.malformed)
        for table in read.tables:
            if self.has_repeated_ids:
                return
            twice = self._ids.add(table["id"].fill_null(table[PLACE]))
            asked = self._pieces.rules.asked.id
            if twice is not None and asked is not None:
                raise repeated_id(asked, twice)
            self.has_repeated_ids = twice is not None


def _on_pieces(
    cluster: RayCluster, model: TextModel, pieces: CorpusPieces, job: PieceJob, n_workers: int | None
) -> Iterator[Any]:
    """What the job makes of every piece, in the order of the pieces."""
    if n_workers is not None:
        cluster.require_workers(n_workers)
        pieces.require_enough(n_workers)
    import ray.cloudpickle
    import ray.data

    logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # it tells of every start and end
    rows = [{"number": number, "piece": ray.cloudpickle.dumps(piece)} for number, piece in enumerate(pieces)]
    data = ray.data.from_items(rows, override_num_blocks=len(rows))
    data.context.enable_progress_bars = False
    packed = cluster.put(PackedModel.of(model))
    mapped = data.map_batches(
        ModelWorker,
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=n_workers or min(cluster.n_cpus, len(rows))),
        fn_constructor_args=([packed], pieces.rules, job),
        num_cpus=1,
    )
    return results_in_order(_rows(mapped), pieces)


def _rows(mapped: Any) -> Iterator[tuple[int, Any]]:
    try:
        for row in mapped.iter_rows():
            yield row["number"], pickle.loads(row["done"])
    except Exception as error:
        raise original_error(error) from None


def results_in_order(rows: Iterable[tuple[int, Any]], pieces: CorpusPieces) -> Iterator[Any]:
    """Results of pieces by their numbers, which come in any order; the error of a piece is raised at its place."""
    early: dict[int, Any] = {}
    expected = n_documents = 0
    for number, result in rows:
        early[number] = result
        while expected in early:
            one = early.pop(expected)
            expected += 1
            if isinstance(one, Exception):
                raise one
            n_documents += sum(map(len, one.read.tables))
            yield one
    require_some(n_documents, [piece.source for piece in pieces], pieces.malformed)
