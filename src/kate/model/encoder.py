"""Counts → vectors: what a fitted model needs to encode, as plain arrays (no scikit-learn, no compiler)."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kate.sparse_arrays import sparse
from kate.threads import thread_count

__all__ = [
    "EmptyDocumentsWarning",
    "Encoder",
    "NeuronOutput",
    "Output",
    "Scaling",
    "comparison_shift",
    "count_empty",
    "scale_counts",
    "warn_about_empty",
    "warn_of_empty",
]

Scaling = Literal["root", "l2", "max"]
NeuronOutput = Literal["preactivation", "activation"]
Output = Literal["projection", NeuronOutput]
Floats = NDArray[np.float32]
Ints = NDArray[np.integer[Any]]

_BLOCK = 2048  # documents that a thread encodes at a time
_SCALED_AT_ONCE = 2**16  # documents scaled at a time
_L2_GAIN = 3.0  # makes the entries of a typical document about as large as scaling by the maximum does


class EmptyDocumentsWarning(UserWarning):
    """Some documents have no word of the vocabulary, so that all of them get the same vector (of zeros, by default).

    >>> import warnings, kate
    >>> model = kate.TextModel(2, max_epochs=1).fit(["a treaty of peace", "gold and silver"] * 5)
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     vector = model.encode("qwertz")
    >>> told[0].category.__name__, vector.any()
    ('EmptyDocumentsWarning', np.False_)
    """


def scale_counts(X: sparse.csr_matrix, scaling: Scaling, weights: Floats | None = None) -> sparse.csr_matrix:
    """Scaled counts, float32, between 0 and 1: what the network reads and reconstructs.

    "root" are the roots of the counts over their Euclidean norm: a text that is repeated is scaled as if it stood once.
    "max" is the paper's: log(1 + n) over its maximum in the document. "l2" divides log(1 + n) by the document's
    Euclidean norm (times 3, at most 1), so that a single frequent word does not push all others down.
    ``weights`` (n_words,) multiply the counts of the words before the division.
    """
    damped = _damped(X.data, X.indices, scaling, weights)
    scaled = sparse.csr_matrix((damped, X.indices, X.indptr), shape=X.shape)
    # in blocks, so that temporary arrays stay small
    for start in range(0, X.shape[0], _SCALED_AT_ONCE):
        bounds = scaled.indptr[start : start + _SCALED_AT_ONCE + 1]
        entries = slice(bounds[0], bounds[-1])
        _scale_rows(scaled.data[entries], scaled.indices[entries], bounds - bounds[0], X.shape[1], scaling)
    return scaled


def _damped(counts: NDArray[Any], words: Ints, scaling: Scaling, weights: Floats | None) -> Floats:
    root_or_log = np.sqrt if scaling == "root" else np.log1p
    damped: Floats = root_or_log(counts, dtype=np.float32)
    if weights is not None:
        damped *= weights[words]
    return damped


def _scale_rows(data: Floats, words: Ints, bounds: Ints, n_words: int, scaling: Scaling) -> None:
    """Divide the damped counts of some documents by their size, in place."""
    if len(data) == 0:
        return
    shape = (len(bounds) - 1, n_words)
    size: NDArray[np.floating]
    if scaling == "max":
        size = np.asarray(sparse.csr_matrix((data, words, bounds), shape).max(axis=1).todense()).ravel()
    else:
        squares = sparse.csr_matrix((data * data, words, bounds), shape)
        size = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
        if scaling == "l2":
            size /= _L2_GAIN
    size[size == 0] = 1
    data /= np.repeat(size.astype(np.float32), np.diff(bounds))
    np.minimum(data, 1, out=data)


@dataclass(frozen=True)
class Encoder:
    """v = Wᵀ x for scaled counts x: the default, one linear map ("projection"). A network's own outputs are here too.

    "preactivation" gives Wᵀ x + b - mean, "activation" gives g(Wᵀ x + b) - mean, as the paper does without the mean.
    W (n_words, n_components), b (n_components,), mean (n_components,): subtracted from every vector (zeros: nothing).
    ``weights`` (n_words,) of the words are applied before counts are scaled; None: all words weigh the same.

    Examples
    --------
    >>> import kate
    >>> model = kate.TextModel(2, max_epochs=1).fit(["a treaty of peace", "gold and silver"] * 5)
    >>> counts = model.vocabulary_.count(["peace and gold"])
    >>> bool((model.encoder_.encode(counts) == model.encode(["peace and gold"])).all())
    True
    """

    W: Floats
    b: Floats
    mean: Floats
    scaling: Scaling
    activation: Literal["tanh", "sigmoid"]
    output: Output
    weights: Floats | None = None

    @classmethod
    def of_map(cls, vector_map: Floats, scaling: Scaling, weights: Floats | None) -> Encoder:
        """The encoder whose vectors are one linear map (n_words, n_components) of scaled counts."""
        nothing = np.zeros(vector_map.shape[1], dtype=np.float32)
        return cls(vector_map, nothing, nothing, scaling, "tanh", "projection", weights)

    def map_arrays(self) -> dict[str, Floats]:
        """What is to be saved of it beside the network: the map, and the weights of the words."""
        arrays = {"map": self.W} if self.output == "projection" else {}
        return arrays if self.weights is None else arrays | {"weights": self.weights}

    @property
    def n_words(self) -> int:
        return int(self.W.shape[0])

    @property
    def n_components(self) -> int:
        return int(self.W.shape[1])

    def centered_on(self, mean: Floats) -> Encoder:
        return replace(self, mean=mean)

    def encode(self, X: sparse.csr_matrix, n_jobs: int | None = None) -> Floats:
        """Vectors (n_docs, n_components) of the documents whose counts are the rows of X; warns about empty ones."""
        warn_about_empty(X, stacklevel=4)
        return self.vectors(X, n_jobs)

    def vectors(self, X: sparse.csr_matrix, n_jobs: int | None = None) -> Floats:
        """The same without the warning, by ``n_jobs`` threads (None: all cores)."""
        vectors = np.empty((X.shape[0], self.n_components), dtype=np.float32)

        def encode_block(start: int) -> None:
            block = vectors[start : start + _BLOCK]
            np.subtract(self.respond(X[start : start + _BLOCK]), self.mean, out=block)

        starts = range(0, X.shape[0], _BLOCK)
        n_threads = min(thread_count(n_jobs), len(starts))
        if n_threads <= 1:
            for start in starts:
                encode_block(start)
        else:
            # NumPy and SciPy give up Python's lock while they work
            with ThreadPoolExecutor(n_threads) as pool:
                list(pool.map(encode_block, starts))
        return vectors

    def vector(self, words: Ints, counts: Ints) -> Floats:
        """The vector (n_components,) of one document, given as its words and how often it has each.

        The steps are those of :meth:`vectors`, for a query: without SciPy, whose import takes longer than a search.
        """
        scaled = _damped(counts, words, self.scaling, self.weights)
        if scaled.size:
            # the sum that SciPy makes of a row, to the last bit
            size = (
                scaled.max() if self.scaling == "max" else np.sqrt(np.add.reduceat(scaled * scaled, [0])[0])
            )
            size = np.float32(size / _L2_GAIN if self.scaling == "l2" else size)
            scaled = np.minimum(scaled / (size or 1), 1)
        potential = np.zeros(self.n_components, np.float32)
        for entry, weights in zip(scaled, self.W[words], strict=True):
            potential += entry * weights
        return np.asarray(self._output(potential) - self.mean, np.float32)

    def respond(self, X: sparse.csr_matrix) -> Floats:
        """The neurons' responses before the mean is subtracted."""
        # (n_docs, n_components)
        return self._output(scale_counts(X, self.scaling, self.weights) @ self.W)

    def _output(self, potential: Floats) -> Floats:
        if self.output == "projection":
            return potential
        potential += self.b
        return potential if self.output == "preactivation" else activate(potential, self.activation)


def warn_about_empty(X: sparse.csr_matrix, stacklevel: int) -> None:
    """Say how many documents have no word that the model knows."""
    warn_of_empty(count_empty(X), X.shape[0], stacklevel + 1)


def count_empty(X: sparse.csr_matrix) -> int:
    """How many documents have no word that the model knows."""
    return int((np.diff(X.indptr) == 0).sum())


def warn_of_empty(n_empty: int, n_documents: int, stacklevel: int) -> None:
    """The same warning where the documents were counted in batches."""
    if n_empty:
        warnings.warn(
            f"{n_empty:,} of {n_documents:,} documents have no word of the vocabulary; "
            "their vector is that of an empty document",
            EmptyDocumentsWarning,
            stacklevel=stacklevel,
        )


def activate(potential: Floats, activation: str) -> Floats:
    if activation == "tanh":
        return np.tanh(potential)
    return (1 / (1 + np.exp(-potential))).astype(np.float32)


def comparison_shift(encoder: Encoder, mean_response: Floats) -> Floats:
    """What is subtracted from vectors before they are compared.

    Neurons have a mean (the paper's vectors keep it) that makes all documents look alike. A projection has none.
    """
    if encoder.output == "projection":
        return np.zeros(encoder.n_components, dtype=np.float32)
    return np.asarray(mean_response - encoder.mean, dtype=np.float32)
