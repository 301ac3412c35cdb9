"""The documents of a page, as its parts need them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.model.text_answers import as_counts
from kate.model.text_model import TextModel
from kate.text.documents import Documents
from kate.unit_rows import unit_rows

__all__ = ["ExploredCorpus"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ExploredCorpus:
    """A model and the documents that a page shows.

    counts : (n_docs, n_words), how often a document holds a word of the model
    vectors : (n_docs, d), of length 1; zeros where no word is known
    """

    model: TextModel
    documents: Documents
    counts: csr_matrix
    vectors: Floats

    @classmethod
    def of(cls, model: TextModel, documents: Documents) -> ExploredCorpus:
        counts = as_counts(model.vocabulary_.count(documents.texts, model.n_jobs))
        return cls(model, documents, counts, unit_rows(model.encoder_.vectors(counts, model.n_jobs)))

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Whether a document has a word that the model knows."""
        return np.asarray(np.diff(self.counts.indptr) > 0)

    def take(self, rows: NDArray[np.int64]) -> ExploredCorpus:
        """Some of the documents."""
        source = self.documents.source
        some = Documents(self.documents.frame[rows], source=None if source is None else source[rows])
        return ExploredCorpus(self.model, some, csr_matrix(self.counts[rows]), self.vectors[rows])
