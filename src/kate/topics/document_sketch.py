"""A sketch of the documents: what topics are found and described from once the documents are gone.

At most 20,000 documents, each as its vector and the set of its words (no order, no counts). It is saved with the model,
so that the tree of topics can be cut anew, and words, shares and coherence are those of real documents, not estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, csr_matrix

from kate.topics.leaf_clusters import unit

__all__ = ["DocumentSketch", "Encode"]

_MOST_DOCUMENTS = 20_000
_MOST_NUMBERS = 5_000_000  # of all vectors together, 10 MB
_MOST_WORDS = 5_000_000  # of all documents together: books are sketched by fewer of them
_MOST_HALVED = 2_000

Floats = NDArray[np.float32]
Halves = NDArray[np.float16]
Encode = Callable[[csr_matrix], Floats]


@dataclass(frozen=True, eq=False)
class DocumentSketch:
    """Some of the documents.

    vectors : (n, d), of length 1 (0 for a document whose words say nothing)
    words : indices of the words of one document after another; those of document i are
        ``words[starts[i] : starts[i + 1]]``
    one_half, other_half : (n_halved, d), vectors of some documents' words in two random halves: how well the topic of
        one half tells that of the other says how sure a topic is
    """

    vectors: Halves
    words: NDArray[np.unsignedinteger]
    starts: NDArray[np.int64]
    one_half: Halves
    other_half: Halves
    n_words: int

    @classmethod
    def take(cls, counts: csr_matrix, encode: Encode) -> DocumentSketch:
        """Of counted documents (n_docs, n_words); ``encode`` makes vectors of counts."""
        known = np.flatnonzero(np.diff(counts.indptr) > 0)
        mean_words = counts.nnz / max(len(known), 1)
        d = encode(counts[:0]).shape[1]
        most = int(min(_MOST_DOCUMENTS, _MOST_NUMBERS // d, _MOST_WORDS // max(mean_words, 1)))
        picked = np.random.default_rng(0).permutation(known)[: max(most, 2)]
        sample = csr_matrix(counts[np.sort(picked)])
        one, other = _halves(csr_matrix(counts[picked[:_MOST_HALVED]]))
        kind = np.uint16 if counts.shape[1] <= 2**16 else np.uint32
        return cls(
            unit(encode(sample)).astype(np.float16),
            sample.indices.astype(kind),
            sample.indptr.astype(np.int64),
            unit(encode(one)).astype(np.float16),
            unit(encode(other)).astype(np.float16),
            counts.shape[1],
        )

    def __len__(self) -> int:
        return len(self.vectors)

    @cached_property
    def units(self) -> Floats:
        """The vectors in the precision that they are compared in."""
        return self.vectors.astype(np.float32)

    @cached_property
    def present(self) -> csr_array:
        """1 where a document holds a word, (n, n_words)."""
        ones = np.ones(len(self.words), dtype=np.float32)
        return csr_array((ones, self.words.astype(np.int32), self.starts), shape=(len(self), self.n_words))

    @cached_property
    def present_by_word(self) -> csc_array:
        return csc_array(self.present)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "vectors": self.vectors,
            "words": self.words,
            "starts": self.starts,
            "one_half": self.one_half,
            "other_half": self.other_half,
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], n_words: int, n_components: int
    ) -> DocumentSketch:
        """What :meth:`to_arrays` gave; arrays that do not belong together are refused."""
        sketch = cls(
            arrays["vectors"],
            arrays["words"],
            arrays["starts"],
            arrays["one_half"],
            arrays["other_half"],
            n_words,
        )
        starts, words = sketch.starts, sketch.words
        shapes = [
            array.shape[1:] == (n_components,)
            for array in (sketch.vectors, sketch.one_half, sketch.other_half)
        ]
        whole = (
            all(shapes)
            and sketch.one_half.shape == sketch.other_half.shape
            and starts.shape == (len(sketch) + 1,)
            and words.ndim == 1
            and (starts[0], starts[-1]) == (0, len(words))
            and not (np.diff(starts) < 0).any()
            and words.max(initial=0) < n_words
            and all(
                np.isfinite(array).all() for array in (sketch.vectors, sketch.one_half, sketch.other_half)
            )
        )
        if not whole:
            raise ValueError("the sketch of the documents does not hold together")
        return sketch


def _halves(counts: csr_matrix) -> tuple[csr_matrix, csr_matrix]:
    """The words of each document dealt to two halves at random, by a fixed seed."""
    to_one = np.random.default_rng(0).random(counts.nnz) < 0.5
    parts = []
    for chosen in (to_one, ~to_one):
        part = counts.copy()  # removing zeros writes to all three of its arrays
        part.data *= chosen
        part.eliminate_zeros()
        parts.append(part)
    return parts[0], parts[1]
