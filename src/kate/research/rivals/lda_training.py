"""gensim's and scikit-learn's LDA, trained with the compiled iteration for documents.

Both libraries are imported only when they are needed. Private methods of theirs are replaced here: pyproject.toml
bounds their versions in the extra ``paper``.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.research.rivals.base import Floats
from kate.research.rivals.lda_inference import converge, exp_psi

__all__ = ["gensim_model", "sklearn_model"]

logger = logging.getLogger(__name__)


def gensim_model() -> type[Any]:
    """gensim's model with the compiled iteration for documents; it is trained on row numbers of X.

    Everything else is gensim's: the random starts of documents, the updates of the topics and of the priors.
    """
    from gensim.models import LdaModel

    class RowsLdaModel(LdaModel):
        def __init__(self, X: csr_matrix, **settings: Any) -> None:
            self.X = X
            super().__init__(range(X.shape[0]), **settings)

        def inference(
            self, chunk: list[int], collect_sstats: bool = False
        ) -> tuple[Floats, NDArray[Any] | None]:
            """γ (n_rows, n_components) of consecutive rows, and the statistics (n_components, n_words)."""
            start = self.random_state.gamma(100.0, 1.0 / 100.0, (len(chunk), self.num_topics))
            gamma = start.astype(np.float32)
            words = np.ascontiguousarray(self.expElogbeta.T)
            statistics = np.zeros_like(words) if collect_sstats else None
            n_converged = converge(
                self.X[chunk[0] : chunk[-1] + 1],
                words,
                self.alpha,
                gamma,
                iterations=self.iterations,
                tolerance=self.gamma_threshold,
                epsilon=float(np.finfo(np.float32).eps),
                statistics=statistics,
            )
            logger.debug(
                "%d/%d documents converged within %d iterations", n_converged, len(chunk), self.iterations
            )
            return gamma, None if statistics is None else (statistics * words).T

    return RowsLdaModel


def sklearn_model() -> type[Any]:
    """scikit-learn's model for float32 counts, trained by ``partial_fit``.

    The random starts and the update of the topics are scikit-learn's. The topics are in memory word by word, as the
    iteration reads them: the arrays of scikit-learn's shape, (n_components, n_words), are views.
    """
    from sklearn.decomposition import LatentDirichletAllocation

    class CompiledLatentDirichletAllocation(LatentDirichletAllocation):
        components_: Floats
        exp_dirichlet_component_: Floats

        def _e_step(
            self, X: csr_matrix, cal_sstats: bool, random_init: bool, parallel: Any = None
        ) -> tuple[Floats, Any]:
            """γ (n_rows, n_components) of rows, and the statistics (n_components, n_words)."""
            shape = X.shape[0], self.n_components
            start = self.random_state_.gamma(100.0, 0.01, shape) if random_init else np.ones(shape)
            gamma = start.astype(np.float32)
            words = np.ascontiguousarray(self.exp_dirichlet_component_.T)
            statistics = np.zeros_like(words) if cal_sstats else None
            converge(
                X,
                words,
                np.full(self.n_components, self.doc_topic_prior_, dtype=np.float32),
                gamma,
                iterations=self.max_doc_update_iter,
                tolerance=self.mean_change_tol,
                epsilon=float(np.finfo(np.float32).eps),
                statistics=statistics,
            )
            return gamma, None if statistics is None else np.multiply(statistics, words, out=statistics).T

        def _em_step(
            self, X: csr_matrix, total_samples: int, batch_update: bool, parallel: Any = None
        ) -> None:
            """Move the topics towards those of a batch, with smaller and smaller steps."""
            _, statistics = self._e_step(X, cal_sstats=True, random_init=True)
            weight = (self.learning_offset + self.n_batch_iter_) ** -self.learning_decay
            topics = np.asfortranarray(self.components_)
            topics *= np.float32(1 - weight)
            statistics *= np.float32(weight * total_samples / X.shape[0])
            topics += statistics
            topics += np.float32(weight * self.topic_word_prior_)
            self.components_, self.exp_dirichlet_component_ = topics, _strengths(topics.T).T
            self.n_batch_iter_ += 1

    return CompiledLatentDirichletAllocation


def _strengths(pseudo_counts: Floats) -> Floats:
    """exp E[ln β] (n_words, n_components) of topics ~ Dirichlet(pseudo_counts)."""
    strengths, totals = np.empty_like(pseudo_counts), pseudo_counts.sum(axis=0)
    exp_psi(pseudo_counts.reshape(-1), strengths.reshape(-1))
    exp_psi(totals, totals)
    strengths /= totals
    return strengths
