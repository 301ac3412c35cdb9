"""What a model reads of a corpus: counts, sequences or texts, the documents to fit on, and what else it asks for.

The attribute ``inputs`` of a model says what it reads ("counts" if it has none), the parameters of its ``fit`` say
what it takes beside them (``validation``, ``vocabulary``), and a model with a method ``similarities`` ranks documents
instead of giving vectors.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kate.errors import quoted
from kate.research.datasets.corpus import Corpus, PartName
from kate.text.sequences import Sequences
from kate.unit_rows import unit_rows

__all__ = [
    "PARTS",
    "collection_rows",
    "encode_parts",
    "fit_on_corpus",
    "input_of",
    "is_ranker",
    "queries_of",
    "similarities",
]

PARTS: tuple[PartName, ...] = ("fitting", "validation", "test")

Rows = NDArray[np.int64]


def is_ranker(model: Any) -> bool:
    """Whether a model scores queries against documents rather than giving vectors."""
    return hasattr(model, "similarities")


def input_of(model: Any, corpus: Corpus, rows: Rows) -> sp.csr_array | Sequences | list[str]:
    """Documents as the model reads them."""
    inputs = getattr(model, "inputs", "counts")
    if inputs == "sequences":
        return corpus.sequences.take(rows)
    if inputs == "texts":
        if corpus.texts is None:
            raise ValueError(
                f"{type(model).__name__} reads texts, and of {quoted(corpus.name)} only counts are kept"
            )
        return [corpus.texts[row] for row in rows]
    return corpus.X[rows]


def queries_of(model: Any, corpus: Corpus, queries: sp.csr_matrix) -> sp.csr_matrix | list[str]:
    """Queries, given as counts of a few words, as the model reads them."""
    if getattr(model, "inputs", "counts") != "texts":
        return queries
    words, queries = corpus.vocabulary.readable, sp.csr_matrix(queries)
    rows = (queries.indices[start:end] for start, end in pairwise(queries.indptr))
    return [" ".join(words[column] for column in row) for row in rows]


def collection_rows(corpus: Corpus) -> Rows:
    """The documents that are searched: all training documents, validation documents last."""
    return np.concatenate([corpus.fitting, corpus.validation])


def fit_on_corpus(
    model: Any, corpus: Corpus, rows: Rows | None = None, validation: Rows | None = None
) -> None:
    """Fit a model on the documents for fitting, or on ``rows``; a ranker on all documents that it will search.

    A model that does not take validation documents is fitted on the same documents as the others.
    """
    from sklearn.utils.validation import has_fit_parameter

    if rows is None:
        rows = collection_rows(corpus) if is_ranker(model) else corpus.fitting
    beside: dict[str, Any] = {}
    held_out = corpus.validation if validation is None else validation
    if has_fit_parameter(model, "validation") and held_out.size:
        beside["validation"] = input_of(model, corpus, held_out)
    if has_fit_parameter(model, "vocabulary"):
        beside["vocabulary"] = corpus.vocabulary
    model.fit(input_of(model, corpus, rows), **beside)


def encode_parts(
    model: Any, corpus: Corpus, parts: tuple[PartName, ...] = PARTS
) -> dict[PartName, NDArray[Any]]:
    """The vectors of the parts of a corpus; a ranker has none."""
    if is_ranker(model):
        return {}
    filled = [part for part in parts if corpus.rows(part).size]
    found = {part: model.transform(input_of(model, corpus, corpus.rows(part))) for part in filled}
    nothing = np.zeros((0, found["fitting"].shape[1]), dtype=np.float32)
    return {part: found.get(part, nothing) for part in parts}


def similarities(model: Any, collection: NDArray[Any] | None, queries: Any) -> NDArray[np.float32]:
    """The scores (n_queries, n_docs) of queries, as the model reads them, with the documents that are searched.

    ``collection`` are the documents' vectors, compared by cosine; None for a ranker, which knows its documents.
    """
    if collection is None:
        return np.asarray(model.similarities(queries), dtype=np.float32)
    return np.asarray(unit_rows(model.transform(queries)) @ unit_rows(collection).T, dtype=np.float32)
