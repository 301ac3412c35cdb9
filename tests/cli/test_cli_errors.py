"""What goes wrong is said in one line on standard error, with the exit code that scripts expect."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import kate
from kate.cli import app
from kate.extras import install_command
from kate.model import loop
from kate.model.text_model import TextModel

TEXTS = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5


def fails(*arguments: object, code: int = 1) -> str:
    """Run a command that must fail; the one line that it says."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.exit_code, result.output, result.exception)
    assert result.stdout == ""
    assert result.stderr.startswith("kate: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("errors") / "model"
    TextModel(n_components=2, max_epochs=2, random_state=0).fit(TEXTS).save(folder)
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(TEXTS))
    return path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fit"], "missing"),
        (["fit", "a.txt", "-o", "m", "--dimensions", "none"], "--dimensions"),
        (["fit", "a.txt", "-o", "m", "--on-error", "shrug"], "--on-error"),
        (["topics", "m", "--sort", "luck"], "--sort"),
        (["encode", "m", "a.txt", "-o", "vectors.csv"], "does not end in .parquet, .npy or .jsonl"),
        (["topcis", "m"], "topics"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_a_wrong_call_exits_with_2(arguments: list[str], said: str) -> None:
    message = fails(*arguments, code=2)
    assert said in message
    assert "--help" in message


def test_a_missing_file(tmp_path: Path) -> None:
    assert "nowhere.csv" in fails("fit", tmp_path / "nowhere.csv", "-o", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_gpu_without_pytorch_names_the_extra(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    message = fails("fit", corpus, "-o", tmp_path / "m", "--device", "cuda")
    assert install_command("gpu") in message


def test_a_graph_without_usearch_names_the_extra(
    model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    message = fails("index", model, corpus, "-o", tmp_path / "i", "--ann")
    assert install_command("ann") in message


def test_a_folder_without_texts(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "table.xls").write_text("text\na")
    assert "no text files" in fails("fit", tmp_path / "data", "-o", tmp_path / "m")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nothing/*.csv", "no file has a name like"),
        ("mixed", "or pass --format parquet or --format jsonl"),
        ("zeppelin://bucket/a.csv", "nobody knows the scheme zeppelin://"),
    ],
)
@pytest.mark.parametrize("command", ["encode", "label", "index"])
def test_what_cannot_be_listed_ends_before_anything_is_written(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, given: str, said: str
) -> None:
    pytest.importorskip("fsspec", reason="knows the schemes")
    monkeypatch.chdir(tmp_path)
    Path("mixed").mkdir()
    Path("mixed/a.parquet").write_bytes(b"PAR1")
    Path("mixed/b.jsonl").write_text("{}")
    output = {"encode": "v.npy", "label": "l.csv", "index": "i"}[command]
    assert said in fails(command, model, given, "-o", output)
    assert [path.name for path in tmp_path.iterdir()] == ["mixed"]


def test_a_binary_file(tmp_path: Path) -> None:
    (tmp_path / "picture.txt").write_bytes(bytes(range(256)) * 20)
    assert "picture.txt" in fails("fit", tmp_path / "picture.txt", "-o", tmp_path / "m")


def test_a_truncated_gz(tmp_path: Path) -> None:
    whole = gzip.compress("\n".join(f"{text} {n}" for n, text in enumerate(TEXTS * 50)).encode())
    (tmp_path / "half.txt.gz").write_bytes(whole[: len(whole) // 2])
    assert "half.txt.gz" in fails("fit", tmp_path / "half.txt.gz", "-o", tmp_path / "m")


def test_no_text_field_names_the_option(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("when,what\n1,peace\n")
    assert "--text" in fails("fit", tmp_path / "a.csv", "-o", tmp_path / "m")


def test_a_malformed_row_names_the_option_and_is_skipped_on_request(tmp_path: Path) -> None:
    rows = [json.dumps({"text": text}) for text in TEXTS]
    (tmp_path / "a.jsonl").write_text("\n".join([*rows, "{oops"]))
    message = fails("fit", tmp_path / "a.jsonl", "-o", tmp_path / "m")
    assert "line 21" in message
    assert "--on-error skip" in message
    arguments = [
        "fit",
        tmp_path / "a.jsonl",
        "-o",
        tmp_path / "m",
        "--dimensions",
        2,
        "--epochs",
        1,
        "--on-error",
        "skip",
    ]
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0
    assert result.stderr.startswith("kate: warning: left out 1 malformed row")
    assert result.stderr.count("\n") == 1


def test_stop_words_that_cannot_be_read_name_the_file(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "stop.txt").write_bytes(b"the\ncaf\xe9\n")
    message = fails("fit", corpus, "-o", tmp_path / "m", "--stop-words", tmp_path / "stop.txt")
    assert "stop.txt is not UTF-8" in message


def test_an_unknown_language(corpus: Path, tmp_path: Path) -> None:
    assert "klingon" in fails("fit", corpus, "-o", tmp_path / "m", "--language", "klingon")


def test_somebody_elses_folder_is_refused_before_the_training(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    before = sorted(tmp_path.iterdir())
    assert "home" in fails("fit", corpus, "-o", tmp_path / "home")
    assert "home" in fails("index", "no-model", corpus, "-o", tmp_path / "home")
    assert (tmp_path / "home" / "letter.txt").read_text() == "dear"
    assert sorted(tmp_path.iterdir()) == before  # nothing half-made is left behind


def test_no_place_to_write(model: Path, corpus: Path, tmp_path: Path) -> None:
    assert "does not exist" in fails("fit", corpus, "-o", tmp_path / "no" / "m")
    assert "does not exist" in fails("encode", model, corpus, "-o", tmp_path / "no" / "v.npy")
    assert "folder" in fails("fit", corpus, "-o", corpus)


@pytest.mark.parametrize("command", ["topics", "info", "words", "encode", "index"])
def test_a_folder_that_is_no_model(command: str, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    rest = {
        "words": ["gold"],
        "encode": [corpus, "-o", tmp_path / "v.npy"],
        "index": [corpus, "-o", tmp_path / "i"],
    }
    for folder in ("empty", "nowhere"):
        assert folder in fails(command, tmp_path / folder, *rest.get(command, []))
    assert not (tmp_path / "v.npy").exists()


def test_a_damaged_model(model: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in model.iterdir():
        (damaged / file.name).write_bytes(file.read_bytes())
    weights = damaged / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    assert "weights.safetensors" in fails("topics", damaged)


def test_an_unknown_word_suggests(model: Path) -> None:
    assert "did you mean silver" in fails("words", model, "silvr")


def test_debug_shows_the_traceback_wherever_it_stands() -> None:
    for arguments in (["--debug", "topics", "nowhere"], ["topics", "nowhere", "--debug"]):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 1
        assert "Traceback" in result.stderr
        assert result.stderr.splitlines()[-1].startswith("kate: ")


def test_a_bug_is_called_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kate, "load", lambda folder: folder.no_such_attribute, raising=False)
    assert "bug" in fails("topics", "model")


def test_ctrl_c_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(folder: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kate, "load", interrupted, raising=False)
    assert fails("topics", "model", code=130) == "kate: interrupted\n"


def interrupt_epoch(number: int, monkeypatch: pytest.MonkeyPatch, one_epoch: Any = loop._one_epoch) -> None:
    def interrupted(learner: Any, epoch: int) -> Any:
        if epoch + 1 == number:
            raise KeyboardInterrupt
        return one_epoch(learner, epoch)

    monkeypatch.setattr(loop, "_one_epoch", interrupted)


def test_ctrl_c_in_a_fit_exits_with_130_and_leaves_the_model_that_was_there(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = ["fit", corpus, "-o", tmp_path / "m", "--dimensions", 2, "--epochs", 5]
    assert CliRunner().invoke(app, [str(part) for part in fit]).exit_code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "m").iterdir()}
    interrupt_epoch(3, monkeypatch)
    assert fails(*fit, "--seed", 1, code=130) == "kate: interrupted\n"
    assert {path.name: path.read_bytes() for path in (tmp_path / "m").iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.txt", "m"]


def test_ctrl_c_keeps_the_last_epoch_only_if_asked(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = ["fit", corpus, "-o", tmp_path / "m", "--dimensions", 2, "--epochs", 5, "--keep-on-interrupt"]
    interrupt_epoch(1, monkeypatch)
    assert fails(*fit, code=130) == "kate: interrupted\n"  # there is nothing to keep
    assert not (tmp_path / "m").exists()
    interrupt_epoch(3, monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        result = CliRunner().invoke(app, [str(part) for part in fit])
    assert result.exit_code == 0
    assert result.stderr.startswith("kate: warning: training was interrupted after 2 of at most 5 epochs")
    assert len(kate.load(tmp_path / "m").history_) == 2


def test_a_warning_is_one_line(model: Path, tmp_path: Path) -> None:
    (tmp_path / "strange.txt").write_text("gold\nzzz\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        result = CliRunner().invoke(
            app, ["encode", str(model), str(tmp_path / "strange.txt"), "-o", str(tmp_path / "v.npy"), "-q"]
        )
    assert result.exit_code == 0
    assert result.stderr.startswith("kate: warning: 1 of 2 documents")
    assert result.stderr.count("\n") == 1


def test_the_same_in_a_real_process(model: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(kate.__file__).parents[1])}

    def real(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "kate", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    assert real("topics", model).returncode == 0
    failed = real("words", model, "silvr")
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (1, "", 1)
    assert real("words").returncode == 2


def test_a_closed_pipe_is_quiet(model: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(kate.__file__).parents[1])}
    process = subprocess.Popen(
        [sys.executable, "-m", "kate", "topics", str(model), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()  # the reader has gone before a line was written
    assert process.stderr.read() == b""
    assert process.wait() == 0
