"""A model folder: text, JSON and plain arrays, never pickle. It is written whole or not at all, and checked when read.

config.json           what the folder is, the parameters as given, the settings as used, sizes and checksums of the rest
weights.safetensors   W, b, c: the network; response_mean, response_deviation: of its neurons; map: words → vectors;
                      weights: of the words
vocabulary.txt        one line per word: stem, readable form, document frequency, occurrences
topics.safetensors    a sketch of the documents (vectors and sets of words of some of them) and the tree of topics
topic_edits.json      what the user renamed, merged, split or dropped (only then), with a checksum of its own
history.jsonl         one line per epoch
training.safetensors  what an update needs: random generator, optimizer, the start of training, how often the words of
                      the sketch occur, those that wait for a column too (may be left out)
waiting_words.txt     words that were seen and have no column, as in vocabulary.txt (may be left out)
README.md             for people, who may edit it: neither needed nor checked
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from kate.engines.network import Activation
from kate.errors import quoted
from kate.model.encoder import Encoder, Output, Scaling
from kate.model.finishing import restored
from kate.model.loop import HistoryRow
from kate.model.training_state import TrainingState, misfit
from kate.storage.bounded_files import read_json
from kate.storage.checksums import sha256_of_bytes
from kate.storage.files import whole_file
from kate.storage.folders import FolderError, FolderKind, StrPath, require_finite
from kate.text.phrases import phrase_parts
from kate.text.vocabulary import Vocabulary
from kate.text.waiting_words import WaitingWords
from kate.topics.neuron_poles import Responses
from kate.topics.topic_edits import TopicEdits
from kate.topics.topic_space import TopicSpace

__all__ = ["MODEL_FOLDER", "Trained", "read_model", "write_model", "write_topic_edits"]


_WEIGHTS, _VOCABULARY, _HISTORY, _TOPICS = (
    "weights.safetensors",
    "vocabulary.txt",
    "history.jsonl",
    "topics.safetensors",
)
_TRAINING, _CARD, _EDITS = "training.safetensors", "README.md", "topic_edits.json"
_WAITING = "waiting_words.txt"
_SKETCH = "sketch."  # in the file of the training: what an update needs of the sketch


MODEL_FOLDER = FolderKind(
    "model",
    config="config.json",
    version=2,
    files=(_WEIGHTS, _VOCABULARY, _HISTORY, _TOPICS, _TRAINING, _WAITING, _CARD, _EDITS),
    remedy="make one with `kate fit CORPUS -o MODEL` or TextModel.save",
)


@dataclass(frozen=True, eq=False)
class Trained:
    """All that a fitted model is: what its folder holds.

    ``settings`` are the parameters as they were used, ``given`` as they were given: what a new fit starts from. Both as
    JSON can hold them; where ``given`` is not known the settings take its place.
    """

    settings: dict[str, Any]
    vocabulary: Vocabulary
    neurons: Encoder
    encoder: Encoder
    output_bias: NDArray[np.float32]  # (n_words,)
    responses: Responses
    topics: TopicSpace
    history: list[HistoryRow]
    given: dict[str, Any] | None = None
    # by the network, those of every partial_fit added; None: all of the vocabulary
    n_documents_seen: int | None = None
    training: TrainingState | None = None  # what partial_fit goes on from


def write_model(folder: StrPath, trained: Trained) -> None:
    """Write a model folder, whole or not at all; only an empty folder or a Kate model is replaced."""
    from kate.model.model_card import model_card

    contents = {
        _WEIGHTS: safetensors.numpy.save(_arrays(trained)),
        _VOCABULARY: _lines(trained.vocabulary.to_lines()),
        _HISTORY: _lines(json.dumps(row) for row in trained.history),
        _TOPICS: safetensors.numpy.save(trained.topics.to_arrays()),
    }
    if trained.training is not None and (state := trained.training.to_arrays()):
        state |= {_SKETCH + name: array for name, array in trained.topics.sketch.update_arrays().items()}
        contents[_TRAINING] = safetensors.numpy.save(state)
        if trained.vocabulary.waiting:
            contents[_WAITING] = trained.vocabulary.waiting.lines
    config = {
        "n_components": trained.encoder.n_components,
        "n_words": trained.encoder.n_words,
        "n_documents": trained.vocabulary.n_documents,
        "n_documents_seen": trained.n_documents_seen,
        "given": trained.given,
        "settings": trained.settings,
        "vocabulary": trained.vocabulary.config(),
        "kept_topics": trained.topics.config(),
    }
    unchecked = {_CARD: model_card(trained).encode()}
    if trained.topics.edits is not None:
        unchecked[_EDITS] = _edits_file(trained.topics.edits)
    MODEL_FOLDER.write(folder, config, contents, unchecked)


def write_topic_edits(folder: StrPath, edits: TopicEdits | None) -> None:
    """Replace the user's changes of topics in a model folder, and nothing else; None takes them away."""
    path = Path(folder) / _EDITS
    MODEL_FOLDER.read_config(Path(folder))
    if edits is None:
        path.unlink(missing_ok=True)
        return
    with whole_file(path) as part:
        part.write_bytes(_edits_file(edits))


def _edits_file(edits: TopicEdits) -> bytes:
    return _json({"sha256": sha256_of_bytes(_json(edits.as_dict()))} | edits.as_dict())


def _read_topic_edits(folder: Path) -> TopicEdits | None:
    path = folder / _EDITS
    if not os.path.lexists(path):
        return None
    try:
        found = read_json(path)
        edits = TopicEdits.from_dict(found)
        if found.get("sha256") != sha256_of_bytes(_json(edits.as_dict())):
            raise ValueError("its checksum is another")
    except (ValueError, FileNotFoundError) as error:  # a link to nothing is there and cannot be found
        raise FolderError(
            f"{path} is damaged ({error}); copy it again, or delete it: the topics are then as the model found them"
        ) from None
    return edits


def _topic_space(
    folder: Path,
    arrays: bytes,
    vocabulary: Vocabulary,
    encoder: Encoder,
    kept: dict[str, Any] | None,
    of_update: dict[str, Any],
) -> TopicSpace:
    space = TopicSpace.from_arrays(
        safetensors.numpy.load(arrays),
        vocabulary.readable,
        encoder.n_components,
        _read_topic_edits(folder),
        kept,
        phrase_parts(vocabulary.words),
        of_update,
        len(vocabulary.waiting or ()),
    )
    try:
        space.require_edits()
    except ValueError as error:
        raise FolderError(
            f"{folder / _EDITS} does not belong to this model ({error}); delete it: the topics are then as the model "
            "found them"
        ) from None
    return space


def read_model(folder: StrPath) -> Trained:
    """Read a model folder; every file is checked before it is used."""
    return MODEL_FOLDER.unless_replaced(Path(folder), lambda: _read_model(Path(folder)))


def _read_model(folder: Path) -> Trained:
    config = MODEL_FOLDER.read_config(folder)
    try:
        optional = {_TRAINING, _WAITING} & set(config.get("files") or ())
        names = [_WEIGHTS, _VOCABULARY, _HISTORY, _TOPICS, *sorted(optional)]
        files = {name: MODEL_FOLDER.read_checked(folder / name, config) for name in names}
        arrays = safetensors.numpy.load(files[_WEIGHTS])
        state = safetensors.numpy.load(files[_TRAINING]) if _TRAINING in files else {}
        of_update = {
            name.removeprefix(_SKETCH): state.pop(name) for name in [*state] if name.startswith(_SKETCH)
        }
        _require_known(folder, config["settings"])
        responses = Responses(arrays["response_mean"], arrays["response_deviation"])
        neurons, encoder, _ = restored(arrays, responses, config["settings"])
        vocabulary = Vocabulary.from_lines(_split(files[_VOCABULARY]), config["vocabulary"])
        if _WAITING in files:
            vocabulary = replace(vocabulary, waiting=WaitingWords(files[_WAITING]))
        _require_whole(folder, config["settings"], vocabulary, encoder, arrays | state)
        trained = Trained(
            settings=config["settings"],
            vocabulary=vocabulary,
            neurons=neurons,
            encoder=encoder,
            output_bias=arrays["c"],
            responses=responses,
            topics=_topic_space(
                folder, files[_TOPICS], vocabulary, encoder, config.get("kept_topics"), of_update
            ),
            history=[json.loads(row) for row in _split(files[_HISTORY])],
            given=config.get("given"),
            n_documents_seen=config.get("n_documents_seen"),
            training=TrainingState.from_arrays(state, config["settings"]),
        )
    except (FolderError, OSError, MemoryError):
        raise
    except Exception as error:  # whatever strange contents lead to
        raise FolderError(
            f"{folder} is not a whole Kate model: {type(error).__name__} {error}; {MODEL_FOLDER.remedy}"
        ) from error
    return trained


def _arrays(trained: Trained) -> dict[str, NDArray[np.float32]]:
    """The arrays of a model by the names of the equations."""
    arrays = {
        "W": trained.neurons.W,
        "b": trained.neurons.b,
        "c": trained.output_bias,
        "response_mean": trained.responses.mean,
        "response_deviation": trained.responses.deviation,
        **trained.encoder.map_arrays(),
    }
    return {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in arrays.items()}


def _require_whole(
    folder: Path,
    settings: dict[str, Any],
    vocabulary: Vocabulary,
    encoder: Encoder,
    arrays: dict[str, NDArray[Any]],
) -> None:
    """Refuse files that do not belong together."""
    n_words, n_neurons = len(vocabulary), arrays["response_mean"].shape[0]
    n_components = settings.get("n_components", 0)
    wrong = misfit(arrays, n_words, n_neurons, n_components)
    if wrong is not None:
        wrong = f"the vocabulary has {n_words:,} words, so {wrong}"
    elif (found := encoder.n_components) != n_components:
        wrong = f"config.json says n_components {n_components}, the weights have {found}"
    if wrong is not None:
        raise FolderError(f"{folder}: {wrong}: the files are of different models; copy it again")
    require_finite(folder, arrays)


def _require_known(folder: Path, settings: dict[str, Any]) -> None:
    """Refuse a way of encoding that is not ours rather than encode in another."""
    for name, allowed in (("scaling", Scaling), ("activation", Activation), ("output", Output)):
        if (found := settings[name]) not in get_args(allowed):
            raise FolderError(
                f"{folder / MODEL_FOLDER.config} has the {name} {quoted(found)}; expected one of "
                f"{', '.join(get_args(allowed))}: copy the model again"
            )


def _lines(rows: Any) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()


def _split(data: bytes) -> list[str]:
    return data.decode().split("\n")[:-1]  # not splitlines, which cuts at more than line feeds


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
