"""Documents → what an index keeps of them: vectors, words, columns, texts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.model.encoder import EmptyDocumentsWarning
from kate.model.text_answers import unit_rows
from kate.model.text_model import TextModel
from kate.search.files_store import FilesStore
from kate.search.neighbour_graph import NeighbourGraph, require_usearch
from kate.search.postings import Postings
from kate.search.search_words import WordSequences, search_tokenizer
from kate.search.small_vectors import Int8Vectors
from kate.search.store import OWN_COLUMNS
from kate.text.documents import Documents

__all__ = [
    "TOPIC_COLUMNS",
    "build_store",
    "comparable",
    "encoded",
    "query_vector",
    "typed_columns",
    "with_topics",
    "words_of",
]

Floats = NDArray[np.float32]

# Documents that are counted and encoded together.
_DOCUMENTS_AT_ONCE = 20_000
TOPIC_COLUMNS = ("topic", "topic_name")
_WHOLE = r"^-?(?:0|[1-9][0-9]{0,17})$"
_DECIMAL = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$"


def build_store(
    model: TextModel, documents: Documents, *, ann: bool, int8: bool, n_jobs: int | None
) -> FilesStore:
    """The store of files of some documents, in memory."""
    if ann:
        require_usearch()  # now, not after a million documents have been encoded
    if not len(documents):
        raise ValueError("no documents to index; pass at least one")
    n_jobs = model.n_jobs if n_jobs is None else n_jobs
    vectors = encoded(model, documents, n_jobs)
    n_empty = int((~vectors.any(axis=1)).sum())
    if n_empty:
        warnings.warn(
            f"{n_empty:,} of {len(documents):,} documents have no word of the vocabulary; only their other words will "
            "find them",
            EmptyDocumentsWarning,
            stacklevel=3,
        )
    words = words_of(model, documents, n_jobs)
    table = pl.DataFrame({"stem": words.stems, "readable": words.readable})
    columns = with_topics(model, typed_columns(documents), vectors)
    graph = NeighbourGraph.build(vectors, n_jobs) if ann else None
    return FilesStore(
        Int8Vectors.of(vectors) if int8 else vectors,
        Postings.of(words.sequences),
        lambda: table,
        lambda: columns,
        documents.texts,
        graph,
    )


def with_topics(model: TextModel, columns: pl.DataFrame, vectors: Floats) -> pl.DataFrame:
    """The columns and the topic of each document (``topic``, ``topic_name``), so that hits can be filtered by it.

    The topics are those of the model: as the user changed them, or as many as the data suggest. Columns of the
    documents that have one of the names stay as they are.
    """
    if model.encoder_.output != "projection":
        return columns  # vectors of neurons are compared in another way than their topics
    topics = model.topics()
    if len(topics) < 2:
        return columns  # nothing to tell apart
    added = topics.label_columns(vectors, np.asarray(vectors.any(axis=1)))
    own = [one for one in added if one.name in TOPIC_COLUMNS and one.name not in columns.columns]
    return columns.with_columns(own)


def encoded(model: TextModel, documents: Documents, n_jobs: int | None) -> Floats:
    """Vectors of length 1 of documents; zeros for a document without a known word."""
    vectors = np.empty((len(documents), model.encoder_.n_components), dtype=np.float32)
    for start in range(0, len(documents), _DOCUMENTS_AT_ONCE):
        counts = model.vocabulary_.count(documents.texts.slice(start, _DOCUMENTS_AT_ONCE), n_jobs)
        vectors[start : start + _DOCUMENTS_AT_ONCE] = _units_of(model, counts, n_jobs)
    return vectors


def words_of(model: TextModel, documents: Documents, n_jobs: int | None) -> WordSequences:
    """Every word of the documents; those of the titles come first."""
    frame = documents.frame
    if documents.titles is None:
        texts = documents.texts
    else:
        titled = (
            pl.when(pl.col("title").is_null()).then("text").otherwise(pl.format("{}\n\n{}", "title", "text"))
        )
        texts = frame.select(titled.alias("text"))["text"]
    return WordSequences.of(texts, search_tokenizer(model.vocabulary_.tokenizer), n_jobs)


def typed_columns(documents: Documents) -> pl.DataFrame:
    """All columns but the text; numbers that a file had to write as text become numbers.

    A column that is the label, the id or the title is there by its own name too: people filter by the names of their
    files.

    >>> frame = pl.DataFrame({"text": ["a"], "id": ["1"], "label": ["Whig"], "title": [None], "year": ["1990"]})
    >>> source = pl.DataFrame({"speech": ["a"], "party": ["Whig"], "year": ["1990"]})
    >>> typed_columns(Documents(frame, source=source)).rows(named=True)
    [{'id': '1', 'label': 'Whig', 'title': None, 'year': 1990, 'party': 'Whig'}]
    """
    frame = documents.frame
    own = [pl.col(name).cast(pl.String) for name in OWN_COLUMNS]
    others = [frame[name] for name in frame.columns if name not in {*OWN_COLUMNS, "text"}]
    if documents.source is not None:
        others += [
            column
            for column in documents.source
            if column.name not in frame.columns
            and not column.dtype.is_nested()
            and column.dtype not in {pl.Binary, pl.Object}
            and not (column.dtype == pl.String and column.equals(frame["text"]))
        ]
    return frame.select(*own, *map(_typed, others))


def _typed(column: pl.Series) -> pl.Series:
    if column.dtype == pl.Null:
        return column.cast(pl.String)
    if column.dtype != pl.String:
        return column
    filled = column.replace("", None)
    if filled.null_count() == len(filled):
        return column
    for pattern, kind in ((_WHOLE, pl.Int64), (_DECIMAL, pl.Float64)):
        if filled.str.contains(pattern).all():
            return filled.cast(kind)
    return column


def query_vector(model: TextModel, text: str) -> Floats | None:
    """The vector of a query, of length 1; None if the model knows no word of it."""
    counts = model.vocabulary_.count([text])
    if counts.nnz == 0:
        return None
    [vector] = _units_of(model, counts)
    return vector if vector.any() else None


def _units_of(model: TextModel, counts: Any, n_jobs: int | None = None) -> Floats:
    X = csr_matrix(counts, dtype=np.float32)
    vectors = comparable(model, model.encoder_.vectors(X, n_jobs))
    vectors[np.diff(X.indptr) == 0] = 0
    return unit_rows(vectors)


def comparable(model: TextModel, vectors: Floats) -> Floats:
    """Vectors as ``encode`` gives them, without what all documents have in common.

    A projection has nothing of that. Neurons have a mean (the paper's vectors keep it). To subtract it would make short
    texts all alike, as they are far from it; so the direction of the mean is taken out. Where
    neurons are squeezed by an activation, there is no such direction, and the mean is subtracted.
    """
    encoder, mean = model.encoder_, model.responses_.mean
    if encoder.output == "projection":
        return vectors.copy()
    if encoder.output != "preactivation":
        return vectors - (mean - encoder.mean)
    plain = vectors + encoder.mean - encoder.b
    direction = mean - encoder.b
    direction = direction / max(float(np.linalg.norm(direction)), 1e-9)
    return np.asarray(plain - np.outer(plain @ direction, direction), dtype=np.float32)
