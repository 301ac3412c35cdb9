"""A fit through shards: the same vocabulary as in memory, and the same bits after whatever interrupts it."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import kate
from kate import FolderError, TextModel
from kate.model import streamed_training
from kate.model.checkpoints import Checkpoints
from kate.storage import files
from kate.streaming import sharded_corpus
from kate.streaming.memory_limit import MemoryLimit
from kate.streaming.work_folder import WorkFolder, WorkStopped
from zipf_texts import zipf_texts

SETTINGS = {
    "n_components": 8,
    "n_neurons": 16,
    "max_epochs": 3,
    "batch_size": 64,
    "n_jobs": 1,
    "device": "cpu",
}


@pytest.fixture(scope="module")
def texts():
    return zipf_texts(2_000)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Many shards and windows for few texts."""
    make_small(monkeypatch.setattr)


def make_small(set_attribute):
    set_attribute(MemoryLimit, "text_at_once", 30_000)
    set_attribute(MemoryLimit, "window_entries", lambda self, n_words, n_neurons: 6_000)
    set_attribute(streamed_training, "_STEPS_AT_ONCE", 4)


def fit(texts, work, **changes):
    return TextModel(**(SETTINGS | changes)).fit_stream(texts, memory="1GB", work=work)


def bits(model):
    network = [model.neurons_.W, model.neurons_.b, model.output_bias_, model.encoder_.W]
    sketch = model.topic_space_.sketch
    return [array.tobytes() for array in (*network, sketch.vectors, sketch.words)]


@pytest.fixture(scope="module")
def uninterrupted(texts):
    with pytest.MonkeyPatch.context() as patch:
        make_small(patch.setattr)
        return TextModel(**SETTINGS).fit_stream(texts, memory="1GB")


def test_the_vocabulary_is_that_of_all_texts_in_memory(texts, uninterrupted):
    in_memory = TextModel(**SETTINGS).fit(texts)
    assert list(uninterrupted.vocabulary_.to_lines()) == list(in_memory.vocabulary_.to_lines())
    assert uninterrupted.n_documents_ == in_memory.n_documents_ == len(texts)
    assert uninterrupted.settings_ == in_memory.settings_
    # another order of the documents, but the same learning
    losses = [[row["loss"] for row in model.history_] for model in (uninterrupted, in_memory)]
    np.testing.assert_allclose(*losses, rtol=0.02)
    assert losses[0][-1] < losses[0][0]


def test_the_language_is_that_of_all_files_not_of_the_first(tmp_path):
    (tmp_path / "0.txt").write_text("vin du boursin\n")
    for number in range(1, 30):
        (tmp_path / f"{number}.txt").write_text(
            "le chat est dans la maison et il ne veut pas sortir avec nous\n" * 2
        )
    files = sorted(tmp_path.glob("*.txt"))
    streamed = TextModel(2, max_epochs=1).fit_stream(kate.iter_corpus(files))
    in_memory = TextModel(2, max_epochs=1).fit(kate.read_corpus(files))
    assert streamed.settings_["language"] == in_memory.settings_["language"] == "french"
    assert list(streamed.vocabulary_.to_lines()) == list(in_memory.vocabulary_.to_lines())


def test_texts_may_come_one_by_one_and_the_folder_goes(texts, uninterrupted, tmp_path):
    with WorkFolder(tmp_path / "model.work") as work:
        model = fit(iter(texts), work)
        assert (work.path / "work.json").exists()
    assert list(tmp_path.iterdir()) == []
    assert bits(model) == bits(uninterrupted)


PROGRAM = """
import json, os, signal, sys
sys.path[:0] = json.loads(sys.argv[1])
from model.test_streamed_fitting import killed_fit
killed_fit(*sys.argv[2:])
"""


def killed_fit(folder, where):
    """Runs in a process of its own: a fit that kills itself."""
    make_small(setattr)
    n_calls = 0

    def die_in(owner, name, nth, after):
        whole = getattr(owner, name)

        def call(*given, **named):
            nonlocal n_calls
            n_calls += 1
            if n_calls == nth and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = whole(*given, **named)
            if n_calls == nth:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        setattr(owner, name, call)

    points = {
        "half of a shard": (files, "flush", 8, False),
        "sorting": (sharded_corpus, "translate_shard", 4, True),
        "in an epoch": (streamed_training.StreamedTraining, "_is_finite", 11, True),
    }
    if where == "in an epoch":
        whole = Checkpoints.__init__
        Checkpoints.__init__ = lambda self, *given: whole(self, *given, every=0.0)
    die_in(*points[where])
    with WorkFolder(f"{folder}/model.work") as work:
        fit(zipf_texts(2_000), work)


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no kill -9")
@pytest.mark.parametrize("where", ["half of a shard", "sorting", "in an epoch"])
def test_after_kill_9_it_ends_at_the_same_bits(texts, uninterrupted, tmp_path, where):
    paths = json.dumps([str(Path(__file__).parents[1]), *sys.path])
    run = subprocess.run([sys.executable, "-c", PROGRAM, paths, str(tmp_path), where], check=False)
    assert run.returncode == -signal.SIGKILL
    left = json.loads((tmp_path / "model.work/work.json").read_text())
    assert left["phase"] == {"half of a shard": "counting", "sorting": "vocabulary"}.get(where, "training")
    if where == "in an epoch":
        assert left["facts"]["checkpoint"]["place"]["n_steps"] > 0
    with WorkFolder(tmp_path / "model.work", resume=True) as work:
        model = fit(texts, work)
    assert bits(model) == bits(uninterrupted)
    assert len(model.history_) == 3
    assert list(tmp_path.iterdir()) == []


class Killed(BaseException):
    pass


@pytest.mark.parametrize(("owner", "name", "nth"), [("vocabulary", "merge_words", 1), ("epoch", "write", 2)])
def test_after_a_failure_it_ends_at_the_same_bits(
    texts, uninterrupted, tmp_path, monkeypatch, owner, name, nth
):
    place = {"vocabulary": sharded_corpus, "epoch": Checkpoints}[owner]
    whole, n_calls = getattr(place, name), 0

    def call(*given, **named):
        nonlocal n_calls
        n_calls += 1
        result = whole(*given, **named)
        if n_calls == nth:
            raise Killed
        return result

    with monkeypatch.context() as patch:
        patch.setattr(place, name, call)
        with pytest.raises(Killed), WorkFolder(tmp_path / "model.work") as work:
            fit(texts, work)
    with WorkFolder(tmp_path / "model.work", resume=True) as work:
        model = fit(texts, work)
    assert bits(model) == bits(uninterrupted)


@pytest.fixture
def stopped(texts, tmp_path):
    """A folder of a fit that was asked to stop in its second epoch."""
    told = threading.Event()

    def report(phase, documents, share=None):
        if phase == "training" and share > 0.5:
            told.set()

    with pytest.raises(WorkStopped, match="--resume goes on"), WorkFolder(tmp_path / "model.work") as work:
        TextModel(**SETTINGS).fit_stream(texts, memory="1GB", work=work, report=report, stop=told.is_set)
    return tmp_path / "model.work"


def test_who_asks_it_to_stop_loses_nothing(texts, uninterrupted, stopped):
    found = json.loads((stopped / "work.json").read_text())
    assert "--resume" in found["about"]
    place = found["facts"]["checkpoint"]["place"]
    assert len(found["facts"]["checkpoint"]["history"]) == 1
    assert 0 < place["n_documents"] < len(texts)
    told = []
    with WorkFolder(stopped, resume=True) as work:
        report = lambda phase, documents, share=None: told.append((phase, documents))  # noqa: E731
        model = TextModel(**SETTINGS).fit_stream(texts, memory="1GB", work=work, report=report)
    assert bits(model) == bits(uninterrupted)
    # it did not count again, and begins where it was
    assert "counting" not in dict(told)
    assert next(n for phase, n in told if phase == "training") == len(texts) + place["n_documents"]


def test_a_damaged_checkpoint_is_refused(texts, stopped):
    [path] = stopped.glob("checkpoint*")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with (
        pytest.raises(FolderError, match=r"checkpoint.* is not the file that was saved"),
        WorkFolder(stopped, resume=True) as work,
    ):
        fit(texts, work)
    assert path.exists()


def test_a_shard_that_is_gone_is_missed(texts, stopped):
    sorted((stopped / "counts").iterdir())[1].unlink()
    with (
        pytest.raises(FolderError, match=r"000001\.shard is missing"),
        WorkFolder(stopped, resume=True) as work,
    ):
        fit(texts, work)


def test_it_goes_on_with_the_same_fit_alone(texts, stopped):
    for changes, found in (
        ({"max_epochs": 4}, "max_epochs was 3 and is 4"),
        ({"random_state": 1}, "seed was 0 and is 1"),
    ):
        with pytest.raises(FolderError, match=found), WorkFolder(stopped, resume=True) as work:
            fit(texts, work, **changes)
    with pytest.raises(FolderError, match="memory was"), WorkFolder(stopped, resume=True) as work:
        TextModel(**SETTINGS).fit_stream(texts, memory="2GB", work=work)
    with pytest.raises(FileExistsError, match="--resume goes on with it"), WorkFolder(stopped):
        pass
    assert stopped.exists()


def test_one_process_works_in_a_folder(stopped):
    with (
        WorkFolder(stopped, resume=True),
        pytest.raises(BlockingIOError, match="another process"),
        WorkFolder(stopped, resume=True),
    ):
        pass


def test_a_kill_while_work_json_is_first_written_leaves_a_beginning(tmp_path):
    for name in ("words", "counts"):
        (tmp_path / "model.work" / name).mkdir(parents=True)
    for name in ("lock", ".work.json.kate-0123abcd.json"):
        (tmp_path / "model.work" / name).touch()
    with WorkFolder(tmp_path / "model.work", resume=True) as work:
        assert work.is_new
        work.begin({"seed": 0})
        assert not list(work.path.glob(".work.json*"))


def test_a_folder_of_others_is_left_alone(tmp_path):
    (tmp_path / "model.work").mkdir()
    (tmp_path / "model.work/letters.txt").write_text("dear")
    with (
        pytest.raises(FolderError, match=r"no work\.json in it"),
        WorkFolder(tmp_path / "model.work", resume=True),
    ):
        pass
    assert (tmp_path / "model.work/letters.txt").read_text() == "dear"


def test_errors_that_come_again_leave_nothing(tmp_path):
    with pytest.raises(ValueError, match="hold no words"), WorkFolder(tmp_path / "model.work") as work:
        fit(["the", "and", "12"], work)
    with pytest.raises(ValueError, match="phrases=True needs all texts in memory"):
        TextModel(phrases=True).fit_stream(["gold", "silver"], memory="1GB")
    with pytest.raises(ValueError, match="n_devices=2: a fit from shards trains on one device"):
        TextModel(n_devices=2).fit_stream(["gold", "silver"], memory="1GB")
    assert list(tmp_path.iterdir()) == []


def test_held_out_documents_stop_it_early_and_a_stop_changes_nothing(texts, tmp_path):
    settings = {"validation_fraction": 0.2, "patience": 1, "max_epochs": 6, "learning_rate": 0.05}
    whole = TextModel(**(SETTINGS | settings)).fit_stream(texts, memory="1GB")
    assert all(row["validation_loss"] is not None for row in whole.history_)
    told = threading.Event()

    def report(phase, documents, share=None):
        if phase == "training" and share > 0.25:
            told.set()

    model = TextModel(**(SETTINGS | settings))
    with pytest.raises(WorkStopped), WorkFolder(tmp_path / "w") as work:
        model.fit_stream(texts, memory="1GB", work=work, report=report, stop=told.is_set)
    with WorkFolder(tmp_path / "w", resume=True) as work:
        model.fit_stream(texts, memory="1GB", work=work)
    assert bits(model) == bits(whole)


def test_the_engine_of_the_gpu_goes_on_as_well(texts, tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="the GPU engine needs the extra gpu")
    from kate.engines.gpu.torch_engine import TorchEngine
    from kate.model.training import Machine

    # without winners, who are decided by the last bits now and then
    few, settings = texts[:400], {"n_winners": 0, "max_epochs": 2, "dropout": 0.0}
    expected = TextModel(**(SETTINGS | settings)).fit_stream(few, memory="1GB")
    monkeypatch.setattr(Machine, "engine", lambda self, network, recipe: TorchEngine(network, recipe, "cpu"))
    whole = TextModel(**(SETTINGS | settings)).fit_stream(few, memory="1GB")
    np.testing.assert_allclose(whole.neurons_.W, expected.neurons_.W, atol=1e-3)
    n_asked = 0

    def stop():
        nonlocal n_asked
        n_asked += any((tmp_path / "w").glob("checkpoint*"))
        return n_asked > 1

    with pytest.raises(WorkStopped), WorkFolder(tmp_path / "w") as work:
        TextModel(**(SETTINGS | settings)).fit_stream(few, memory="1GB", work=work, stop=stop)
    assert json.loads((tmp_path / "w/work.json").read_text())["facts"]["checkpoint"]["place"]["n_steps"] > 0
    with WorkFolder(tmp_path / "w", resume=True) as work:
        assert bits(fit(few, work, **settings)) == bits(whole)
