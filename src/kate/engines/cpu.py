"""The CPU engine: KATE's training step by numba and BLAS over sparse rows. The document matrix is never dense."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from kate.engines import memory as shapes
from kate.engines import step as kernels
from kate.engines.blas import SGEMM
from kate.engines.network import Floats, Network, Optimizer, Recipe
from kate.engines.threads import thread_count

__all__ = ["CPUEngine", "thread_count"]

_ONE_AT_A_TIME = Lock()  # numba's plainest thread pool must not be entered by two threads


class CPUEngine:
    """Steps and losses of one network on sparse rows that are already scaled (float32 CSR).

    The entries of a row are what goes in and what is to be reconstructed. ``train`` changes ``network`` in place.
    """

    def __init__(self, network: Network, recipe: Recipe, n_jobs: int | None = None) -> None:
        self.network = network
        self.recipe = recipe
        self.n_threads = thread_count(n_jobs)
        self._gradient = network.zeros()

    def train(
        self,
        X: csr_matrix,
        batches: list[NDArray[np.int64]],
        rates: NDArray[np.float64],
        optimizer: Optimizer,
        seeds: NDArray[np.int64],
    ) -> float:
        """A step for each batch of documents, with its learning rate and dropout seed; returns the summed loss."""
        total = 0.0
        rows = _as_rows(X)
        with self._threads():
            memory = _Memory(self.network, self.recipe, X, batches)
            for docs, rate, seed in zip(batches, rates, seeds, strict=True):
                optimizer.n_steps += 1
                total += self._step(
                    rows, docs, memory, int(seed), optimizer, _update_rule(optimizer, float(rate))
                )
        return total

    def gradient(self, X: csr_matrix, docs: NDArray[np.int64], seed: int = 0) -> tuple[float, Network]:
        """The mean loss of the documents ``docs`` and its gradient, as a step computes them; nothing is changed."""
        with self._threads():
            memory = _Memory(self.network, self.recipe, X, [docs])
            still = Optimizer.adam(self.network)
            total = self._step(_as_rows(X), docs, memory, seed, still, _update_rule(None, 0.0))
        return total / docs.size, self._gradient.copy()

    def loss(self, X: csr_matrix, block: int = 256) -> float:
        """The mean loss of a document without competition and dropout, as encoding works."""
        rows, recipe = _as_rows(X), self.recipe.as_encoding()
        blocks = [
            np.arange(i, min(i + block, X.shape[0]), dtype=np.int64) for i in range(0, X.shape[0], block)
        ]
        total = 0.0
        with self._threads():
            memory = _Memory(self.network, recipe, X, blocks)
            for docs in blocks:
                rule = _rule(recipe, 0)
                total += kernels.forward(
                    SGEMM, rows, docs, self.network, rule, memory.by_word, memory.space,
                    self._gradient.W, self._gradient.c, np.float32(0.0),
                )  # fmt: skip
        return total / X.shape[0]

    def _step(
        self,
        rows: shapes.Rows,
        docs: NDArray[np.int64],
        memory: _Memory,
        seed: int,
        optimizer: Optimizer,
        update: shapes.UpdateRule,
    ) -> float:
        loss: float = kernels.step(
            SGEMM, rows, docs, self.network, _rule(self.recipe, seed), memory.by_word, memory.space,
            self._gradient, optimizer.first, optimizer.second, update,
        )  # fmt: skip
        return loss

    @contextmanager
    def _threads(self) -> Iterator[None]:
        """Our threads over tiles, one BLAS thread in each: never more runnable threads than were asked for."""
        with _ONE_AT_A_TIME, threadpool_limits(1, user_api="blas"):
            before = numba.get_num_threads()
            numba.set_num_threads(min(self.n_threads, most_threads()))
            try:
                yield
            finally:
                numba.set_num_threads(before)


class _Memory:
    """What the steps of one call work in: room for the largest batch."""

    def __init__(
        self, network: Network, recipe: Recipe, X: csr_matrix, batches: list[NDArray[np.int64]]
    ) -> None:
        V, m = network.W.shape
        B = max(docs.size for docs in batches)
        n_entries = max(int((X.indptr[docs + 1] - X.indptr[docs]).sum()) for docs in batches)
        n_tiles = -(-V // shapes.TILE)
        is_softmax = recipe.loss == "softmax"
        self.by_word = shapes.ByWord(
            np.empty(V + 1, np.int64), np.empty(n_entries, np.int32), np.empty(n_entries, np.int64)
        )
        Z = _floats(B, m)
        self.space = shapes.Space(
            Z=Z,
            bits=Z.view(np.int32),
            A=_floats(B, m),
            role=np.zeros((B, m), np.int8),
            who=np.zeros((B, m), np.int32),
            n_who=np.zeros(B, np.int64),
            won_ptr=np.zeros(m + 1, np.int64),
            won=np.zeros(B * m, np.int32),
            turned=_floats(shapes.GROUPS, m, shapes.TILE + 16),
            D=_floats(B, m),
            part=_floats(shapes.GROUPS, B, m),
            logits=_floats(n_tiles if is_softmax else shapes.GROUPS, B * shapes.TILE),
            highest=_floats(n_tiles if is_softmax else 1, B),
            total=_floats(n_tiles if is_softmax else 1, B),
            losses=np.zeros(shapes.GROUPS),
        )


def _floats(*shape: int) -> Floats:
    return np.empty(shape, np.float32)


def _as_rows(X: csr_matrix) -> shapes.Rows:
    mass = np.asarray(X.sum(axis=1), dtype=np.float32).ravel()
    return shapes.Rows(X.indptr.astype(np.int64), X.indices, X.data, mass)


def _rule(recipe: Recipe, seed: int) -> shapes.Rule:
    return shapes.Rule(
        recipe.loss == "softmax",
        recipe.activation == "sigmoid",
        recipe.n_winners,
        np.float32(recipe.amplification),
        recipe.dropout,
        seed,
    )


def _update_rule(optimizer: Optimizer | None, rate: float) -> shapes.UpdateRule:
    if optimizer is None:
        numbers = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        return shapes.UpdateRule(shapes.KEEP_GRADIENT, *(np.float32(number) for number in numbers))
    (decay1, decay2), t = optimizer.decay, optimizer.n_steps
    numbers = (rate, decay1, decay2, optimizer.epsilon, 1 / (1 - decay1**t), 1 / (1 - decay2**t))
    method = shapes.ADAM if optimizer.method == "adam" else shapes.ADADELTA
    return shapes.UpdateRule(method, *(np.float32(number) for number in numbers))


def most_threads() -> int:
    """The size of numba's thread pool, fixed when it is first used."""
    size: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # numba sets it at import
    return size
