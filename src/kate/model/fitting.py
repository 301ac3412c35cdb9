"""Counts → a fitted network: the whole of a fit, without scikit-learn. KATE and TextModel are two ways to call it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.engines.devices import require_engine
from kate.engines.network import Network
from kate.model.averaged_training import AveragedTraining
from kate.model.device_team import over_devices, require_devices
from kate.model.encoder import scale_counts
from kate.model.finishing import Finished, finish
from kate.model.loop import HistoryRow, progress_bar, train
from kate.model.settings import check_settings, generator_from, require_held_out, settings_for
from kate.model.start import start_vectors
from kate.model.training import KATETraining, Machine, hold_out
from kate.model.training_state import TrainingState, resumed
from kate.topics.document_sketch import Encode

__all__ = ["FittedNetwork", "ShareOut", "fit_further", "fit_network"]

_logger = logging.getLogger(__name__)

ShareOut: TypeAlias = Callable[
    [KATETraining, csr_matrix, int, Machine], AbstractContextManager[AveragedTraining]
]
"""Makes a team of workers of a learner that has not begun, its documents' counts, its epochs and the machine."""


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """All that a fit gives."""

    finished: Finished
    output_bias: NDArray[np.float32]  # (n_words,)
    settings: dict[str, Any]  # the network's parameters as they were used
    history: list[HistoryRow]
    n_documents_seen: int  # those of every further pass added
    state: TrainingState | None  # what a further pass goes on from

    def coarse_encode(self, n_jobs: int | None = None) -> Encode | None:
        """From counts to unit vectors that hardly depend on the seed: those of the start, where there is one."""
        neurons, start = self.finished.neurons, None if self.state is None else self.state.start
        if start is None:
            return None

        def encode(counts: csr_matrix) -> NDArray[np.float32]:
            read = scale_counts(counts, neurons.scaling, neurons.weights)
            return start_vectors(read, start, self.finished.encoder.n_components, n_jobs)

        return encode


def fit_network(
    parameters: Any,
    counts: csr_matrix,
    held_out: csr_matrix | None,
    *,
    keep_on_interrupt: bool = False,
    share_out: ShareOut | None = None,
) -> FittedNetwork:
    """Learn from counts (n_docs, n_words); ``parameters`` is an object that has KATE's parameters, None among them.

    Without ``held_out`` the share that ``validation_fraction`` says is taken out of the counts. ``share_out`` makes a
    team of workers, which does the training.
    """
    check_settings(parameters)
    require_engine(parameters.device)
    require_held_out(parameters, has_validation=held_out is not None)
    seed, random = generator_from(parameters.random_state)
    if held_out is None:
        counts, held_out = hold_out(counts, parameters.validation_fraction, random)
    settings = settings_for(parameters, counts.shape[0]) | {"random_state": seed}
    require_devices(settings["n_devices"], _machine(parameters))
    max_epochs = settings["max_epochs"]
    machine = _machine(parameters)
    _logger.debug("settings %s", settings)
    if share_out is None and settings["n_devices"] > 1:
        share_out = over_devices(settings["n_devices"])
    learner = KATETraining.start(settings, counts, held_out, random, max_epochs, machine)
    with ExitStack() as stack:
        report = stack.enter_context(progress_bar(parameters.verbose, max_epochs))
        trained: KATETraining | AveragedTraining = learner
        if share_out is not None:
            trained = stack.enter_context(share_out(learner, counts, max_epochs, machine))
        history = train(trained, max_epochs, parameters.patience, report, keep_on_interrupt=keep_on_interrupt)
        trained.learned()
    finished = _finished(learner, counts, settings, machine)
    state = TrainingState(deepcopy(random), start=learner.start_weights)
    return FittedNetwork(finished, learner.network.c, settings, history, counts.shape[0], state)


def fit_further(parameters: Any, counts: csr_matrix, before: FittedNetwork | None) -> FittedNetwork:
    """One more pass over documents, the first if there was none ``before``, which stays as it is."""
    require_engine(parameters.device)
    machine = _machine(parameters)
    if before is None:
        check_settings(parameters)
        seed, random = generator_from(parameters.random_state)
        settings = settings_for(parameters, counts.shape[0]) | {"random_state": seed}
        learner = KATETraining.start(settings, counts, None, random, None, machine)
        history: list[HistoryRow] = []
        n_before, responses = 0, None
    else:
        settings, history, n_before = before.settings, before.history, before.n_documents_seen
        neurons = before.finished.neurons
        # copies throughout: a pass that diverges or is interrupted must not spoil what is there
        network = Network(neurons.W, neurons.b, before.output_bias).copy()
        state = resumed(before.state, settings, neurons.b.shape[0])
        learner = KATETraining.resume(settings, network, state, counts, machine, neurons.weights)
        responses = before.finished.responses
    with progress_bar(parameters.verbose, 1) as report:
        rows = train(learner, 1, None, report)
    history = history + [row | {"epoch": len(history) + 1} for row in rows]
    n_seen = n_before + counts.shape[0]
    earlier = None if responses is None or not n_before else (responses, n_before / n_seen)
    finished = _finished(learner, counts, settings, machine, earlier)
    state = TrainingState(deepcopy(learner.random), learner.optimizer, learner.start_weights)
    return FittedNetwork(finished, learner.network.c, settings, history, n_seen, state)


def _machine(parameters: Any) -> Machine:
    return Machine(parameters.n_jobs, parameters.device, parameters.precision)


def _finished(
    learner: KATETraining,
    counts: csr_matrix,
    settings: dict[str, Any],
    machine: Machine,
    earlier: Any = None,
) -> Finished:
    return finish(
        learner.learned(),
        counts,
        learner.rows.read,
        settings,
        learner.weights,
        learner.start_weights,
        earlier,
        on_gpu=machine.uses_gpu(),
        n_jobs=machine.n_jobs,
    )
