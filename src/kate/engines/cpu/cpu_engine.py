"""The CPU engine: KATE's training step by compiled kernels over sparse rows. The document matrix is never dense."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.cpu import buffers
from kate.engines.cpu.barrier import DONE, new_state, run_together
from kate.engines.cpu.packs import Pack
from kate.engines.cpu.sampling import UNIFORM
from kate.engines.cpu.simd_math import TILE
from kate.engines.cpu.step import train_batches
from kate.engines.cpu.target import LANES
from kate.engines.network import Network, Optimizer, Recipe
from kate.engines.row_checks import check_documents, check_rows
from kate.threads import thread_count

__all__ = ["CPUEngine"]

# A second thread costs about 12 microseconds per batch, at the barriers. It helps where each has more to do than that:
# so many multiplications take about twice as long.
_WORK_OF_A_THREAD = 250_000


class CPUEngine:
    """Steps and losses of one network on sparse rows that are already scaled (float32 CSR).

    The entries of a row are what goes in and what is to be reconstructed. ``train`` changes ``network`` in place.
    """

    def __init__(self, network: Network, recipe: Recipe, n_jobs: int | None = None) -> None:
        self.network = network
        self.recipe = recipe
        self.n_threads = thread_count(n_jobs)
        self._checked: list[csr_matrix] = []
        self._tables: tuple[csr_matrix, buffers.SamplingTables] | None = None

    def train(
        self,
        X: csr_matrix,
        batches: list[NDArray[np.int64]],
        rates: NDArray[np.float64],
        optimizer: Optimizer,
        seeds: NDArray[np.int64],
        inputs: NDArray[np.float32] | None = None,
    ) -> float:
        """One step per batch of documents, with its learning rate and dropout seed; returns the summed loss."""
        purpose = buffers.ADAM if optimizer.method == "adam" else buffers.ADADELTA
        networks = (self.network, optimizer.first, optimizer.second)
        ours = [buffers.parameters_of(network) for network in networks]
        rule = buffers.rule_of(
            self.recipe, optimizer, purpose, self.network.b.size, reads_inputs=inputs is not None
        )
        no_gradient = buffers.parameters_of(
            Network(np.zeros((0, LANES), np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32))
        )
        try:
            arrays = buffers.RunArrays(ours[0], no_gradient, ours[1], ours[2])
            losses, n_done = self._run(X, batches, rule, arrays, rates, seeds, inputs)
            optimizer.n_steps += n_done
        finally:
            for padded, network in zip(ours, networks, strict=True):
                buffers.write_back(padded, network)
        return float(losses.sum())

    def gradient(
        self,
        X: csr_matrix,
        docs: NDArray[np.int64],
        seed: int = 0,
        inputs: NDArray[np.float32] | None = None,
    ) -> tuple[float, Network]:
        """The mean loss of the documents ``docs`` and its gradient, as a step computes them; nothing is changed."""
        gradient = self.network.zeros()
        parameters, ours = buffers.parameters_of(self.network), buffers.parameters_of(gradient)
        rule = buffers.rule_of(
            self.recipe, None, buffers.GRADIENT, self.network.b.size, reads_inputs=inputs is not None
        )
        arrays = buffers.RunArrays(parameters, ours, ours, ours)
        losses, _ = self._run(X, [docs], rule, arrays, np.zeros(1), np.array([seed]), inputs)
        buffers.write_back(ours, gradient)
        return float(losses.sum()) / docs.size, gradient

    def loss(self, X: csr_matrix, inputs: NDArray[np.float32] | None = None, block: int = 256) -> float:
        """The mean loss of a document without competition and dropout, as encoding works."""
        n_docs = X.shape[0]
        blocks = [np.arange(i, min(i + block, n_docs), dtype=np.int64) for i in range(0, n_docs, block)]
        rates, seeds = np.zeros(len(blocks)), np.zeros(len(blocks), np.int64)
        parameters = buffers.parameters_of(self.network)
        rule = buffers.rule_of(
            self.recipe.as_encoding(),
            None,
            buffers.LOSS,
            self.network.b.size,
            reads_inputs=inputs is not None,
        )
        arrays = buffers.RunArrays(parameters, parameters, parameters, parameters)
        losses, _ = self._run(X, blocks, rule, arrays, rates, seeds, inputs)
        return float(losses.sum()) / n_docs

    def fetch(self) -> None:
        """Nothing to do: the network is trained in place."""

    def send(self, optimizer: Optimizer | None = None) -> None:
        """Nothing to do: the network and the optimizer are read where they are."""

    def _run(
        self,
        X: csr_matrix,
        batches: list[NDArray[np.int64]],
        rule: buffers.Rule,
        arrays: buffers.RunArrays,
        rates: NDArray[np.float64],
        seeds: NDArray[np.int64],
        inputs: NDArray[np.float32] | None,
    ) -> tuple[NDArray[np.float64], int]:
        """The summed loss of each batch, and how many batches were done."""
        self._check(X, batches, rule)
        (V, m), B = arrays.parameters.W.shape, max(docs.size for docs in batches)
        n_entries = max(int((X.indptr[docs + 1] - X.indptr[docs]).sum()) for docs in batches)
        rows = buffers.rows_of(X, batches, inputs)
        # of this batch and of the next one
        words = [
            buffers.room_for_sampled_words(self._tables_of(X), which, rule.n_draws, n_entries)
            if rule.n_draws
            else buffers.all_words(V, 4 * m, n_entries)
            for which in range(2)
        ]
        # with a sample, all documents share the words that several of them have, and those that were drawn
        n_words, n_own = words[0].words.size, 0
        if rule.n_draws:
            n_words, n_own = min(n_words, buffers.padded(n_entries // 2 + rule.n_draws, TILE)), n_words
        n_active = min(rule.n_winners, rule.m) or rule.m
        learns = rule.purpose > buffers.LOSS
        n_threads = self._threads_for(
            n_words, (3 * B * n_active + 8 * m if learns else B * n_active) * n_words
        )
        space = buffers.new_workspace(n_words, m, B, n_active, n_threads, learns, rule.softmax, n_own)
        losses, state = np.zeros(len(batches)), new_state()
        packs = [Pack(arrays) for arrays in (rows, *words, *arrays)]
        room = Pack(space)

        def work(thread: int, n_threads: int) -> None:
            train_batches(
                thread, n_threads, state, *packs, rule, rule.n_draws, rates, seeds, room, losses
            )  # fmt: skip

        tables, self._tables = self._tables, None  # what is left behind by a run that fails is not used again
        run_together(work, n_threads, state)
        if rule.n_draws:
            buffers.forget_words(words)
        self._tables = tables
        return losses, int(state[DONE])

    def _check(self, X: csr_matrix, batches: list[NDArray[np.int64]], rule: buffers.Rule) -> None:
        """Refuse what compiled code cannot read; the training and the held-out documents are looked at once."""
        if not any(known is X for known in self._checked):
            check_rows(X, self.network.W.shape[0])
            self._checked = [*self._checked[-1:], X]
        check_documents(batches, X.shape[0])
        if rule.n_draws and X.indptr[0] != 0:
            raise ValueError(f"the first document begins at entry {X.indptr[0]} of the matrix, expected 0")
        if rule.n_draws and X.indptr[-1] == 0:
            raise ValueError(
                f"reconstruction sampling draws from the words of the documents, but all {X.shape[0]} documents are "
                "empty; give documents with words, or reconstruction_sampling=None"
            )

    def _threads_for(self, n_words: int, work: int) -> int:
        """At most as many threads as help: no more than tiles of words, and each with enough to do in a batch.

        ``work`` is about the number of multiplications in a batch.
        """
        return max(1, min(self.n_threads, n_words // TILE, work // _WORK_OF_A_THREAD))

    def _tables_of(self, X: csr_matrix) -> buffers.SamplingTables:
        """What sampling knows of every word; made once for each corpus, in the time of many batches."""
        if self._tables is None or self._tables[0] is not X:
            n_entries = X.indptr[-1]
            share = np.bincount(X.indices[:n_entries], minlength=X.shape[1]) / n_entries
            chance = ((1 - UNIFORM) * share + UNIFORM / X.shape[1]).astype(np.float32)
            local = tuple(np.full(X.shape[1], -1, np.int32) for _ in range(2))
            self._tables = X, buffers.SamplingTables(chance, local)
        return self._tables[1]
