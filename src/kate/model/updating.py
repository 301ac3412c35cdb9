"""A fitted network goes on with new documents, and with words that had no column before.

    rows      words that stay keep theirs, in the order of the new vocabulary; words that entered begin where they occur
    start     W₀ is made anew from all documents seen (start_renewal.py), and W moves with it: W₀' + γ (W − W₀), where γ
              is the share of all documents seen that are gone: neither new nor in the sketch. What was learned of
              documents at hand is learned again, beside the new ones; b and c go back to their start in the same way
    training  over the new documents and 1 − γ of the sketch, in 2 + 3 (1 − γ) epochs: where all documents are at hand
              as in a fit on all of them, and where most are gone over the new ones and as many of the sketch.
              Optimizer and random generator go on, the learning rate rises and falls as in a fit
    map       from neurons to vectors, from the new sketch: from all documents seen, and not from the latest ones

docs/updates.md says how that was chosen, and how near it comes to one fit on everything.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from kate.engines.network import Network, Optimizer, floats
from kate.model.block_products import block_products
from kate.model.finishing import finish
from kate.model.fitting import FittedNetwork
from kate.model.loop import progress_bar, train
from kate.model.settings import settings_for
from kate.model.start_renewal import renewed_start
from kate.model.training import KATETraining, Machine, scaled_rows, start_of_output_bias
from kate.model.training_state import TrainingState, resumed

__all__ = ["DocumentsSeen", "update_network"]

# Chosen on validation documents, see docs/updates.md.
_EPOCHS_AT_HAND, _EPOCHS_GONE = 5, 2  # where all documents are at hand; where most are gone
_LEAST_REPLAYED = 500

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


class DocumentsSeen(NamedTuple):
    """What is known of the documents of all times, as counts of the words that have a column now.

    kept : a uniform sample of the documents seen before (n_kept, n_words)
    n_before : how many these are a sample of
    new : the new documents (n_new, n_words)
    after : a uniform sample of both
    sources : for each word its column before, -1 for one that entered
    frequencies : in how many of ``n_documents``, all that were seen, each word is
    """

    kept: csr_matrix
    n_before: int
    new: csr_matrix
    after: csr_matrix
    sources: Numbers
    frequencies: Numbers
    n_documents: int

    @property
    def n_gone(self) -> int:
        """Documents seen before of which nothing is at hand."""
        return max(self.n_before - self.kept.shape[0], 0)

    @property
    def share_gone(self) -> float:
        return self.n_gone / max(self.n_before + self.new.shape[0], 1)


def update_network(parameters: Any, before: FittedNetwork, seen: DocumentsSeen) -> FittedNetwork:
    """The network after new documents; the one ``before`` stays as it is."""
    machine = Machine(parameters.n_jobs, parameters.device, parameters.precision)
    settings = before.settings
    state = resumed(before.state, settings, before.finished.neurons.b.shape[0])
    weights = None
    if before.finished.neurons.weights is not None:
        rarity = np.log((1 + seen.n_documents) / (1 + seen.frequencies))
        weights = (1 + rarity).astype(np.float32)
    remembered = 1.0 if state.start is None else seen.share_gone
    state, network = _moved(state, before, seen, settings, machine, weights, remembered)
    replayed = _replayed(seen, state.generator, remembered)
    documents = csr_matrix(vstack([seen.kept[replayed], seen.new], format="csr"))
    n_epochs = round(_EPOCHS_GONE + (1 - remembered) * (_EPOCHS_AT_HAND - _EPOCHS_GONE))
    n_epochs = min(settings["max_epochs"], n_epochs)
    learner = _learner(parameters, settings, network, state, documents, machine, weights, n_epochs)
    with progress_bar(parameters.verbose, n_epochs) as report:
        rows = train(learner, n_epochs, None, report)
    finished = finish(
        learner.learned(),
        seen.after,
        scaled_rows(seen.after, settings["scaling"], weights).read,
        settings,
        weights,
        learner.start_weights,
        on_gpu=machine.uses_gpu(),
        n_jobs=machine.n_jobs,
    )
    history = [*before.history]
    history += [row | {"epoch": len(before.history) + epoch} for epoch, row in enumerate(rows, 1)]
    n_seen = before.n_documents_seen + seen.new.shape[0]
    state = TrainingState(state.generator, learner.optimizer, learner.start_weights)
    return FittedNetwork(finished, learner.network.c, settings, history, n_seen, state)


def _replayed(seen: DocumentsSeen, random: np.random.RandomState, remembered: float) -> Numbers:
    """Rows of documents seen before to train on again: without them the network would follow the latest alone."""
    n_kept = seen.kept.shape[0]
    wanted = max(round((1 - remembered) * n_kept), seen.new.shape[0], _LEAST_REPLAYED)
    return np.sort(random.permutation(n_kept)[:wanted])


def _learner(
    parameters: Any,
    settings: dict[str, Any],
    network: Network,
    state: TrainingState,
    documents: csr_matrix,
    machine: Machine,
    weights: Floats | None,
    n_epochs: int,
) -> KATETraining:
    """What is trained, with batches that suit so many documents where none were asked for."""
    suited = settings_for(parameters, documents.shape[0])["batch_size"]
    size = settings["batch_size"] if parameters.batch_size is not None else suited
    assert state.optimizer is not None
    return KATETraining(
        settings | {"batch_size": size},
        network,
        state.optimizer,
        scaled_rows(documents, settings["scaling"], weights),
        None,
        state.generator,
        n_epochs,
        machine,
        weights,
        state.start,
    )


def _moved(
    state: TrainingState,
    before: FittedNetwork,
    seen: DocumentsSeen,
    settings: dict[str, Any],
    machine: Machine,
    weights: Floats | None,
    remembered: float,
) -> tuple[TrainingState, Network]:
    """State and network with a row for every word of the new vocabulary; ``remembered`` is γ."""
    neurons = before.finished.neurons
    old = Network(neurons.W, neurons.b, before.output_bias)
    network = _with_rows(old, seen.sources)
    optimizer = state.optimizer or Optimizer.adam(old, epsilon=settings["epsilon"])
    if state.optimizer is None and settings["optimizer"] != "adam":
        optimizer = Optimizer.adadelta(old, epsilon=settings["epsilon"])
    optimizer = replace(
        optimizer,
        first=_with_rows(optimizer.first, seen.sources),
        second=_with_rows(optimizer.second, seen.sources),
    )
    entered = np.flatnonzero(seen.sources < 0)
    start = state.start
    if start is not None:
        W0 = _rows(start, seen.sources)
        kept, new = (scaled_rows(rows, settings["scaling"], weights).read for rows in (seen.kept, seen.new))
        start = renewed_start(W0, kept, new, seen.n_gone, on_gpu=machine.uses_gpu(), n_jobs=machine.n_jobs)
        start = start.astype(np.float16).astype(np.float32)  # as it is saved
        network.W[...] = start + np.float32(remembered) * (network.W - W0)
        network.b[...] *= np.float32(remembered)
    elif len(entered):
        network.W[entered] = _where_they_occur(network.W, entered, seen, settings, machine)
    _set_output_bias(network, entered, seen, settings, remembered)
    return TrainingState(state.generator, optimizer, start), network


def _rows(array: Floats, sources: Numbers) -> Floats:
    """Rows (or numbers) of words in the new order; zeros for those that entered."""
    found = floats(len(sources), *array.shape[1:])
    known = sources >= 0
    found[known] = array[sources[known]]
    return found


def _with_rows(network: Network, sources: Numbers) -> Network:
    b = floats(*network.b.shape)
    b[...] = network.b
    return Network(_rows(network.W, sources), b, _rows(network.c, sources))


def _where_they_occur(
    W: Floats, entered: Numbers, seen: DocumentsSeen, settings: dict[str, Any], machine: Machine
) -> Floats:
    """Rows for words that entered, where no start has them: towards the documents that hold them, of a usual length."""
    X = scaled_rows(seen.new, settings["scaling"], None).X
    with block_products(machine.n_jobs) as products:
        towards = products.multiply(X.T.tocsr()[entered], products.multiply(X, W))
    lengths = np.linalg.norm(W, axis=1)
    usual = float(np.median(lengths[lengths > 0])) if lengths.any() else 0.0
    own = np.linalg.norm(towards, axis=1, keepdims=True)
    return np.asarray(usual * towards / np.where(own > 0, own, 1), dtype=np.float32)


def _set_output_bias(
    network: Network, entered: Numbers, seen: DocumentsSeen, settings: dict[str, Any], remembered: float
) -> None:
    """What was learned beside the bias of the words' frequencies, as much of it as is remembered.

    Words that entered begin with that of their frequency and what the others have learned.
    """
    if len(entered) == 0 and remembered == 1:
        return
    X = scaled_rows(seen.after, settings["scaling"], None).X
    at_start = start_of_output_bias(X, settings["output_bias"], settings["loss"]).astype(np.float32)
    learned = network.c - at_start
    known = np.flatnonzero(seen.sources >= 0)
    if settings["output_bias"] != "zero":
        learned[entered] = np.median(learned[known]) if len(known) else 0.0
    network.c[...] = at_start + np.float32(remembered) * learned
