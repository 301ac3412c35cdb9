"""A sketch of the documents: what topics are found and described from once the documents are gone.

At most 20,000 documents, each as its vector and the set of its words (no order). It is saved with the model, so that
the tree of topics can be cut anew, and words, shares and coherence are those of real documents, not estimates. With
how often each word occurs the sketch is what an update knows of the documents seen: a uniform sample of all of them.
For an update it also holds the words that wait for a column: one that enters is then known in the documents before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kate.sparse_arrays import sparse
from kate.unit_rows import unit_rows

__all__ = ["DocumentSketch", "Encode", "Occurrences", "WaitingCounts", "most_documents_of"]

_MOST_DOCUMENTS = 20_000
_MOST_NUMBERS = 5_000_000  # of all vectors together, 10 MB
_MOST_WORDS = 5_000_000  # of all documents together: books are sketched by fewer of them
_MOST_HALVED = 2_000
_SHORT = 15  # distinct words of a document, on average, below which they are short
_MOST_SEEN = 2**53  # no corpus has so many documents

Floats = NDArray[np.float32]
Halves = NDArray[np.float16]
Occurrences = NDArray[np.unsignedinteger[Any]]
Encode = Callable[["sparse.csr_matrix"], Floats]


class WaitingCounts(NamedTuple):
    """How often documents have words that wait for a column, in few bytes; rows as those of a CSR matrix."""

    words: NDArray[np.unsignedinteger[Any]]
    starts: NDArray[np.int64]
    occurrences: Occurrences
    n_words: int

    @classmethod
    def of(cls, counts: sparse.csr_array | sparse.csr_matrix) -> WaitingCounts | None:
        """Of counts (n_docs, n_waiting); None for what are no whole numbers."""
        occurrences, n_words = _occurrences(counts.data), counts.shape[1]
        if occurrences is None:
            return None
        words, starts = _in_few_bytes(counts.indices, n_words), counts.indptr.astype(np.int64)
        return cls(words, starts, occurrences, n_words)

    @property
    def counts(self) -> sparse.csr_matrix:
        rows = (self.occurrences.astype(np.float32), self.words.astype(np.int32), self.starts)
        return sparse.csr_matrix(rows, shape=(len(self.starts) - 1, self.n_words))


@dataclass(frozen=True, eq=False)
class DocumentSketch:
    """Some of the documents.

    vectors : (n, d), of length 1 (0 for a document whose words say nothing)
    words : indices of the words of one document after another; those of document i are
        ``words[starts[i] : starts[i + 1]]``
    one_half, other_half : (n_halved, d), vectors of some documents' words in two random halves: how well the topic of
        one half tells that of the other says how sure a topic is
    occurrences : of each of the words; None where the model was saved without what an update needs
    n_seen : how many documents it is a sample of: those that had words
    waiting : how often each document has each of the words that wait for a column; None where that is not known
    """

    vectors: Halves
    words: NDArray[np.unsignedinteger]
    starts: NDArray[np.int64]
    one_half: Halves
    other_half: Halves
    n_words: int
    occurrences: Occurrences | None = None
    n_seen: int = 0
    # unit vectors that hardly depend on the seed; not saved, the tree is made from them
    coarse: Floats | None = None
    waiting: WaitingCounts | None = None

    @classmethod
    def take(
        cls,
        counts: sparse.csr_matrix,
        encode: Encode,
        encode_coarsely: Encode | None = None,
        n_documents: int | None = None,
        waiting: sparse.csr_array | None = None,
    ) -> DocumentSketch:
        """Of counted documents (n_docs, n_words).

        encode : makes vectors of counts
        encode_coarsely : makes unit vectors that are alike for all seeds, where there are such
        n_documents : how many the counted ones are a sample of; None: they are all
        waiting : the counts (n_docs, n_waiting) of the words that wait for a column, where they are known
        """
        known = np.flatnonzero(np.diff(counts.indptr) > 0)
        most = most_documents_of(counts.nnz / max(len(known), 1), encode(counts[:0]).shape[1])
        picked = np.random.default_rng(0).permutation(known)[:most]
        sample, halved = counts[np.sort(picked)], counts[picked[:_MOST_HALVED]]
        of_waiting = None if waiting is None else waiting[np.sort(picked)]
        times = 1.0 if n_documents is None else n_documents / max(counts.shape[0], 1)
        n_seen = max(round(times * len(known)), len(sample.indptr) - 1)
        return cls._of(
            sparse.csr_matrix(sample), sparse.csr_matrix(halved), encode, encode_coarsely, n_seen, of_waiting
        )

    @classmethod
    def of_sample(
        cls,
        sample: sparse.csr_matrix,
        encode: Encode,
        encode_coarsely: Encode | None,
        n_seen: int,
        waiting: sparse.csr_matrix | None = None,
    ) -> DocumentSketch:
        """Of a sample that was drawn already, of ``n_seen`` documents; the rest as in :meth:`take`."""
        halved = np.random.default_rng(0).permutation(sample.shape[0])[:_MOST_HALVED]
        return cls._of(sample, sparse.csr_matrix(sample[halved]), encode, encode_coarsely, n_seen, waiting)

    @classmethod
    def _of(
        cls,
        sample: sparse.csr_matrix,
        halved: sparse.csr_matrix,
        encode: Encode,
        encode_coarsely: Encode | None,
        n_seen: int,
        waiting: sparse.csr_array | sparse.csr_matrix | None,
    ) -> DocumentSketch:
        one, other = _halves(halved)
        return cls(
            unit_rows(encode(sample)).astype(np.float16),
            _in_few_bytes(sample.indices, sample.shape[1]),
            sample.indptr.astype(np.int64),
            unit_rows(encode(one)).astype(np.float16),
            unit_rows(encode(other)).astype(np.float16),
            sample.shape[1],
            _occurrences(sample.data),
            n_seen,
            None if encode_coarsely is None else encode_coarsely(sample),
            None if waiting is None else WaitingCounts.of(waiting),
        )

    @property
    def counts(self) -> sparse.csr_matrix:
        """How often each document has each word, (n, n_words); only where ``occurrences`` are known."""
        assert self.occurrences is not None
        rows = (self.occurrences.astype(np.float32), self.words.astype(np.int32), self.starts)
        return sparse.csr_matrix(rows, shape=(len(self), self.n_words))

    def all_counts(self, n_waiting: int) -> sparse.csr_matrix:
        """The same, and behind them the words that wait for a column, (n, n_words + n_waiting); 0 where not known."""
        if self.waiting is None:
            nothing = np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(len(self) + 1, np.int32)
            of_waiting = sparse.csr_matrix(nothing, shape=(len(self), n_waiting))
        else:
            of_waiting = self.waiting.counts
        both: sparse.csr_matrix = sparse.hstack([self.counts, of_waiting], format="csr")
        return both

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def is_of_short_texts(self) -> bool:
        """Whether the documents have so few words that training learns little of what is near to what at large."""
        return len(self.words) < _SHORT * len(self)

    @cached_property
    def units(self) -> Floats:
        """The vectors in the precision that they are compared in."""
        return self.vectors.astype(np.float32)

    @cached_property
    def present(self) -> sparse.csr_array:
        """1 where a document holds a word, (n, n_words)."""
        ones = np.ones(len(self.words), dtype=np.float32)
        return sparse.csr_array(
            (ones, self.words.astype(np.int32), self.starts), shape=(len(self), self.n_words)
        )

    @cached_property
    def present_by_word(self) -> sparse.csc_array:
        return sparse.csc_array(self.present)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "vectors": self.vectors,
            "words": self.words,
            "starts": self.starts,
            "one_half": self.one_half,
            "other_half": self.other_half,
            "n_seen": np.array([self.n_seen], dtype=np.int64),
        }

    def update_arrays(self) -> dict[str, NDArray[Any]]:
        """What only an update needs: how often each word occurs, and the words that wait for a column."""
        if self.occurrences is None:
            return {}
        if self.waiting is None:
            return {"occurrences": self.occurrences}
        words, starts, occurrences, _ = self.waiting
        of_waiting = {"waiting_words": words, "waiting_starts": starts, "waiting_occurrences": occurrences}
        return {"occurrences": self.occurrences} | of_waiting

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        n_words: int,
        n_components: int,
        of_update: Mapping[str, NDArray[Any]] | None = None,
        n_waiting: int = 0,
    ) -> DocumentSketch:
        """What :meth:`to_arrays` gave; arrays that do not belong together are refused.

        ``of_update`` is what :meth:`update_arrays` gave, which is saved elsewhere; ``n_waiting`` words wait for a
        column.
        """
        of_update = of_update or {}
        occurrences = of_update.get("occurrences")
        sketch = cls(
            arrays["vectors"],
            arrays["words"],
            arrays["starts"],
            arrays["one_half"],
            arrays["other_half"],
            n_words,
            occurrences,
            # a folder that does not tell it: nothing is known of documents beyond the sketch
            int(arrays["n_seen"][0]) if "n_seen" in arrays else len(arrays["vectors"]),
        )
        vectors = (sketch.vectors, sketch.one_half, sketch.other_half)
        whole = (
            all(array.dtype == np.float16 and array.shape[1:] == (n_components,) for array in vectors)
            and sketch.one_half.shape == sketch.other_half.shape
            and _are_rows(sketch.words, sketch.starts, occurrences, len(sketch), n_words)
            and len(sketch) <= sketch.n_seen <= _MOST_SEEN
            and all(np.isfinite(array).all() for array in vectors)
        )
        if whole and "waiting_words" in of_update:
            words, starts, times = (
                of_update[name] for name in ("waiting_words", "waiting_starts", "waiting_occurrences")
            )
            whole = _are_rows(words, starts, times, len(sketch), n_waiting)
            sketch = replace(sketch, waiting=WaitingCounts(words, starts, times, n_waiting))
        if not whole:
            raise ValueError("the sketch of the documents does not hold together")
        return sketch


def _are_rows(
    words: NDArray[Any], starts: NDArray[Any], occurrences: NDArray[Any] | None, n_rows: int, n_words: int
) -> bool:
    """Whether these are the words of so many documents. SciPy would read before the first one, and behind the last."""
    return bool(
        starts.dtype == np.int64
        and words.dtype.kind == "u"
        and starts.shape == (n_rows + 1,)
        and words.ndim == 1
        and (starts[0], starts[-1]) == (0, len(words))
        and not (np.diff(starts) < 0).any()
        and words.max(initial=0) < max(n_words, 1)
        and (n_words > 0 or len(words) == 0)
        and (occurrences is None or (occurrences.shape == words.shape and occurrences.dtype.kind == "u"))
    )


def _in_few_bytes(words: NDArray[Any], n_words: int) -> NDArray[np.unsignedinteger]:
    return words.astype(np.uint16 if n_words <= 2**16 else np.uint32)


def most_documents_of(mean_words: float, n_components: int) -> int:
    """How many documents of so many words a sketch may have."""
    most = min(_MOST_DOCUMENTS, _MOST_NUMBERS // n_components, _MOST_WORDS // max(mean_words, 1))
    return max(int(most), 2)


def _occurrences(data: NDArray[np.floating[Any]]) -> Occurrences | None:
    """Counts in as few bytes as they need; None for what are no whole numbers."""
    if not np.array_equal(data, np.rint(data)) or data.max(initial=0) >= 2**32:
        return None
    largest = data.max(initial=0)
    kind = np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.uint32
    return data.astype(kind)


def _halves(counts: sparse.csr_matrix) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """The words of each document dealt to two halves at random, by a fixed seed."""
    to_one = np.random.default_rng(0).random(counts.nnz) < 0.5
    parts = []
    for chosen in (to_one, ~to_one):
        part = counts.copy()  # removing zeros writes to all three of its arrays
        part.data *= chosen
        part.eliminate_zeros()
        parts.append(part)
    return parts[0], parts[1]
