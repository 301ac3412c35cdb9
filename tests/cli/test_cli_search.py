"""The commands index, search, similar and duplicates, on a model whose weights are set by hand."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kate
from hand_made import model_by_hand
from kate.cli import app, search_commands

LONG = "A title of eighty-one characters, which is so long that no table has any room left"
ROWS = [
    {"id": "a", "text": "A treaty of peace, a treaty.", "title": LONG, "year": 1815, "party": "Whig"},
    {
        "id": "b",
        "text": "Gold and silver! " + "Nothing. " * 60 + "Then silver coins.",
        "year": 1848,
        "party": "Whig",
    },
    {
        "id": "c",
        "text": "Nations ratified a treaty;\x1b[31m peace\x9b followed.",
        "title": "\x1b]0;evil",
        "year": 1919,
    },
    {
        "id": "d",
        "text": "Gold and silver again!",
        "title": "[bold]hey[/bold]",
        "year": 1896,
        "party": "Free",
    },
    {
        "id": "e",
        "text": "Gold and silver, again ...",
        "title": "Hey, bold bold",
        "year": 1900,
        "party": "Free",
    },
]


@pytest.fixture(autouse=True)
def width_of_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables as wide as in a pipe, whatever another test or the terminal says."""
    monkeypatch.delenv("COLUMNS", raising=False)


def run(*arguments: object, stdin: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def found(*arguments: object) -> str:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return "".join(hit["id"] for hit in json.loads(out))


def fails(*arguments: object) -> str:
    code, out, err = run(*arguments)
    assert code != 0
    assert out == ""
    assert err.startswith("kate: ")
    assert err.count("\n") == 1
    return err


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("search")
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    model_by_hand().save(folder / "model")
    assert run("index", folder / "model", folder / "corpus.jsonl", "-o", folder / "index")[0] == 0
    return folder


@pytest.fixture(scope="module")
def index(home: Path) -> Path:
    return home / "index"


@pytest.mark.parametrize(
    "command", ["similar", "duplicates", "index add", "index update", "index remove", "index compact"]
)
def test_every_command_has_help_with_an_example(command: str) -> None:
    code, out, _ = run(*command.split(), "--help")
    assert code == 0
    assert f"Example:\n    kate {command}" in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_help_of_index_tells_how_to_make_one_and_how_to_change_one() -> None:
    out = run("index", "--help")[1]
    assert "Usage: kate index [OPTIONS] {MODEL} {CORPUS}..." in out
    assert "--int8" in out
    for name in ("add", "update", "remove", "compact"):
        assert f"\n  {name} " in out
    assert "\n  make " not in out
    assert "missing argument" in fails("index")


def test_words_meaning_and_both(index: Path) -> None:
    assert found("search", index, "silver", "--by", "words") == "deb"
    assert found("search", index, "ratified", "--by", "words") == "c"
    assert found("search", index, "silver", "--by", "meaning", "--top", 3) == "bde"
    assert found("search", index, '"gold and silver" -again') == "b"
    assert "'magic' is not one of" in fails("search", index, "gold", "--by", "magic")


def test_filters_order_and_pages(index: Path) -> None:
    assert found("search", index, "gold", "--where", "year >= 1890 and party = 'Free'") == "de"
    assert found("search", index, "gold", "--by", "words", "--sort", "-year") == "edb"
    assert found("search", index, "gold", "--by", "words", "--sort=year", "--top", 1, "--offset", 1) == "d"
    assert "did you mean year?" in fails("search", index, "gold", "--where", "yaer > 1")
    assert "did you mean year?" in fails("search", index, "gold", "--sort", "yaer")
    assert "no function 'read_csv'" in fails("search", index, "gold", "--where", "id = read_csv('x')")
    code, out, err = run("search", index, "gold", "--offset", 100)
    assert (code, out, err) == (0, "", "kate: no further document after the first 100\n")
    assert run("search", index, "gold", "--where", "year > 3000")[2] == "kate: no document was found\n"


def test_a_column_that_is_the_label_is_found_by_its_own_name(home: Path, tmp_path: Path) -> None:
    made = ("index", home / "model", home / "corpus.jsonl", "-o", tmp_path / "i", "--label", "party")
    assert run(*made)[0] == 0
    assert set(
        found("search", tmp_path / "i", "gold", "--where", "party = 'Free' and label = 'Free'")
    ) == set("de")


def test_the_table_shows_title_passage_label_and_columns(index: Path) -> None:
    code, out, err = run("search", index, "silver coins", "--show", "year, party", "--by", "words")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["rank", "score", "document", "text"]
    assert "[bold]hey[/bold]" in lines[2]
    assert lines[2].endswith("Gold and silver again! [year 1896, party Free]")
    assert "Then silver coins. [year 1848, party Whig]" in out  # not the beginning of the text
    assert "did you mean year?" in fails("search", index, "gold", "--show", "yaer")


@pytest.mark.parametrize("width", [80, 120])
def test_a_long_title_does_not_break_the_table(index: Path, width: int) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(kate.__file__).parents[1]), "COLUMNS": str(width)}
    command = [sys.executable, "-m", "kate", "search", str(index), "treaty"]
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    first = out.splitlines()[1]
    assert len(first) <= width
    assert "A title of eighty-one" in first
    assert "…" in first
    assert "treaty of peace, a treaty." in out
    assert max(map(len, out.splitlines())) <= width


def test_a_title_in_wide_letters_is_cut_by_what_a_terminal_shows() -> None:
    """It took twice its room, and on 60 columns left none for the texts."""
    assert search_commands._cut("条約" * 30, 28) == "条約" * 6 + "条…"
    assert search_commands._cut("条約 of 1854", 28) == "条約 of 1854"


def test_nothing_that_a_terminal_obeys_is_printed(index: Path) -> None:
    for options in ((), ("--json",)):
        out = run("search", index, "nations ratified", *options)[1]
        assert "peace" in out
        assert not set(out) & {"\x1b", "\x9b"}


def test_a_word_that_nobody_wrote_gets_a_suggestion(index: Path) -> None:
    code, out, err = run("search", index, "gold silvr")
    assert code == 0
    assert "Gold" in out
    assert err == "kate: hardly a document has the word 'silvr'; did you mean silver?\n"
    assert "'silvr' is in no document; did you mean silver?" in fails("search", index, "silvr")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "the query is empty"),
        ('"gold', "without its partner"),
        ("q -gold", "is in a document"),
        ("...", "has no word"),
    ],
)
def test_a_query_that_asks_for_nothing_is_refused(index: Path, query: str, message: str) -> None:
    assert message in fails("search", index, query)


def test_only_what_to_leave_out_is_refused(index: Path) -> None:
    assert "only what to leave out" in fails("search", index, "--", "-gold")


def test_similar_documents(index: Path, tmp_path: Path) -> None:
    assert found("similar", index, "--id", "a").startswith("c")
    assert found("similar", index, "--id", "b", "--where", "year > 1896", "--top", 1) == "e"
    (tmp_path / "letter.txt").write_text("Nations and their treaties")
    assert set(found("similar", index, "--text", tmp_path / "letter.txt", "--top", 2)) == set("ac")
    assert json.loads(run("similar", index, "--text", "-", "--json", stdin="gold")[1])[0]["id"] == "b"
    assert "one of the two" in fails("similar", index)
    assert "one of the two" in fails("similar", index, "--id", "a", "--text", "x")
    assert "no document has the id 'z'" in fails("similar", index, "--id", "z")
    assert "No such file" in fails("similar", index, "--text", "nowhere.txt")
    (tmp_path / "latin").write_bytes(b"\xe9")
    assert "is not UTF-8" in fails("similar", index, "--text", tmp_path / "latin")


def test_duplicates(index: Path) -> None:
    code, out, _ = run("duplicates", index)
    assert code == 0
    assert "d ([bold]hey[/bold]), e (Hey, bold bold)" in out
    [group] = json.loads(run("duplicates", index, "--json")[1])
    assert group["ids"] == ["d", "e"]
    assert "threshold is 7" in fails("duplicates", index, "--threshold", 7)


def test_an_index_in_eight_bits_tells_its_recall(home: Path, tmp_path: Path) -> None:
    out = run("index", home / "model", home / "corpus.jsonl", "-o", tmp_path / "i", "--int8")[1]
    assert "int8 recall@10 1.000 against exact search, 5 documents as queries" in out


def test_an_index_that_lives(home: Path, tmp_path: Path) -> None:
    pytest.importorskip("lancedb")
    index, model = tmp_path / "index", home / "model"
    assert run("index", model, home / "corpus.jsonl", "-o", index, "--store", "lance")[0] == 0
    for query in ("silver", "treaty of nations", '"gold and silver" -again'):
        assert found("search", index, query) == found("search", home / "index", query)
    (tmp_path / "more.csv").write_text("id,text,year\nf,Silver treaty,2001\ng,Peace of gold,2002\n")
    assert run("index", "add", index, tmp_path / "more.csv")[1] == f"2 documents added, now 7 → {index}\n"
    assert found("search", index, "silver", "--where", "year > 2000") == "fg"
    (tmp_path / "other.csv").write_text("id,text\nf,Nations\nh,Gold\n")
    out = run("index", "update", index, tmp_path / "other.csv")[1]
    assert out == f"1 document replaced, 1 added, now 8 → {index}\n"
    assert (
        run("index", "remove", index, "--id", "f", "--id", "h")[1]
        == f"2 documents removed, now 6 → {index}\n"
    )
    assert (
        run("index", "remove", index, "--where", "year > 2000")[1] == f"1 document removed, now 5 → {index}\n"
    )
    assert run("index", "compact", index)[1] == f"compacted, 5 documents → {index}\n"
    assert found("search", index, "silver") == found("search", home / "index", "silver")
    assert "has a document with the id 'a' already" in fails("index", "add", index, home / "corpus.jsonl")
    assert "one of the two" in fails("index", "remove", index)
    assert "leave it out" in fails(
        "index", model, home / "corpus.jsonl", "-o", index, "--store", "lance", "--int8"
    )


def test_a_folder_of_files_does_not_change(home: Path, index: Path) -> None:
    assert "--store lance" in fails("index", "add", index, home / "corpus.jsonl")
    assert "--store lance" in fails("index", "remove", index, "--id", "a")


def test_a_damaged_index_is_one_line(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "index", tmp_path / "index")
    path = tmp_path / "index" / "vectors.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert "it is damaged; copy the folder again" in fails("search", tmp_path / "index", "gold")
