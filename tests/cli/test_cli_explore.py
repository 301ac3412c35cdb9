"""kate explore: the page from the shell, what is said of bad input, and changes that come back from the page."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kate
from explore.page_reading import read_page
from kate.cli import app
from kate.explore import page_file

TEXTS = ("peace treaty signed", "gold silver coin", "school teacher child", "ship navy sea")
MODULES = Path(page_file.__file__).parent / "page"

# What the page does with changes, and the file that it saves (panels/topic_changes.js).
CHANGE = """
import {{ applyEdits, editsFile }} from "{modules}/topic_edits.js";
const {{ cut, steps }} = JSON.parse(await new Response(process.stdin).text());
const {{ topics, moved }} = applyEdits(cut.topics, steps);
console.log(JSON.stringify({{
  file: editsFile(cut.n, [...(cut.edits ?? []), ...steps]),
  names: topics.map(({{ number, name }}) => [number, name]), moved: [...moved],
}}));
"""


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model and its corpus."""
    folder = tmp_path_factory.mktemp("explored")
    rows = [f"{TEXTS[n // 20]},{1900 + n // 2},day {n}" for n in range(80)]
    (folder / "news.csv").write_text("\n".join(["text,year,when", *rows]))
    kate.TextModel(n_components=4, max_epochs=2).fit(kate.read_corpus(folder / "news.csv")).save(
        folder / "model"
    )
    return folder


@pytest.fixture
def home(fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Both, for one test to change."""
    shutil.copytree(fitted, tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


def run(command: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, shlex.split(command))
    return result.exit_code, result.stdout, result.stderr


def test_a_page_is_written_and_its_size_told(home: Path) -> None:
    assert run("explore model news.csv -o news.html -n 4") == (
        0,
        f"80 documents, {(home / 'news.html').stat().st_size / 1e6:.1f} MB → news.html\n",
        "",
    )
    manifest, parts = read_page(home / "news.html")
    assert (manifest["title"], manifest["initial_cut"]) == ("news", 4)
    assert manifest["date"]["column"] == "year"
    assert "texts-0" in parts
    code, out, told = run(
        "explore model news.csv -o news.html --texts none --sample 30 --headline 'The news' -q"
    )
    assert (code, out, told) == (0, "", "")
    manifest, parts = read_page(home / "news.html")
    assert (manifest["title"], manifest["sample"], manifest["texts"]) == ("The news", {"total": 80}, "none")
    assert "texts-0" not in parts


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("-o news.html --date yaer", "no column 'yaer'; did you mean year"),
        ("-o news.html --date when", "'day 0' in the column 'when' (row 0, id 'news:2') is not a date"),
        ("-o news.html -n 5000", "5,000 topics were asked for"),
        ("-o news.html --max-size big", "'big' is no size of a file; give one such as 20MB"),
        ("-o news.html --max-size 10kB", "allow more (--max-size 1MB)"),
        ("-o model", "model is a folder; give the name of a file to write"),
        ("-o none/news.html", "the folder none does not exist; create it"),
        ("-o news.html --text body", "body"),
        ("-o news.html --sample 0", "--sample"),
        ("", "--output"),
    ],
)
def test_bad_input_is_one_line_and_no_file(home: Path, options: str, told: str) -> None:
    before = sorted(path.name for path in home.iterdir())
    code, _, said = run(f"explore model news.csv {options}")
    assert code in (1, 2)
    assert told in said
    assert said.count("\n") == 1
    assert sorted(path.name for path in home.iterdir()) == before


def test_a_target_is_tried_before_the_documents_are_read(home: Path) -> None:
    (home / "news.csv").unlink()
    code, _, said = run("explore model news.csv -o none/news.html")
    assert (code, "does not exist; create it" in said) == (1, True)


def test_an_empty_corpus_and_one_document(home: Path) -> None:
    (home / "empty.csv").write_text("text,year\n")
    code, _, said = run("explore model empty.csv -o a.html")
    assert (code, said) == (1, "kate: no documents in empty.csv; expected at least one\n")
    (home / "one.csv").write_text("text\ngold and silver\n")
    assert run("explore model one.csv -o a.html")[0] == 0
    assert read_page(home / "a.html")[0]["n_documents"] == 1


def test_changes_that_the_page_saves_become_those_of_the_model(home: Path) -> None:
    assert run("explore model news.csv -o news.html -n 4 -q")[0] == 0
    first = json.loads(read_page(home / "news.html")[1]["topics"])
    cut = next(one for one in first["cuts"] if one["n"] == 4)
    steps = [
        {"kind": "rename", "topics": [2], "name": "Größe “2”, <b>"},
        {"kind": "merge", "topics": [0, 3]},
        {"kind": "rename", "topics": [0], "name": "war and peace"},
    ]
    saved = in_the_page(cut, steps)
    (home / "edits.json").write_text(saved["file"], encoding="utf-8")
    code, out, told = run("topics model --apply edits.json --json")
    assert (code, told) == (0, "")
    topics = {topic["topic"]: topic["name"] for topic in json.loads(out)["topics"]}
    shown = dict(saved["names"])
    assert topics == {0: "war and peace", 1: shown[1], 2: "Größe “2”, <b>"}
    assert shown == topics

    # the next page begins with the changed topics, and what is changed in it is added to them
    assert run("explore model news.csv -o news.html -q")[0] == 0
    manifest, parts = read_page(home / "news.html")
    assert manifest["initial_cut"] == 4
    cut = next(one for one in json.loads(parts["topics"])["cuts"] if one["n"] == 4)
    assert {topic["number"]: topic["name"] for topic in cut["topics"]} == topics
    again = in_the_page(cut, [{"kind": "rename", "topics": [1], "name": "one more"}])
    (home / "edits.json").write_text(again["file"], encoding="utf-8")
    assert run("topics model --apply edits.json")[0] == 0
    assert {topic.number: topic.name for topic in kate.load(home / "model").topics()} == topics | {
        1: "one more"
    }


def in_the_page(cut: dict, steps: list[dict]) -> dict:
    node = shutil.which("node")
    if node is None:
        pytest.skip("the page's modules are tested with Node.js, which is not installed")
    done = subprocess.run(
        [node, "--input-type=module", "--eval", CHANGE.format(modules=MODULES.as_uri())],
        input=json.dumps({"cut": cut, "steps": steps}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("<!doctype html>", "edits.json is not JSON"),
        ("[1, 2]", "edits.json: [1, 2] are not changes of topics"),
        ('{"edits": []}', 'expected {"n_topics": 20, "edits": [...]}'),
        ('{"n_topics": 4, "edits": [{"kind": "paint", "topics": [1]}]}', '"paint"'),
        ('{"n_topics": 4, "edits": [{"kind": "merge", "topics": [1]}]}', "is not a change of topics"),
        (
            '{"n_topics": 4, "edits": [{"kind": "drop", "topics": [9]}]}',
            "there is no topic 9; the topics are 0 to 3",
        ),
        ('{"n_topics": 9999, "edits": [{"kind": "drop", "topics": [9]}]}', "edits.json: 9,999 topics"),
        (
            '{"n_topics": 4, "edits": [{"kind": "rename", "topics": [1], "name": "\\n"}]}',
            "cannot be the name",
        ),
    ],
)
def test_a_file_of_something_else_changes_nothing(home: Path, written: str, told: str) -> None:
    (home / "edits.json").write_text(written)
    before = {path.name: path.read_bytes() for path in (home / "model").iterdir()}
    code, out, said = run("topics model --apply edits.json")
    assert (code, out) == (1, "")
    assert told in said
    assert said.count("\n") == 1
    assert {path.name: path.read_bytes() for path in (home / "model").iterdir()} == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_and_a_giant_of_a_stranger_are_not_read(home: Path) -> None:
    (home / "edits.json").unlink(missing_ok=True)
    os.mkfifo(home / "edits.json")
    code, _, said = run("topics model --apply edits.json")
    assert code == 1
    assert "is not a plain file" in said
    (home / "edits.json").unlink()
    with (home / "edits.json").open("wb") as giant:
        giant.truncate(1 << 40)
    code, _, said = run("topics model --apply edits.json")
    assert code == 1
    assert "at most" in said
    (home / "edits.json").unlink()


def test_a_file_that_is_not_there(home: Path) -> None:
    code, _, said = run("topics model --apply none.json")
    assert code == 1
    assert "none.json" in said
