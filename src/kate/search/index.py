"""Index: documents nearest to a query or to a document, by the cosine of their vectors.

An index is a folder of its own: index.json, vectors.npy (mapped into memory, not read), documents.arrow (of
which only the hits are read), the model that encodes the queries and, if it was asked for, graph.usearch (also
mapped into memory), with which a search need not look at every vector.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from kate.model.encoder import EmptyDocumentsWarning
from kate.model.model_folder import MODEL_FOLDER
from kate.model.text_answers import Texts, unit_rows, unknown_word
from kate.model.text_model import TextModel, load
from kate.search.exact_search import Ranking, nearest_rows
from kate.search.neighbour_graph import GraphFacts, NeighbourGraph, require_usearch
from kate.search.snippets import make_snippets, open_snippets, read_snippets
from kate.storage.checksums import sha256_of_file
from kate.storage.files import whole_folder
from kate.storage.folders import FolderError, FolderKind, StrPath
from kate.text.documents import Documents

__all__ = ["Hit", "Index"]

Floats = NDArray[np.float32]

# Documents that are counted and encoded together.
_DOCUMENTS_AT_ONCE = 20_000

_VECTORS, _DOCUMENTS, _MODEL, _GRAPH = "vectors.npy", "documents.arrow", "model", "graph.usearch"
_INDEX_FOLDER = FolderKind(
    "index",
    config="index.json",
    version=2,
    files=(_VECTORS, _DOCUMENTS, _MODEL, _GRAPH),
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

    >>> from kate.model.text_model import TextModel
    >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    >>> model = TextModel(n_components=2, random_state=0, max_epochs=5).fit(texts)
    >>> index = Index.build(model, Documents.from_texts(["The treaty was signed.", "A silver coin."]))
    >>> index
    Index of 2 documents, 2 dimensions
    >>> [hit.snippet for hit in index.search("treaties signed", top=1)]
    ['The treaty was signed.']
    """

    def __init__(
        self, model: TextModel, vectors: Floats, documents: pl.LazyFrame, graph: NeighbourGraph | None = None
    ) -> None:
        """Use :meth:`build` or :meth:`load`; ``vectors`` are of length 1 (or 0)."""
        self.model = model
        self.vectors = vectors  # (n_docs, n_components)
        self.graph = graph
        self._documents = documents  # id, label, title, snippet

    @classmethod
    def build(
        cls, model: TextModel, documents: Texts, *, ann: bool = False, n_jobs: int | None = None
    ) -> Index:
        """Encode documents; those without a known word get the zero vector, so that no query finds them.

        ann : also build a graph of neighbours (extra ``ann``), with which a search among very many documents is
            faster and nearly exact; ``index.graph.facts`` says how nearly
        n_jobs : threads; by default those of the model, or all cores. With one thread the same documents give the
            same graph every time; vectors never depend on it.
        """
        if ann:
            require_usearch()  # now, not after a million documents have been encoded
        if not isinstance(documents, Documents):
            documents = Documents.from_texts(documents)
        if not len(documents):
            raise ValueError("no documents to index; pass at least one")
        n_jobs = model.n_jobs if n_jobs is None else n_jobs
        vectors = np.empty((len(documents), model.encoder_.n_components), dtype=np.float32)
        n_empty = 0
        for start in range(0, len(documents), _DOCUMENTS_AT_ONCE):
            counts = model.vocabulary_.count(documents.texts.slice(start, _DOCUMENTS_AT_ONCE), n_jobs)
            vectors[start : start + _DOCUMENTS_AT_ONCE] = _units_of(model, counts, n_jobs)
            n_empty += int((np.diff(counts.indptr) == 0).sum())
        if n_empty:
            warnings.warn(
                f"{n_empty:,} of {len(documents):,} documents have no word of the vocabulary; no search will "
                "find them",
                EmptyDocumentsWarning,
                stacklevel=2,
            )
        graph = NeighbourGraph.build(vectors, n_jobs) if ann else None
        return cls(model, vectors, make_snippets(documents.frame).lazy(), graph)

    def search(self, query: str, top: int = 10, *, exact: bool = False) -> list[Hit]:
        """The ``top`` documents nearest to a query, the nearest first; of equals the earlier document.

        exact : compare with every document, even if the index has a graph of neighbours
        """
        counts = self.model.vocabulary_.count([query])
        if counts.nnz == 0:
            raise unknown_word(query, self.model.vocabulary_)
        return self._hits(_units_of(self.model, counts), top, exact)[0]

    def search_vectors(self, vectors: ArrayLike, top: int = 10, *, exact: bool = False) -> list[list[Hit]]:
        """The same for each of several vectors (n_queries, n_components), as ``model.encode`` gives them."""
        queries = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
        if queries.ndim != 2 or queries.shape[1] != self.model.encoder_.n_components:
            raise ValueError(
                f"the queries have shape {queries.shape}; expected (n_queries, {self.model.encoder_.n_components}): "
                "encode them with the model of this index"
            )
        if not np.isfinite(queries).all():
            raise ValueError("the queries hold NaN or infinity; expected vectors as model.encode gives them")
        return self._hits(unit_rows(queries - _shift(self.model)), top, exact)

    def similar_documents(
        self,
        id: str,  # noqa: A002 - the name of the field
        top: int = 10,
        *,
        exact: bool = False,
    ) -> list[Hit]:
        """The documents nearest to one of the index, itself left out."""
        ids = self._documents.select("id").with_row_index("row")
        rows = ids.filter(pl.col("id") == id).collect()["row"]
        if rows.is_empty():
            examples = ", ".join(map(repr, ids.head(3).collect()["id"]))
            raise ValueError(f"no document has the id {id!r}; the ids of this index look like {examples}")
        row = int(rows[0])
        if not self.vectors[row].any():
            raise ValueError(f"the document {id!r} has no word of the vocabulary; nothing is similar to it")
        return self._hits(self.vectors[row : row + 1], top, exact, without=row)[0]

    def save(self, folder: StrPath) -> None:
        """Write the index and its model to a folder, whole or not at all; an existing index is replaced."""
        _INDEX_FOLDER.require_replaceable(Path(folder))
        with whole_folder(folder, replaces=_INDEX_FOLDER.config) as part:
            self.model.save(part / _MODEL)
            np.save(part / _VECTORS, self.vectors)
            self._documents.collect().write_ipc(part / _DOCUMENTS, compression="uncompressed")
            names, facts = [_VECTORS, _DOCUMENTS], None
            if self.graph is not None:
                self.graph.save(part / _GRAPH)
                names.append(_GRAPH)
                facts = self.graph.facts.as_dict()
            config = _INDEX_FOLDER.head() | {
                "n_documents": len(self),
                "n_components": self.model.encoder_.n_components,
                "model_sha256": sha256_of_file(part / _MODEL / MODEL_FOLDER.config),
                "graph": facts,
                "files": {name: {"bytes": (part / name).stat().st_size} for name in names},
            }
            (part / _INDEX_FOLDER.config).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: StrPath) -> Index:
        """The index that ``save`` wrote; vectors and documents stay on disk until they are asked for."""
        folder = Path(folder)
        config = _INDEX_FOLDER.read_config(folder)
        facts = config.get("graph")
        for name in (_VECTORS, _DOCUMENTS, *([_GRAPH] if facts else [])):
            _INDEX_FOLDER.require_size(folder / name, config)
        model = load(folder / _MODEL)
        if sha256_of_file(folder / _MODEL / MODEL_FOLDER.config) != config.get("model_sha256"):
            raise FolderError(
                f"{folder / _MODEL} is not the model that made the vectors of this index; copy the index "
                "again or index the documents anew"
            )
        vectors, documents = _mapped_vectors(folder / _VECTORS), open_snippets(folder / _DOCUMENTS)
        expected = (config.get("n_documents"), model.encoder_.n_components)
        n_documents = documents.select(pl.len()).collect().item()
        if vectors.shape != expected or vectors.dtype != np.float32 or n_documents != expected[0]:
            raise FolderError(
                f"{folder} does not hold together: vectors {vectors.shape} and {n_documents:,} documents "
                f"where {expected} is expected; copy the index again or index the documents anew"
            )
        return cls(model, vectors, documents, _graph(folder / _GRAPH, facts, vectors) if facts else None)

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        return f"Index of {len(self):,} documents, {self.model.encoder_.n_components:,} dimensions"

    def _hits(self, queries: Floats, top: int, exact: bool, without: int | None = None) -> list[list[Hit]]:
        if top < 1:
            raise ValueError(f"top is {top}; expected at least 1")
        n_wanted = top if without is None else top + 1
        if self.graph is None or exact:
            found = nearest_rows(self.vectors, queries, n_wanted)
        else:
            found = self.graph.nearest(self.vectors, queries, n_wanted)
        pairs = [_without(one, without)[:top] for one in found]
        shown = read_snippets(self._documents, {row for of_query in pairs for row, _ in of_query})
        return [
            [Hit(rank, score, **shown[row]) for rank, (row, score) in enumerate(of_query, 1)]
            for of_query in pairs
        ]


def _without(found: Ranking, row: int | None) -> list[tuple[int, float]]:
    return [pair for pair in zip(found.rows.tolist(), found.scores.tolist(), strict=True) if pair[0] != row]


def _units_of(model: TextModel, counts: Any, n_jobs: int | None = None) -> Floats:
    """Vectors of length 1 of counted documents; zeros for a document without words."""
    X = csr_matrix(counts, dtype=np.float32)
    vectors = model.encoder_.vectors(X, n_jobs) - _shift(model)
    vectors[np.diff(X.indptr) == 0] = 0
    return unit_rows(vectors)


def _shift(model: TextModel) -> Floats:
    """What is subtracted from vectors before they are compared.

    Neurons have a mean (the paper's vectors keep it) that makes all documents look alike. A projection has none.
    """
    encoder = model.encoder_
    if encoder.output == "projection":
        return np.zeros(encoder.n_components, dtype=np.float32)
    return model.responses_.mean - encoder.mean


def _graph(path: Path, facts: Any, vectors: Floats) -> NeighbourGraph:
    try:
        return NeighbourGraph.load(path, GraphFacts(**facts), vectors.shape)
    except TypeError as error:
        raise FolderError(
            f"the graph in {path.parent / _INDEX_FOLDER.config} has strange entries ({error}); copy it again"
        ) from None


def _mapped_vectors(path: Path) -> Floats:
    try:
        vectors: Floats = np.load(path, mmap_mode="r")
    except ValueError as error:
        raise FolderError(f"{path} is not an array ({error}): the index is damaged; copy it again") from None
    return vectors
