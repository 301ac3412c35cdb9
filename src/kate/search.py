"""Search: documents nearest to a query or to a document, by the exact cosine of their vectors.

An index is a folder of its own: index.json, vectors.npy (mapped into memory, not read), documents.arrow (of
which only the hits are read) and the model that encodes the queries.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from kate.files import whole_folder
from kate.models.encoder import EmptyDocumentsWarning
from kate.models.folders import FolderError, FolderKind, StrPath
from kate.models.storage import MODEL_FOLDER
from kate.models.text_model import TextModel, Texts, load, unknown_word
from kate.text.documents import Documents

__all__ = ["Hit", "Index"]

Floats = NDArray[np.float32]

_DOCUMENTS_AT_ONCE = 20_000  # counted and encoded together
_ROWS_AT_ONCE = 65_536  # compared with the queries together: some 32 MB of vectors
_QUERIES_AT_ONCE = 64
_SNIPPET = 200  # characters

_VECTORS, _DOCUMENTS, _MODEL = "vectors.npy", "documents.arrow", "model"
_COLUMNS = ("id", "label", "title", "snippet")
_INDEX_FOLDER = FolderKind(
    "index",
    config="index.json",
    version=1,
    files=(_VECTORS, _DOCUMENTS, _MODEL),
    remedy="make one with `kate index MODEL CORPUS -o INDEX` or Index.save",
)


@dataclass(frozen=True)
class Hit:
    """A document that was found; ``score`` is the cosine, ``rank`` counts from 1."""

    rank: int
    score: float
    id: str
    label: str | None
    title: str | None
    snippet: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Index:
    """Vectors of documents and what to show of them.

    >>> from kate.models.text_model import TextModel
    >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    >>> model = TextModel(n_topics=2, random_state=0, max_epochs=5).fit(texts)
    >>> index = Index.build(model, Documents.from_texts(["The treaty was signed.", "A silver coin."]))
    >>> index
    Index of 2 documents, 2 topics
    >>> [hit.snippet for hit in index.search("treaties signed", top=1)]
    ['The treaty was signed.']
    """

    def __init__(self, model: TextModel, vectors: Floats, documents: pl.LazyFrame) -> None:
        """Use :meth:`build` or :meth:`load`; ``vectors`` are centred and of length 1 (or 0)."""
        self.model = model
        self.vectors = vectors  # (n_docs, n_topics)
        self._documents = documents  # id, label, title, snippet

    @classmethod
    def build(cls, model: TextModel, documents: Texts) -> Index:
        """Encode documents; those without a known word get the zero vector, so that no query finds them."""
        if not isinstance(documents, Documents):
            documents = Documents.from_texts(documents)
        if not len(documents):
            raise ValueError("no documents to index; pass at least one")
        vectors = np.empty((len(documents), model.n_topics), dtype=np.float32)
        n_empty = 0
        for start in range(0, len(documents), _DOCUMENTS_AT_ONCE):
            counts = model.vocabulary.count(documents.texts.slice(start, _DOCUMENTS_AT_ONCE))
            vectors[start : start + _DOCUMENTS_AT_ONCE] = _units_of(model, counts)
            n_empty += int((np.diff(counts.indptr) == 0).sum())
        if n_empty:
            warnings.warn(
                f"{n_empty:,} of {len(documents):,} documents have no word of the vocabulary; no search will "
                "find them",
                EmptyDocumentsWarning,
                stacklevel=2,
            )
        return cls(model, vectors, _shown(documents.frame).lazy())

    def search(self, query: str, top: int = 10) -> list[Hit]:
        """The ``top`` documents nearest to a query, the nearest first; of equals the earlier document."""
        counts = self.model.vocabulary.count([query])
        if counts.nnz == 0:
            raise unknown_word(query, self.model.vocabulary)
        return self._hits(_units_of(self.model, counts), top)[0]

    def search_vectors(self, vectors: ArrayLike, top: int = 10) -> list[list[Hit]]:
        """The same for each of several vectors (n_queries, n_topics), as ``model.encode`` gives them."""
        queries = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
        if queries.ndim != 2 or queries.shape[1] != self.model.n_topics:
            raise ValueError(
                f"the queries have shape {queries.shape}; expected (n_queries, {self.model.n_topics}): "
                "encode them with the model of this index"
            )
        if not np.isfinite(queries).all():
            raise ValueError("the queries hold NaN or infinity; expected vectors as model.encode gives them")
        shift = self.model.responses.mean - self.model.encoder.mean
        return self._hits(_units(queries - shift), top)

    def similar_documents(self, id: str, top: int = 10) -> list[Hit]:  # noqa: A002 - the name of the field
        """The documents nearest to one of the index, itself left out."""
        ids = self._documents.select("id").with_row_index("row")
        rows = ids.filter(pl.col("id") == id).collect()["row"]
        if rows.is_empty():
            examples = ", ".join(map(repr, ids.head(3).collect()["id"]))
            raise ValueError(f"no document has the id {id!r}; the ids of this index look like {examples}")
        row = int(rows[0])
        if not self.vectors[row].any():
            raise ValueError(f"the document {id!r} has no word of the vocabulary; nothing is similar to it")
        return self._hits(self.vectors[row : row + 1], top, without=row)[0]

    def save(self, folder: StrPath) -> None:
        """Write the index and its model to a folder, whole or not at all; an existing index is replaced."""
        _INDEX_FOLDER.require_replaceable(Path(folder))
        with whole_folder(folder, replaces=_INDEX_FOLDER.config) as part:
            self.model.save(part / _MODEL)
            np.save(part / _VECTORS, self.vectors)
            self._documents.collect().write_ipc(part / _DOCUMENTS, compression="uncompressed")
            config = _INDEX_FOLDER.head() | {
                "n_documents": len(self),
                "n_topics": self.model.n_topics,
                "model_sha256": _sha256(part / _MODEL / MODEL_FOLDER.config),
                "files": {name: {"bytes": (part / name).stat().st_size} for name in (_VECTORS, _DOCUMENTS)},
            }
            (part / _INDEX_FOLDER.config).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: StrPath) -> Index:
        """The index that ``save`` wrote; vectors and documents stay on disk until they are asked for."""
        folder = Path(folder)
        config = _INDEX_FOLDER.read_config(folder)
        for name in (_VECTORS, _DOCUMENTS):
            _INDEX_FOLDER.require_size(folder / name, config)
        model = load(folder / _MODEL)
        if _sha256(folder / _MODEL / MODEL_FOLDER.config) != config.get("model_sha256"):
            raise FolderError(
                f"{folder / _MODEL} is not the model that made the vectors of this index; copy the index "
                "again or index the documents anew"
            )
        vectors, documents = _mapped_vectors(folder / _VECTORS), _scanned_documents(folder / _DOCUMENTS)
        expected = (config.get("n_documents"), model.n_topics)
        n_documents = documents.select(pl.len()).collect().item()
        if vectors.shape != expected or vectors.dtype != np.float32 or n_documents != expected[0]:
            raise FolderError(
                f"{folder} does not hold together: vectors {vectors.shape} and {n_documents:,} documents "
                f"where {expected} is expected; copy the index again or index the documents anew"
            )
        return cls(model, vectors, documents)

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        return f"Index of {len(self):,} documents, {self.model.n_topics:,} topics"

    def _hits(self, queries: Floats, top: int, without: int | None = None) -> list[list[Hit]]:
        if top < 1:
            raise ValueError(f"top is {top}; expected one hit at least")
        n_wanted = top if without is None else top + 1
        found = [_without(found, without) for found in _nearest(self.vectors, queries, n_wanted)]
        shown = self._read({row for pairs in found for row, _ in pairs})
        return [
            [Hit(rank, score, **shown[row]) for rank, (row, score) in enumerate(pairs[:top], 1)]
            for pairs in found
        ]

    def _read(self, rows: set[int]) -> dict[int, dict[str, Any]]:
        """What to show of some documents, by row; the others are passed over on the disk, not kept."""
        numbered = self._documents.with_row_index("row")
        wanted = numbered.filter(pl.col("row").is_in(sorted(rows))).collect()
        return {shown.pop("row"): shown for shown in wanted.to_dicts()}


class _Found(NamedTuple):
    """The nearest rows of one query so far, the nearest first."""

    rows: NDArray[np.int64]
    scores: Floats


def _nearest(vectors: Floats, queries: Floats, top: int) -> Iterator[_Found]:
    """For each query the ``top`` rows of highest cosine; both sides are of length 1 already."""
    for first in range(0, len(queries), _QUERIES_AT_ONCE):
        together = queries[first : first + _QUERIES_AT_ONCE]
        best = [_Found(np.empty(0, np.int64), np.empty(0, np.float32))] * len(together)
        for start in range(0, len(vectors), _ROWS_AT_ONCE):
            block = vectors[start : start + _ROWS_AT_ONCE]
            scores = together @ block.T  # (n_queries, n_rows)
            silent = np.flatnonzero((scores == 0).all(axis=0))
            scores[
                :, silent[~block[silent].any(axis=1)]
            ] = -np.inf  # a document without a known word is never found
            best = [_merged(found, row, start, top) for found, row in zip(best, scores, strict=True)]
        yield from best


def _merged(best: _Found, scores: Floats, start: int, top: int) -> _Found:
    """The best of what was found and of the rows from ``start`` on; of equal scores the earlier row stays."""
    least = best.scores[-1] if len(best.scores) == top else np.float32(-np.inf)
    better = np.flatnonzero(scores > least)
    if len(better) > top:
        least = np.partition(scores[better], -top)[-top]
        better = better[scores[better] >= least]
    rows = np.concatenate([best.rows, better + start])
    all_scores = np.concatenate([best.scores, scores[better]])
    order = np.argsort(-all_scores, kind="stable")[:top]
    return _Found(rows[order], all_scores[order])


def _without(found: _Found, row: int | None) -> list[tuple[int, float]]:
    return [pair for pair in zip(found.rows.tolist(), found.scores.tolist(), strict=True) if pair[0] != row]


def _units_of(model: TextModel, counts: Any) -> Floats:
    """Centred vectors of length 1 of counted documents; zeros for a document without words."""
    X = csr_matrix(counts, dtype=np.float32)
    vectors = model.encoder.respond(X) - model.responses.mean
    vectors[np.diff(X.indptr) == 0] = 0
    return _units(vectors)


def _units(vectors: Floats) -> Floats:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0, norms, 1), dtype=np.float32)


def _shown(frame: pl.DataFrame) -> pl.DataFrame:
    """What a hit shows of a document: one line each, no control characters that could disturb a terminal."""

    def one_line(column: str) -> pl.Expr:
        # a few times the length is enough to cut from, however long the text is
        return (
            pl.col(column)
            .cast(pl.String)
            .str.head(5 * _SNIPPET)
            .str.replace_all(r"[\s\p{Cc}]+", " ")
            .str.strip_chars()
        )

    def cut(line: pl.Expr) -> pl.Expr:
        at_a_word = line.str.head(_SNIPPET).str.replace(r"\s+\S*$", "")
        return pl.when(line.str.len_chars() > _SNIPPET).then(at_a_word + "…").otherwise(line)

    return frame.select(
        pl.col("id", "label").cast(pl.String), cut(one_line("title")), cut(one_line("text")).alias("snippet")
    )


def _mapped_vectors(path: Path) -> Floats:
    try:
        vectors: Floats = np.load(path, mmap_mode="r")
    except ValueError as error:
        raise FolderError(f"{path} is not an array ({error}): the index is damaged; copy it again") from None
    return vectors


def _scanned_documents(path: Path) -> pl.LazyFrame:
    try:
        documents = pl.scan_ipc(path)
        names: Sequence[str] = documents.collect_schema().names()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FolderError(
            f"{path} is not an Arrow file ({error}): the index is damaged; copy it again"
        ) from None
    if tuple(names) != _COLUMNS:
        raise FolderError(f"{path} has the columns {', '.join(names)}; expected {', '.join(_COLUMNS)}")
    return documents


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
