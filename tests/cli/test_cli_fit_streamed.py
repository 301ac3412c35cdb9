"""kate fit from files through shards: --memory, --resume, SIGTERM, and corpora that are too large for memory."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import kate
from kate.cli import app
from kate.streaming import memory_limit
from kate.streaming.memory_limit import MemoryLimit
from kate.text import text_stream
from kate.text.readers import iter_corpus
from kate.text.text_stream import FileTexts
from zipf_texts import zipf_texts

OPTIONS = ["--dimensions", "8", "--epochs", "20", "--jobs", "1", "--device", "cpu"]


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Three files of three kinds, one of them compressed."""
    folder, texts = tmp_path_factory.mktemp("corpus"), zipf_texts(1_500)
    (folder / "a.jsonl").write_text("".join(f"{json.dumps({'text': text})}\n" for text in texts[:500]))
    with gzip.open(folder / "b.jsonl.gz", "wt") as file:
        file.writelines(f"{json.dumps({'text': text})}\n" for text in texts[500:900])
    pl.DataFrame({"text": texts[900:]}).write_parquet(folder / "c.parquet")
    return folder


def weights(model):
    return [
        (model / name).read_bytes()
        for name in ("weights.safetensors", "vocabulary.txt", "topics.safetensors")
    ]


@pytest.fixture(scope="module")
def whole(corpus, tmp_path_factory):
    """A model that nothing interrupted."""
    model = tmp_path_factory.mktemp("whole") / "model"
    assert run("fit", *files_of(corpus), "--memory", "1GB", "-o", model, *OPTIONS)[0] == 0
    return model


def files_of(corpus):
    return sorted(corpus.iterdir())


def test_it_reads_files_of_all_kinds_and_gives_the_vocabulary_of_memory(corpus, whole, tmp_path):
    code, out, err = run("fit", *files_of(corpus), "-o", tmp_path / "model", *OPTIONS)
    assert (code, err) == (0, "")
    assert out.startswith("1,500 documents")
    assert weights(tmp_path / "model")[1] == weights(whole)[1]
    assert [path.name for path in whole.parent.iterdir()] == ["model"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM that a program can wait for")
def test_sigterm_keeps_what_is_done_and_resume_ends_at_the_same_model(corpus, whole, tmp_path):
    model, work = tmp_path / "model", tmp_path / "model.work"
    command = ["fit", *map(str, files_of(corpus)), "--memory", "1GB", "-o", str(model), *OPTIONS]
    environment = os.environ | {"PYTHONPATH": str(Path(kate.__file__).parents[1])}
    process = subprocess.Popen(
        [sys.executable, "-m", "kate", *command], stderr=subprocess.PIPE, text=True, env=environment
    )
    patience = time.monotonic() + 300
    while not list(work.glob("checkpoint*.safetensors")) and process.poll() is None:
        assert time.monotonic() < patience
        time.sleep(0.005)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (143, f"kate: what is done is in {work}; --resume goes on with it\n")
    assert not model.exists()
    assert json.loads((work / "work.json").read_text())["phase"] == "training"

    code, _, err = run(*command)
    assert code == 1
    assert "--resume goes on with it" in err
    code, _, err = run(*command, "--resume", "--seed", 1)
    assert code == 1
    assert "seed was 0 and is 1" in err
    code, _, err = run(*command[:-2], "--resume")  # the limit is that of before
    assert code == 0
    assert f"going on in {work}, begun 20" in err
    assert weights(model) == weights(whole)
    assert not work.exists()


def test_changed_files_are_noticed(corpus, tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_bytes((corpus / "a.jsonl").read_bytes())

    def no_room(*given, **named):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("kate.model.streamed_fitting.finish", no_room)
        code, _, err = run("fit", path, "--memory", "1GB", "-o", tmp_path / "model", *OPTIONS)
    assert code == 1
    first, second = err.splitlines()
    assert first == f"kate: what is done is in {tmp_path / 'model.work'}; --resume goes on with it"
    assert "no space is left on the disk" in second
    with path.open("a") as file:
        file.write('{"text": "one more"}\n')
    code, _, err = run("fit", path, "--memory", "1GB", "-o", tmp_path / "model", *OPTIONS, "--resume")
    assert code == 1
    assert f"{path} was [1, " in err


def test_what_cannot_fit_is_streamed_without_being_asked(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(memory_limit, "machine_memory", lambda: 100_000)
    monkeypatch.setattr(memory_limit, "LEAST_MEMORY", 0)
    monkeypatch.setattr(MemoryLimit, "require_network", lambda *given: None)
    code, _, err = run("fit", corpus / "a.jsonl", "-o", tmp_path / "model", *OPTIONS)
    assert code == 0
    assert "of text do not fit into memory: streaming" in err


def test_standard_input_is_read_once(tmp_path):
    code, _, err = run("fit", "-", "--format", "txt", "--resume", "-o", tmp_path / "model")
    assert code == 1
    assert "standard input cannot be" in err


def test_bad_rows_are_counted_or_stop_it(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "gold coin"}\n{"text": "silver coin"}\nnonsense\n')
    code, _, err = run("fit", path, "--memory", "1GB", "-o", tmp_path / "model", *OPTIONS)
    assert code == 1
    assert "bad.jsonl, line 3: not JSON" in err
    assert [path.name for path in tmp_path.iterdir()] == ["bad.jsonl"]
    code, _, err = run(
        "fit", path, "--memory", "1GB", "-o", tmp_path / "model", *OPTIONS, "--on-error", "skip"
    )
    assert code == 0
    assert "left out 1 malformed rows" in err


@pytest.mark.parametrize("n_before", [0, 3, 499, 500, 501, 900, 1_499])
def test_files_can_be_read_from_any_document_on(corpus, n_before):
    def texts_of(stream, *place):
        return pl.concat(stream.texts(*place)).to_list()

    all_texts = texts_of(FileTexts(iter_corpus(files_of(corpus))))
    stream = FileTexts(iter_corpus(files_of(corpus)))
    ends = [end for end in (500, 900) if end <= n_before]
    assert texts_of(stream, len(ends), ends[-1] if ends else 0, n_before) == all_texts[n_before:]
    assert list(stream.ends)[-1] == 1_500
    assert stream.share_read(1_500) == 1.0
    assert text_stream.stream_of(iter_corpus(files_of(corpus))).identity == stream.identity
