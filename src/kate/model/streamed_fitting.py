"""Texts → a vocabulary and a fitted network, in memory that does not grow with the corpus.

The texts are counted into shards (``streaming/sharded_corpus.py``); the network starts from a sample of the documents,
trains on all of them (``streamed_training.py``), and its vectors are mapped by a sample again. All of it is in a work
folder, and every phase goes on where it was: the same texts, settings, limit and seed give the same bits, however often
the work was interrupted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

import kate
from kate.engines.devices import choose_device, require_engine
from kate.model.checkpoints import Checkpoint, Checkpoints, stopped
from kate.model.encoder import scale_counts
from kate.model.finishing import finish
from kate.model.fitting import FittedNetwork
from kate.model.loop import LoopState, train
from kate.model.settings import (
    MACHINE_PARAMETERS,
    check_settings,
    generator_from,
    require_held_out,
    settings_for,
)
from kate.model.streamed_training import StreamedTraining
from kate.model.training import Machine
from kate.model.training_state import TrainingState
from kate.progress import Report, report_nothing
from kate.storage.json_values import as_json
from kate.streaming.count_shards import CountShards
from kate.streaming.memory_limit import MemoryLimit
from kate.streaming.phase_log import PhaseLog
from kate.streaming.sharded_corpus import count_stream
from kate.streaming.work_folder import WorkFolder
from kate.text.own_tokenizer import OwnTokenizer
from kate.text.text_stream import TextStream
from kate.text.vocabulary import Vocabulary
from kate.text.word_parameters import WordParameters

__all__ = ["StreamedFit", "fit_streamed"]

_logger = logging.getLogger(__name__)
_MOST_HELD_OUT = 20_000  # documents whose loss is followed
_MOST_FINISHED = 60_000  # documents from which the map of the vectors and the sketch of topics are made

Floats = NDArray[np.float32]


class StreamedFit(NamedTuple):
    """All that a fit gives, and the counts of a sample of its documents."""

    vocabulary: Vocabulary
    network: FittedNetwork
    sample: csr_matrix


def fit_streamed(
    parameters: Any,
    words: WordParameters,
    stream: TextStream,
    limit: MemoryLimit,
    work: WorkFolder,
    *,
    keep_on_interrupt: bool = False,
    report: Report = report_nothing,
    stop: Callable[[], bool] = lambda: False,
) -> StreamedFit:
    """Learn from texts that are read once; ``parameters`` is an object that has KATE's parameters.

    work : a folder that is held; what is done there already is not done again
    stop : whether somebody asks to stop; :class:`kate.streaming.work_folder.WorkStopped` is raised when all that is
        done is on disk
    """
    check_settings(parameters)
    require_engine(parameters.device)
    require_held_out(parameters, has_validation=False)
    if parameters.n_devices != 1:
        raise ValueError(
            f"n_devices={parameters.n_devices}: a fit from shards trains on one device; leave n_devices at 1, or fit "
            "in memory"
        )
    given, known = parameters.random_state, work.begun_with.get("seed")
    seed, random = generator_from(known if given is None and known is not None else given)
    work.begin(_facts(parameters, words, stream, limit, seed))
    log = PhaseLog(report)

    def tell(phase: str, n_documents: int, share: float | None = None) -> None:
        log(phase, n_documents, share)
        if stop():
            raise stopped(work)

    vocabulary, found = count_stream(stream, words, limit, work, tell)
    shards = CountShards(found, len(vocabulary), parameters.validation_fraction, seed or 0)
    settings = settings_for(parameters, shards.n_documents) | {"random_state": seed}
    limit.require_network(len(vocabulary), settings["n_neurons"])
    _logger.debug("settings %s", settings)
    fitting = _StreamedFitting(parameters, settings, vocabulary, shards, limit, work, log)
    learner, loop = fitting.learner(random)
    fitting.train(learner, loop, stop, keep_on_interrupt)
    network, sample = fitting.finish(learner, loop)
    log.end()
    return StreamedFit(vocabulary, network, sample)


def _facts(
    parameters: Any, words: WordParameters, stream: TextStream, limit: MemoryLimit, seed: int | None
) -> Mapping[str, Any]:
    """All that the result depends on."""
    settings = {**{name: getattr(words, name) for name in words.names()}, **parameters.get_params()}
    machine = {*MACHINE_PARAMETERS, "random_state", "tokenizer"}
    own = None if words.tokenizer is None else OwnTokenizer(words.tokenizer).name
    return {
        "input": stream.identity,
        "settings": as_json({name: value for name, value in settings.items() if name not in machine}),
        "tokenizer": own,
        "memory": limit.total,
        "seed": seed,
        "device": choose_device(parameters.device),
        "Kate": kate.__version__,
    }


@dataclass(frozen=True, eq=False)
class _StreamedFitting:
    """A fit whose texts are counted."""

    parameters: Any
    settings: dict[str, Any]
    vocabulary: Vocabulary
    shards: CountShards
    limit: MemoryLimit
    work: WorkFolder
    log: PhaseLog

    @property
    def machine(self) -> Machine:
        return Machine(self.parameters.n_jobs, self.parameters.device, self.parameters.precision)

    def learner(self, random: Any) -> tuple[StreamedTraining, LoopState]:
        """A new network, or what the last checkpoint says."""
        held_out = self._held_out()
        weights = _idf(self.vocabulary) if self.settings["weighting"] == "idf" else None
        window = self.limit.window_entries(len(self.vocabulary), self.settings["n_neurons"])
        found = Checkpoint.read(self.work, self.settings, len(self.vocabulary))
        if found is not None:
            learner = found.learner(self.settings, self.shards, held_out, self.machine, weights, window)
            return learner, found.loop
        sample = self._sample()
        self.log("starting", sample.shape[0])
        learner = StreamedTraining.begin(
            self.settings, self.shards, sample, held_out, random, self.machine, weights, window
        )
        return learner, LoopState()

    def _sample(self, most: int | None = None) -> csr_matrix:
        size = self.limit.sample_size(
            len(self.vocabulary), self.settings["n_neurons"], self.shards.mean_words
        )
        return self.shards.sample(size if most is None else min(size, most))

    def _held_out(self) -> csr_matrix | None:
        if not self.shards.held_out:
            return None
        found = self.shards.held_out_sample(_MOST_HELD_OUT)
        if found.shape[0] == 0 or self.shards.n_documents == 0:
            raise ValueError(
                f"validation_fraction={self.shards.held_out} of {self.vocabulary.n_documents:,} documents leaves none "
                "to follow the loss of, or none to train on; give more documents or another fraction"
            )
        return found

    def train(
        self,
        learner: StreamedTraining,
        loop: LoopState,
        stop: Callable[[], bool],
        keep_on_interrupt: bool,
    ) -> None:
        checkpoints = Checkpoints(self.work, learner, loop, stop)
        n_steps = self.shards.n_steps(self.settings["batch_size"])
        max_epochs, most = self.settings["max_epochs"], self.settings["max_steps"]
        total = max_epochs * n_steps if most is None else min(max_epochs * n_steps, most)

        def tell() -> None:
            done, place = len(loop.history), learner.place
            n_documents = done * learner.n_documents + place.n_documents
            self.log("training", n_documents, (done * n_steps + place.n_steps) / total)

        def between_steps() -> None:
            tell()
            checkpoints.between_steps()

        learner.between_steps = between_steps
        if not loop.history and learner.place.seed < 0:
            checkpoints.write()  # the start takes long, too
        tell()
        train(
            learner,
            max_epochs,
            self.parameters.patience,
            keep_on_interrupt=keep_on_interrupt,
            state=loop,
            after_epoch=checkpoints.write,
        )

    def finish(self, learner: StreamedTraining, loop: LoopState) -> tuple[FittedNetwork, csr_matrix]:
        """What encoding needs, from a sample of the documents."""
        sample = self._sample(_MOST_FINISHED)
        self.log("finishing", sample.shape[0])
        finished = finish(
            learner.learned(),
            sample,
            scale_counts(sample, self.settings["scaling"], learner.weights),
            self.settings,
            learner.weights,
            learner.start_weights,
            on_gpu=self.machine.uses_gpu(),
            n_jobs=self.machine.n_jobs,
        )
        state = TrainingState(deepcopy(learner.random), start=learner.start_weights)
        network = FittedNetwork(
            finished, learner.network.c, self.settings, loop.history, self.shards.n_documents, state
        )
        return network, sample


def _idf(vocabulary: Vocabulary) -> Floats:
    """The weights of :func:`kate.model.training.idf_weights`, from the exact frequencies of all documents."""
    df, n_documents = vocabulary.document_frequencies, vocabulary.n_documents
    return (1 + np.log((1 + n_documents) / (1 + df))).astype(np.float32)
