"""KATE as the training loop sees it: a network, its documents and what an epoch is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.devices import Device, Precision, choose_device
from kate.engines.network import Engine, Network, Optimizer, Recipe, floats
from kate.model.encoder import Encoder, scale_counts
from kate.model.training_state import TrainingState, new_optimizer

__all__ = [
    "KATETraining",
    "Machine",
    "encoder_of",
    "hold_out",
    "initial_network",
    "learning_rates",
    "start_of_output_bias",
]


@dataclass(frozen=True)
class Machine:
    """Where and how a network is trained: threads of the CPU, or a GPU and the precision of its products."""

    n_jobs: int | None = None
    device: Device = "auto"
    precision: Precision = "float32"

    def engine(self, network: Network, recipe: Recipe) -> Engine:
        if recipe.n_sampled and self.device == "cuda":
            raise ValueError(
                'reconstruction_sampling works on the CPU only; take device="cpu" or "auto", or leave it at None'
            )
        # both engines are slow to import (PyTorch, a compiler): only for training
        if not recipe.n_sampled and choose_device(self.device) == "cuda":
            from kate.engines.gpu.torch_engine import TorchEngine

            return TorchEngine(network, recipe, "cuda", self.precision)
        from kate.engines.cpu.cpu_engine import CPUEngine

        return CPUEngine(network, recipe, self.n_jobs)


class KATETraining:
    """KATE as the training loop sees it: a network, its documents and what an epoch is."""

    def __init__(
        self,
        settings: dict[str, Any],
        network: Network,
        optimizer: Optimizer,
        X: csr_matrix,
        held_out: csr_matrix | None,
        random: Any,
        max_epochs: int | None,
        machine: Machine,
    ) -> None:
        recipe = Recipe(
            settings["loss"],
            settings["activation"],
            settings["n_winners"],
            settings["amplification"],
            settings["dropout"],
            settings["reconstruction_sampling"] or 0,
        )
        self.network, self.optimizer, self.X, self.random = network, optimizer, X, random
        self.engine = machine.engine(network, recipe)
        self.held_out = None if held_out is None else scale_counts(held_out, settings["scaling"])
        self.n_documents = X.shape[0]
        self.max_epochs = max_epochs  # None: open end, the learning rate stays
        self.settings = settings

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
        X = scale_counts(counts, settings["scaling"])
        network = initial_network(X, settings, random)
        optimizer = new_optimizer(settings, network)
        return cls(settings, network, optimizer, X, held_out, random, max_epochs, machine)

    @classmethod
    def resume(
        cls,
        settings: dict[str, Any],
        network: Network,
        state: TrainingState,
        counts: csr_matrix,
        machine: Machine,
    ) -> Self:
        """A trained network on more documents, with an open end; network and state are changed in place."""
        X = scale_counts(counts, settings["scaling"])
        optimizer = state.optimizer or new_optimizer(settings, network)
        return cls(settings, network, optimizer, X, None, state.generator, None, machine)

    def train_epoch(self, epoch: int) -> float:
        order = self.random.permutation(self.n_documents)
        size = self.settings["batch_size"]
        batches = [order[i : i + size].astype(np.int64) for i in range(0, self.n_documents, size)]
        seeds = self.random.randint(0, 2**62, size=len(batches), dtype=np.int64)
        rates = learning_rates(self.settings, epoch, self.max_epochs, len(batches))
        total = self.engine.train(self.X, batches, rates, self.optimizer, seeds)
        if not all(np.isfinite(array.sum(dtype=np.float64)) for array in self.network):
            # the loss can miss it: exp clips its argument in the kernels
            return math.nan
        return total / self.n_documents

    def validation_loss(self) -> float | None:
        return None if self.held_out is None else self.engine.loss(self.held_out)

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


def encoder_of(network: Network, settings: Mapping[str, Any]) -> Encoder:
    """The trained network as it encodes, before its mean is known."""
    nothing = np.zeros_like(network.b)
    scaling, activation, output = (settings[name] for name in ("scaling", "activation", "output"))
    return Encoder(network.W, network.b, nothing, scaling, activation, output)


def learning_rates(
    settings: Mapping[str, Any], epoch: int, max_epochs: int | None, n_batches: int
) -> NDArray[np.float64]:
    """The learning rate of each step of an epoch: it rises in the warm-up, then falls to zero or stays.

    ``max_epochs`` None (an open end): it stays at its highest value.
    """
    rate, warmup = settings["learning_rate"], settings["warmup"]
    if max_epochs is None:
        return np.full(n_batches, rate)
    done = (np.arange(n_batches) + 1 + epoch * n_batches) / (max_epochs * n_batches + 1)  # in (0, 1)
    rising = done / warmup if warmup > 0 else np.ones(n_batches)
    falling = (1 - done) / (1 - warmup) if settings["decay"] == "linear" else np.ones(n_batches)
    return np.asarray(rate * np.minimum(1, np.minimum(rising, falling)))


def initial_network(X: csr_matrix, settings: dict[str, Any], random: Any) -> Network:
    """Glorot-normal weights and zero biases; the output bias as :func:`start_of_output_bias` says."""
    n_words, n_components = X.shape[1], settings["n_components"]
    W = floats(n_words, n_components)
    W[...] = random.normal(scale=np.sqrt(2 / (n_words + n_components)), size=W.shape)
    c = start_of_output_bias(X, settings["output_bias"], settings["loss"])
    return Network(W, np.zeros(n_components, np.float32), c.astype(np.float32))


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
