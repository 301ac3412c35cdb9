"""The CPU engine: KATE's training step by compiled kernels over sparse rows. The document matrix is never dense."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.cpu import buffers
from kate.engines.cpu.barrier import DONE, new_state, run_together
from kate.engines.cpu.sampling import UNIFORM
from kate.engines.cpu.simd_math import LANES, TILE
from kate.engines.cpu.step import train_batches
from kate.engines.network import Network, Optimizer, Recipe
from kate.threads import thread_count

__all__ = ["CPUEngine"]


class CPUEngine:
    """Steps and losses of one network on sparse rows that are already scaled (float32 CSR).

    The entries of a row are what goes in and what is to be reconstructed. ``train`` changes ``network`` in place.
    """

    def __init__(self, network: Network, recipe: Recipe, n_jobs: int | None = None) -> None:
        self.network = network
        self.recipe = recipe
        self.n_threads = thread_count(n_jobs)
        self._tables: tuple[csr_matrix, buffers.Tables] | None = None

    def train(
        self,
        X: csr_matrix,
        batches: list[NDArray[np.int64]],
        rates: NDArray[np.float64],
        optimizer: Optimizer,
        seeds: NDArray[np.int64],
    ) -> float:
        """A step for each batch of documents, with its learning rate and dropout seed; returns the summed loss."""
        purpose = buffers.ADAM if optimizer.method == "adam" else buffers.ADADELTA
        ours = [
            buffers.parameters_of(network) for network in (self.network, optimizer.first, optimizer.second)
        ]
        rule = buffers.rule_of(self.recipe, optimizer, purpose, self.network.b.size)
        nothing = buffers.parameters_of(
            Network(*(np.zeros((0, LANES), np.float32), *2 * [np.zeros(0, np.float32)]))
        )
        try:
            losses, n_done = self._run(X, batches, rule, ours[0], nothing, ours[1], ours[2], rates, seeds)
            optimizer.n_steps += n_done
        finally:
            for parameters, network in zip(
                ours, (self.network, optimizer.first, optimizer.second), strict=True
            ):
                buffers.write_back(parameters, network)
        return float(losses.sum())

    def gradient(self, X: csr_matrix, docs: NDArray[np.int64], seed: int = 0) -> tuple[float, Network]:
        """The mean loss of the documents ``docs`` and its gradient, as a step computes them; nothing is changed."""
        gradient = self.network.zeros()
        parameters, ours = buffers.parameters_of(self.network), buffers.parameters_of(gradient)
        rule = buffers.rule_of(self.recipe, None, buffers.GRADIENT, self.network.b.size)
        losses, _ = self._run(X, [docs], rule, parameters, ours, ours, ours, np.zeros(1), np.array([seed]))
        buffers.write_back(ours, gradient)
        return float(losses.sum()) / docs.size, gradient

    def loss(self, X: csr_matrix, block: int = 256) -> float:
        """The mean loss of a document without competition and dropout, as encoding works."""
        blocks = [
            np.arange(i, min(i + block, X.shape[0]), dtype=np.int64) for i in range(0, X.shape[0], block)
        ]
        parameters = buffers.parameters_of(self.network)
        rule = buffers.rule_of(self.recipe.as_encoding(), None, buffers.LOSS, self.network.b.size)
        n = len(blocks)
        losses, _ = self._run(
            X,
            blocks,
            rule,
            parameters,
            parameters,
            parameters,
            parameters,
            np.zeros(n),
            np.zeros(n, np.int64),
        )
        return float(losses.sum()) / X.shape[0]

    def fetch(self) -> None:
        """Nothing to do: the network is trained in place."""

    def send(self) -> None:
        """Nothing to do: the network is read where it is."""

    def _run(
        self,
        X: csr_matrix,
        batches: list[NDArray[np.int64]],
        rule: buffers.Rule,
        parameters: buffers.Parameters,
        gradient: buffers.Parameters,
        moments1: buffers.Parameters,
        moments2: buffers.Parameters,
        rates: NDArray[np.float64],
        seeds: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], int]:
        """The summed loss of each batch, and how many batches were done."""
        (V, m), B = parameters.W.shape, max(docs.size for docs in batches)
        n_entries = max(int((X.indptr[docs + 1] - X.indptr[docs]).sum()) for docs in batches)
        rows = buffers.rows_of(X, batches)
        words = [  # of this batch and of the next one
            buffers.sampled_words(self._tables_of(X), turn, rule.n_draws, n_entries)
            if rule.n_draws
            else buffers.all_words(V, 4 * m, n_entries)
            for turn in range(2)
        ]
        n_words, n_own = words[0].words.size, 0
        if rule.n_draws:  # those that several documents have, and the sample
            n_words, n_own = min(n_words, buffers.padded(n_entries // 2 + rule.n_draws, TILE)), n_words
        n_threads = min(self.n_threads, n_words // TILE)
        n_who = min(rule.n_winners, rule.m) or rule.m
        space = buffers.space_for(
            n_words, m, B, n_who, n_threads, rule.purpose > buffers.LOSS, rule.softmax, n_own
        )
        losses, state = np.zeros(len(batches)), new_state()

        def work(thread: int) -> None:
            train_batches(
                thread, n_threads, state, rows, *words, parameters, gradient, moments1, moments2, rule,
                rule.n_draws, rates, seeds, space, losses,
            )  # fmt: skip

        tables, self._tables = self._tables, None  # what is left behind by a run that fails is not used again
        run_together(work, n_threads, state)
        if rule.n_draws:
            buffers.forget_words(words)
        self._tables = tables
        return losses, int(state[DONE])

    def _tables_of(self, X: csr_matrix) -> buffers.Tables:
        """What sampling knows of every word; made once for each corpus, in the time of many batches."""
        if self._tables is None or self._tables[0] is not X:
            share = np.bincount(X.indices, minlength=X.shape[1]) / max(1, X.nnz)
            chance = ((1 - UNIFORM) * share + UNIFORM / X.shape[1]).astype(np.float32)
            local = tuple(np.full(X.shape[1], -1, np.int32) for _ in range(2))
            self._tables = X, buffers.Tables(chance, local)
        return self._tables[1]
