"""What paths name: patterns, folders of data files, Parquet datasets; and what is wrong with them, in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kate


def parquet(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(columns).write_parquet(path)
    return path


def lines(path: Path, *rows: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def test_a_pattern_names_files_in_their_order(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        parquet(tmp_path / "news" / f"{name}.parquet", text=[f"text of {name}"])
    parquet(tmp_path / "news" / "deep" / "d.parquet", text=["text of d"])
    documents = kate.read_corpus(f"{tmp_path}/news/*.parquet")
    assert documents.texts.to_list() == ["text of a", "text of b", "text of c"]
    assert documents.ids == ["a:1", "b:1", "c:1"]
    assert len(kate.read_corpus(f"{tmp_path}/**/*.parquet")) == 4
    # one that the shell has expanded is the same
    expanded = sorted((tmp_path / "news").glob("*.parquet"))
    assert kate.read_corpus(expanded).frame.equals(documents.frame)


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    parquet(tmp_path / "part[1].parquet", text=["gold"])
    parquet(tmp_path / "part1.parquet", text=["silver"])
    assert kate.read_corpus(tmp_path / "part[1].parquet").texts.to_list() == ["gold"]


def test_a_pattern_that_names_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no file has a name like .*\*\.parquet; check the pattern"):
        kate.read_corpus(f"{tmp_path}/*.parquet")


def test_a_file_that_two_patterns_name(tmp_path: Path) -> None:
    lines(tmp_path / "a.txt", "gold")
    with pytest.raises(ValueError, match=r"a\.txt is given twice"):
        kate.read_corpus([f"{tmp_path}/*.txt", f"{tmp_path}/a.*"])


def test_a_parquet_dataset_has_its_folders_as_columns(tmp_path: Path) -> None:
    for year, land, text in ((1999, "de", "gold"), (2000, "fr%2Fbe", "silver")):
        folder = tmp_path / f"year={year}" / f"land={land}"
        parquet(folder / "part-0.parquet", text=[text, f"{text} coin"], n=[1, 2])
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "README.md").write_text("About the data.")
    (tmp_path / "_delta_log").mkdir()
    parquet(tmp_path / "_delta_log" / "checkpoint.parquet", version=[1])
    documents = kate.read_corpus(tmp_path)
    assert documents.frame.select("text", "n", "year", "land").rows() == [
        ("gold", 1, 1999, "de"),
        ("gold coin", 2, 1999, "de"),
        ("silver", 1, 2000, "fr/be"),
        ("silver coin", 2, 2000, "fr/be"),
    ]
    assert documents.ids[0] == "year=1999/land=de/part-0:1"
    assert documents.source is not None
    assert documents.source.columns == ["text", "n", "year", "land"]
    assert kate.read_corpus(tmp_path, label="land").labels == ["de", "de", "fr/be", "fr/be"]


def test_a_partition_without_a_value_is_null(tmp_path: Path) -> None:
    parquet(tmp_path / "year=__HIVE_DEFAULT_PARTITION__" / "a.parquet", text=["gold"])
    parquet(tmp_path / "year=7" / "a.parquet", text=["silver"])
    assert kate.read_corpus(tmp_path).frame["year"].to_list() == [7, None]


def test_a_folder_of_data_files_of_one_format(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", '{"text": "gold", "n": 1}')
    lines(tmp_path / "deep" / "b.jsonl", '{"text": "silver", "late": true}')
    lines(tmp_path / "LICENSE", "Do what you like.")
    documents = kate.read_corpus(tmp_path)
    assert documents.texts.to_list() == ["gold", "silver"]
    assert documents.ids == ["a:1", "deep/b:1"]
    assert (
        kate.read_corpus([tmp_path, lines(tmp_path.parent / "x.txt", "coin")]).ids[0]
        == f"{tmp_path.name}/a:1"
    )


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"text": ["x"]}, r"b\.parquet has no column 'year', which .*a\.parquet of the same dataset has"),
        (
            {"text": ["x"], "year": [1], "more": [2]},
            r"a\.parquet has no column 'more', which .*b\.parquet of the same dataset has",
        ),
        (
            {"text": ["x"], "year": ["MCM"]},
            r"b\.parquet has String in the column 'year', and .*a\.parquet of the same dataset has Int64",
        ),
    ],
)
def test_a_dataset_whose_files_have_different_columns(
    tmp_path: Path, second: dict[str, Any], message: str
) -> None:
    parquet(tmp_path / "a.parquet", text=["gold"], year=[1999])
    parquet(tmp_path / "b.parquet", **second)
    with pytest.raises(kate.CorpusError, match=message):
        kate.read_corpus(tmp_path)
    with pytest.raises(kate.CorpusError, match=message):
        list(kate.iter_corpus(tmp_path))
    # named one by one they are two files, and not one dataset
    assert len(kate.read_corpus(f"{tmp_path}/*.parquet")) == 2


def test_numbers_of_other_widths_and_columns_without_values_go_together(tmp_path: Path) -> None:
    parquet(tmp_path / "a.parquet", text=["gold"], year=pl.Series([1999], dtype=pl.Int16), who=[None])
    parquet(tmp_path / "b.parquet", text=["coin"], year=[2000.5], who=["Ann"])
    assert kate.read_corpus(tmp_path).frame.select("year", "who").rows() == [(1999.0, None), (2000.5, "Ann")]


def test_tables_of_a_dataset_have_one_header(tmp_path: Path) -> None:
    lines(tmp_path / "a.csv", "text,year", "gold,1999")
    lines(tmp_path / "b.csv", "text,jahr", "silver,2000")
    with pytest.raises(kate.CorpusError, match=r"b\.csv has no column 'year', which .*a\.csv"):
        kate.read_corpus(tmp_path)


def test_a_folder_of_files_of_different_formats(tmp_path: Path) -> None:
    parquet(tmp_path / "a.parquet", text=["gold"])
    lines(tmp_path / "b.jsonl", '{"text": "silver"}')
    with pytest.raises(kate.CorpusError) as caught:
        kate.read_corpus(tmp_path)
    message = str(caught.value)
    assert "different formats (parquet such as a.parquet, jsonl such as b.jsonl)" in message
    assert "/*.parquet'" in message
    assert "\n" not in message
    assert kate.read_corpus(tmp_path, format="jsonl").texts.to_list() == ["silver"]
    assert kate.read_corpus(f"{tmp_path}/*.parquet").texts.to_list() == ["gold"]


def test_texts_beside_data_are_different_formats(tmp_path: Path) -> None:
    parquet(tmp_path / "a.parquet", text=["gold"])
    lines(tmp_path / "speech.txt", "We are gathered")
    with pytest.raises(
        kate.CorpusError, match=r"different formats \(parquet such as a\.parquet, text such as speech"
    ):
        kate.read_corpus(tmp_path)
