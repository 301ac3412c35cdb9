"""kate topics and kate neurons: tables, the tree, documents, and changes that stay in the model folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import kate
from kate.cli import app
from topics.four_themes import dated_frame, fitted


def run(*arguments: object, code: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == code, result.stderr
    assert code == 0 or (result.stdout == "" and result.stderr.count("\n") == 1)
    return result.stdout, result.stderr


@pytest.fixture(scope="module")
def fitted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("topics")
    fitted().save(folder / "model")
    dated_frame().write_csv(folder / "corpus.csv")
    return folder


@pytest.fixture
def home(fitted_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(fitted_once, tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "home"


def shown(*options: object) -> dict[str, Any]:
    return json.loads(run("topics", "model", *options, "--json")[0])


def test_the_table(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    out, err = run("topics", "model", "-n", 4, "--top", 3)
    lines = out.splitlines()
    assert lines[0].split() == ["topic", "share", "coherence", "coverage", "name:", "words"]
    assert len(lines) == 5
    assert err == ""
    assert lines[1].split()[:2] == ["0", "25.0%"]
    assert not any(sign in out for sign in "│┃━─\x1b")
    assert len(run("topics", "model", "-n", 4, "--limit", 2)[0].splitlines()) == 3


def test_without_a_number_it_says_how_many_and_why(home: Path) -> None:
    out, err = run("topics", "model")
    n_topics = len(kate.load("model").topics())
    assert f"kate: {n_topics} topics: " in err
    assert "-n N gives any other number" in err
    assert len(out.splitlines()) > n_topics


def test_json_is_what_python_says(home: Path) -> None:
    found = shown("-n", 4, "--top", 2, "--sort", "topic")
    topics = kate.load("model").topics(4)
    assert set(found) == {"n_topics", "reason", "coherence", "coverage", "diversity", "topics"}
    assert (found["n_topics"], found["reason"]) == (4, None)
    assert [topic["name"] for topic in found["topics"]] == [topic.name for topic in topics]
    assert [len(topic["words"]) for topic in found["topics"]] == [2] * 4
    assert shown("--limit", 1)["reason"] is not None
    coverages = [topic["coverage"] for topic in shown("-n", 9, "--sort", "coverage")["topics"]]
    assert coverages == sorted(coverages, reverse=True)


def test_the_tree(home: Path) -> None:
    out, _ = run("topics", "model", "-n", 4, "--tree")
    assert out.startswith("100.0% all documents\n")
    assert sum(f" {number}: " in out for number in range(4)) == 4
    found = json.loads(run("topics", "model", "-n", 4, "--tree", "--json")[0])
    assert found == kate.load("model").topic_tree(4).as_dict()


def test_documents_of_a_topic(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    ask = ("topics", "model", "-n", 4, "--documents", "corpus.csv", "--topic", 2, "--top-documents", 3)
    out, err = run(*ask)
    assert out.splitlines()[0].split() == ["rank", "share", "centrality", "document", "text"]
    assert (len(out.splitlines()), err) == (4, "")
    rows = json.loads(run(*ask, "--json")[0])
    assert [set(row) >= {"text", "date", "author", "topic_share", "centrality"} for row in rows] == [True] * 3
    expected = kate.load("model").topics(4)[2].documents(kate.read_corpus("corpus.csv"), top=3)
    assert [row["text"] for row in rows] == expected["body"].to_list()


def test_a_topic_without_documents_says_so(home: Path) -> None:
    topics = kate.load("model").topics(4)
    other = topics.label(dated_frame(8)).filter(pl.col("topic") == 0)
    other.select("body").write_csv("other.csv")
    out, err = run("topics", "model", "-n", 4, "--documents", "other.csv", "--topic", 1)
    assert (out, "no document of the corpus belongs to topic 1" in err) == ("", True)


def test_control_characters_do_not_reach_the_terminal(home: Path) -> None:
    evil = "gold silver\x1b]0;owned\x07 coin \x9b31m\u202e bank"
    pl.DataFrame({"text": [evil], "title": ["t\x1b[31m"]}).write_parquet("evil.parquet")
    topic = kate.load("model").label(["gold silver coin bank"], n=4)["topic"][0]
    for more in ([], ["--json"]):
        out, err = run("topics", "model", "-n", 4, "--documents", "evil.parquet", "--topic", topic, *more)
        assert "gold" in out
        assert not set(out + err) & set("\x1b\x07\x9b\u202e")


def test_changes_stay_in_the_folder(home: Path) -> None:
    before = {file.name: file.read_bytes() for file in Path("model").iterdir()}
    out, err = run(
        "topics", "model", "-n", 4, "--rename", '3="law', "--merge", "0,1", "--split", 2, "--drop", 4
    )
    assert err == ""
    after = {file.name: file.read_bytes() for file in Path("model").iterdir()}
    assert set(after) - set(before) == {"topic_edits.json"}
    assert {name: after[name] for name in before} == before
    assert '"law' in out
    kinds = [step["kind"] for step in json.loads(after["topic_edits.json"])["edits"]]
    assert kinds == ["merge", "split", "drop", "rename"]
    assert [topic["topic"] for topic in shown("--sort", "topic")["topics"]] == [0, 2, 3]
    assert shown()["reason"] is None


def test_changes_are_made_one_after_another_and_undone(home: Path) -> None:
    run("topics", "model", "-n", 4, "--rename", "0=law", "--rename", "1=money and more")
    run("topics", "model", "--merge", "0,2")
    assert {topic["name"] for topic in shown()["topics"]} >= {"law", "money and more"}
    assert shown()["n_topics"] == 3
    assert "law" in run("topics", "model", "--undo")[0]
    assert shown()["n_topics"] == 4
    run("topics", "model", "--undo")
    run("topics", "model", "--undo")
    assert not Path("model/topic_edits.json").exists()
    assert "nothing to undo" in run("topics", "model", "--undo", code=1)[1]


def test_changes_of_a_file_are_applied(home: Path) -> None:
    run("topics", "model", "-n", 4, "--rename", "0=law", "--split", 1)
    shutil.copy("model/topic_edits.json", "edits.json")
    expected = shown()
    run("topics", "model", "--undo")
    run("topics", "model", "--apply", "edits.json")
    assert shown() == expected
    Path("edits.json").write_text(json.dumps({"n_topics": 3, "edits": [{"kind": "drop", "topics": [1]}]}))
    run("topics", "model", "--apply", "edits.json", "--rename", "2=last")
    assert [(topic["topic"], topic["name"]) for topic in shown("--sort", "topic")["topics"]][1] == (2, "last")


def test_another_cut_after_a_change_warns_and_the_tree_is_there(home: Path) -> None:
    run("topics", "model", "-n", 4, "--merge", "0,1")
    assert "kate: warning: topics were merged" in run("topics", "model", "-n", 6)[1]
    out, err = run("topics", "model", "--tree")
    assert "1: " in out
    assert "warning" in err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-n", 0], 2, "-n"),
        (["-n", 999], 1, "999 topics were asked for"),
        (["-n", 4, "--documents", "corpus.csv"], 2, "given together"),
        (["-n", 4, "--topic", 1], 2, "given together"),
        (
            ["-n", 4, "--topic", 9, "--documents", "corpus.csv"],
            1,
            "there is no topic 9; the topics are 0 to 3",
        ),
        (["-n", 4, "--topic", 1, "--documents", "nowhere.csv"], 1, "nowhere.csv does not exist"),
        (["-n", 4, "--rename", "law"], 2, 'is not of the form 3="law"'),
        (["-n", 4, "--rename", "9=law"], 1, "there is no topic 9"),
        (["-n", 4, "--rename", "1="], 1, "cannot be the name of a topic"),
        (["-n", 4, "--merge", "1"], 1, "to merge takes two topics"),
        (["-n", 4, "--merge", "1;2"], 2, "are not numbers of topics such as 3,7"),
        (["-n", 4, "--split", 9], 1, "there is no topic 9"),
        (["-n", 4, "--drop", 1, "--drop", 1], 1, "there is no topic 1; the topics are 0, 2, 3"),
        (["--apply", "nowhere.json"], 1, "nowhere.json"),
        (["--apply", "corpus.csv"], 1, "corpus.csv is not JSON"),
        (["--sort", "luck"], 2, "--sort"),
    ],
)
def test_a_wrong_wish_changes_nothing(home: Path, options: list[object], code: int, message: str) -> None:
    assert message in run("topics", "model", *options, code=code)[1]
    assert not Path("model/topic_edits.json").exists()


def test_neurons(home: Path) -> None:
    out, _ = run("neurons", "model", "--top", 3, "--limit", 4)
    assert [line.split()[0] for line in out.splitlines()] == ["pole", "0+", "0-", "1+", "1-"]
    rows = json.loads(run("neurons", "model", "--json")[0])
    assert [row["name"] for row in rows] == [pole.name for pole in kate.load("model").neurons()]
    assert "a pole has 1 to 30 words" in run("neurons", "model", "--top", 99, code=1)[1]


def test_info_knows_the_topics(home: Path) -> None:
    facts = json.loads(run("info", "model", "--json")[0])
    assert facts["topics"] == len(kate.load("model").topics())
    assert 0 < facts["coverage"] <= 1
