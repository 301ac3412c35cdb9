"""kate update: the report, the folders, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from typer.testing import CliRunner

import kate
from kate.cli import app
from topics.four_themes import themed_texts

SPACE = ["rocket", "orbit", "astronaut", "moon", "satellite", "launch"]


class Done(NamedTuple):
    code: int
    out: str
    err: str


def run(*arguments: object) -> Done:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


def written(path: Path, texts: list[str]) -> str:
    path.write_text(
        "".join(json.dumps({"id": str(row), "text": one}) + "\n" for row, one in enumerate(texts))
    )
    return str(path)


def about_space(n: int) -> list[str]:
    random = np.random.default_rng(0)
    return [" ".join(random.choice(SPACE, size=8)) for _ in range(n)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("update")
    model = kate.TextModel(4, random_state=0, n_jobs=1, verbose=False).fit(themed_texts())
    model.topics(4).rename(2, "the third")
    model.save(folder / "model")
    written(folder / "new.jsonl", about_space(60))
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "work")
    return tmp_path / "work"


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_the_report_and_the_new_model(folder: Path) -> None:
    before = files_of(folder / "model")
    done = run("update", folder / "model", folder / "new.jsonl", "-o", folder / "model-2", "--jobs", "1")
    assert done.code == 0, done.err
    assert "documents  60 new; 220 seen" in done.out
    assert "4 kept, 1 new, 0 vanished" in done.out
    assert files_of(folder / "model") == before
    topics = kate.load(folder / "model-2").topics()
    assert topics.numbers == [0, 1, 2, 3, 4]
    assert topics[2].name == "the third"
    shown = run("topics", folder / "model-2", "--json")
    assert {row["topic"] for row in json.loads(shown.out)["topics"]} == {0, 1, 2, 3, 4}
    assert not [file for file in folder.iterdir() if file.name.startswith(".")]


def test_the_model_itself_is_replaced_and_json_is_told(folder: Path) -> None:
    done = run("update", folder / "model", folder / "new.jsonl", "-o", folder / "model", "--json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    assert (found["n_new"], found["n_documents"]) == (60, 220)
    assert [topic["number"] for topic in found["topics"] if topic["is_new"]] == [4]
    assert set(found["entered"]) == set(SPACE)
    assert kate.load(folder / "model").n_documents_ == 220


def test_quiet_says_nothing(folder: Path) -> None:
    done = run("update", folder / "model", folder / "new.jsonl", "-o", folder / "model", "-q", "-n", "4")
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "no documents"),
        (["der Hund und die Katze sind nicht in dem Haus und das ist auf der Straße mit"] * 5, "look German"),
    ],
)
def test_what_cannot_be_learned_changes_nothing(folder: Path, texts: list[str], message: str) -> None:
    before = files_of(folder / "model")
    new = written(folder / "other.jsonl", texts)
    done = run("update", folder / "model", new, "-o", folder / "model")
    assert done.code == 1
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert files_of(folder / "model") == before


def test_models_that_cannot_be_updated(folder: Path) -> None:
    kate.load(folder / "model").save(folder / "small", resumable=False)
    for given, message in (
        (folder / "small", "saved without what an update needs"),
        (folder / "none", "there is no model"),
    ):
        done = run("update", given, folder / "new.jsonl", "-o", folder / "model-2")
        assert (done.code, message in done.err) == (1, True), done.err
        assert not (folder / "model-2").exists()


def test_a_folder_of_somebody_else_is_not_replaced(folder: Path) -> None:
    (folder / "notes").mkdir()
    (folder / "notes" / "mine.txt").write_text("mine")
    done = run("update", folder / "model", folder / "new.jsonl", "-o", folder / "notes")
    assert done.code == 1
    assert files_of(folder / "notes") == {"mine.txt": b"mine"}
    assert run("update", folder / "model", folder / "new.jsonl").code == 2
