"""Neurons, the paper's topics: each neuron has two poles, and each pole is described by the documents that it wins.

A neuron's strongest weights (the paper's way) name rare words. The words that are typical of the documents it wins
are far easier to read. Both ways are here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kate.sparse_arrays import sparse
from kate.topics.coherence import N_CORE, coherent_order, pair_npmi
from kate.topics.neuron_table import NeuronPole, NeuronPoles

__all__ = [
    "N_WORDS",
    "Responses",
    "Wins",
    "count_wins",
    "describe_by_weights",
    "describe_by_wins",
    "poles_of",
    "winning_poles",
]

N_WORDS = 30  # words kept for a topic
_BLOCK = 8192  # documents at a time

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Columns = NDArray[np.int64]

"""What a topic's words are taken from: the documents that it wins, or its weights."""

Respond: TypeAlias = Callable[["sparse.csr_matrix"], Floats]
"""Documents (n_docs, n_words) → responses of the neurons (n_docs, n_components); any model's will do."""


class Responses(NamedTuple):
    """The mean and standard deviation of every neuron's response over the training documents."""

    mean: Floats  # (n_components,)
    deviation: Floats  # (n_components,)

    @classmethod
    def of(cls, respond: Respond, X: sparse.csr_matrix) -> Self:
        """Of the responses to the documents X, computed block by block."""
        count, mean, squares = 0, np.zeros(1), np.zeros(1)
        for block in _blocks(X):
            responses = respond(block).astype(np.float64)
            # Merges the moments of blocks (Chan et al. 1983); the mean of squares minus a squared mean loses digits.
            shift = responses.mean(axis=0) - mean
            total = count + len(responses)
            squares = (
                squares + responses.var(axis=0) * len(responses) + shift**2 * (count * len(responses) / total)
            )
            mean = mean + shift * (len(responses) / total)
            count = total
        deviation = np.sqrt(squares / max(count, 1))
        # only rounding errors: the neuron responds to all documents alike
        deviation[deviation <= 1e-6 * np.abs(mean)] = 0
        return cls(mean.astype(np.float32), deviation.astype(np.float32))

    def blended(self, other: Responses, share: float) -> Responses:
        """Over these documents and others at once, of which the others are ``share`` (0 to 1)."""
        weights = ((self, 1 - share), (other, share))
        mean = sum(weight * part.mean.astype(np.float64) for part, weight in weights)
        variance = sum(
            weight * (part.deviation.astype(np.float64) ** 2 + (part.mean - mean) ** 2)
            for part, weight in weights
        )
        return Responses(np.asarray(mean, np.float32), np.asarray(np.sqrt(variance), np.float32))

    def standardise(self, responses: Floats) -> Floats:
        """z-scores (n_docs, n_components); 0 for a neuron that responds to all documents alike."""
        safe = np.where(self.deviation > 0, self.deviation, np.float32(np.inf))
        return np.asarray((responses - self.mean) / safe, dtype=np.float32)


class Wins(NamedTuple):
    """What the poles won of the training documents. Pole 2j is neuron j's "+", pole 2j + 1 its "-"."""

    n_documents: Columns  # (n_poles,) documents won
    strength: Doubles  # (n_poles,) the sum of their |z|
    words: Floats  # (n_poles, n_words) the sum of |z| over the won documents that hold the word


def winning_poles(z: Floats) -> tuple[Columns, Floats]:
    """For each document the poles that win it and their strengths |z|, the strongest first.

    A tenth of the neurons wins, rounded up: those whose response is furthest from their mean, on either side.

    >>> poles, strengths = winning_poles(np.array([[0.5, -2.0], [1.0, 0.0]], dtype=np.float32))
    >>> poles.tolist(), strengths.tolist()
    ([[3], [0]], [[2.0], [1.0]])
    """
    n_components = z.shape[1]
    n_wins = -(-n_components // 10)
    strengths = np.abs(z)
    neurons = np.argpartition(strengths, n_components - n_wins, axis=1)[:, n_components - n_wins :]
    neurons.sort(axis=1)  # of equal strengths the lower neuron comes first
    order = np.argsort(-np.take_along_axis(strengths, neurons, axis=1), axis=1, kind="stable")
    neurons = np.take_along_axis(neurons, order, axis=1)
    negative = np.take_along_axis(z, neurons, axis=1) < 0
    return 2 * neurons + negative, np.take_along_axis(strengths, neurons, axis=1)


def count_wins(X: sparse.csr_matrix, respond: Respond, responses: Responses) -> Wins:
    """Let the poles compete for every document; a document without words is won by none."""
    n_poles, n_words = 2 * len(responses.mean), X.shape[1]
    n_documents = np.zeros(n_poles, dtype=np.int64)
    strength = np.zeros(n_poles)
    words = np.zeros((n_poles, n_words), dtype=np.float32)
    for block in _blocks(X):
        poles, strengths = winning_poles(responses.standardise(respond(block)))
        strengths[np.diff(block.indptr) == 0] = 0
        n_documents += np.bincount(poles[strengths > 0], minlength=n_poles)
        strength += np.bincount(poles.ravel(), strengths.ravel(), minlength=n_poles)
        starts = np.arange(0, poles.size + 1, poles.shape[1])
        won = sparse.csr_array((strengths.ravel(), poles.ravel(), starts), shape=(len(poles), n_poles))
        gained = (won.T @ _presence(block)).tocoo()
        words[gained.row, gained.col] += gained.data
    return Wins(n_documents, strength, words)


def describe_by_wins(X: sparse.csr_matrix, wins: Wins, readable: Sequence[str]) -> NeuronPoles:
    """Each pole by the words that are more frequent in the documents it wins than in all documents.

    A word's score is p(w | wins) · log(p(w | wins) / p(w)): frequent in what the pole wins, and more so than
    elsewhere. Of the best-scored words those that occur together come first, see :func:`coherent_order`.
    """
    present = sparse.csc_array(_presence(X))
    frequency = np.diff(present.indptr) / X.shape[0]
    topics = []
    for pole, share in enumerate(wins.n_documents / X.shape[0]):
        candidates = _best(_scores(wins.words[pole], wins.strength[pole], frequency))
        npmi = pair_npmi(present, candidates)
        order = coherent_order(npmi)
        words = [readable[column] for column in candidates[order]]
        topics.append(_topic(pole, words, share, npmi[np.ix_(order, order)]))
    return NeuronPoles(topics)


def describe_by_weights(X: sparse.csr_matrix, W: Floats, wins: Wins, readable: Sequence[str]) -> NeuronPoles:
    """Each pole by its strongest weights, the paper's way: "+" by the largest, "-" by the most negative."""
    present = sparse.csc_array(_presence(X))
    topics = []
    for pole, share in enumerate(wins.n_documents / X.shape[0]):
        columns = _best(W[:, pole // 2] * (-1.0 if pole % 2 else 1.0))
        words = [readable[column] for column in columns]
        topics.append(_topic(pole, words, share, pair_npmi(present, columns[:N_CORE])))
    return NeuronPoles(topics)


def poles_of(W: Floats, readable: Sequence[str], top: int = 10) -> NeuronPoles:
    """Each pole by its strongest weights (n_words, n_neurons), the paper's way; needs no documents."""
    poles = []
    for pole in range(2 * W.shape[1]):
        columns = _best(W[:, pole // 2] * (-1.0 if pole % 2 else 1.0))[:top]
        poles.append(
            NeuronPole(pole // 2, "-" if pole % 2 else "+", tuple(readable[column] for column in columns))
        )
    return NeuronPoles(poles)


def _scores(mass: Floats, strength: float, frequency: Doubles) -> Doubles:
    share = mass / strength if strength > 0 else np.zeros(len(mass))
    lift = np.divide(share, frequency, out=np.ones(len(mass)), where=(share > 0) & (frequency > 0))
    return np.asarray(share * np.log(lift), dtype=np.float64)


def _best(scores: NDArray[np.floating[Any]]) -> Columns:
    """Columns of the highest scores above 0, best first; of equals the lower column (the more frequent word)."""
    columns = np.flatnonzero(scores > 0)
    if len(columns) > N_WORDS:
        least = np.partition(scores[columns], -N_WORDS)[-N_WORDS]
        columns = columns[scores[columns] >= least]
    return columns[np.argsort(-scores[columns], kind="stable")[:N_WORDS]]


def _topic(pole: int, words: Sequence[str], share: float, npmi: Doubles) -> NeuronPole:
    """A topic whose coherence is the mean NPMI of the pairs of its first words."""
    pairs = np.triu_indices(min(len(npmi), N_CORE), k=1)
    coherence = float(npmi[pairs].mean()) if len(pairs[0]) else None
    return NeuronPole(pole // 2, "-" if pole % 2 else "+", tuple(words), float(share), coherence)


def _presence(X: sparse.csr_matrix) -> sparse.csr_array:
    """1 where a document holds a word."""
    return sparse.csr_array(((X.data > 0).astype(np.float32), X.indices, X.indptr), shape=X.shape)


def _blocks(X: sparse.csr_matrix) -> Iterator[sparse.csr_matrix]:
    for start in range(0, X.shape[0], _BLOCK):
        yield X[start : start + _BLOCK]
