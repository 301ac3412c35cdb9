"""KATE as the training loop sees it: a network, its documents and what an epoch is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.devices import Device, Precision, choose_device
from kate.engines.network import Engine, Network, Optimizer, Recipe, floats
from kate.model.block_products import block_products
from kate.model.encoder import Scaling, scale_counts
from kate.model.settings import sampled_words
from kate.model.start import fixed_rotation, leading_directions
from kate.model.step_plan import StepPlan
from kate.model.training_state import TrainingState, new_optimizer

__all__ = [
    "KATETraining",
    "Machine",
    "ScaledRows",
    "hold_out",
    "idf_weights",
    "initial_network",
    "learning_rates",
    "scaled_rows",
    "start_of_output_bias",
]

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Machine:
    """Where and how a network is trained: threads of the CPU, or a GPU and the precision of its products."""

    n_jobs: int | None = None
    device: Device = "auto"
    precision: Precision = "float32"

    def refuse_sampling(self, n_sampled: int) -> None:
        """Refuse a sample of the words where a GPU is asked for."""
        if n_sampled and self.device == "cuda":
            raise ValueError(
                'reconstruction_sampling works on the CPU only; take device="cpu" or "auto", or leave it at "auto"'
            )

    def uses_gpu(self) -> bool:
        return choose_device(self.device) == "cuda"

    def engine(self, network: Network, recipe: Recipe) -> Engine:
        self.refuse_sampling(recipe.n_sampled)
        # both engines are slow to import (PyTorch, a compiler): only for training
        if not recipe.n_sampled and self.uses_gpu():
            from kate.engines.gpu.torch_engine import TorchEngine

            return TorchEngine(network, recipe, "cuda", self.precision)
        from kate.engines.cpu.cpu_engine import CPUEngine

        return CPUEngine(network, recipe, self.n_jobs)


class ScaledRows(NamedTuple):
    """Documents as a network takes them."""

    X: csr_matrix  # what is reconstructed
    inputs: Floats | None  # what the encoder reads of each entry; None: what is reconstructed

    @property
    def read(self) -> csr_matrix:
        """What the encoder reads, as a matrix."""
        X = self.X
        return X if self.inputs is None else csr_matrix((self.inputs, X.indices, X.indptr), shape=X.shape)


def scaled_rows(counts: csr_matrix, scaling: Scaling, weights: Floats | None) -> ScaledRows:
    """Scaled counts of documents; ``weights`` of the words are for what the encoder reads."""
    X = scale_counts(counts, scaling)
    return ScaledRows(X, None if weights is None else scale_counts(counts, scaling, weights).data)


class KATETraining:
    """KATE as the training loop sees it: a network, its documents and what an epoch is."""

    def __init__(
        self,
        settings: dict[str, Any],
        network: Network,
        optimizer: Optimizer,
        rows: ScaledRows,
        held_out: csr_matrix | None,
        random: Any,
        max_epochs: int | None,
        machine: Machine,
        weights: Floats | None = None,
        start: Floats | None = None,
    ) -> None:
        self.network, self.optimizer, self.random = network, optimizer, random
        # of the words, for what the encoder reads; None: it reads what it reconstructs
        self.weights = weights
        self.start_weights = start  # W at the start, where vectors go part of the way back to it
        self.settings = settings
        self.engine = machine.engine(network, self._recipe(rows.X.shape[1], machine))
        self.rows = rows
        self.held_out = None if held_out is None else scaled_rows(held_out, settings["scaling"], weights)
        self.n_documents = rows.X.shape[0]
        self.max_epochs = max_epochs  # None: open end, the learning rate stays

    @classmethod
    def start(
        cls,
        settings: dict[str, Any],
        counts: csr_matrix,
        held_out: csr_matrix | None,
        random: Any,
        max_epochs: int | None,
        machine: Machine,
    ) -> Self:
        """A new network, with a new optimizer, on documents."""
        if settings["reconstruction_sampling"] != "auto":
            machine.refuse_sampling(sampled_words(settings, counts.shape[1]))
        weights = idf_weights(counts) if settings["weighting"] == "idf" else None
        rows = scaled_rows(counts, settings["scaling"], weights)
        network, start = initial_network(rows, settings, random, machine)
        optimizer = new_optimizer(settings, network)
        return cls(settings, network, optimizer, rows, held_out, random, max_epochs, machine, weights, start)

    @classmethod
    def resume(
        cls,
        settings: dict[str, Any],
        network: Network,
        state: TrainingState,
        counts: csr_matrix,
        machine: Machine,
        weights: Floats | None,
    ) -> Self:
        """A trained network on more documents, with an open end; network and state are changed in place."""
        optimizer = state.optimizer or new_optimizer(settings, network)
        rows = scaled_rows(counts, settings["scaling"], weights)
        return cls(
            settings, network, optimizer, rows, None, state.generator, None, machine, weights, state.start
        )

    def train_epoch(self, epoch: int) -> float:
        plan = StepPlan.draw(self.random, self.n_documents, self.settings["batch_size"])
        plan = plan.with_rates(self._learning_rates(epoch, len(plan.batches)))
        return self.take_steps(plan) / max(1, plan.n_documents)

    def take_steps(self, plan: StepPlan) -> float:
        """Train as planned; the summed loss of the documents, NaN where it has diverged."""
        rows = self.rows
        total = self.engine.train(rows.X, plan.batches, plan.rates, self.optimizer, plan.seeds, rows.inputs)
        # the loss can miss it: exp clips its argument in the kernels
        is_finite = all(np.isfinite(array.sum(dtype=np.float64)) for array in self.network)
        return total if is_finite else math.nan

    def validation_loss(self) -> float | None:
        return None if self.held_out is None else self.engine.loss(*self.held_out)

    def _learning_rates(self, epoch: int, n_batches: int) -> NDArray[np.float64]:
        """The rates of an epoch's steps; fewer than there are batches where the steps are used up."""
        settings, most = self.settings, self.settings["max_steps"]
        if self.max_epochs is None:
            return learning_rates(settings, 0, n_batches, None)
        n_steps = self.max_epochs * n_batches if most is None else min(self.max_epochs * n_batches, most)
        done = epoch * n_batches
        return learning_rates(settings, done, min(n_batches, n_steps - done), n_steps)

    def _recipe(self, n_words: int, machine: Machine) -> Recipe:
        settings = self.settings
        n_sampled = sampled_words(settings, n_words)
        if settings["reconstruction_sampling"] == "auto" and machine.uses_gpu():
            n_sampled = 0  # there a step that reconstructs all words is the quicker one
        return Recipe(
            settings["loss"],
            settings["activation"],
            settings["n_winners"],
            settings["amplification"],
            settings["dropout"],
            n_sampled,
        )

    def learned(self) -> Network:
        """The network as it is now, wherever it is trained; the optimizer is brought up to date as well."""
        self.engine.fetch()
        return self.network

    def snapshot(self) -> Network:
        return self.learned().copy()

    def restore(self, snapshot: Network) -> None:
        for array, kept in zip(self.network, snapshot, strict=True):
            array[...] = kept
        self.engine.send()


def learning_rates(
    settings: Mapping[str, Any], n_done: int, n_now: int, n_steps: int | None
) -> NDArray[np.float64]:
    """The learning rate of each of the next ``n_now`` steps: it rises in the warm-up, then falls to zero or stays.

    ``n_done`` steps of ``n_steps`` are done; None (an open end): it stays at its highest value.
    """
    rate, warmup = settings["learning_rate"], settings["warmup"]
    if n_steps is None:
        return np.full(n_now, rate)
    done = (np.arange(n_now) + 1 + n_done) / (n_steps + 1)  # in (0, 1)
    rising = done / warmup if warmup > 0 else np.ones(n_now)
    falling = (1 - done) / (1 - warmup) if settings["decay"] == "linear" else np.ones(n_now)
    return np.asarray(rate * np.minimum(1, np.minimum(rising, falling)))


def idf_weights(counts: csr_matrix) -> Floats:
    """1 + log((1 + N) / (1 + df)) of every word: a word in few documents says more."""
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    return (1 + np.log((1 + counts.shape[0]) / (1 + df))).astype(np.float32)


def initial_network(
    rows: ScaledRows, settings: Mapping[str, Any], random: Any, machine: Machine
) -> tuple[Network, Floats | None]:
    """The network before its first step, and W as it is then where vectors go back to it.

    "svd": the leading directions of what the encoder reads, turned so that all neurons start alike. "random":
    Glorot-normal weights. Hidden biases are zero, output biases as :func:`start_of_output_bias` says.
    """
    n_words, n_neurons = rows.X.shape[1], settings["n_neurons"]
    W, start = floats(n_words, n_neurons), None
    if settings["start"] == "random":
        W[...] = random.normal(scale=np.sqrt(2 / (n_words + n_neurons)), size=W.shape)
    else:
        directions = leading_directions(
            rows.read, n_neurons, on_gpu=machine.uses_gpu(), n_jobs=machine.n_jobs
        )
        with block_products(machine.n_jobs) as products:
            W[...] = products.multiply(directions, fixed_rotation(n_neurons))
        # half precision is enough to go back to, and halves what a saved model has to keep of it
        W[...] = W.astype(np.float16)
        start = W.copy()
    c = start_of_output_bias(rows.X, settings["output_bias"], settings["loss"])
    return Network(W, np.zeros(n_neurons, np.float32), c.astype(np.float32)), start


def start_of_output_bias(X: csr_matrix, output_bias: str, loss: str) -> NDArray[np.float64]:
    """Zeros, or the log ("softmax") or log-odds of each word's mean, so that training does not have to learn it."""
    if output_bias == "zero":
        return np.zeros(X.shape[1])
    # half a document is added, so that the log of a word that never occurs is finite
    mean = (np.asarray(X.sum(axis=0), dtype=np.float64).ravel() + 0.5 / X.shape[1]) / (X.shape[0] + 1)
    return np.asarray(np.log(mean) if loss == "softmax" else np.log(mean / (1 - np.minimum(mean, 1 - 1e-6))))


def hold_out(counts: csr_matrix, fraction: float, random: Any) -> tuple[csr_matrix, csr_matrix | None]:
    """The documents to train on, and a share drawn at random to follow the validation loss."""
    if fraction == 0:
        return counts, None
    n_held_out = max(1, round(fraction * counts.shape[0]))
    if n_held_out >= counts.shape[0]:
        raise ValueError(
            f"validation_fraction={fraction} of {counts.shape[0]} documents leaves none to train on; "
            "give more documents or a smaller fraction"
        )
    order = random.permutation(counts.shape[0])
    return counts[np.sort(order[n_held_out:])], counts[np.sort(order[:n_held_out])]
