"""Documents → what an index keeps of them: vectors, words, columns, texts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.model.encoder import EmptyDocumentsWarning
from kate.model.text_model import TextModel
from kate.search.files_store import FilesStore
from kate.search.neighbour_graph import NeighbourGraph, require_usearch
from kate.search.postings import Postings
from kate.search.search_words import WordSequences, search_tokenizer
from kate.search.small_vectors import Int8Vectors
from kate.search.store import DOCUMENT_COLUMNS
from kate.sparse_arrays import sparse
from kate.text.documents import Documents
from kate.unit_rows import unit_rows

__all__ = [
    "TOPIC_COLUMNS",
    "SeenValues",
    "add_topic_columns",
    "build_store",
    "comparable",
    "encoded",
    "query_vector",
    "store_of",
    "topic_columns",
    "typed_columns",
    "warn_of_unknown",
    "words_of",
]

Floats = NDArray[np.float32]

# Documents that are counted and encoded together.
_DOCUMENTS_AT_ONCE = 20_000
TOPIC_COLUMNS = ("topic", "topic_name")
_PATTERNS: dict[Any, str] = {
    pl.Int64: r"^-?(?:0|[1-9][0-9]{0,17})$",
    pl.Float64: r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$",
}


def build_store(
    model: TextModel, documents: Documents, *, ann: bool, int8: bool, n_jobs: int | None
) -> FilesStore:
    """The store of files of some documents, in memory."""
    if ann:
        require_usearch()  # now, not after a million documents have been encoded
    if not len(documents):
        raise ValueError("no documents to index; pass at least one")
    n_jobs = model.n_jobs if n_jobs is None else n_jobs
    vectors, words = encoded(model, documents, n_jobs), words_of(model, documents, n_jobs)
    return store_of(model, documents, vectors, words, ann=ann, int8=int8, n_jobs=n_jobs)


def store_of(
    model: TextModel,
    documents: Documents,
    vectors: Floats,
    words: WordSequences,
    *,
    ann: bool,
    int8: bool,
    n_jobs: int | None,
) -> FilesStore:
    """The same of documents that were encoded, and their words listed, already."""
    warn_of_unknown(int((~vectors.any(axis=1)).sum()), len(documents), stacklevel=5)
    table = pl.DataFrame({"stem": words.stems, "readable": words.readable})
    columns = add_topic_columns(model, typed_columns(documents), vectors)
    graph = NeighbourGraph.build(vectors, n_jobs) if ann else None
    return FilesStore(
        Int8Vectors.of(vectors) if int8 else vectors,
        Postings.of(words.sequences),
        lambda: table,
        lambda: columns,
        documents.texts,
        graph,
    )


def warn_of_unknown(n_empty: int, n_documents: int, stacklevel: int) -> None:
    """Say how many documents words alone will find; the warning points at the caller of the public function."""
    if n_empty:
        warnings.warn(
            f"{n_empty:,} of {n_documents:,} documents have no word of the vocabulary; only their other words will "
            "find them",
            EmptyDocumentsWarning,
            stacklevel=stacklevel,
        )


def add_topic_columns(model: TextModel, columns: pl.DataFrame, vectors: Floats) -> pl.DataFrame:
    """The columns and the topic of each document (``topic``, ``topic_name``), so that hits can be filtered by it.

    The topics are those of the model: as the user changed them, or as many as the data suggest. Columns of the
    documents that have one of the names stay as they are.
    """
    return columns.with_columns(
        one for one in topic_columns(model, vectors) if one.name not in columns.columns
    )


def topic_columns(model: TextModel, vectors: Floats) -> list[pl.Series]:
    """``topic`` and ``topic_name`` of documents by their vectors; none where the model has nothing to tell apart."""
    if model.encoder_.output != "projection":
        return []  # vectors of neurons are compared in another way than their topics
    topics = model.topics()
    if len(topics) < 2:
        return []
    added = topics.label_columns(vectors, np.asarray(vectors.any(axis=1)))
    return [one for one in added if one.name in TOPIC_COLUMNS]


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
    own = [pl.col(name).cast(pl.String) for name in DOCUMENT_COLUMNS]
    others = [frame[name] for name in frame.columns if name not in {*DOCUMENT_COLUMNS, "text"}]
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
    seen = SeenValues()
    seen.note(column)
    return seen.typed(column)


class SeenValues:
    """What the values of a column are, noted some at a time: a file may have had to write numbers as text.

    >>> seen = SeenValues()
    >>> seen.note(pl.Series(["1990", ""])), seen.note(pl.Series(["2.5"]))
    (None, None)
    >>> seen.typed(pl.Series(["1990", "", "2.5"])).to_list()
    [1990.0, None, 2.5]
    """

    def __init__(self) -> None:
        self._any = False
        self._are: dict[Any, bool] = dict.fromkeys(_PATTERNS, True)

    def note(self, column: pl.Series) -> None:
        """Some values."""
        if column.dtype != pl.String:
            return
        filled = column.replace("", None).drop_nulls()
        self._any = self._any or len(filled) > 0
        for kind, pattern in _PATTERNS.items():
            self._are[kind] = self._are[kind] and bool(filled.str.contains(pattern).all())

    def typed(self, column: pl.Series) -> pl.Series:
        """The column as numbers, if all that was noted are."""
        if column.dtype == pl.Null:
            return column.cast(pl.String)
        kind = next((kind for kind, holds in self._are.items() if holds), None)
        if column.dtype != pl.String or kind is None or not self._any:
            return column
        return column.replace("", None).cast(kind)


def query_vector(model: TextModel, text: str) -> Floats | None:
    """The vector of a query, of length 1; None if the model knows no word of it."""
    columns, counts = model.vocabulary_.count_one(text)
    if columns.size == 0:
        return None
    [vector] = unit_rows(comparable(model, model.encoder_.vector(columns, counts)[None]))
    return vector if vector.any() else None


def _units_of(model: TextModel, counts: Any, n_jobs: int | None = None) -> Floats:
    X = sparse.csr_matrix(counts, dtype=np.float32)
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
