"""kate label: every column of the input, the topics beside it, in three formats, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import kate
from kate.cli import app
from topics.four_themes import dated_frame, fitted

ADDED = ["topic", "topic_name", "topic_share"]


def run(*arguments: object, code: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == code, result.stderr
    return result.stdout, result.stderr


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("label") / "model"
    fitted().save(folder)
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    dated_frame(12).write_csv("corpus.csv")
    return tmp_path


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.jsonl", "OUT.CSV"])
def test_every_column_is_kept(model: Path, home: Path, name: str) -> None:
    out, err = run("label", model, "corpus.csv", "-n", 4, "-o", name)
    assert (out, err) == (f"12 documents, 4 topics → {name}\n", "")
    read = {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".jsonl": pl.read_ndjson}[
        Path(name.lower()).suffix
    ]
    labelled = read(home / name)
    assert labelled.columns == ["date", "body", "author", *ADDED]
    expected = kate.load(model).label(dated_frame(12), 4)
    assert labelled["topic"].to_list() == expected["topic"].to_list()
    assert labelled["topic_name"].to_list() == expected["topic_name"].to_list()
    assert labelled["date"].cast(pl.String).to_list() == expected["date"].cast(pl.String).to_list()
    assert run("label", model, "corpus.csv", "-n", 4, "-o", name, "-q") == ("", "")


def test_a_column_named_topic_is_kept_under_another_name(model: Path, home: Path) -> None:
    dated_frame(4).with_columns(topic=pl.lit("mine"), topic_share=pl.lit(7)).write_csv("own.csv")
    _, err = run("label", model, "own.csv", "-n", 4, "-o", "out.csv")
    assert "'topic' is now 'topic_given', 'topic_share' is now 'topic_share_given'" in err
    labelled = pl.read_csv("out.csv")
    assert labelled.columns == ["date", "body", "author", "topic_given", "topic_share_given", *ADDED]
    assert labelled["topic_given"].to_list() == ["mine"] * 4
    assert labelled["topic_share_given"].to_list() == [7] * 4
    assert sorted(labelled["topic"]) == [0, 1, 2, 3]
    # what was labelled can be labelled again
    _, err = run("label", model, "out.csv", "-n", 4, "-o", "again.csv")
    assert "'topic' is now 'topic_given2'" in err
    assert pl.read_csv("again.csv")["topic_given"].to_list() == ["mine"] * 4


def test_ids_labels_and_nested_values_are_as_they_were(model: Path, home: Path) -> None:
    rows = [
        {"text": "gold silver", "id": "x", "label": 3, "tags": ["a", "b"], "odd": [1], "at": None},
        {"text": "navy ships", "id": "x", "label": 4, "tags": [], "odd": {"b": "ü"}, "at": "1999"},
    ]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("label", model, "in.jsonl", "-n", 4, "-o", "out.jsonl")
    written = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    for row, given in zip(written, rows, strict=True):
        assert list(row) == [*given, *ADDED]
        assert {name: row[name] for name in ("text", "id", "label", "tags", "at")} == {
            name: given[name] for name in ("text", "id", "label", "tags", "at")
        }
    assert [row["odd"] for row in written] == ["[1]", '{"b": "ü"}']
    run("label", model, "in.jsonl", "-n", 4, "-o", "out.csv")
    assert pl.read_csv("out.csv")["tags"].to_list() == ['["a", "b"]', "[]"]
    run("label", model, "in.jsonl", "-n", 4, "-o", "out.parquet")
    assert pl.read_parquet("out.parquet")["tags"].to_list() == [["a", "b"], []]


def test_odd_columns_of_parquet_can_be_written_anywhere(model: Path, home: Path) -> None:
    frame = dated_frame(4).with_columns(
        raw=pl.lit(b"\x00\xff"),
        took=pl.col("date") - pl.col("date").first(),
        at=pl.col("date").cast(pl.Datetime),
    )
    frame.write_parquet("in.parquet")
    for name in ("out.csv", "out.jsonl", "out.parquet"):
        run("label", model, "in.parquet", "-n", 4, "-o", name)
        assert Path(name).stat().st_size > 0
    assert pl.read_parquet("out.parquet").drop(ADDED).equals(frame)
    assert pl.read_csv("out.csv")["raw"][0] == "00ff"


def test_documents_without_known_words_are_counted(model: Path, home: Path) -> None:
    pl.DataFrame({"text": ["zzz", "gold coin", ""]}).write_csv("in.csv")
    out, err = run("label", model, "in.csv", "-n", 4, "-o", "out.csv")
    assert "2 of 3 documents have no word of the vocabulary, and so no topic" in err
    assert out == "3 documents, 4 topics → out.csv; 2 documents have none of them\n"
    assert pl.read_csv("out.csv")["topic"].null_count() == 2


def test_texts_without_columns_have_their_places(model: Path, home: Path) -> None:
    Path("in.txt").write_text("gold coin\nnavy ships\n")
    run("label", model, "in.txt", "-n", 4, "-o", "out.csv")
    assert pl.read_csv("out.csv").columns == ["id", "text", *ADDED]


def test_topics_of_ones_own(model: Path, home: Path) -> None:
    options = ("--as", "money: gold, silver", "--as", "sea: ships navy")
    out, _ = run("label", model, "corpus.csv", *options, "-o", "out.csv")
    assert "12 documents, 2 topics" in out
    labelled = pl.read_csv("out.csv")
    assert labelled.columns == ["date", "body", "author", "topic_name", "topic_share"]
    expected = kate.load(model).label(dated_frame(12), topics={"money": "gold silver", "sea": "ships navy"})
    assert labelled["topic_name"].to_list() == expected["topic_name"].to_list()
    assert set(labelled["topic_name"].drop_nulls()) == {"money", "sea"}


def test_changed_topics_are_used(model: Path, home: Path, tmp_path: Path) -> None:
    loaded = kate.load(model)
    loaded.topics(4).rename(0, "law").merge(0, 1)
    loaded.save(tmp_path / "changed")
    run("label", tmp_path / "changed", "corpus.csv", "-o", "out.csv")
    assert set(pl.read_csv("out.csv")["topic"]) == {0, 2, 3}
    assert "law" in set(pl.read_csv("out.csv")["topic_name"])


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-o", "out.xlsx"], 2, "out.xlsx does not end in .csv, .parquet or .jsonl"),
        (["-o", "out"], 2, "out does not end in"),
        ([], 2, "--output"),
        (["-o", "nowhere/out.csv"], 1, "the folder nowhere does not exist"),
        (["-o", "out.csv", "-n", 999], 1, "999 topics were asked for"),
        (["-o", "out.csv", "--as", "doctor"], 2, 'is not of the form "health: doctor hospital"'),
        (["-o", "out.csv", "--as", "a: gold", "--as", "a: navy"], 2, "'a' is given twice"),
        (["-o", "out.csv", "--as", "a: gold", "-n", 3], 2, "leave -n out"),
        (["-o", "out.csv", "--as", "x: zzz"], 1, "of 'x' no word is known to the model"),
        (["-o", "out.csv", "--text", "boddy"], 1, "has no field 'boddy'"),
    ],
)
def test_a_wrong_wish_writes_nothing(
    model: Path, home: Path, options: list[object], code: int, message: str
) -> None:
    Path("out.csv").write_text("precious")
    assert message in run("label", model, "corpus.csv", *options, code=code)[1]
    assert Path("out.csv").read_text() == "precious"
    assert sorted(path.name for path in home.iterdir()) == ["corpus.csv", "out.csv"]
