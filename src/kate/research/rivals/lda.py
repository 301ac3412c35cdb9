"""LDA, latent Dirichlet allocation, by four libraries; the vectors of documents are found in the same way for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import psi
from sklearn.utils.validation import check_is_fitted

from kate.research.rivals.base import CountMatrix, CountsEstimator, Floats, require_whole_numbers, seed_of
from kate.research.rivals.lda_inference import converge
from kate.research.rivals.lda_training import gensim_model, sklearn_model
from kate.text.sequences import Sequences

__all__ = ["LDA", "GensimLDA", "SklearnLDA", "TomotopyLDA", "TopicaLDA", "infer_proportions"]

_TOLERANCE = 1e-3  # mean change of a document's pseudo-counts, as in gensim and scikit-learn


class TopicWeights(NamedTuple):
    """What training finds: pseudo-counts of words in topics, the prior of topics in documents.

    ``strengths`` are the weights of words in topics that documents are inferred with.
    """

    distributions: NDArray[Any]  # (n_components, n_words), rows sum to 1
    strengths: NDArray[Any]  # (n_components, n_words)
    prior: NDArray[Any]  # (n_components,)

    @classmethod
    def variational(cls, pseudo_counts: NDArray[Any], prior: NDArray[Any]) -> TopicWeights:
        """Of a variational posterior, Dirichlet(pseudo_counts): strengths are exp E[ln β]."""
        totals = pseudo_counts.sum(axis=1, keepdims=True)
        strengths = np.exp(psi(pseudo_counts.astype(np.float64)) - psi(totals.astype(np.float64)))
        return cls(pseudo_counts / totals, strengths, prior)


@dataclass(kw_only=True, eq=False, repr=False)
class LDA(CountsEstimator):
    """What they share: counts in, topic proportions out.

        θ ~ Dirichlet(α)      a document's proportions of topics      (n_components,)
        β ~ Dirichlet(η)      a topic's words                         (n_components, n_words)
        every word of a document: a topic drawn from θ, a word drawn from its β

    A document's vector is E[θ] under the mean-field posterior with the topics held fixed, see
    :func:`infer_proportions`: it depends only on the document; a document without a known word has that of the prior.

    Attributes
    ----------
    components_ : (n_components, n_words), each topic's distribution over the words
    strengths_ : (n_components, n_words), what documents are inferred with
    prior_ : (n_components,), α
    settings_ : the parameters as they were used
    """

    components_are_topics: ClassVar[bool] = True

    iterations: int = 50

    components_: Floats = field(init=False)
    strengths_: Floats = field(init=False)
    prior_: Floats = field(init=False)

    def fit(self, X: CountMatrix, y: None = None) -> Self:
        """Learn the topics from counts (n_docs, n_words)."""
        X = self._checked(X, reset=True)
        require_whole_numbers(self, "n_components", "iterations")
        topics = self._learn(X, seed_of(self.random_state))
        self.components_ = np.ascontiguousarray(topics.distributions, dtype=np.float32)
        self.strengths_ = np.ascontiguousarray(topics.strengths, dtype=np.float32)
        self.prior_ = np.asarray(topics.prior, dtype=np.float32)
        self.settings_ = self.get_params(deep=False)
        return self

    def transform(self, X: CountMatrix) -> Floats:
        """The proportions of topics (n_docs, n_components) in documents; rows sum to 1."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return infer_proportions(X, self.strengths_, self.prior_, self.iterations)

    def _learn(self, X: csr_matrix, seed: int) -> TopicWeights:
        raise NotImplementedError


@dataclass(kw_only=True, eq=False, repr=False)
class GensimLDA(LDA):
    """LDA by gensim's online variational Bayes, as in the paper.

    Parameters
    ----------
    n_components : topics
    passes : over the documents
    chunk_size : documents between two updates of the topics
    alpha, eta : priors of topics in documents and of words in topics: "symmetric", "auto" or a number
        (``alpha`` may also be "asymmetric")
    decay : how fast older chunks are forgotten, in (0.5, 1]
    iterations : the most for a document
    random_state : seed

    Examples
    --------
    >>> X = np.array([[3, 2, 0, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]])
    >>> GensimLDA(n_components=2, random_state=0).fit_transform(X).shape
    (4, 2)
    """

    passes: int = 10
    chunk_size: int = 2000
    alpha: str | float = "symmetric"
    eta: str | float = "symmetric"
    decay: float = 0.5

    def _learn(self, X: csr_matrix, seed: int) -> TopicWeights:
        require_whole_numbers(self, "passes", "chunk_size")
        model = gensim_model()(
            X,
            num_topics=self.n_components,
            id2word={column: str(column) for column in range(X.shape[1])},
            passes=self.passes,
            chunksize=self.chunk_size,
            alpha=self.alpha,
            eta=self.eta,
            decay=self.decay,
            iterations=self.iterations,
            eval_every=None,
            random_state=seed,
        )
        return TopicWeights.variational(model.state.get_lambda(), model.alpha)


@dataclass(kw_only=True, eq=False, repr=False)
class SklearnLDA(LDA):
    """LDA by scikit-learn's online variational Bayes.

    Parameters
    ----------
    n_components : topics
    passes : over the documents
    batch_size : documents between two updates of the topics
    alpha, eta : priors of topics in documents and of words in topics; None takes 1 / n_components
    decay : how fast older batches are forgotten, in (0.5, 1]
    iterations : the most for a document
    random_state : seed
    """

    passes: int = 10
    batch_size: int = 256
    alpha: float | None = None
    eta: float | None = None
    decay: float = 0.7

    def _learn(self, X: csr_matrix, seed: int) -> TopicWeights:
        require_whole_numbers(self, "passes", "batch_size")
        model = sklearn_model()(
            self.n_components,
            doc_topic_prior=self.alpha,
            topic_word_prior=self.eta,
            learning_decay=self.decay,
            batch_size=self.batch_size,
            total_samples=X.shape[0],
            max_doc_update_iter=self.iterations,
            random_state=seed,
        )
        for _ in range(self.passes):  # as ``fit`` does, which would also compute the perplexity
            model.partial_fit(X.astype(np.float32, copy=False))
        return TopicWeights.variational(model.components_, np.full(self.n_components, model.doc_topic_prior_))


@dataclass(kw_only=True, eq=False, repr=False)
class TomotopyLDA(LDA):
    """LDA by tomotopy's collapsed Gibbs sampling.

    Parameters
    ----------
    n_components : topics
    sweeps : over all words
    alpha, eta : priors of topics in documents (where the search for a better one starts) and of words in topics
    iterations : the most for a document when it is encoded
    random_state : seed
    """

    sweeps: int = 300
    alpha: float = 0.1
    eta: float = 0.01

    def _learn(self, X: csr_matrix, seed: int) -> TopicWeights:
        import tomotopy

        require_whole_numbers(self, "sweeps")
        model = tomotopy.LDAModel(k=self.n_components, alpha=self.alpha, eta=self.eta, seed=seed)
        names = [str(column) for column in range(X.shape[1])]
        for document in Sequences.of_counts(X):
            if len(document):
                model.add_doc([names[column] for column in document])
        model.train(self.sweeps, workers=1)  # with more threads a seed would not give the same result
        columns = [int(name) for name in model.used_vocabs]
        distributions = np.full((self.n_components, X.shape[1]), 1e-12)
        for topic in range(self.n_components):
            distributions[topic, columns] = model.get_topic_word_dist(topic)
        distributions /= distributions.sum(axis=1, keepdims=True)
        return TopicWeights(distributions, distributions, np.broadcast_to(model.alpha, (self.n_components,)))


@dataclass(kw_only=True, eq=False, repr=False)
class TopicaLDA(LDA):
    """LDA by topica's collapsed Gibbs sampling, in Rust.

    Parameters
    ----------
    n_components : topics
    sweeps : over all words
    alpha, eta : priors of topics in documents (where the search for a better one starts) and of words in topics; None
        and 0.01 are topica's own
    iterations : the most for a document when it is encoded
    random_state : seed
    """

    sweeps: int = 1000
    alpha: float | None = None
    eta: float = 0.01

    def _learn(self, X: csr_matrix, seed: int) -> TopicWeights:
        import topica

        require_whole_numbers(self, "sweeps")
        names = [str(column) for column in range(X.shape[1])]
        documents = [[names[column] for column in document] for document in Sequences.of_counts(X)]
        total = None if self.alpha is None else self.alpha * self.n_components
        model = topica.LDA(self.n_components, alpha_sum=total, beta=self.eta, seed=seed)
        model.fit([document for document in documents if document], iters=self.sweeps)
        columns = [int(name) for name in model.vocabulary]
        distributions = np.full((self.n_components, X.shape[1]), 1e-12)
        distributions[:, columns] = model.topic_word
        distributions /= distributions.sum(axis=1, keepdims=True)
        return TopicWeights(distributions, distributions, np.asarray(model.alpha))


def infer_proportions(X: csr_matrix, strengths: Floats, prior: Floats, iterations: int = 50) -> Floats:
    """E[θ] (n_docs, n_components) of documents for fixed topics, by mean-field iteration from equal proportions.

        γ = α + Σ_w counts_w · φ_w        φ_w ∝ exp(E[ln θ]) · strengths_w

    The iteration ends when γ has converged.

    >>> topics = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], dtype=np.float32)
    >>> infer_proportions(csr_matrix([[4, 4, 0], [0, 0, 0]]), topics, np.ones(2, np.float32)).round(2)
    array([[0.9, 0.1],
           [0.5, 0.5]], dtype=float32)
    """
    # a word of no topic gets a tiny share of each: its likelihood must not be 0
    words = np.ascontiguousarray(strengths.T, dtype=np.float32) + np.float32(1e-30)
    gamma = np.ones((X.shape[0], words.shape[1]), dtype=np.float32)
    converge(X, words, prior, gamma, iterations=iterations, tolerance=_TOLERANCE)
    return np.asarray(gamma / gamma.sum(axis=1, keepdims=True), dtype=np.float32)
