"""A model folder: what is written comes back to the last bit, what is damaged is refused with a reason."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import kate
from folder_edits import edit_json
from kate.engines.network import Network, Optimizer
from kate.model.encoder import Encoder
from kate.model.model_folder import Trained, read_model, write_model
from kate.model.text_answers import as_counts
from kate.model.text_model import TextModel
from kate.model.training_state import TrainingState
from kate.storage.folders import FolderError
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary
from kate.topics.document_sketch import DocumentSketch
from kate.topics.neuron_poles import Responses
from kate.topics.topic_space import TopicSpace

TEXTS = ["peace treaty\u2028 signed", "naïve peace", "gold coin", "silver coin"]
FILES = [
    "README.md",
    "config.json",
    "history.jsonl",
    "topics.safetensors",
    "training.safetensors",
    "vocabulary.txt",
    "weights.safetensors",
]
SETTINGS: dict[str, Any] = {
    "stop_words": ["the"],
    "random_state": 3,
    "scaling": "root",
    "activation": "tanh",
    "output": "projection",
    "mean": "project",
}
CHECKED = [name for name in FILES if name not in {"README.md", "config.json"}]


def trained_model(seed: int = 0, n_components: int = 3, n_neurons: int = 4) -> Trained:
    """A model of random weights: storage does not care how they were learned."""
    random = np.random.default_rng(seed)
    vocabulary, _ = Vocabulary.learn(TEXTS, Tokenizer("english", stop_words=["the"]))

    def draw(*shape: int) -> Any:
        return random.normal(size=shape).astype(np.float32)

    n_words, weights = len(vocabulary), abs(draw(len(vocabulary)))
    W, nothing = draw(n_words, n_neurons), np.zeros(n_neurons, np.float32)
    encoder = Encoder.of_map(draw(n_words, n_components), "root", weights)
    sketch = DocumentSketch.take(as_counts(vocabulary.count(TEXTS)), encoder.vectors)
    return Trained(
        settings=SETTINGS | {"n_components": n_components, "n_neurons": n_neurons},
        vocabulary=vocabulary,
        neurons=Encoder(W, draw(n_neurons), nothing, "root", "tanh", "preactivation", weights),
        encoder=encoder,
        output_bias=draw(len(vocabulary)),
        responses=Responses(draw(n_neurons), abs(draw(n_neurons))),
        topics=TopicSpace(sketch, vocabulary.readable),
        history=[{"epoch": 1, "loss": 1 / 3, "validation_loss": None}],
        given={"n_components": n_components, "stop_words": ["the"], "random_state": None},
        n_documents_seen=4,
        training=TrainingState(np.random.RandomState(seed), start=W.astype(np.float16).astype(np.float32)),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_model(tmp_path / "model", trained_model())
    return tmp_path / "model"


def edit_config(folder: Path, **changes: Any) -> None:
    edit_json(folder / "config.json", **changes)


def edit_settings(folder: Path, **changes: Any) -> None:
    settings = json.loads((folder / "config.json").read_text())["settings"]
    edit_config(folder, settings=settings | changes)


def replace_checked(folder: Path, name: str, data: bytes) -> None:
    """Another file, with its size and checksum written down as if it belonged there."""
    (folder / name).write_bytes(data)
    files = json.loads((folder / "config.json").read_text())["files"]
    entry = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    edit_config(folder, files=files | {name: entry})


def test_what_is_written_comes_back_to_the_last_bit(folder: Path) -> None:
    written, read = trained_model(), read_model(folder)
    for name in ("W", "b", "mean", "weights"):
        np.testing.assert_array_equal(getattr(read.encoder, name), getattr(written.encoder, name))
        np.testing.assert_array_equal(getattr(read.neurons, name), getattr(written.neurons, name))
    np.testing.assert_array_equal(read.output_bias, written.output_bias)
    np.testing.assert_array_equal(read.responses, written.responses)
    assert (read.settings, read.history) == (written.settings, written.history)
    for name, array in written.topics.to_arrays().items():
        np.testing.assert_array_equal(read.topics.to_arrays()[name], array)
    assert (read.given, read.n_documents_seen) == (written.given, written.n_documents_seen)
    assert read.training is not None
    assert written.training is not None
    np.testing.assert_array_equal(read.training.start, written.training.start)
    assert read.training.generator.randint(2**31) == written.training.generator.randint(2**31)
    assert list(read.vocabulary.to_lines()) == list(written.vocabulary.to_lines())
    assert read.vocabulary.config() == written.vocabulary.config()
    texts = [*TEXTS, "coins of gold"]
    vectors = TextModel.from_trained(written).encode(texts)
    assert kate.load(folder).encode(texts).tobytes() == vectors.tobytes()
    assert str(kate.load(str(folder)).topics()) == str(TextModel.from_trained(written).topics())


def test_a_folder_is_plain_files(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == FILES
    config = json.loads((folder / "config.json").read_text())
    assert (config["format"], config["format_version"]) == ("kate-model", 2)
    assert (config["kate_version"], config["n_components"], config["n_words"]) == (kate.__version__, 3, 7)
    assert config["n_documents"] == 4
    assert set(safetensors.numpy.load_file(folder / "weights.safetensors")) == {
        *("W", "b", "c", "response_mean", "response_deviation", "map", "weights")
    }


@pytest.mark.parametrize("mean", ["subtract", "keep"])
def test_a_model_whose_vectors_are_its_neurons_comes_back_too(tmp_path: Path, mean: str) -> None:
    made = trained_model(n_neurons=3)
    settings = made.settings | {"output": "preactivation", "mean": mean}
    encoder = made.neurons.centered_on(made.responses.mean) if mean == "subtract" else made.neurons
    made = replace(made, settings=settings, given=None, encoder=encoder)
    write_model(tmp_path / "model", made)
    assert "map" not in safetensors.numpy.load_file(tmp_path / "model" / "weights.safetensors")
    expected = TextModel.from_trained(made).encode(TEXTS)
    assert kate.load(tmp_path / "model").encode(TEXTS).tobytes() == expected.tobytes()


def test_the_model_card_tells_a_stranger_what_it_is(folder: Path) -> None:
    card = (folder / "README.md").read_text()
    for part in (
        "vectors of 3 numbers",
        "4 neurons",
        "ordered by what they carry",
        "4 documents",
        "7 words",
        "| 0 | ",
        "kate.load(",
        "kate topics",
        "stop_words",
    ):
        assert part in card


def test_people_may_edit_the_card_or_drop_it(folder: Path) -> None:
    (folder / "README.md").write_text("mine")
    read_model(folder)
    (folder / "README.md").unlink()
    read_model(folder)


def test_saving_again_replaces_the_model(folder: Path) -> None:
    write_model(folder, trained_model(seed=1))
    np.testing.assert_array_equal(read_model(folder).encoder.W, trained_model(seed=1).encoder.W)
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_a_damaged_model_may_be_replaced(folder: Path) -> None:
    (folder / "weights.safetensors").unlink()
    write_model(folder, trained_model())
    read_model(folder)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("notes.txt", "precious", "no config.json"),
        ("config.json", '{"architectures": ["BertModel"]}', "not of a Kate model"),
        ("config.json", "[]", "not of a Kate model"),
        ("config.json", "{broken", "not valid JSON"),
    ],
)
def test_somebody_elses_folder_is_never_replaced(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / name).write_text(content)
    with pytest.raises(FileExistsError, match=message):
        write_model(tmp_path / "other", trained_model())
    assert (tmp_path / "other" / name).read_text() == content
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_a_model_with_a_strangers_file_in_it_is_not_replaced(folder: Path) -> None:
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"thesis\.tex"):
        write_model(folder, trained_model())
    assert (folder / "thesis.tex").exists()


def test_a_file_or_a_missing_parent_is_no_place_for_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(NotADirectoryError, match="a file of that name"):
        write_model(tmp_path / "file", trained_model())
    with pytest.raises(FileNotFoundError, match="create it"):
        write_model(tmp_path / "no" / "model", trained_model())


@pytest.mark.parametrize("n_written", range(7))
def test_a_full_disk_leaves_the_old_model_and_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch, n_written: int
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    write_bytes, written = Path.write_bytes, []

    def write_until_full(path: Path, data: bytes) -> int:
        if len(written) == n_written:
            write_bytes(path, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(path)
        return write_bytes(path, data)

    monkeypatch.setattr(Path, "write_bytes", write_until_full)
    for target in (folder, folder.parent / "new"):
        written.clear()
        with pytest.raises(OSError, match="No space left"):
            write_model(target, trained_model(seed=1))
    assert [path.name for path in folder.parent.iterdir()] == ["model"]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("name", [name for name in FILES if name != "README.md"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(FolderError, match=f"{name}.*(missing|in it).*kate fit"):
        kate.load(folder)


@pytest.mark.parametrize("name", CHECKED)
def test_a_truncated_file_is_named(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:-3])
    with pytest.raises(FolderError, match=f"{name} is {len(data) - 3} bytes long.*expects {len(data)}"):
        kate.load(folder)


@pytest.mark.parametrize("name", CHECKED)
def test_an_edited_file_of_the_same_length_is_named(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[-2] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(FolderError, match=f"{name} is not the file that was saved"):
        kate.load(folder)


def test_an_unknown_format_version_is_refused(folder: Path) -> None:
    for version in (3, None, "2", True):
        edit_config(folder, format_version=version)
        with pytest.raises(FolderError, match=f"format version {version!r}.*reads version 2: install"):
            kate.load(folder)


def test_what_is_no_model_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no model folder .*kate fit"):
        kate.load(tmp_path / "nowhere")
    with pytest.raises(NotADirectoryError, match="is a file; expected a Kate model folder"):
        kate.load(folder / "config.json")
    with pytest.raises(FolderError, match=r"no config\.json in it"):
        kate.load(tmp_path)


def with_another_vocabulary(folder: Path) -> None:
    lines = (folder / "vocabulary.txt").read_bytes().splitlines(keepends=True)
    replace_checked(folder, "vocabulary.txt", b"".join(lines[:-1]))


def with_a_vocabulary_of_another_form(folder: Path) -> None:
    replace_checked(folder, "vocabulary.txt", b"just\nwords\n")


def with_other_weights(folder: Path) -> None:
    other = folder.parent / "other"
    write_model(other, trained_model(n_components=5))
    replace_checked(folder, "weights.safetensors", (other / "weights.safetensors").read_bytes())
    shutil.rmtree(other)


def change_topics(folder: Path, **changes: Any) -> None:
    arrays = safetensors.numpy.load_file(folder / "topics.safetensors")
    data = safetensors.numpy.save(
        {name: array for name, array in (arrays | changes).items() if array is not None}
    )
    replace_checked(folder, "topics.safetensors", data)


def with_another_optimizer(folder: Path) -> None:
    network = Network(np.zeros((2, 4), np.float32), np.zeros(4, np.float32), np.zeros(2, np.float32))
    state = TrainingState(np.random.RandomState(0), Optimizer.adam(network)).to_arrays()
    edit_settings(folder, optimizer="adam", epsilon=1e-8)
    replace_checked(folder, "training.safetensors", safetensors.numpy.save(state))


def with_weights_of_another_type(folder: Path) -> None:
    arrays = safetensors.numpy.load_file(folder / "weights.safetensors")
    arrays["W"] = arrays["W"].astype(np.float64)
    replace_checked(folder, "weights.safetensors", safetensors.numpy.save(arrays))


def with_a_start_of_another_shape(folder: Path) -> None:
    arrays = safetensors.numpy.load_file(folder / "training.safetensors")
    arrays["start"] = arrays["start"][:, :2].copy()
    replace_checked(folder, "training.safetensors", safetensors.numpy.save(arrays))


def with_a_map_of_other_words(folder: Path) -> None:
    arrays = safetensors.numpy.load_file(folder / "weights.safetensors")
    arrays["map"] = arrays["map"][1:].copy()
    replace_checked(folder, "weights.safetensors", safetensors.numpy.save(arrays))


def without_an_array(folder: Path) -> None:
    arrays = safetensors.numpy.load_file(folder / "weights.safetensors")
    del arrays["b"]
    replace_checked(folder, "weights.safetensors", safetensors.numpy.save(arrays))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (with_another_vocabulary, "the vocabulary has 6 words, so .* should be"),
        (with_a_vocabulary_of_another_form, "vocabulary, line 1"),
        (with_other_weights, r"map should be float32 \(7, 3\), but it is float32 \(7, 5\)"),
        (with_a_map_of_other_words, r"map should be float32 \(7, 3\)"),
        (with_a_start_of_another_shape, r"start should be float16 \(7, 4\)"),
        (with_another_optimizer, r"optimizer\.(first|second)\.[Wc] should be float32 \(7,"),
        (with_weights_of_another_type, "W should be float32 .* but it is float64"),
        (without_an_array, "KeyError 'b'"),
        (lambda folder: replace_checked(folder, "weights.safetensors", b"\0" * 64), "SafetensorError"),
        (lambda folder: replace_checked(folder, "topics.safetensors", b"{"), "SafetensorError"),
        (lambda folder: change_topics(folder, joins=None), "KeyError 'joins'"),
        (
            lambda folder: change_topics(folder, joins=np.array([[0, 9]])),
            "the tree of topics does not hold together",
        ),
        (
            lambda folder: change_topics(folder, leaf_sums=np.full((1, 3), np.nan)),
            "the tree of topics does not",
        ),
        (
            lambda folder: change_topics(folder, starts=np.array([0, 99])),
            "the sketch of the documents does not",
        ),
        (
            lambda folder: change_topics(folder, words=np.full(7, 9, np.uint16)),
            "the sketch of the documents does not",
        ),
        (lambda folder: replace_checked(folder, "history.jsonl", b"\xff\n"), "UnicodeDecodeError"),
        (lambda folder: (folder / "config.json").write_text("{"), "not valid JSON"),
        (lambda folder: (folder / "config.json").write_text("{}"), "not of a Kate model"),
        (lambda folder: edit_config(folder, files={}), "expects None"),
        (lambda folder: edit_config(folder, files=None), "expects None"),
        (lambda folder: edit_config(folder, vocabulary={}), "KeyError 'tokens'"),
        (lambda folder: edit_config(folder, settings={"scaling": "l2"}), "KeyError 'activation'"),
        (lambda folder: edit_settings(folder, scaling="log"), "scaling 'log'; expected one of root, l2, max"),
        (lambda folder: edit_settings(folder, output="sum"), "output 'sum'; expected one of projection"),
    ],
)
def test_files_that_do_not_belong_together_are_refused(
    folder: Path, spoil: Callable[[Path], Any], message: str
) -> None:
    spoil(folder)
    with pytest.raises(FolderError, match=message):
        kate.load(folder)
