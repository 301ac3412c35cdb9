"""What workers do with a model: a worker loads it once, and then reads and encodes one piece after the other."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.cluster.corpus_pieces import CorpusPiece, PieceTables
from kate.model.encoder import count_empty
from kate.model.text_answers import as_counts
from kate.model.text_model import TextModel
from kate.search.building import encoded, words_of
from kate.search.search_words import WordSequences
from kate.text.corpus_batches import ReadingRules
from kate.text.document_tables import READ_COLUMNS, TEXT
from kate.text.documents import Documents
from kate.unit_rows import unit_rows

__all__ = [
    "EncodePieces",
    "EncodedPiece",
    "IndexPieces",
    "IndexedPiece",
    "LabelPieces",
    "LabelledPiece",
    "ModelWorker",
    "PieceJob",
]

Floats = NDArray[np.float32]


class PieceJob(Protocol):
    """What is done with every piece."""

    def work(self, model: TextModel, read: PieceTables) -> Any:
        """From what was read of a piece to what the driver puts together."""


class EncodedPiece(NamedTuple):
    read: PieceTables  # without the texts
    vectors: Floats
    n_empty: int  # documents without a known word


class EncodePieces(NamedTuple):
    """Vectors as :meth:`kate.TextModel.encode` gives them."""

    normalize: bool
    n_components: int

    def work(self, model: TextModel, read: PieceTables) -> EncodedPiece:
        counts = as_counts(model.vocabulary_.count(read.texts))
        vectors = model.encoder_.vectors(counts)[:, : self.n_components]
        vectors = unit_rows(vectors) if self.normalize else vectors
        return EncodedPiece(_without_texts(read), np.ascontiguousarray(vectors), count_empty(counts))


class LabelledPiece(NamedTuple):
    read: PieceTables
    columns: pl.DataFrame


class LabelPieces(NamedTuple):
    """Topics as :meth:`kate.TextModel.label` gives them."""

    n_topics: int | None
    own: Mapping[str, str] | None

    def work(self, model: TextModel, read: PieceTables) -> LabelledPiece:
        with warnings.catch_warnings():
            # nobody sees it there, and what is written tells how many have no topic
            warnings.simplefilter("ignore")
            [columns] = model.label_batches([read.texts], self.n_topics, topics=self.own)
        return LabelledPiece(read, columns)


class IndexedPiece(NamedTuple):
    read: PieceTables
    vectors: Floats
    words: WordSequences


class IndexPieces(NamedTuple):
    """What an index keeps of documents, see :func:`kate.search.building.build_store`."""

    def work(self, model: TextModel, read: PieceTables) -> IndexedPiece:
        own = ("text", "id", "label", "title")
        documents = Documents(pl.concat([table.select(own) for table in read.tables]))
        return IndexedPiece(read, encoded(model, documents, None), words_of(model, documents, None))


class ModelWorker:
    """What Ray Data keeps on each worker; a row is a piece, and becomes what the job makes of it."""

    def __init__(self, model: list[Any], rules: ReadingRules, job: PieceJob) -> None:
        import ray

        self.model = ray.get(model[0]).load()
        self.rules, self.job = rules, job

    def __call__(self, rows: dict[str, Any]) -> dict[str, Any]:
        return {"number": rows["number"], "done": [self._done(piece) for piece in rows["piece"]]}

    def _done(self, packed: bytes) -> bytes:
        """The result of a piece, or the error, which Ray Data would turn into a text about itself."""
        piece: CorpusPiece = pickle.loads(packed)
        try:
            return pickle.dumps(self.job.work(self.model, piece.read(self.rules)))
        except Exception as error:
            return pickle.dumps(error)


def _without_texts(read: PieceTables) -> PieceTables:
    """What is needed to make ids and labels of the documents."""
    kept = [
        table.select(
            pl.lit("").alias("text"),
            *[name for name in table.columns if name in READ_COLUMNS[1:] or name.startswith(TEXT)],
        )
        for table in read.tables
    ]
    return PieceTables(kept, read.malformed)
